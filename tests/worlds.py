"""The two worlds in which the site lives, and the way from one to the other within one run of the tests.

One process needs nothing beside itself: SQLite and memory. Many processes share PostgreSQL and Redis or Valkey. Every
test that touches a database or the layer runs in both.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from asgiref.local import Local
from django.conf import settings
from django.core.cache import cache
from django.db import connections
from django.test.signals import setting_changed
from django.test.utils import setup_databases

from config import environment

ONE, MANY = "one-process", "many-processes"
TESTS = "test-upcard-"
"""How the names of everything of ours on a shared server begin."""
PATIENCE = 90
"""Seconds until servers that have to come are given up."""


class World(msgspec.Struct):
    """Settings of one world for one worker."""

    database: dict[str, Any]
    layer: dict[str, object]
    cache: dict[str, object]

    @property
    def shared(self) -> bool:
        """Whether other processes could be in it."""
        return "LOCATION" in self.cache


def world_of(name: str, worker: str, directory: Path) -> World:
    return _one_process(directory) if name == ONE else _many_processes(worker)


def _one_process(directory: Path) -> World:
    """SQLite in a file: the in-memory kind locks as soon as two threads write."""
    database = environment.sqlite(directory / "upcard.sqlite3")
    # Nothing here has to outlive a power cut.
    quick = {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"}
    database |= {"OPTIONS": database["OPTIONS"] | quick, "TEST": {"NAME": str(directory / "test.sqlite3")}}
    return World(database=database, layer=environment.channel_layer(""), cache=environment.cache(""))


def _many_processes(worker: str) -> World:
    """A database and a name of its own on the servers of this run, or on those that the environment names."""
    servers = servers_of_this_run()
    database = environment.database(servers["DATABASE_URL"], "DATABASE_URL", pool_size=20)
    database["TEST"] = {"NAME": f"test_upcard_{worker}"}
    prefix = f"{TESTS}{worker}"
    return World(
        database=database,
        layer=environment.channel_layer(servers["REDIS_URL"], prefix=prefix),
        cache=environment.cache(servers["REDIS_URL"], prefix=prefix),
    )


def servers_of_this_run() -> dict[str, str]:
    """The addresses of servers, as soon as they answer. Raises AssertionError with the reason when they do not."""
    named = {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    if all(named.values()):
        return named
    addresses = Path(os.environ["TEST_SERVERS"]) / "addresses.json"
    deadline = time.monotonic() + PATIENCE
    while not addresses.exists():
        assert time.monotonic() < deadline, f"No servers: {addresses.with_name('servers.log').read_text()}"
        time.sleep(0.05)
    started = json.loads(addresses.read_text(encoding="utf-8"))
    return started | {name: url for name, url in named.items() if url}


@contextlib.contextmanager
def database_of(world: World) -> Iterator[None]:
    """An empty database with all its tables; gone afterwards, whoever still holds a connection to it."""
    setup_databases(verbosity=0, interactive=False, aliases={"default"}, serialized_aliases=set())
    yield
    if not world.shared:
        return
    connection = connections["default"]
    connection.close()
    connection.close_pool()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{world.database["TEST"]["NAME"]}" WITH (FORCE)')


def enter(world: World) -> None:
    """From now on this is the world: for Django, and in every thread."""
    connections.close_all()
    databases = {"default": world.database}
    connections.settings = connections.configure_settings(databases)
    connections._connections = Local(connections.thread_critical)
    values = {
        "DATABASES": databases,
        "CHANNEL_LAYERS": {"default": world.layer},
        "CACHES": {"default": world.cache},
    }
    for name, value in values.items():
        setattr(settings, name, value)
    for name in ("CHANNEL_LAYERS", "CACHES"):  # a change of databases only raises a warning
        setting_changed.send(sender=World, setting=name, value=values[name], enter=True)


def forget_everything() -> None:
    """Empty the cache; on a server that may have been there before, only of what tests left."""
    if _redis() is None:
        cache.clear()
        return
    for key in _keys():
        _redis().delete(key)


def age_cache(*, by: float) -> None:
    """Let what is in a shared cache grow older by so many seconds: a server has a clock of its own."""
    if _redis() is None:
        return
    for key in _keys():
        left = _redis().pttl(key)
        if left < 0:
            continue  # it stays for ever
        if left > by * 1000:
            _redis().pexpire(key, left - int(by * 1000))
        else:
            _redis().delete(key)


def _redis() -> Any:
    """The client behind the cache; None where the cache is memory."""
    client = getattr(cache, "_cache", None)
    return client.get_client(write=True) if hasattr(client, "get_client") else None


def _keys() -> list[bytes]:
    prefix = settings.CACHES["default"]["KEY_PREFIX"]
    return list(_redis().scan_iter(f"{prefix}:*")) if prefix.startswith(TESTS) else []
