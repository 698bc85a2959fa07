"""The only thing that acts on time: what is due is done once, by one clock, and nobody is charged for an outage."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random

import msgspec
import pytest
from channels.db import database_sync_to_async
from django.core.management import CommandError, call_command
from django.db import DatabaseError, OperationalError, connection
from django.utils import timezone

from apps.games import registry
from apps.games.kernel.timing import TIMEOUTS_TO_STAND_IN
from apps.tables import clock, live, moves, services, thinking
from apps.tables.models import Event, EventKind, Heartbeat, MadeBy, Match, Move, Seat, Table
from tests.games.high_low.positions import position
from tests.tables.pages import SHORT, code_of, do, eventually, open_async, open_table, soon
from tests.tables.records import move_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

load = database_sync_to_async(live.load)
elsewhere = database_sync_to_async(move_elsewhere)
SECOND = timedelta(seconds=1)


def lease(now=None):
    return services.lease_due(now=now or timezone.now(), life=clock.LEASE, limit=clock.AT_ONCE)


take = database_sync_to_async(lease)


async def set_match(**fields):
    await database_sync_to_async(Match.objects.update)(**fields)
    live.cache.clear()


async def rows(query):
    return await database_sync_to_async(lambda: list(query()))()


@pytest.fixture
async def versus(visitors, slug):
    """(browser, address) of a match against a CPU, whose turn it is."""
    ada = visitors()
    address = await open_async(ada, slug, mode="computer", cpus="1", level="easy")
    while 1 not in (await load(code_of(address))).to_act:
        await elsewhere(code_of(address))
    await set_match(next_cpu_at=timezone.now() - SECOND)
    return ada, address


@pytest.fixture
async def timed(visitors, slug):
    """(browsers, address) of a match of two with half a minute a turn."""
    browsers = [visitors(), visitors()]
    address = await open_async(browsers[0], slug, mode="link", seconds="30")
    await do(browsers[1], address, "sit", name="Bo")
    await do(browsers[0], address, "start")
    return browsers, address


# ── what is due ────────────────────────────────────────────────────────────────


async def test_what_is_due_is_given_to_one_clock(versus):
    _, address = versus
    assert await take() == [code_of(address)]
    assert await take() == []
    assert await take(timezone.now() + clock.LEASE - SECOND) == []


async def test_what_a_killed_clock_had_taken_comes_up_again(versus, later):
    _, address = versus
    assert await take() == [code_of(address)]
    later.go(seconds=clock.LEASE.total_seconds() + 1)
    assert await take() == [code_of(address)]
    await clock.act(code_of(address))
    assert await cpu_moved()


async def test_a_move_gives_the_lease_back(versus):
    _, address = versus
    code = code_of(address)
    await take()
    await clock.act(code)
    match = (await rows(Match.objects.all))[0]
    assert match.leased_until is None


async def test_two_clocks_on_one_table_make_one_move(versus, settings):
    settings.CPU_PACE_SECONDS = 60
    _, address = versus
    table = await load(code_of(address))
    await asyncio.gather(*(clock.act(code_of(address)) for _ in range(5)))
    made = await rows(lambda: Move.objects.filter(made_by=MadeBy.CPU))
    assert len(made) == 1
    assert (await load(code_of(address))).version == table.version + 1


async def test_what_is_not_due_is_left_alone(versus):
    _, address = versus
    await set_match(next_cpu_at=timezone.now() + 5 * SECOND)
    assert await take() == []
    version = (await load(code_of(address))).version
    await clock.act(code_of(address))
    assert (await load(code_of(address))).version == version


def test_clocks_share_what_is_due(client, slug):
    for _ in range(12):
        open_table(client, slug, mode="computer", cpus="1", level="easy")
    Match.objects.update(next_cpu_at=timezone.now() - SECOND)

    def some(_):
        try:
            return services.lease_due(now=timezone.now(), life=clock.LEASE, limit=2)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = [code for codes in pool.map(some, range(8)) for code in codes]
    assert len(taken) == len(set(taken)), "nothing twice"
    assert set(taken) <= {table.code for table in Table.objects.all()}
    while more := lease():
        assert not set(more) & set(taken)
        taken += more
    assert len(taken) == 12


async def test_a_cpu_takes_a_human_pace(versus, settings):
    settings.CPU_PACE_SECONDS = 1.5
    _, address = versus
    while True:
        await elsewhere(code_of(address))
        live.cache.clear()
        table = await load(code_of(address))
        if 0 in table.to_act:
            break
    before = timezone.now()
    wish = moves.Wish(
        code=table.code,
        move=table.game.dump_move(table.game.legal_moves(table.match.state, 0)[0]),
        version=table.match.prompts[0],
        user_id=table.seats[0].user_id,
    )
    after = await moves.make_move(wish)
    if 1 in after.to_act:
        assert timedelta(seconds=1) < after.match.next_cpu_at - before < timedelta(seconds=3)
    else:
        assert after.match.next_cpu_at is None


async def test_cpus_play_at_their_level(versus, monkeypatch):
    """Each by its own, a stand-in as Medium (G-5, G-13); and from a view, never from a state."""
    asked = []

    async def choose(slug, level, view):
        asked.append((level, view))
        return thinking.choose_now(slug, level, view, 1, 1)

    monkeypatch.setattr(thinking, "choose", choose)
    _, address = versus
    for level in ("easy", "hard"):
        await database_sync_to_async(Seat.objects.filter(index=1).update)(cpu_level=level)
        while 1 not in (table := await load(code_of(address))).to_act:
            await elsewhere(code_of(address))
        await clock._play_cpu(table)
    await database_sync_to_async(services.let_stand_in)(code=code_of(address), index=0)
    while 0 not in (table := await load(code_of(address))).to_act:
        await elsewhere(code_of(address))
    await clock._play_cpu(table)
    assert [level for level, _ in asked] == ["easy", "hard", "medium"]
    assert all(type(view) is type(table.game.view(table.match.state, 0)) for _, view in asked)


# ── time-outs ──────────────────────────────────────────────────────────────────


async def test_the_time_of_a_turn_starts_anew_with_every_decision(timed):
    """G-4."""
    _, address = timed
    deadlines = []
    for _ in range(3):
        table = await load(code_of(address))
        seat = min(table.to_act)
        move = table.game.dump_move(table.game.legal_moves(table.match.state, seat)[0])
        before = timezone.now()
        wish = moves.Wish(
            code=table.code, move=move, version=table.match.prompts[seat], user_id=table.seats[seat].user_id
        )
        after = await moves.make_move(wish)
        assert timedelta(seconds=29) < after.match.deadline_at - before < timedelta(seconds=32)
        deadlines.append(after.match.deadline_at)
    assert deadlines == sorted(set(deadlines))


async def test_without_a_limit_nothing_runs_out(visitors, slug):
    ada = visitors()
    await open_async(ada, slug, mode="same_device", names=["Ada", "Bo"])
    match = (await rows(Match.objects.all))[0]
    assert (match.deadline_at, match.next_cpu_at) == (None, None)


async def test_a_time_out_makes_the_games_own_move(timed):
    _, address = timed
    table = await load(code_of(address))
    seat = min(table.to_act)
    await set_match(deadline_at=timezone.now() - SECOND)
    assert await take() == [code_of(address)]
    await clock.act(code_of(address))
    made = await rows(Move.objects.all)
    first = table.game.timeout_move(table.match.state, seat, Random(1))
    assert (made[0].seat, made[0].made_by) == (seat, MadeBy.CLOCK)
    assert table.game.load_move(moves_json(made[0])) in table.game.legal_moves(table.match.state, seat)
    assert type(table.game.load_move(moves_json(made[0]))) is type(first)
    after = await load(code_of(address))
    assert (after.seats[seat].timeouts, after.seats[seat].stand_in) == (1, False)


def moves_json(move):
    return msgspec.json.encode(move.move)


async def test_two_time_outs_in_a_row_bring_a_stand_in(timed, enter):
    """G-5; and it is said."""
    _, address = timed
    watcher = await enter(None, address)
    code = code_of(address)
    seat = min((await load(code)).to_act)
    name = (await load(code)).seats[seat].name
    outs = 0
    while outs < TIMEOUTS_TO_STAND_IN:
        assert not (await load(code)).seats[seat].stand_in
        if seat in (await load(code)).to_act:
            await set_match(deadline_at=timezone.now() - SECOND)
            await clock.act(code)
            outs += 1
        else:
            await elsewhere(code)
    assert (await load(code)).seats[seat].stand_in
    await watcher.until(lambda page: f"The computer is playing for {name}." in page.announced)
    assert watcher.announced.count(f"Time is up for {name}.") >= TIMEOUTS_TO_STAND_IN


async def test_a_move_of_ones_own_in_between_counts_from_the_beginning(timed):
    _, address = timed
    code = code_of(address)
    seat = min((await load(code)).to_act)
    for number in range(4):
        while seat not in (table := await load(code)).to_act:
            await elsewhere(code)
        live.cache.clear()
        if number % 2:
            move = table.game.dump_move(table.game.legal_moves(table.match.state, seat)[0])
            version = table.match.prompts[seat]
            await moves.make_move(moves.Wish(code=code, move=move, version=version, user_id=table.seats[seat].user_id))
        else:
            await clock._move_for(table, seat)
        assert (await load(code)).seats[seat].timeouts == (0 if number % 2 else 1)


async def test_a_late_clock_does_not_move_for_whoever_was_faster(timed, monkeypatch):
    _, address = timed
    code = code_of(address)
    table = await load(code)
    seat = min(table.to_act)
    wish = moves.Wish(
        code=code,
        move=table.game.dump_move(table.game.legal_moves(table.match.state, seat)[0]),
        version=table.match.prompts[seat],
        user_id=table.seats[seat].user_id,
    )

    async def think(job, *arguments):
        await moves.make_move(wish)
        return job(*arguments)

    monkeypatch.setattr(thinking, "_think", think)
    await set_match(deadline_at=timezone.now() - SECOND)
    await clock.act(code)
    assert [move.made_by for move in await rows(Move.objects.all)] == [MadeBy.PLAYER]


@pytest.fixture
async def placed(visitors):
    """``await placed(position)``: a High-Low match that stands so; its code."""

    async def place(state):
        ada = visitors()
        names = ["Ada", "Bo", "Cleo"][: len(state.scores)]
        address = await open_async(ada, "high-low", mode="same_device", names=names)
        game = registry.get("high-low")
        prompts = [1 if seat == state.turn else None for seat in range(len(state.scores))]
        await set_match(state=game.dump_state(state), prompts=prompts, deadline_at=timezone.now() - SECOND)
        return code_of(address)

    return place


async def test_a_time_out_banks_a_streak(placed):
    """HL-16: it destroys no points."""
    code = await placed(position("7D", "KS", streak=3))
    await clock.act(code)
    assert (await load(code)).match.state.scores == (3, 0)


async def test_a_time_out_without_a_streak_guesses_once(placed):
    """HL-16, HL-10: no free pass."""
    code = await placed(position("4D", "KS QS"))
    await clock.act(code)
    table = await load(code)
    assert (table.match.move_count, table.match.state.streak, table.match.state.turn) == (1, 1, 0)


async def test_a_time_out_goes_on_while_the_next_move_is_forced(placed):
    """G-4: a king asks nothing of whoever sits alone; and one time-out is one time-out."""
    code = await placed(position("8D", "KS 2C 9H", scores=(0,)))
    await clock.act(code)
    table = await load(code)
    assert [move.made_by for move in await rows(Move.objects.all)] == [MadeBy.CLOCK] * 2
    assert table.match.state.current == "2C"
    assert (table.seats[0].timeouts, table.seats[0].stood_in) == (1, 2)
    assert not table.seats[0].stand_in


# ── outages ────────────────────────────────────────────────────────────────────


def beat(ago):
    Heartbeat.objects.update_or_create(name="clock", defaults={"at": timezone.now() - ago})


def times():
    match = Match.objects.get()
    return match.deadline_at, match.next_cpu_at, Seat.objects.get(index=0).away_since


def test_an_outage_is_charged_to_nobody(client, slug):
    open_table(client, slug, mode="same_device")
    now = timezone.now()
    Match.objects.update(deadline_at=now + 3 * SECOND, next_cpu_at=now + SECOND)
    Seat.objects.update(away_since=now - 20 * SECOND)
    before = times()
    beat(timedelta(minutes=2))
    gap = clock.excuse_outage(timezone.now())
    assert timedelta(minutes=2) <= gap < timedelta(minutes=2, seconds=20)
    assert times() == tuple(at + gap for at in before)
    assert clock.excuse_outage(timezone.now()) == timedelta(0), "once"
    assert times() == tuple(at + gap for at in before)


def test_what_does_not_run_does_not_begin_to(client, slug):
    open_table(client, slug, mode="same_device")
    beat(timedelta(minutes=2))
    clock.excuse_outage(timezone.now())
    assert times() == (None, None, None)


@pytest.mark.parametrize("ago", [timedelta(0), clock.OUTAGE - SECOND, -5 * SECOND])
def test_what_is_no_outage_moves_nothing(client, slug, ago):
    open_table(client, slug, mode="same_device")
    Match.objects.update(deadline_at=timezone.now())
    before = times()
    beat(ago)
    assert clock.excuse_outage(timezone.now()) == timedelta(0)
    assert times() == before


def test_the_first_clock_of_all_excuses_nothing(client, slug):
    open_table(client, slug, mode="same_device")
    Match.objects.update(deadline_at=timezone.now())
    before = times()
    assert clock.excuse_outage(timezone.now()) == timedelta(0)
    assert times() == before
    assert Heartbeat.objects.get().name == "clock"


def test_of_many_clocks_one_excuses(client, slug):
    open_table(client, slug, mode="same_device")
    Match.objects.update(deadline_at=timezone.now())
    before = times()[0]
    beat(timedelta(minutes=10))

    def excuse(_):
        try:
            return clock.excuse_outage(timezone.now())
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        gaps = [gap for gap in pool.map(excuse, range(6)) if gap]
    assert len(gaps) == 1
    assert times()[0] == before + gaps[0]


async def test_pages_are_told_of_the_time_that_is_given_back(timed, enter):
    _, address = timed
    page = await enter(None, address)
    assert 'data-left="' in page.regions["dock"]
    await database_sync_to_async(beat)(timedelta(minutes=2))
    await database_sync_to_async(clock.excuse_outage)(timezone.now())
    await page.until(lambda page: int(page.regions["dock"].split('data-left="')[1].split('"')[0]) > 60_000)


@pytest.mark.usefixtures("timed")
async def test_nothing_is_done_before_an_outage_is_made_good():
    """The deadline passed while no clock was there: nobody runs out of time by that."""
    await set_match(deadline_at=timezone.now() - timedelta(minutes=1))
    await database_sync_to_async(beat)(timedelta(minutes=2))
    rounds = clock.Rounds()
    await rounds.go()
    await asyncio.gather(*rounds._acting)
    assert not await rows(Move.objects.all)
    await set_match(deadline_at=timezone.now() - SECOND)
    await rounds.go()
    await asyncio.gather(*rounds._acting)
    assert await rows(Move.objects.all)


# ── failures ───────────────────────────────────────────────────────────────────


class Told(asyncio.Event):
    """An event that may be set in any thread."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.get_running_loop() if asyncio._get_running_loop() else None

    def set(self):
        if self.loop:
            self.loop.call_soon_threadsafe(super().set)


