"""A client that knows no rules finishes matches by choosing forms: every game, mode and number of seats."""

import asyncio
from contextlib import nullcontext
from random import Random

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient

from apps.games import registry
from apps.games.kernel.game import Mode
from apps.games.kernel.record import replay
from apps.tables.models import MadeBy, Match, Status
from apps.tables.selectors import record_of
from tests.tables.pages import SHORT, do, forms, open_async, play

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

MOST_MOVES = 3000


def every_way_to_sit():
    """(game, mode, people, CPUs): every number of seats in every mode, and people and CPUs at one table."""
    for game in registry.all_games():
        for seats in game.seats:
            ways = [(Mode.LINK, seats, 0), (Mode.SAME_DEVICE, seats, 0), (Mode.COMPUTER, 1, seats - 1)]
            mixed = [(Mode.LINK, 2, seats - 2)] if seats > 2 else []
            for mode, people, cpus in ways + mixed:
                if mode in game.modes:
                    yield pytest.param(game.slug, mode, people, cpus, id=f"{game.slug}-{mode}-{people}-{cpus}")


@pytest.fixture(autouse=True)
def sizes(world, slug, people, cpus):
    """Every number of seats in one world, the fewest and the most in the other: what differs is below the rules."""
    seats = registry.get(slug).seats
    if world.shared and people + cpus not in {seats.start, seats.stop - 1}:
        pytest.skip("played in the other world")


every_way = pytest.mark.parametrize(("slug", "mode", "people", "cpus"), list(every_way_to_sit()))


async def sit_down(slug: str, mode: Mode, people: int, cpus: int) -> tuple[list[AsyncClient], str]:
    """Browsers and the address of their table, its match begun."""
    browsers = [AsyncClient() for _ in range(people if mode == Mode.LINK else 1)]
    names = [f"Ada {number}" for number in range(people)]
    fields = {"mode": mode.value, "names": names, "cpus": cpus, "level": "easy"} | SHORT
    address = await open_async(browsers[0], slug, **fields)
    if mode == Mode.LINK:
        for name, browser in zip(names[1:], browsers[1:], strict=True):
            assert await do(browser, address, "sit", name=name) == 303
        for _ in range(cpus):
            assert await do(browsers[0], address, "cpu", level="easy") == 303
        assert await do(browsers[0], address, "start") == 303
    return browsers, address


@every_way
async def test_by_post(slug, mode, people, cpus, ticking):
    browsers, address = await sit_down(slug, mode, people, cpus)
    async with ticking() if cpus else nullcontext():
        for number in range(MOST_MOVES):
            if await play_on(browsers[number % len(browsers)], address, Random(number)):
                break
    await check(people, cpus)


async def play_on(browser: AsyncClient, address: str, rng: Random) -> bool:
    """Load the page and choose while there is anything to choose; whether the match is over."""
    while (page := forms((await browser.get(address)).content)).moves:
        form = rng.choice(page.moves)
        answer = await browser.post(form["action"], {"move": form["move"], "version": form["version"]})
        assert answer.status_code == 303, forms(answer.content).refused
    return page.over


@every_way
async def test_by_socket(slug, mode, people, cpus, enter, ticking):
    browsers, address = await sit_down(slug, mode, people, cpus)
    pages = [await enter(browser, address) for browser in browsers]
    watcher = await enter(None, address)
    async with ticking() if cpus else nullcontext():
        await asyncio.gather(*(play(page, Random(number)) for number, page in enumerate(pages)))
    await watcher.until(lambda page: page.forms.over)
    assert not any(notice for page in pages for notice in page.notices)
    assert {page.forms.version for page in [*pages, watcher]} == {watcher.forms.version}
    await check(people, cpus)


@database_sync_to_async
def check(people: int, cpus: int) -> None:
    """What is true of every finished match: its record is whole, and replays to the stored state."""
    match = Match.objects.select_related("table").get()
    game = registry.get(match.game)
    moves = list(match.moves.all())
    assert [move.number for move in moves] == list(range(1, match.move_count + 1))
    versions = [move.version for move in moves]
    assert versions == sorted(set(versions))
    state = replay(game, record_of(match))
    assert game.dump_state(state) == bytes(match.state)
    outcome = game.outcome(state)
    took_part = list(match.participants.all())
    assert tuple(person.score for person in took_part) == outcome.scores
    assert tuple(person.place for person in took_part) == outcome.places
    assert (match.table.status, match.table.version) == (Status.FINISHED, versions[-1])
    assert match.finished_at is not None
    assert match.deadline_at is match.next_cpu_at is match.leased_until is None
    made = {move.made_by for move in moves}
    assert made == ({MadeBy.PLAYER, MadeBy.CPU} if cpus else {MadeBy.PLAYER})
    assert match.seat_count == people + cpus
