"""The one path of a move, whoever makes it: parse, rules, journal, publish (design: the move path)."""

import logging
from datetime import datetime
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.games.kernel.errors import IllegalMove, Refusal
from apps.games.kernel.game import Mode
from apps.tables import live as tables
from apps.tables import metrics, services, turns
from apps.tables.hub import hub
from apps.tables.journal import Entry, NotWritten, journal
from apps.tables.live import LiveMatch, LiveSeat, LiveTable, LogEntry
from apps.tables.models import MadeBy, Status

logger = logging.getLogger(__name__)

LONGEST_MOVE = 200
TRIES = 5
VERSION_DIGITS = 9

_load = database_sync_to_async(tables.load)
_version_of = database_sync_to_async(tables.version_of)
_mark_back = database_sync_to_async(services.mark_back)


class Wish(msgspec.Struct, frozen=True):
    """A move as somebody asks for it: not yet known to be theirs, current or legal."""

    code: str
    move: str | bytes
    version: str | int
    made_by: str = MadeBy.PLAYER
    user_id: int | None = None
    seat: int | None = None
    """Set when the clock speaks for a seat; a person's seat follows from who they are."""
    forced: bool = False
    """The only move there was after a time-out's: it is made with it and is no time-out of its own (G-4)."""


async def current_table(code: str) -> LiveTable:
    """The table as this process last knew it, else as the database has it. Raises Refusal."""
    table = tables.cache.get(code) or await _load(code)
    if table is None:
        raise Refusal("no-such-table")
    table = tables.cache.put(table)
    if table.expired:
        raise Refusal("expired")
    return table


async def newest_table(code: str) -> LiveTable:
    """The table at the version that the database has, whatever this process failed to hear. Raises Refusal."""
    known = tables.cache.get(code)
    if known is not None and known.version != await _version_of(code):
        tables.cache.drop(code)
    return await current_table(code)


async def make_move(wish: Wish) -> LiveTable:
    """Make this move, durably, and tell everybody. Raises Refusal and changes nothing if it may not be made.

    Once begun it goes on even if whoever asked hangs up: what is durable is always told.
    """
    version = _parse_version(wish.version)
    if len(wish.move) > LONGEST_MOVE:
        raise Refusal("bad-message")
    return await hub().finish(_make(wish, version))


async def _make(wish: Wish, version: int) -> LiveTable:
    async with hub().lock(wish.code):
        for _ in range(TRIES):
            table = await _table_for(wish)
            try:
                entry, after = decide(table, wish, version, now=timezone.now())
            except Refusal:
                if await _version_of(wish.code) == table.version:
                    raise
                # What this process remembers is behind: nobody is refused by that.
                tables.cache.drop(wish.code)
                continue
            if not await _write(entry):
                tables.cache.drop(wish.code)
                continue
            metrics.MOVES.labels(wish.made_by).inc()
            if entry.outcome:
                return await publish_again(wish.code)
            tables.cache.put(after)
            hub().publish(after)
            return after
    raise Refusal("stale")


async def _write(entry: Entry) -> bool:
    try:
        return await journal().write(entry)
    except NotWritten:
        raise Refusal("unavailable") from None


def _parse_version(raw: str | int) -> int:
    if isinstance(raw, int):
        return raw
    if not (raw.isascii() and raw.isdigit() and len(raw) <= VERSION_DIGITS):
        raise Refusal("bad-message")
    return int(raw)


async def _table_for(wish: Wish) -> LiveTable:
    """The table, with the person who moves back in their seat if a stand-in had it."""
    table = await current_table(wish.code)
    if wish.made_by != MadeBy.PLAYER or wish.user_id is None or not table.playing or not table.misses(wish.user_id):
        return table
    await _mark_back(code=wish.code, user_id=wish.user_id)
    tables.cache.drop(wish.code)
    return await current_table(wish.code)


