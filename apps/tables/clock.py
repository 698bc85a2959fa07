"""The only thing that acts on time: deadlines, CPU moves, stand-ins, pauses, expiry.

Everything it needs is in the database, so several may run and any may be killed. What is due is
leased for a moment, so that two clocks do not think about the same move.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from apps.games.kernel.errors import Refusal
from apps.games.kernel.game import Level, Mode
from apps.games.kernel.timing import STAND_IN_AFTER_SECONDS, TIMEOUTS_TO_STAND_IN
from apps.tables import presence, services, thinking
from apps.tables.live import LiveTable
from apps.tables.models import Heartbeat, MadeBy, Match, Seat
from apps.tables.moves import Wish, current_table, make_move, publish_again

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.2
LEASE = timedelta(seconds=15)
AT_ONCE = 50
OUTAGE = timedelta(seconds=5)
"""A heartbeat older than this means that no clock was there."""


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
    """Act until cancelled. A failure is logged and the next tick tries again."""
    next_at: dict[str, datetime] = {}
    tasks: set[asyncio.Task[None]] = set()
    await database_sync_to_async(excuse_outage)(timezone.now())
    while True:
        now = timezone.now()
        try:
            for code in await _lease(now=now, life=LEASE, limit=AT_ONCE):
                task = asyncio.create_task(act(code))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            for job in _jobs:
                if next_at.get(job.name, now) <= now:
                    next_at[job.name] = now + job.every
                    await database_sync_to_async(job.run)(now)
        except DatabaseError as error:
            logger.warning("the clock could not reach the database: %s", type(error).__name__)
        await asyncio.sleep(settings.CLOCK_TICK_SECONDS)


_lease = database_sync_to_async(services.lease_due)


# ── one table that is due ──────────────────────────────────────────────────────


async def act(code: str) -> None:
    """Do what is due at one table. Refusals mean that somebody was faster."""
    try:
        table = await current_table(code)
        if not await _act(table, timezone.now()):
            await database_sync_to_async(services.release)(code=code)
            await publish_again(code)
    except Refusal as refusal:
        logger.info("nothing to do at table=%s: %s", code, refusal.code)
    except DatabaseError as error:
        logger.warning("table=%s is tried again: %s", code, type(error).__name__)


async def _act(table: LiveTable, now: datetime) -> bool:
    match = table.match
    if match is None or not table.playing:
        return False
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
    while after.match and seat in after.to_act and len(forced := after.game.legal_moves(after.match.state, seat)) == 1:
        after = await make_move(_wish(after, seat, after.game.dump_move(forced[0]), MadeBy.CLOCK))
    return after


def _wish(table: LiveTable, seat: int, move: bytes, made_by: str) -> Wish:
    version = table.match.prompts[seat] if table.match else None
    if version is None:
        raise Refusal("stale")
    return Wish(code=table.code, move=move, version=version, made_by=made_by, seat=seat)


# ── jobs ───────────────────────────────────────────────────────────────────────


def keep_heartbeat(now: datetime) -> None:
    """Say that a clock is here, after making good the time when none was."""
    excuse_outage(now)


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
    """Notice who is away, bring stand-ins, and pause matches that nobody attends (G-5, G-7)."""
    matches = Match.objects.live().filter(paused_at=None).select_related("table")
    tables = {match.table_id: match.table for match in matches}
    seats = list(Seat.objects.filter(table__in=tables).exclude(user=None))
    here = presence.present((tables[seat.table_id].code, seat.user_id or 0) for seat in seats)
    for table in tables.values():
        people = [seat for seat in seats if seat.table_id == table.pk]
        attended = any((table.code, seat.user_id) in here for seat in people)
        if not attended and table.mode != Mode.RANKED:
            services.pause_match(code=table.code)
            continue
        for seat in people:
            _watch_seat(table.code, seat, there=(table.code, seat.user_id) in here, now=now)


def _watch_seat(code: str, seat: Seat, *, there: bool, now: datetime) -> None:
    if there or seat.user_id is None:
        return
    if seat.away_since is None:
        services.mark_away(code=code, user_id=seat.user_id, since=now)
    elif not seat.stand_in and now - seat.away_since >= timedelta(seconds=STAND_IN_AFTER_SECONDS):
        services.let_stand_in(code=code, index=seat.index)


def expire_tables(now: datetime) -> None:
    services.expire_tables(now=now)
