"""The only thing that acts on time: deadlines, CPU moves, stand-ins, pauses, expiry.

Everything it needs is in the database, so several may run and any may be killed. What is due is
leased for a moment, so that two clocks do not think about the same move.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone

from apps.games.kernel.errors import Refusal
from apps.games.kernel.game import Level, Mode
from apps.games.kernel.timing import STAND_IN_AFTER_SECONDS, TIMEOUTS_TO_STAND_IN
from apps.tables import metrics, presence, services, thinking
from apps.tables.live import LiveTable
from apps.tables.models import Heartbeat, MadeBy, Match, Seat, Table
from apps.tables.moves import Wish, make_move, newest_table, publish_again

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)
AT_ONCE = 50
OUTAGE = timedelta(seconds=5)
"""A heartbeat older than this means that no clock was there."""
JUST_PAUSED = timedelta(minutes=2)
COMPLAIN_EVERY = timedelta(minutes=1)
FINISH_SECONDS = 3
"""So long at most the end waits for moves that are being made."""


class Job(msgspec.Struct, frozen=True):
    """Something to do every so often; ``run`` is given the time."""

    name: str
    every: timedelta
    run: Callable[[datetime], object]


_jobs: list[Job] = []


def register(*, name: str, every: timedelta, run: Callable[[datetime], object]) -> None:
    """Add a job; called in an app's ``ready``."""
    _jobs.append(Job(name=name, every=every, run=run))


async def run() -> None:
    """Act until cancelled. Whatever fails is told and tried again: tables without a clock would wait for ever."""
    rounds = Rounds()
    try:
        while True:
            await rounds.go()
            await asyncio.sleep(settings.CLOCK_TICK_SECONDS)
    finally:
        await rounds.finish()


class Rounds:
    """What one clock has done when, and what it is doing."""

    def __init__(self) -> None:
        self._heartbeat = Job(name="heartbeat", every=timedelta(seconds=1), run=excuse_outage)
        self._due = Job(name="due", every=timedelta(0), run=self._lease)
        self._codes: list[str] = []
        self._next_at: dict[str, datetime] = {}
        self._told_at: dict[str, datetime] = {}
        self._acting: set[asyncio.Task[None]] = set()

    async def go(self) -> None:
        """Look once at everything. Nothing is done about time before an outage is made good."""
        if await self._do(self._heartbeat) and await self._do(self._due):
            for code in self._codes:
                task = asyncio.create_task(act(code))
                self._acting.add(task)
                task.add_done_callback(self._acting.discard)
            for job in _jobs:
                await self._do(job)

    def _lease(self, now: datetime) -> None:
        self._codes = services.lease_due(now=now, life=LEASE, limit=AT_ONCE)

    async def _do(self, job: Job) -> bool:
        """Do a job if it is time for it; whether nothing went wrong."""
        now = timezone.now()
        if self._next_at.get(job.name, now) > now:
            return True
        try:
            await database_sync_to_async(job.run)(now)
        except Exception as error:
            self._complain(job.name, error, now)
            return False
        self._next_at[job.name] = now + job.every
        return True

    def _complain(self, name: str, error: Exception, now: datetime) -> None:
        """Once a minute: what fails, fails at every tick."""
        if now - self._told_at.get(name, now - COMPLAIN_EVERY) < COMPLAIN_EVERY:
            return
        self._told_at[name] = now
        trace = None if isinstance(error, DatabaseError) else error
        logger.error("the clock's job %s failed: %s", name, type(error).__name__, exc_info=trace)

    async def finish(self) -> None:
        """Let moves being made come to their end: nobody else makes them before their lease is over."""
        if self._acting:
            _, unfinished = await asyncio.wait(self._acting, timeout=FINISH_SECONDS)
            for task in unfinished:
                task.cancel()


# ── one table that is due ──────────────────────────────────────────────────────


async def act(code: str) -> None:
    """Do what is due at one table. Refusals mean that somebody was faster."""
    try:
        # A clock shows nothing to anybody, so nobody tells it what has changed: it reads.
        table = await newest_table(code)
        if not await _act(table, timezone.now()):
            await database_sync_to_async(services.release)(code=code)
            await publish_again(code)
    except Refusal as refusal:
        await database_sync_to_async(services.release)(code=code)
        logger.debug("nothing to do: %s", refusal.code, extra={"table": code})
    except DatabaseError as error:
        logger.warning("what is due is tried again: %s", type(error).__name__, extra={"table": code})
    except Exception:
        logger.exception("what is due is tried again", extra={"table": code})


async def _act(table: LiveTable, now: datetime) -> bool:
    match = table.match
    if match is None or not table.playing:
        return False
    due = [at for at in (match.next_cpu_at, match.deadline_at) if at is not None and at <= now]
    if due:
        metrics.CLOCK_LAG.observe((now - min(due)).total_seconds())
    if match.next_cpu_at and match.next_cpu_at <= now:
        return await _play_cpu(table)
    if match.deadline_at and match.deadline_at <= now:
        return await _time_out(table)
    return False


