"""Start the whole site in one process: pages, sockets and the clock in one event loop."""

import argparse
import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from typing import Any

from daphne.server import Server
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from twisted.internet import defer

from apps.tables import clock, thinking
from apps.tables.hub import hub

log = logging.getLogger(__name__)

EVERY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104  people ask for it to play from another device
MAX_FRAME_BYTES = 64 * 1024
RESTARTING = 4012
FLUSH_SECONDS = 0.05


class Command(BaseCommand):
    help = "Prepares the database and serves the site: pages, sockets and clock in one process."
    requires_system_checks = []  # `prepare` makes them

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (0.0.0.0: any)")
        parser.add_argument("--port", default="8000", help="the port to listen on (0: any free one)")

    def handle(self, *, host: str, port: str, **options: Any) -> None:
        """Raises CommandError with one line for whatever stands in the way."""
        number = port_number(port)
        address = usable_address(host, number)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr)
        if host not in settings.ALLOWED_HOSTS and not settings.PRODUCTION:
            settings.ALLOWED_HOSTS.append("*" if host in EVERY_ADDRESS else host)
        Site(address, number, announce=self.say).run()

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def port_number(text: str) -> int:
    """Raises CommandError for what is not a port."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise CommandError(f"--port must be a number from 0 to 65535, not {text!r}.")
    return int(text)


def usable_address(host: str, port: int) -> str:
    """The numeric address to listen on. Raises CommandError where that cannot be done now.

    It is tried here, because the server itself would end without a word.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(1)
            return str(address[0])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} is taken. Choose another one with --port.") from None
        raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from None


class Site(Server):
    """Daphne with the clock beside it. Neither outlives the other."""

    def __init__(self, address: str, port: int, *, announce: Callable[[str], None]) -> None:
        from config.asgi import application  # now, since it looks at the static files only once

        self.address = address
        self.announce = announce
        self.stopping = self.failed = False
        super().__init__(
            application=application,
            endpoints=[f"tcp:port={port}:interface={address.replace(':', r'\:')}"],
            ready_callable=self.ready,
            server_name="upcard",
            websocket_max_message_size=MAX_FRAME_BYTES,
            websocket_max_frame_size=MAX_FRAME_BYTES,
            proxy_forwarded_address_header="X-Forwarded-For" if settings.TRUST_PROXY else None,
            proxy_forwarded_proto_header="X-Forwarded-Proto" if settings.TRUST_PROXY else None,
            verbosity=0,
        )

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM. Raises CommandError when the site cannot go on."""
        super().run()
        if not self.listening_addresses:
            raise CommandError(f"Cannot listen on {self.address}.")
        if self.failed:
            raise CommandError("The clock stopped; see the log.")

    def ready(self) -> None:
        """Listening: start the clock and tell the address."""
        self.clock = asyncio.get_event_loop().create_task(clock.run())
        self.clock.add_done_callback(self.clock_ended)
        port = self.listening_addresses[0][1]
        shown = "localhost" if self.address in EVERY_ADDRESS else self.address
        shown = f"[{shown}]" if ":" in shown else shown
        self.announce(f"Upcard is open at http://{shown}:{port}/ (stop with Ctrl+C)")

    def clock_ended(self, task: asyncio.Task[None]) -> None:
        """Tables without a clock would wait for ever: better to stop, and be started again."""
        if self.stopping:
            return
        self.failed = True
        log.error("The clock stopped.", exc_info=None if task.cancelled() else task.exception())
        self.stop()

    def kill_all_applications(self) -> defer.Deferred[Any]:
        """Before the end: take leave, then let Daphne cancel what still runs."""
        leave = defer.Deferred.fromFuture(asyncio.ensure_future(self.take_leave()))
        leave.addErrback(lambda failure: log.error("The site could not take leave.", exc_info=failure.value))
        return leave.addCallback(lambda result: self.cancel_applications())

    async def take_leave(self) -> None:
        """Tell open pages that the site will be back, and end the clock and the CPUs."""
        self.stopping = True
        self.clock.cancel()
        await asyncio.wait([self.clock])
        await hub().close_everything(RESTARTING)
        thinking.shut_down()
        await asyncio.sleep(FLUSH_SECONDS)

    def cancel_applications(self) -> Any:
        """Daphne's own, which does not expect connections that are idle between two requests."""
        nothing = asyncio.get_event_loop().create_future()
        nothing.set_result(None)
        for details in self.connections.values():
            details.setdefault("application_instance", nothing)
        return super().kill_all_applications()
