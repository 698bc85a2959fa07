"""The production shape on one machine: several web processes behind one port, clocks, PostgreSQL and Valkey.

They are children of one process, which starts again whatever ends and stops all of it together.
"""

import contextlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from config.servers import Server, ServerError, die_with_parent

BASE_DIR = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
STOP_SECONDS = 15
WATCH_SECONDS = 0.2
HEALTHY_SECONDS = 10
"""Whoever ends sooner than this after its start is not well."""
TRIES = 5
"""So many times in a row a child that is not well is started again."""


class FleetError(Exception):
    """The site cannot go on; says why in one line."""


class Child:
    """A command of `manage.py` in a process of its own."""

    def __init__(self, name: str, *arguments: str, env: Mapping[str, str]) -> None:
        self.name = name
        self.command = [sys.executable, str(BASE_DIR / "manage.py"), *arguments]
        self.env = dict(env)
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.failures = 0

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603  our own command
            self.command,
            cwd=BASE_DIR,
            env=self.env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl+C is the parent's to answer
            preexec_fn=die_with_parent,
        )

    @property
    def ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def start_again(self) -> None:
        """Raises FleetError for one that ends again and again."""
        well = time.monotonic() - self.started_at > HEALTHY_SECONDS
        self.failures = 0 if well else self.failures + 1
        if self.failures > TRIES:
            raise FleetError(f"{self.name} ends as soon as it starts; see the log.")
        self.start()

    def ask_to_stop(self) -> None:
        if not self.ended and self.process is not None:
            self.process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Wait for its end, and force it when that takes too long."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_SECONDS)
        self.process.kill()
        self.process.wait()


class Readiness:
    """Hears from web processes that they are ready, as systemd would."""

    def __init__(self) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="upcard-")
        self.address = str(Path(self.directory.name) / "notify")
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.line.bind(self.address)
        self.line.setblocking(False)

    def hear(self, seconds: float) -> int:
        """How many became ready within this time."""
        select.select([self.line], [], [], seconds)
        heard = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                heard += self.line.recv(4096) == b"READY=1"
        return heard

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.line.close()
        self.directory.cleanup()


class Fleet:
    """Web processes, clocks and the servers they stand on."""

    def __init__(self, servers: list[Server], webs: list[Child], clocks: list[Child], *, say: Callable[[str], None]):
        self.servers, self.webs, self.clocks = servers, webs, clocks
        self.say = say
        self.stopping = False

    def run(self, readiness: Readiness, *, announce: Callable[[], None]) -> None:
        """Until SIGINT or SIGTERM. Servers run already. Raises FleetError when the site cannot go on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        try:
            for child in (*self.webs, *self.clocks):
                child.start()
            self._wait_until_ready(readiness)
            if not self.stopping:
                announce()
            while not self.stopping:
                self._watch()
                readiness.hear(WATCH_SECONDS)
        finally:
            self._end()

    def _stop(self, number: int, frame: object) -> None:
        self.stopping = True

    def _wait_until_ready(self, readiness: Readiness) -> None:
        ready, deadline = 0, time.monotonic() + READY_SECONDS
        while ready < len(self.webs) and not self.stopping:
            ready += readiness.hear(WATCH_SECONDS)
            if ended := next((child for child in (*self.webs, *self.clocks) if child.ended), None):
                raise FleetError(f"{ended.name} does not start; see the log.")
            if time.monotonic() > deadline:
                raise FleetError("The web processes take too long to start; see the log.")

    def _watch(self) -> None:
        """Start again whatever has ended."""
        for server in self.servers:
            if not server.running and not self.stopping:
                self.say(f"{server.name} ended; starting it again")
                self._start_again(server)
        for child in (*self.webs, *self.clocks):
            if child.ended and not self.stopping:
                self.say(f"{child.name} ended; starting it again")
                child.start_again()

    def _start_again(self, server: Server) -> None:
        """What a server that was killed leaves behind may be in its successor's way for a moment."""
        for _ in range(TRIES):
            try:
                server.start()
            except ServerError:
                time.sleep(1)
            else:
                return
        raise FleetError(f"{server.name} does not start again; see {server.log_file}.")

    def _end(self) -> None:
        """Clocks first, so that nobody's time runs while their page cannot reach the site."""
        for group in (self.clocks, self.webs):
            for child in group:
                child.ask_to_stop()
            for child in group:
                child.stop()
