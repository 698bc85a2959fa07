"""CPUs think in child processes: one busy thread would hold up every table of this one."""

import asyncio
import logging
import multiprocessing
import os
import secrets
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from random import Random
from threading import Thread
from typing import Any

from django.conf import settings

from apps.games import registry

logger = logging.getLogger(__name__)

_pool: ProcessPoolExecutor | None = None


def _get_pool() -> ProcessPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ProcessPoolExecutor(
            max_workers=settings.CPU_PROCESSES,
            mp_context=multiprocessing.get_context("forkserver"),
            initializer=_begin_child,
        )
    return _pool


def _begin_child() -> None:
    """A child ends with its parent, however that ends: Ctrl+C is the parent's to answer, a kill it cannot."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(0)


async def choose(slug: str, level: str, view: Any) -> bytes:
    """The move a CPU of this level makes with this view, as JSON."""
    return await _think(choose_now, slug, level, view, secrets.randbits(64), settings.CPU_EFFORT)


async def choose_timeout(slug: str, state: Any, seat: int) -> bytes:
    """What the clock plays for a seat whose time is up, as JSON."""
    return await _think(timeout_now, slug, state, seat, secrets.randbits(64))


async def _think(job: Any, *arguments: Any) -> bytes:
    """Run a job in a child; a child that died is replaced once."""
    loop = asyncio.get_running_loop()
    pool = _get_pool()
    try:
        return await loop.run_in_executor(pool, job, *arguments)
    except BrokenProcessPool:
        _give_up(pool)
        return await loop.run_in_executor(_get_pool(), job, *arguments)


def _give_up(pool: ProcessPoolExecutor) -> None:
    """The first of those who thought in a pool that broke does away with it; the others find a new one."""
    if pool is _pool:
        logger.warning("a CPU's process ended; starting another")
        shut_down()


def choose_now(slug: str, level: str, view: Any, seed: int, effort: int) -> bytes:
    """The same in this process: what a child runs."""
    game = registry.get(slug)
    return game.dump_move(game.bot(level).choose(view, Random(seed), effort))


def timeout_now(slug: str, state: Any, seat: int, seed: int) -> bytes:
    """The time-out's move in this process: what a child runs."""
    game = registry.get(slug)
    return game.dump_move(game.timeout_move(state, seat, Random(seed)))


def shut_down() -> None:
    """Stop the children; the next thought starts new ones."""
    global _pool
    if _pool is not None:
        _pool.shutdown(wait=False, cancel_futures=True)
        _pool = None
