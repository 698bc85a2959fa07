"""Reads settings from environment variables and says in one line what is wrong with one.

Every name asked for is remembered, so that README's table can be held to the truth by a test.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


class Environment:
    """The environment of one process. An empty variable counts as unset."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.names: set[str] = set()
        """Every variable that was asked for."""

    def text(self, name: str, default: str = "") -> str:
        self.names.add(name)
        return self._values.get(name, "").strip() or default

    def required(self, name: str) -> str:
        """Raises ImproperlyConfigured where the variable is unset."""
        if value := self.text(name):
            return value
        raise ImproperlyConfigured(f"{name} must be set in production.")

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of ``choices``; the first is the default."""
        value = self.text(name, choices[0])
        if value not in choices:
            raise ImproperlyConfigured(f"{name} must be {' or '.join(choices)}, not {value!r}.")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.text(name, "1" if default else "0")
        if value not in {"0", "1"}:
            raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}.")
        return value == "1"

    def number(self, name: str, default: float, *, least: float = 0) -> float:
        value = self.text(name, str(default))
        try:
            number = float(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a number, not {value!r}.") from None
        if not least <= number < float("inf"):
            raise ImproperlyConfigured(f"{name} must be {least:g} or more, not {value!r}.")
        return number

    def whole(self, name: str, default: int, *, least: int = 0) -> int:
        number = self.number(name, default, least=least)
        if number != int(number):
            raise ImproperlyConfigured(f"{name} must be a whole number, not {number!r}.")
        return int(number)

    def words(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """A list written with commas."""
        return [word.strip() for word in self.text(name).split(",") if word.strip()] or list(default)


ENVIRONMENT = Environment(os.environ)


def writable_directory(path: Path, name: str) -> Path:
    """``path``, made where it is missing. Raises ImproperlyConfigured when nothing can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name} {path} cannot be made: {error.strerror}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(f"{name} {path} is not writable.")
    return path


def kept_secret(path: Path) -> str:
    """The secret in this file, made once; several processes that start together agree on one."""
    try:
        if not path.exists():
            _write_secret(path)
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{path} cannot be used: {error}.") from None


def _write_secret(path: Path) -> None:
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")  # for the owner alone
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(64))
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)  # never replaces a secret that another process has just made
    os.unlink(draft)


def database(url: str, name: str, *, pool_size: int) -> dict[str, object]:
    """A database as Django describes it, from ``sqlite:////path`` or ``postgres://user:password@host:port/name``.

    Three slashes begin a path relative to the current directory, four an absolute one. Query
    parameters of a PostgreSQL address go to libpq as they are (``?sslmode=require``).

    Raises ImproperlyConfigured for any other address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a database address.") from None
    if parts.scheme == "sqlite" and not parts.netloc and parts.path.strip("/"):
        return sqlite(Path(unquote(parts.path[1:])).absolute())
    if parts.scheme in {"postgres", "postgresql"} and parts.path.strip("/"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(port or ""),
            # A pool instead of persistent connections, which asynchronous requests would leak one by one.
            "CONN_MAX_AGE": 0,
            # A connection of the pool that the server has closed meanwhile is replaced, not handed out.
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {**dict(parse_qsl(parts.query)), "pool": {"min_size": 1, "max_size": pool_size, "timeout": 10}},
        }
    raise ImproperlyConfigured(f"{name} must look like sqlite:////path or postgres://user:password@host/name.")


def sqlite(path: Path) -> dict[str, object]:
    """SQLite as several threads can share it: readers beside one writer, and writers that wait for their turn."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def channel_layer(redis_url: str, *, prefix: str = "upcard") -> dict[str, object]:
    """How processes tell each other of changes; without an address, how one process tells itself."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    # The client's own limit of 100 connections is less than the sockets of one process.
    hosts = [{"address": redis_url, "max_connections": 5000}]
    return {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": hosts, "prefix": prefix}}


def cache(redis_url: str, *, prefix: str = "upcard") -> dict[str, object]:
    """Where presence lives."""
    if redis_url:
        backend = "django.core.cache.backends.redis.RedisCache"
        patience = {"socket_timeout": 2, "socket_connect_timeout": 2}
        return {"BACKEND": backend, "LOCATION": redis_url, "KEY_PREFIX": prefix, "OPTIONS": patience}
    # Django's default of 300 entries would forget people at a busy hour.
    return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}


def origin(url: str, name: str, *, secure: bool) -> str:
    """``https://play.example`` without a path. Raises ImproperlyConfigured for anything else."""
    parts = urlsplit(url)
    schemes = {"https"} if secure else {"http", "https"}
    if parts.scheme not in schemes or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        wanted = "https://" if secure else "http://"
        raise ImproperlyConfigured(f"{name} must be an address such as {wanted}play.example, not {url!r}.")
    return f"{parts.scheme}://{parts.netloc}"


def key(value: str, name: str) -> str:
    """A secret that nobody guesses. Raises ImproperlyConfigured, without showing it, for a weak one."""
    if len(value) < 50 or len(set(value)) < 5:
        raise ImproperlyConfigured(f"{name} must be at least 50 random characters.")
    return value