async def _play_cpu(table: LiveTable) -> bool:
    """One move for one CPU or stand-in; a table with several to act comes up again for the next."""
    seat = next((index for index in sorted(table.to_act) if table.seats[index].automatic), None)
    if seat is None or table.match is None:
        return False
    level = table.seats[seat].cpu_level or Level.MEDIUM
    view = table.game.view(table.match.state, seat)
    move = await thinking.choose(table.slug, level, view)
    made_by = MadeBy.CPU if table.seats[seat].cpu_level else MadeBy.STAND_IN
    await make_move(_wish(table, seat, move, made_by))
    return True


async def _time_out(table: LiveTable) -> bool:
    """Make the time-out's move for everybody whose time is up (G-4)."""
    late = [index for index in sorted(table.to_act) if not table.seats[index].automatic]
    for seat in late:
        table = await _move_for(table, seat)
        if table.playing and table.seats[seat].timeouts >= TIMEOUTS_TO_STAND_IN:
            await database_sync_to_async(services.let_stand_in)(code=table.code, index=seat)
            table = await publish_again(table.code)
    return bool(late)


async def _move_for(table: LiveTable, seat: int) -> LiveTable:
    """The time-out's move, and on while the seat's next one is forced."""
    if table.match is None:
        raise Refusal("stale")
    move = await thinking.choose_timeout(table.slug, table.match.state, seat)
    after = await make_move(_wish(table, seat, move, MadeBy.CLOCK))
    while after.match and seat in after.to_act and len(only := after.game.legal_moves(after.match.state, seat)) == 1:
        after = await make_move(_wish(after, seat, after.game.dump_move(only[0]), MadeBy.CLOCK, forced=True))
    return after


def _wish(table: LiveTable, seat: int, move: bytes, made_by: str, *, forced: bool = False) -> Wish:
    version = table.match.prompts[seat] if table.match else None
    if version is None:
        raise Refusal("stale")
    return Wish(code=table.code, move=move, version=version, made_by=made_by, seat=seat, forced=forced)


# ── jobs ───────────────────────────────────────────────────────────────────────


@transaction.atomic
def excuse_outage(now: datetime) -> timedelta:
    """Move all deadlines by the time in which no clock was there; how long that was."""
    beat, created = Heartbeat.objects.select_for_update().get_or_create(name="clock", defaults={"at": now})
    gap = now - beat.at
    if not created and gap > OUTAGE:
        services.shift_deadlines(by=gap)
        logger.warning("no clock for %.0f s: deadlines moved", gap.total_seconds())
    if gap > timedelta(0):
        Heartbeat.objects.filter(pk=beat.pk).update(at=now)
    return gap if gap > OUTAGE and not created else timedelta(0)


def watch_presence(now: datetime) -> None:
    """Notice who is away or back, bring stand-ins, and pause matches that nobody attends (G-5, G-7)."""
    if not presence.is_known():
        return
    # Whoever came just as their match was paused is noticed too.
    going = Q(paused_at=None) | Q(paused_at__gt=now - JUST_PAUSED)
    matches = list(Match.objects.live().filter(going).select_related("table"))
    tables = {match.table_id: match.table for match in matches}
    paused = {match.table_id for match in matches if match.paused_at}
    people: defaultdict[int, list[Seat]] = defaultdict(list)
    for seat in Seat.objects.filter(table__in=tables).exclude(user=None):
        people[seat.table_id].append(seat)
    here = presence.present((tables[pk].code, seat.user_id or 0) for pk, seats in people.items() for seat in seats)
    for pk, table in tables.items():
        # A table that has changed meanwhile is looked at again.
        with suppress(Refusal):
            _watch_table(table, people[pk], here, paused=pk in paused, now=now)


def _watch_table(table: Table, people: list[Seat], here: set[presence.Person], *, paused: bool, now: datetime) -> None:
    attended = any((table.code, seat.user_id) in here for seat in people)
    if not attended and table.mode != Mode.RANKED:
        if not paused and not presence.present((table.code, seat.user_id or 0) for seat in people):
            services.pause_match(code=table.code)
        return
    for seat in people:
        _watch_seat(table.code, seat, there=(table.code, seat.user_id) in here, paused=paused, now=now)


def _watch_seat(code: str, seat: Seat, *, there: bool, paused: bool, now: datetime) -> None:
    if seat.user_id is None:
        return
    if there:
        if seat.away_since is not None or paused:
            services.mark_back(code=code, user_id=seat.user_id)
    elif seat.away_since is None:
        services.mark_away(code=code, user_id=seat.user_id, since=now)
    elif not seat.stand_in and now - seat.away_since >= timedelta(seconds=STAND_IN_AFTER_SECONDS):
        services.let_stand_in(code=code, index=seat.index)


def watch_hosts(now: datetime) -> None:
    """A table whose host has gone for good still gets its match started by somebody."""
    for code in Table.objects.without_host(now - timedelta(seconds=STAND_IN_AFTER_SECONDS)).values_list(
        "code", flat=True
    ):
        with suppress(Refusal):
            services.pass_host(code=code)


def expire_tables(now: datetime) -> None:
    services.expire_tables(now=now)