async def cpu_moved():
    return await database_sync_to_async(Move.objects.filter(made_by=MadeBy.CPU).exists)()


class Failing:
    """Fails until told otherwise."""

    def __init__(self, error, otherwise=lambda *args, **kwargs: None):
        self.error, self.otherwise, self.calls = error, otherwise, 0
        self.five_times = Told()

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == 5:
            self.five_times.set()
        if self.error:
            raise self.error
        return self.otherwise(*args, **kwargs)


@pytest.mark.usefixtures("versus")
@pytest.mark.parametrize("error", [OperationalError("gone"), DatabaseError("x"), KeyError("a bug")])
async def test_the_clock_outlives_a_database_that_is_away(monkeypatch, ticking, error, caplog):
    failing = Failing(error, services.lease_due)
    monkeypatch.setattr(services, "lease_due", failing)
    async with ticking() as running:
        await soon(failing.five_times)
        assert not running.done()
        failing.error = None
        await eventually(cpu_moved)
    assert len([record for record in caplog.records if record.name == "apps.tables.clock"]) == 1, "told once a minute"


@pytest.mark.usefixtures("versus")
async def test_without_a_heartbeat_nothing_is_done(monkeypatch, ticking):
    """It could not be said how long nobody was there."""
    failing = Failing(OperationalError("gone"), clock.excuse_outage)
    monkeypatch.setattr(clock, "excuse_outage", failing)
    async with ticking():
        await soon(failing.five_times)
        assert not await cpu_moved()
        failing.error = None
        await eventually(cpu_moved)