def decide(table: LiveTable, wish: Wish, version: int, *, now: datetime) -> tuple[Entry, LiveTable]:
    """The journal entry of this move and the table after it, in memory. Raises Refusal."""
    match = table.match
    game = table.game
    move = game.load_move(wish.move)
    seat = _seat_to_move(table, wish)
    if match is None or not table.playing:
        raise Refusal("finished" if match else "stale")
    _check_decision(table, match, seat, version)
    _check_hand(table, seat, wish)
    if move not in game.legal_moves(match.state, seat):
        raise IllegalMove("illegal")
    state = game.play(match.state, seat, move)
    changes = _seat_changes(table.seats[seat], wish)
    after, moved = _after(table, match, seat, state, changes, now=now)
    events = game.events(match.state, seat, move, state, None)
    entry = Entry(
        table_id=table.id,
        match_id=match.id,
        version=after.version,
        number=moved.move_count,
        seat=seat,
        move=game.dump_move(move),
        made_by=wish.made_by,
        events=game.dump_events(events),
        state=game.dump_state(state),
        prompts=moved.prompts,
        deadline_at=moved.deadline_at,
        next_cpu_at=moved.next_cpu_at,
        seat_changes=changes,
        outcome=game.outcome(state),
    )
    log = LogEntry(version=after.version, seat=seat, kind=wish.made_by, events=events)
    return entry, _with_log(after, log)


def _seat_to_move(table: LiveTable, wish: Wish) -> int:
    """Whose move this is: of the seats of one browser, the one that is asked."""
    if wish.seat is not None:
        return wish.seat
    held = table.seats_of(wish.user_id)
    if not held:
        raise Refusal("not-seated")
    return next((seat for seat in held if seat in table.to_act), held[0])


def _check_decision(table: LiveTable, match: LiveMatch, seat: int, version: int) -> None:
    """The version must be one at which this very decision was before this seat."""
    if seat not in table.to_act:
        raise Refusal("not-your-turn" if version == table.version else "stale")
    asked = match.prompts[seat]
    if asked is None or not asked <= version <= table.version:
        raise Refusal("stale")


def _check_hand(table: LiveTable, seat: int, wish: Wish) -> None:
    """What a CPU thought of is not played once the match waits, or the person is back in their seat (G-5, G-7)."""
    if wish.made_by == MadeBy.PLAYER:
        return
    if table.paused or table.seats[seat].automatic == (wish.made_by == MadeBy.CLOCK):
        raise Refusal("stale")


def _seat_changes(seat: LiveSeat, wish: Wish) -> dict[str, Any]:
    """What a move says about whoever holds the seat: time-outs in a row, moves made for somebody (G-5)."""
    if wish.made_by == MadeBy.PLAYER:
        return {"timeouts": 0, "stood_in": 0} if seat.timeouts or seat.stood_in else {}
    if wish.made_by == MadeBy.STAND_IN and seat.person:
        return {"stood_in": seat.stood_in + 1}
    if wish.made_by == MadeBy.CLOCK:
        return {"timeouts": seat.timeouts + (not wish.forced), "stood_in": seat.stood_in + 1}
    return {}


def _after(
    table: LiveTable,
    match: LiveMatch,
    seat: int,
    state: Any,
    changes: dict[str, Any],
    *,
    now: datetime,
) -> tuple[LiveTable, LiveMatch]:
    """Table and match once the seat has moved to ``state``."""
    game = table.game
    version = table.version + 1
    seats = tuple(
        msgspec.structs.replace(each, **changes) if each.index == seat and changes else each for each in table.seats
    )
    asked = game.to_act(state)
    waiting = game.waits and table.mode == Mode.LINK and any(each.away_since for each in seats)
    prompts = turns.prompts(game, state, seats=len(seats), version=version, before=(match.state, match.prompts, seat))
    shared = any(prompts[each] == match.prompts[each] for each in asked)
    moved = msgspec.structs.replace(
        match,
        state=state,
        move_count=match.move_count + 1,
        prompts=prompts,
        deadline_at=turns.deadline(
            asked=asked,
            automatic=lambda index: seats[index].automatic,
            seconds=0 if waiting else table.seconds,
            now=now,
            kept=match.deadline_at if shared else None,
        ),
        next_cpu_at=turns.next_cpu(
            asked=asked,
            automatic=lambda index: seats[index].automatic,
            now=now,
            pace=settings.CPU_PACE_SECONDS,
        ),
    )
    status = table.status if asked else Status.FINISHED
    return msgspec.structs.replace(table, version=version, seats=seats, match=moved, status=status), moved


def _with_log(table: LiveTable, *entries: LogEntry) -> LiveTable:
    return msgspec.structs.replace(table, log=(*table.log, *entries)[-tables.LOG_LENGTH :])


async def publish_again(code: str) -> LiveTable:
    """Read the table afresh and show it to everybody: for changes that were not made on this path."""
    tables.cache.drop(code)
    table = await current_table(code)
    hub().publish(table)
    return table
