"""What tests of tables stand on: nothing remembered from the test before, quick CPUs, time that can be set."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace

import pytest
import pytest_asyncio
from django.core.cache.backends import base, locmem
from django.db import connections
from django.test import AsyncClient
from django.utils import timezone

from apps.games import registry
from apps.tables import attendance, clock, live, presence, thinking, views
from tests import worlds
from tests.tables.pages import Page, code_of, forms, open_table

__all__ = ["Page", "code_of", "forms", "open_table"]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """Tables, rate limits and CPUs' processes belong to one test."""
    forget()
    yield
    forget()


def forget() -> None:
    live.cache.clear()
    views._moves.clear()
    views._tables.clear()
    presence.trust_cache()


@pytest.fixture(autouse=True)
def quick(settings, monkeypatch) -> None:
    """CPUs that take a human second, and a grace for reloads, would make every test wait."""
    settings.CPU_PACE_SECONDS = 0
    settings.CLOCK_TICK_SECONDS = 0.01
    monkeypatch.setattr(attendance, "GRACE_SECONDS", 0)


@pytest.fixture
def think_here(monkeypatch) -> None:
    """CPUs think in this process: the child processes have tests of their own."""

    async def think(job, *arguments):
        return job(*arguments)

    monkeypatch.setattr(thinking, "_think", think)


class Time:
    """The time that the site sees, in the database and in the cache."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)
        self._now = timezone.now

    def now(self) -> datetime:
        return self._now() + self.ahead

    def go(self, **by: float) -> datetime:
        """Let time go by; what time it is then."""
        self.ahead += timedelta(**by)
        worlds.age_cache(by=timedelta(**by).total_seconds())
        return self.now()


@pytest.fixture
def later(monkeypatch) -> Time:
    """Time goes by as ever, and leaps when the test says so."""
    leaping = Time()
    monkeypatch.setattr(timezone, "now", leaping.now)
    for module in (base, locmem):
        monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: leaping.now().timestamp()))
    return leaping


@pytest.fixture
def ticking() -> Callable[[], object]:
    """``async with ticking():`` a clock runs, as in the one-process server."""

    @asynccontextmanager
    async def run() -> AsyncIterator[asyncio.Task[None]]:
        task = asyncio.create_task(clock.run())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    return run


@pytest.fixture
def ten_at_once() -> Callable[[Callable[[int], object]], list[object]]:
    """``ten_at_once(deed)``: what the deed, given 0 to 9, answers in as many threads."""

    def in_a_thread(deed: Callable[[int], object], number: int) -> object:
        try:
            return deed(number)
        finally:
            connections.close_all()

    def run(deed: Callable[[int], object]) -> list[object]:
        with ThreadPoolExecutor(10) as pool:
            return list(pool.map(partial(in_a_thread, deed), range(10)))

    return run


@pytest_asyncio.fixture
async def enter() -> AsyncIterator[Callable[..., object]]:
    """``await enter(visitor, address)`` opens a table's page of a visitor by socket; closed after the test."""
    opened: list[Page] = []

    async def open_page(visitor: AsyncClient | None, address: str, **options) -> Page:
        page = Page(visitor, address, **options)
        opened.append(page)
        return await page.open()

    yield open_page
    for page in opened:
        await page.close()


@pytest.fixture
def visitors() -> Callable[[], AsyncClient]:
    """Browsers with cookies of their own."""
    return AsyncClient


@pytest.fixture(params=[game.slug for game in registry.all_games()])
def slug(request: pytest.FixtureRequest) -> str:
    return request.param