async def test_one_job_that_fails_holds_up_no_other(monkeypatch, caplog):
    done = []
    jobs = [
        clock.Job(name="bad", every=SECOND, run=Failing(ValueError("a bug"))),
        clock.Job(name="good", every=SECOND, run=done.append),
    ]
    monkeypatch.setattr(clock, "_jobs", jobs)
    rounds = clock.Rounds()
    for _ in range(3):
        await rounds.go()
    assert len(done) == 1, "every second"
    assert jobs[0].run.calls == 3, "as soon as may be"
    assert [record.levelno for record in caplog.records if record.name == "apps.tables.clock"] == [logging.ERROR]


async def test_jobs_are_done_in_their_time(monkeypatch, later):
    done = []
    monkeypatch.setattr(clock, "_jobs", [clock.Job(name="job", every=timedelta(minutes=10), run=done.append)])
    rounds = clock.Rounds()
    for minutes in (0, 5, 4, 2, 9, 2):
        later.go(minutes=minutes)
        await rounds.go()
    assert len(done) == 3


@pytest.mark.usefixtures("versus")
@pytest.mark.parametrize("error", [DatabaseError("gone"), RuntimeError("a bug in a bot")])
async def test_a_cpu_that_cannot_think_is_tried_again(monkeypatch, later, error, caplog):
    failing = Failing(error, thinking.choose_now)

    async def think(job, *arguments):
        return failing(*arguments)

    monkeypatch.setattr(thinking, "_think", think)
    rounds = clock.Rounds()
    await rounds.go()
    await asyncio.gather(*rounds._acting)
    await rounds.go()
    assert failing.calls == 1, "not at every tick"
    failing.error = None
    await database_sync_to_async(Heartbeat.objects.all().delete)()
    later.go(seconds=clock.LEASE.total_seconds() + 1)
    rounds = clock.Rounds()
    await rounds.go()
    await asyncio.gather(*rounds._acting)
    assert await cpu_moved()
    seed = (await rows(Match.objects.all))[0].seed
    assert bytes(seed).hex() not in caplog.text


