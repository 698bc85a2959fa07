"""Start the whole site in one process: pages, sockets and the clock in one event loop."""

import argparse
import asyncio
import errno
import logging
import socket
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from daphne.server import Server
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from twisted.internet import defer, reactor

from config import catalogues

log = logging.getLogger(__name__)

EVERY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104  people ask for it to play from another device
MAX_FRAME_BYTES = 64 * 1024


class Command(BaseCommand):
    help = "Prepares the database and serves the site: pages, sockets and clock in one process."
    requires_system_checks = []  # made below: some of them ask the database, which may not be there

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (0.0.0.0: any)")
        parser.add_argument("--port", default="8000", help="the port to listen on (0: any free one)")

    def handle(self, *, host: str, port: str, **options: Any) -> None:
        """Raises CommandError with one line for whatever stands in the way."""
        number = port_number(port)
        claim_address(host, number)
        self.prepare()
        if host not in settings.ALLOWED_HOSTS and not settings.PRODUCTION:
            settings.ALLOWED_HOSTS.append("*" if host in EVERY_ADDRESS else host)
        Site(host, number, announce=self.say).run()

    def prepare(self) -> None:
        """Bring everything that is made from the sources up to date. Doing it again changes nothing."""
        self.step("Preparing translations", compile_catalogues)
        self.step("Preparing the database", self.migrate)
        if settings.PRODUCTION:
            self.step("Collecting static files", lambda: call_command("collectstatic", interactive=False, verbosity=0))

    def migrate(self) -> None:
        try:
            self.check()
            call_command("migrate", interactive=False, verbosity=0)
        except DatabaseError as error:
            reason = " ".join(str(error).split())
            raise CommandError(f"The database {database_name()} cannot be used: {reason}.") from None

    def step(self, title: str, work: Callable[[], object]) -> None:
        self.say(f"{title} …")
        began = time.monotonic()
        work()
        if (seconds := time.monotonic() - began) > 1:
            self.say(f"  done in {seconds:.0f} s")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def port_number(text: str) -> int:
    """Raises CommandError for what is not a port."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise CommandError(f"--port must be a number from 0 to 65535, not {text!r}.")
    return int(text)


def claim_address(host: str, port: int) -> None:
    """Listen there for a moment: the server itself would end silently. Raises CommandError."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} is taken. Choose another one with --port.") from None
        raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from None


def compile_catalogues() -> None:
    try:
        catalogues.compile_stale()
    except OSError as error:
        raise CommandError(f"Translations cannot be prepared: {error}") from None


def database_name() -> str:
    return str(settings.DATABASES["default"]["NAME"])


class Site:
    """The server with the clock beside it. Neither outlives the other."""

    def __init__(self, host: str, port: int, *, announce: Callable[[str], None]) -> None:
        self.host = host
        self.announce = announce
        self.clock: asyncio.Task[None] | None = None
        self.stopping = self.failed = False
        self.server = Server(
            application=import_module("config.asgi").application,
            endpoints=[f"tcp:port={port}:interface={host.replace(':', r'\:')}"],
            ready_callable=self.start,
            server_name="upcard",
            websocket_max_message_size=MAX_FRAME_BYTES,
            websocket_max_frame_size=MAX_FRAME_BYTES,
            proxy_forwarded_address_header="X-Forwarded-For" if settings.TRUST_PROXY else None,
            proxy_forwarded_proto_header="X-Forwarded-Proto" if settings.TRUST_PROXY else None,
            verbosity=0,
        )

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM. Raises CommandError when the site cannot go on."""
        self.server.run()
        if not self.server.listening_addresses:
            raise CommandError(f"Cannot listen on {self.host}.")
        if self.failed:
            raise CommandError("The clock stopped; see the log.")

    def start(self) -> None:
        cast(Any, reactor).addSystemEventTrigger("before", "shutdown", self.stop_clock)
        if find_spec("apps.tables.clock"):
            self.clock = asyncio.get_event_loop().create_task(import_module("apps.tables.clock").run())
            self.clock.add_done_callback(self.clock_ended)
        port = self.server.listening_addresses[0][1]
        shown = "localhost" if self.host in EVERY_ADDRESS else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        self.announce(f"Upcard is open at http://{shown}:{port}/ (stop with Ctrl+C)")

    def clock_ended(self, clock: asyncio.Task[None]) -> None:
        """Tables without a clock would wait for ever: better to stop, and be started again."""
        if self.stopping:
            return
        self.failed = True
        log.error("The clock stopped.", exc_info=None if clock.cancelled() else clock.exception())
        self.server.stop()

    def stop_clock(self) -> defer.Deferred[Any] | None:
        self.stopping = True
        if self.clock is None or self.clock.done():
            return None
        self.clock.cancel()
        stopped = defer.Deferred.fromFuture(asyncio.ensure_future(asyncio.wait([self.clock])))
        return stopped.addErrback(lambda failure: None)
