"""A table as it is at one version, loaded whole and never changed: what the move path works on."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Lock
from typing import Any

import msgspec
from django.db.models import Q, Subquery
from django.db.models.functions import Coalesce

from apps.games import registry
from apps.games.kernel.game import AnyGame, Mode
from apps.tables.models import (
    Event,
    EventKind,
    MadeBy,
    Match,
    Move,
    Participant,
    PersonalBest,
    Seat,
    Status,
    Table,
    options_key,
)

LOG_LENGTH = 60
CACHED_TABLES = 2000


class LiveSeat(msgspec.Struct, frozen=True):
    index: int
    user_id: int | None
    name: str
    cpu_level: str
    shared: bool
    away_since: datetime | None
    stand_in: bool
    timeouts: int
    stood_in: int
    accepted: bool

    @property
    def person(self) -> bool:
        """Held by somebody, present or not."""
        return self.user_id is not None

    @property
    def automatic(self) -> bool:
        """A CPU decides for this seat now."""
        return bool(self.cpu_level) or self.stand_in or self.user_id is None


class LiveMatch(msgspec.Struct, frozen=True):
    id: int
    number: int
    state: Any
    move_count: int
    prompts: tuple[int | None, ...]
    first: int
    seed: str
    """In hexadecimal once the match is over, empty until then."""
    seed_hash: str
    deadline_at: datetime | None
    next_cpu_at: datetime | None
    paused: bool
    ended_by: str
    results: tuple["LiveResult", ...] = ()


class LiveResult(msgspec.Struct, frozen=True):
    seat: int
    user_id: int | None
    name: str
    cpu_level: str
    place: int | None
    score: int | None
    absent: bool


class LiveBest(msgspec.Struct, frozen=True):
    score: int
    new: bool
    """Reached in the match that the table shows; nothing is no record."""


class LogEntry(msgspec.Struct, frozen=True):
    """A move or another event at the table, as anybody may know it."""

    version: int
    seat: int | None
    kind: str
    """A MadeBy for moves, an EventKind for the rest."""
    events: tuple[Any, ...] = ()
    name: str = ""
    count: int = 0


class LiveTable(msgspec.Struct, frozen=True):
    id: int
    code: str
    slug: str
    options: Any
    mode: str
    public: bool
    seconds: int
    host_id: int | None
    status: str
    version: int
    expired: bool
    seats: tuple[LiveSeat, ...]
    match: LiveMatch | None
    log: tuple[LogEntry, ...]
    best: "LiveBest | None" = None
    """The personal best of whoever played the last match alone (HL-15)."""

    @property
    def game(self) -> AnyGame:
        return registry.get(self.slug)

    @property
    def playing(self) -> bool:
        return self.status == Status.PLAYING

    @property
    def casual(self) -> bool:
        return self.mode != Mode.RANKED

    @property
    def to_act(self) -> frozenset[int]:
        if self.match is None or not self.playing:
            return frozenset()
        return self.game.to_act(self.match.state)

    @property
    def paused(self) -> bool:
        """Nobody was there, and the match waits (G-7)."""
        return self.playing and self.match is not None and self.match.paused

    def misses(self, user_id: int | None) -> bool:
        """Whether the return of this person would be news: a seat of theirs, or the whole match, waits for it."""
        held = [self.seats[index] for index in self.seats_of(user_id)]
        return bool(held) and (self.paused or any(seat.stand_in or seat.away_since or seat.stood_in for seat in held))

    def seats_of(self, user_id: int | None) -> tuple[int, ...]:
        """The seats one person holds; several on one device."""
        if user_id is None:
            return ()
        return tuple(seat.index for seat in self.seats if seat.user_id == user_id)


def load(code: str) -> LiveTable | None:
    """The table as the database has it; None where there is none.

    What was read while the table changed is read again: one version's end and the next one's deal,
    taken together, would show what nobody may know.
    """
    while table := Table.objects.filter(code=code).first():
        loaded = _read(table)
        if version_of(code) == loaded.version:
            return loaded
    return None


def version_of(code: str) -> int | None:
    """The version that the database has; None where there is no such table."""
    return Table.objects.filter(code=code).values_list("version", flat=True).first()


def versions_of(codes: Sequence[str]) -> dict[str, int]:
    """The versions that the database has of these tables, by code."""
    return dict(Table.objects.filter(code__in=codes).values_list("code", "version"))


def _read(table: Table) -> LiveTable:
    match = Match.objects.filter(table=table).order_by("-number").first()
    game = registry.get(table.game)
    return LiveTable(
        id=table.pk,
        code=table.code,
        slug=table.game,
        options=game.Options(**table.options),
        mode=table.mode,
        public=table.public,
        seconds=table.seconds,
        host_id=table.host_id,
        status=table.status,
        version=table.version,
        expired=table.expired_at is not None,
        seats=tuple(map(_live_seat, Seat.objects.filter(table=table).order_by("index"))),
        match=_live_match(game, match) if match else None,
        log=_log(game, table, match),
        best=_best(match) if match else None,
    )


def _best(match: Match) -> LiveBest | None:
    if match.seat_count != 1 or match.finished_at is None:
        return None
    alone = match.participants.all()[0]
    best = PersonalBest.objects.filter(user=alone.user_id, game=match.game, options=options_key(match.options))
    found = best.first()
    return LiveBest(score=found.score, new=found.match_id == match.pk and found.score > 0) if found else None


def _live_seat(seat: Seat) -> LiveSeat:
    return LiveSeat(**{name: getattr(seat, name) for name in LiveSeat.__struct_fields__})


def _live_match(game: AnyGame, match: Match) -> LiveMatch:
    return LiveMatch(
        id=match.pk,
        number=match.number,
        state=game.load_state(bytes(match.state)),
        move_count=match.move_count,
        prompts=tuple(match.prompts),
        first=match.first,
        seed=bytes(match.seed).hex() if match.finished_at else "",
        seed_hash=match.seed_hash,
        deadline_at=match.deadline_at,
        next_cpu_at=match.next_cpu_at,
        paused=match.paused_at is not None,
        ended_by=match.ended_by,
        results=tuple(map(_live_result, match.participants.all())),
    )


def _live_result(participant: Participant) -> LiveResult:
    return LiveResult(**{name: getattr(participant, name) for name in LiveResult.__struct_fields__})


def _ended_before(table: Table, match: Match | None) -> Any:
    """The version at which the match before this one ended: what is older is no longer told."""
    ends = Event.objects.filter(table=table, kind=EventKind.FINISHED)
    earlier = ends.exclude(match=match) if match else ends.none()
    return Coalesce(Subquery(earlier.order_by("-version").values("version")[:1]), 0)


def _log(game: AnyGame, table: Table, match: Match | None) -> tuple[LogEntry, ...]:
    told = Event.objects.filter(table=table).filter(Q(match=match) | Q(match=None))
    events = told.filter(version__gt=_ended_before(table, match)).order_by("-version", "-id")
    entries = [
        LogEntry(version=event.version, seat=event.seat, kind=event.kind, name=event.name, count=event.count)
        for event in events[:LOG_LENGTH]
    ]
    if match is not None:
        moves: Iterable[Move] = match.moves.order_by("-number")[:LOG_LENGTH]
        entries += [
            LogEntry(
                version=move.version,
                seat=move.seat,
                kind=move.made_by,
                events=game.load_events(msgspec.json.encode(move.events)),
            )
            for move in moves
        ]
    # A match's last move and its end share a version: the move comes first.
    entries.sort(key=lambda entry: (entry.version, entry.kind == EventKind.FINISHED))
    return tuple(entries[-LOG_LENGTH:])


MOVES = frozenset(MadeBy.values)


def is_move(entry: LogEntry) -> bool:
    return entry.kind in MOVES


class TableCache:
    """The newest committed state of recently used tables in this process, newest used last.

    Only ever a hint: writers compare and set, and a lost comparison reloads.
    """

    def __init__(self, size: int = CACHED_TABLES) -> None:
        self._size = size
        self._tables: OrderedDict[str, LiveTable] = OrderedDict()
        self._lock = Lock()

    def get(self, code: str) -> LiveTable | None:
        with self._lock:
            table = self._tables.get(code)
            if table is not None:
                self._tables.move_to_end(code)
            return table

    def put(self, table: LiveTable) -> LiveTable:
        """Keep this table unless a newer version is kept already; whichever is kept."""
        with self._lock:
            kept = self._tables.get(table.code)
            if kept is not None and kept.version > table.version:
                return kept
            self._tables[table.code] = table
            self._tables.move_to_end(table.code)
            if len(self._tables) > self._size:
                self._tables.popitem(last=False)
            return table

    def drop(self, code: str) -> None:
        with self._lock:
            self._tables.pop(code, None)

    def clear(self) -> None:
        with self._lock:
            self._tables.clear()


cache = TableCache()
