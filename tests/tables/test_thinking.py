"""CPUs think in child processes, and a child that dies is replaced."""

import asyncio
import os
import signal

import pytest

from apps.games import registry
from apps.games.kernel.draws import SEED_BYTES
from apps.games.kernel.game import Level
from apps.tables import thinking


@pytest.fixture(autouse=True)
def children():
    yield
    thinking.shut_down()


@pytest.fixture
def position(slug):
    """(game, state, seat) of a deal."""
    game = registry.get(slug)
    seats = max(2, game.seats.start)
    state = game.deal(game.Options(), seats=seats, seed=bytes(SEED_BYTES), first=0)
    return game, state, min(game.to_act(state))


def pids():
    return set(thinking._get_pool()._processes)


async def test_every_level_thinks_in_another_process(position):
    game, state, seat = position
    for level in Level:
        move = game.load_move(await thinking.choose(game.slug, level, game.view(state, seat)))
        assert move in game.legal_moves(state, seat)
    move = game.load_move(await thinking.choose_timeout(game.slug, state, seat))
    assert move in game.legal_moves(state, seat)
    assert pids()
    assert os.getpid() not in pids()


async def test_a_child_that_dies_is_replaced_and_all_thoughts_are_thought(position, caplog):
    """Several wait when it dies: each of them is answered, and one new child is made for all."""
    game, state, seat = position
    view = game.view(state, seat)
    await thinking.choose(game.slug, Level.EASY, view)
    for _ in range(2):
        caplog.clear()
        killed = pids()
        waiting = [asyncio.ensure_future(thinking.choose(game.slug, Level.MEDIUM, view)) for _ in range(8)]
        await asyncio.sleep(0)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        for move in await asyncio.gather(*waiting):
            assert game.load_move(move) in game.legal_moves(state, seat)
        await thinking.choose(game.slug, Level.EASY, view)
        assert not pids() & killed
        assert caplog.text.count("starting another") <= 1


async def test_a_pool_that_broke_is_given_up_once(position):
    game, state, seat = position
    await thinking.choose(game.slug, Level.EASY, game.view(state, seat))
    broken = thinking._get_pool()
    thinking._give_up(broken)
    fresh = thinking._get_pool()
    thinking._give_up(broken)
    assert thinking._get_pool() is fresh
