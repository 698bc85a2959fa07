"""Moves become durable here: those that arrive together are committed together (design: the move path).

An entry names the version it was decided on. It is written only if table and match are still at
that version, so a move is made once or not at all, whichever process or hand made it.
"""

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from django.db import DatabaseError, OperationalError, connection, transaction
from django.utils import timezone

from apps.games.kernel.game import Outcome
from apps.tables import metrics, services
from apps.tables.models import Match, Move, Seat, Status, Table

logger = logging.getLogger(__name__)

BATCH = 64


class Entry(msgspec.Struct, frozen=True):
    """One move, with everything that changes by it."""

    table_id: int
    match_id: int
    version: int
    """The table's version this move makes."""
    number: int
    """The move's number in the match, from 1."""
    seat: int
    move: bytes
    made_by: str
    events: bytes
    state: bytes
    prompts: tuple[int | None, ...]
    deadline_at: datetime | None
    next_cpu_at: datetime | None
    seat_changes: dict[str, Any]
    outcome: Outcome | None = None


def commit(entries: Sequence[Entry]) -> list[bool]:
    """Write all entries in one transaction; False for those whose table had moved on.

    Raises DatabaseError when nothing was written.
    """
    with transaction.atomic():
        # Every process locks tables in the same order, so that none waits for another that waits for it.
        made = {entry.table_id: _advance(entry) for entry in sorted(entries, key=lambda entry: entry.table_id)}
        Move.objects.bulk_create(_row(entry) for entry in entries if made[entry.table_id])
    return [made[entry.table_id] for entry in entries]


def _advance(entry: Entry) -> bool:
    """Compare-and-set of table and match; the caller's transaction holds both."""
    now = timezone.now()
    status = {"status": Status.FINISHED} if entry.outcome else {}
    table = Table.objects.filter(pk=entry.table_id, version=entry.version - 1)
    if not table.update(version=entry.version, active_at=now, **status):
        return False
    match = Match.objects.filter(pk=entry.match_id, move_count=entry.number - 1, finished_at=None)
    moved = match.update(
        state=entry.state,
        move_count=entry.number,
        prompts=list(entry.prompts),
        deadline_at=entry.deadline_at,
        next_cpu_at=entry.next_cpu_at,
        leased_until=None,
    )
    if not moved:
        # The version said one thing and the match another: never commit half of it.
        raise DatabaseError(f"match {entry.match_id} is not at move {entry.number - 1}")
    if entry.seat_changes:
        Seat.objects.filter(table=entry.table_id, index=entry.seat).update(**entry.seat_changes)
    if entry.outcome:
        services.finish_match(match_id=entry.match_id, outcome=entry.outcome, version=entry.version)
    return True


def _row(entry: Entry) -> Move:
    return Move(
        match_id=entry.match_id,
        number=entry.number,
        version=entry.version,
        seat=entry.seat,
        move=msgspec.json.decode(entry.move),
        made_by=entry.made_by,
        events=msgspec.json.decode(entry.events),
    )


class NotWritten(Exception):
    """A move that could not be made durable: nothing of it was written. The log says why."""


class Journal:
    """Collects entries while a commit runs, and commits what has gathered. One per event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Entry, asyncio.Future[bool]]] = []
        self._drainer: asyncio.Task[None] | None = None

    async def write(self, entry: Entry) -> bool:
        """Whether the move was made. Returns only when it is durable; raises NotWritten if it cannot be."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, done))
        if self._drainer is None or self._drainer.done():
            self._drainer = asyncio.create_task(self._drain())
        with metrics.JOURNAL.time():
            return await done

    async def _drain(self) -> None:
        while self._waiting:
            batch = self._take()
            metrics.BATCH.observe(len(batch))
            results = await asyncio.get_running_loop().run_in_executor(_writer, _commit_all, [e for e, _ in batch])
            for (_, done), result in zip(batch, results, strict=True):
                if done.cancelled():
                    continue
                if result is None:
                    done.set_exception(NotWritten())
                else:
                    done.set_result(result)

    def _take(self) -> list[tuple[Entry, asyncio.Future[bool]]]:
        """The next batch: a finishing move alone, else as many as there are, one a match."""
        first = self._waiting[0]
        if first[0].outcome:
            del self._waiting[0]
            return [first]
        batch: dict[int, tuple[Entry, asyncio.Future[bool]]] = {}
        for waiting in self._waiting:
            if not waiting[0].outcome and len(batch) < BATCH:
                batch.setdefault(waiting[0].match_id, waiting)
        taken = list(batch.values())
        self._waiting = [waiting for waiting in self._waiting if waiting not in taken]
        return taken


def _commit_all(entries: list[Entry]) -> list[bool | None]:
    """Commit a batch; when it fails as a whole, each entry has its own try."""
    if len(entries) == 1:
        return [_commit_one(entries[0])]
    try:
        return list(commit(entries))
    except Exception:
        connection.close_if_unusable_or_obsolete()
        return [_commit_one(entry) for entry in entries]


def _commit_one(entry: Entry) -> bool | None:
    """Whether the move was made; None when anything went wrong, in a receiver of its news for example."""
    try:
        return commit([entry])[0]
    except Exception as error:
        trace = None if isinstance(error, OperationalError) else error
        name = type(error).__name__
        about = {"match": entry.match_id, "move": entry.number}
        logger.error("move not written: %s", name, exc_info=trace, extra=about)
        connection.close_if_unusable_or_obsolete()
        return None


# One thread, hence one connection that is never left behind, and SQLite's one writer.
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
_journals: WeakKeyDictionary[asyncio.AbstractEventLoop, Journal] = WeakKeyDictionary()


def journal() -> Journal:
    """The journal of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _journals:
        _journals[loop] = Journal()
    return _journals[loop]