@pytest.mark.usefixtures("versus")
async def test_a_clock_that_is_stopped_leaves_nothing_running(monkeypatch, ticking):
    monkeypatch.setattr(clock, "FINISH_SECONDS", 0.01)
    started, ended = asyncio.Event(), asyncio.Event()

    async def think(job, *arguments):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(thinking, "_think", think)
    async with ticking():
        await soon(started)
    await soon(ended)


async def test_a_cpu_that_thinks_long_keeps_nobody_waiting(versus, monkeypatch, enter):
    """The socket answers, its end is noticed at once, and the thought lands once."""
    ada, address = versus
    started, go_on = asyncio.Event(), asyncio.Event()

    async def think(job, *arguments):
        started.set()
        await go_on.wait()
        return job(*arguments)

    monkeypatch.setattr(thinking, "_think", think)
    page, other = await enter(ada, address), await enter(None, address)
    acting = asyncio.create_task(clock.act(code_of(address)))
    await soon(started)
    await page.send(move="{}", version="1")
    assert await page.refusal() == "bad-message"
    await page.settle()
    await page.close()
    assert page.line.future.done()
    version = other.forms.version
    go_on.set()
    await acting
    await other.at(version + 1)
    assert len(await rows(lambda: Move.objects.filter(made_by=MadeBy.CPU))) == 1


