"""One process that serves pages and sockets with Daphne: how it listens, and how it takes leave."""

import asyncio
import errno
import logging
import os
import socket
from asyncio import AbstractEventLoop, Future, Task
from collections.abc import Callable
from typing import Any

from daphne.http_protocol import WebRequest
from daphne.server import Server
from django.conf import settings
from django.core.management.base import CommandError
from twisted.internet import defer, reactor

from apps.tables import clock, thinking
from apps.tables.hub import hub

log = logging.getLogger(__name__)

EVERY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104  people ask for it to play from another device
MAX_FRAME_BYTES = 64 * 1024
BACKLOG = 1024
RESTARTING = 4012
HANDSHAKE_SECONDS = 15
"""A restarted site meets everybody at once, and turning those away who wait only brings them back."""
FLUSH_SECONDS = 0.05
DRAIN_SECONDS = 3
"""So long at most what is under way is given to come to its end."""


def port_number(text: str) -> int:
    """Raises CommandError for what is not a port."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise CommandError(f"--port must be a number from 0 to 65535, not {text!r}.")
    return int(text)


def bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket bound to this address. ``shared``: other processes of ours may bind it too, and each gets its part.

    Raises CommandError with one line where that cannot be done.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except OSError as error:
        raise _cannot_listen(error, host, port) from None
    return listener


def listening(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket that accepts connections from now on. Raises CommandError."""
    listener = bound(host, port, shared=shared)
    try:
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _cannot_listen(error, host, port) from None
    return listener


def listening_at(path: str) -> socket.socket:
    """A Unix socket for a proxy on this machine and of our group. Raises CommandError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.exists(path):
            os.unlink(path)  # left over from a process that was killed
        listener.bind(path)
        os.chmod(path, 0o660)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise CommandError(f"Cannot listen at {path}: {error.strerror or error}.") from None
    return listener


def _cannot_listen(error: OSError, host: str, port: int) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        return CommandError(f"Port {port} is taken. Choose another one with --port.")
    return CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.")


def shown_address(host: str, port: int) -> str:
    """The address as people type it."""
    shown = "localhost" if host in EVERY_ADDRESS else host
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def allow_host(host: str) -> None:
    """On one's own machine, whoever listens on an address means to be found there."""
    if host and host not in settings.ALLOWED_HOSTS and not settings.PRODUCTION:
        settings.ALLOWED_HOSTS.append("*" if host in EVERY_ADDRESS else host)


def notify(state: str) -> None:
    """Tell whoever started this process, as systemd wants to be told."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.sendto(state.encode(), address.replace("@", "\0", 1))


class Site(Server):
    """Daphne with the site's settings. With a clock beside it, neither outlives the other."""

    def __init__(self, listener: socket.socket, *, with_clock: bool, ready: Callable[[], None]) -> None:
        from config.asgi import application  # now, since it looks at the static files only once

        self.listener = listener
        self.with_clock = with_clock
        self.tell_ready = ready
        self.clock: Task[None] | None = None
        self.stopping = self.failed = False
        super().__init__(
            application=application,
            endpoints=["adopted"],
            ready_callable=self.ready,
            server_name="upcard",
            websocket_handshake_timeout=HANDSHAKE_SECONDS,
            websocket_max_message_size=MAX_FRAME_BYTES,
            websocket_max_frame_size=MAX_FRAME_BYTES,
            proxy_forwarded_address_header="X-Forwarded-For" if settings.TRUST_PROXY else None,
            proxy_forwarded_proto_header="X-Forwarded-Proto" if settings.TRUST_PROXY else None,
            verbosity=0,
        )
        # Daphne's descriptions of endpoints know no IPv6 sockets that are open already, and fail without a word.
        self.endpoints: list[str] = []

    @property
    def loop(self) -> AbstractEventLoop:
        return asyncio.get_event_loop()

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM. Raises CommandError when the site cannot go on."""
        super().run()
        if self.failed:
            raise CommandError("The clock stopped; see the log.")

    def ready(self) -> None:
        """Take the socket over, start the clock, and tell."""
        self.listener.setblocking(False)
        self.port = reactor.adoptStreamPort(self.listener.fileno(), self.listener.family, self.http_factory)
        self.listener.close()
        if self.with_clock:
            self.clock = self.loop.create_task(clock.run())
            self.clock.add_done_callback(self.clock_ended)
        self.tell_ready()

    def clock_ended(self, task: Task[None]) -> None:
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
        """Accept nobody new, end the clock, tell open pages that the site will be back, finish what is under way."""
        self.stopping = True
        notify("STOPPING=1")
        self.port.stopListening()
        if self.clock is not None:
            self.clock.cancel()
            await asyncio.wait([self.clock])
        await hub().close_everything(RESTARTING)
        thinking.shut_down()
        await asyncio.sleep(FLUSH_SECONDS)
        if under_way := self.under_way():
            await asyncio.wait(under_way, timeout=DRAIN_SECONDS)

    def under_way(self) -> list[Future[Any]]:
        """Requests that are being answered."""
        return [
            details["application_instance"]
            for protocol, details in self.connections.items()
            if isinstance(protocol, WebRequest) and _runs(details.get("application_instance"))
        ]

    def cancel_applications(self) -> Any:
        """Daphne's own, which does not expect connections that are idle between two requests."""
        nothing = self.loop.create_future()
        nothing.set_result(None)
        for details in self.connections.values():
            details.setdefault("application_instance", nothing)
        return super().kill_all_applications()


def _runs(application: Future[Any] | None) -> bool:
    return application is not None and not application.done()