# ── jobs and command ───────────────────────────────────────────────────────────


def test_the_clocks_jobs_are_registered_once():
    names = [job.name for job in clock._jobs]
    assert {"presence", "expiry", "guests"} <= set(names)
    assert len(names) == len(set(names))
    for job in clock._jobs:
        job.run(timezone.now())


def test_tables_by_link_expire_after_a_week(client, slug, later):
    """G-7; those on one screen and against the computer stay."""
    link = open_table(client, slug, mode="link")
    started = open_table(client, slug, mode="link")
    open_table(client, slug, mode="same_device")
    open_table(client, slug, mode="computer", cpus="1")
    if registry.get(slug).seats.start == 1:
        client.post(f"{started}start/")
    later.go(days=6, hours=23)
    clock.expire_tables(timezone.now())
    assert not Table.objects.exclude(expired_at=None).exists()
    version = Table.objects.get(code=code_of(link)).version
    later.go(hours=2)
    clock.expire_tables(timezone.now())
    assert {table.code for table in Table.objects.exclude(expired_at=None)} == {code_of(link), code_of(started)}
    assert Table.objects.get(code=code_of(link)).version == version + 1
    assert not Match.objects.live().filter(table__expired_at__isnull=False).exists()


def test_a_clock_of_its_own_needs_a_layer_that_others_hear(world, monkeypatch, capsys):
    if world.shared:
        ran = []

        async def run():
            ran.append(True)

        monkeypatch.setattr(clock, "run", run)
        call_command("clock")
        assert ran
    else:
        with pytest.raises(CommandError, match="REDIS_URL"):
            call_command("clock")


def test_time_goes_by_in_utc_and_nowhere_else(client, slug):
    open_table(client, slug, mode="same_device", **SHORT)
    assert Match.objects.get().started_at.tzinfo is not None
    assert Event.objects.get(kind=EventKind.STARTED).happened_at.utcoffset() == timedelta(0)
