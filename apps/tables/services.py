"""The only writer of tables, beside the journal, which writes moves.

Every function locks its table first, so all changes of one table are in one order, and publishes
after commit. All raise Refusal with a code of the page protocol when they may not.
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import CharField, Count, F, Q, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from apps.accounts.models import User
from apps.games import registry
from apps.games.kernel.draws import SEED_BYTES, lot, seed_hash
from apps.games.kernel.errors import OptionError, Refusal
from apps.games.kernel.game import AnyGame, Level, Mode, Outcome
from apps.games.kernel.timing import TURN_SECONDS
from apps.tables import publish, turns
from apps.tables.models import (
    EndedBy,
    Event,
    EventKind,
    MadeBy,
    Match,
    Move,
    Participant,
    PersonalBest,
    Seat,
    SeatPass,
    Status,
    Table,
    options_key,
)
from apps.tables.signals import match_finished

CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
CODE_LENGTH = 12
PASS_LIFE = timedelta(minutes=15)
ABSENT_SHARE = 4
"""A seat of which a CPU decided more than one in so many is absent (G-11)."""


# ── opening ────────────────────────────────────────────────────────────────────


@transaction.atomic
def open_table(
    *,
    host: User,
    game: AnyGame,
    options: Any,
    mode: Mode,
    seconds: int = 0,
    public: bool = False,
    names: Sequence[str],
    cpu_levels: Sequence[str] = (),
) -> Table:
    """A new table with its host seated first. Tables on one screen, and those against CPUs, start at once.

    ``names`` are the people on the host's screen: one, or several on the same device (G-3).
    """
    if mode not in game.modes or seconds not in TURN_SECONDS:
        raise OptionError("bad-option", field="mode")
    _check_names(names)
    table = Table.objects.create(
        code=_new_code(),
        game=game.slug,
        options=msgspec.to_builtins(options),
        mode=mode,
        public=public and mode == Mode.LINK,
        seconds=seconds if mode == Mode.LINK else 0,
        host=host,
    )
    for index, name in enumerate(names):
        Seat.objects.create(table=table, index=index, user=host, name=name, shared=mode == Mode.SAME_DEVICE)
    for level in cpu_levels:
        _add_cpu(table, level)
    if mode != Mode.LINK:
        _start_match(table)
    return table


def _new_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def _check_names(names: Sequence[str]) -> None:
    """Alike in any script: the database's own comparison may know ASCII alone."""
    if len({name.casefold() for name in names}) < len(names):
        raise Refusal("illegal", reason="name-taken")


# ── seats ──────────────────────────────────────────────────────────────────────


@transaction.atomic
def take_seat(*, code: str, user: User, name: str) -> Seat:
    """A seat for this person; the one they hold already if they do. Never twice (`one_seat_a_person_and_table`)."""
    table = _lock(code)
    held = table.seats.filter(user=user).first()
    if held is not None:
        mark_back(code=code, user_id=user.pk)
        return held
    if table.mode != Mode.LINK:
        raise Refusal("illegal", reason="private")
    _clear_abandoned(table)
    _check_may_join(table)
    _check_names([*table.seats.filter(cpu_level="").values_list("name", flat=True), name])
    seat = Seat.objects.create(table=table, index=table.seats.count(), user=user, name=name)
    _bump(table)
    _tell(table, EventKind.SAT, seat)
    return seat


@transaction.atomic
def add_cpu(*, code: str, user: User, level: str) -> Seat:
    table = _lock(code)
    _check_host(table, user)
    _clear_abandoned(table)
    _check_may_join(table)
    seat = _add_cpu(table, level)
    _bump(table)
    _tell(table, EventKind.CPU_SAT, seat)
    return seat


@transaction.atomic
def remove_cpu(*, code: str, user: User, index: int) -> None:
    table = _lock(code)
    _check_host(table, user)
    _check_not_playing(table)
    _get_cpu(table, index).delete()
    _close_ranks(table)
    _bump(table)


@transaction.atomic
def set_level(*, code: str, user: User, index: int, level: str) -> None:
    """Change how well a CPU plays, also in mid-match (CE-19)."""
    table = _lock(code)
    _check_host(table, user)
    seat = _get_cpu(table, index)
    seat.cpu_level = _check_level(level)
    seat.save(update_fields=["cpu_level"])
    if table.status == Status.PLAYING:
        Participant.objects.filter(match=_match(table), seat=index).update(cpu_level=level)
    _bump(table)


@transaction.atomic
def leave_table(*, code: str, user: User) -> None:
    """Free the person at once. A match that goes on is finished by a stand-in (G-14)."""
    table = _lock(code)
    held = list(table.seats.filter(user=user))
    if not held:
        raise Refusal("not-seated")
    _bump(table)
    for seat in held:
        _tell(table, EventKind.LEFT, seat)
    if table.status == Status.PLAYING:
        table.seats.filter(user=user).update(user=None, stand_in=True, away_since=None)
        _rearm(table, _match(table))
    else:
        table.seats.filter(user=user).delete()
        _close_ranks(table)
    table.seats.update(accepted=False)
    _pass_host(table)


def _add_cpu(table: Table, level: str) -> Seat:
    index = table.seats.count()
    if index + 1 not in registry.get(table.game).seats:
        raise Refusal("illegal", reason="full")
    return Seat.objects.create(table=table, index=index, name="", cpu_level=_check_level(level))


def _get_cpu(table: Table, index: int) -> Seat:
    seat = table.seats.filter(index=index).exclude(cpu_level="").first()
    if seat is None:
        raise Refusal("illegal", reason="no-such-seat")
    return seat


def _check_level(level: str) -> str:
    if level not in set(Level):
        raise Refusal("illegal", reason="no-such-level")
    return level


def _check_may_join(table: Table) -> None:
    _check_not_playing(table)
    if table.seats.count() + 1 not in registry.get(table.game).seats:
        raise Refusal("illegal", reason="full")


def _check_not_playing(table: Table) -> None:
    if table.status == Status.PLAYING:
        raise Refusal("illegal", reason="started")


def _check_host(table: Table, user: User) -> None:
    if table.host_id != user.pk:
        raise Refusal("illegal", reason="not-host")


def _clear_abandoned(table: Table) -> None:
    """Once a match is over, the seats that only a stand-in played are free again."""
    if table.status == Status.FINISHED:
        table.seats.filter(user=None, cpu_level="").delete()
        _close_ranks(table)


def _close_ranks(table: Table) -> None:
    """Number the seats without gaps; only ever between matches."""
    for index, seat in enumerate(table.seats.order_by("index")):
        if seat.index != index:
            Seat.objects.filter(pk=seat.pk).update(index=index)


def _pass_host(table: Table) -> None:
    """When the host has left, the next person hosts; an empty table closes."""
    people = list(table.seats.exclude(user=None).order_by("index"))
    if not people:
        _close(table)
    elif all(seat.user_id != table.host_id for seat in people):
        table.host_id = people[0].user_id
        table.save(update_fields=["host"])


@transaction.atomic
def pass_host(*, code: str) -> None:
    """Between matches, somebody who is there takes over from a host who is not."""
    table = _lock(code)
    present = table.seats.exclude(user=None).filter(away_since=None).order_by("index").first()
    if table.status == Status.PLAYING or present is None or present.user_id == table.host_id:
        return
    table.host_id = present.user_id
    table.save(update_fields=["host"])
    _bump(table)


def _close(table: Table) -> None:
    table.expired_at = timezone.now()
    table.save(update_fields=["expired_at"])
    Match.objects.live().filter(table=table).update(
        finished_at=table.expired_at, ended_by=EndedBy.CANCELLED, deadline_at=None, next_cpu_at=None
    )


# ── matches ────────────────────────────────────────────────────────────────────


@transaction.atomic
def start_match(*, code: str, user: User) -> Match:
    """The host starts; the settings are locked from here on (G-3)."""
    table = _lock(code)
    _check_host(table, user)
    if table.status != Status.SEATING:
        raise Refusal("stale")
    _bump(table)
    return _start_match(table)


@transaction.atomic
def accept_match(*, code: str, user: User) -> Match | None:
    """Ask for, or agree to, another match; it starts when nobody's consent is missing (CE-18)."""
    table = _lock(code)
    if table.status != Status.FINISHED:
        raise Refusal("stale")
    if not table.seats.filter(user=user).update(accepted=True):
        raise Refusal("not-seated")
    _bump(table)
    missing = table.seats.exclude(user=None).filter(Q(accepted=False) | Q(away_since__isnull=False))
    if registry.get(table.game).consent and missing.exists():
        return None
    _clear_abandoned(table)
    return _start_match(table)


def _start_match(table: Table) -> Match:
    """Deal. Locks are the caller's; the version it makes is the table's present one."""
    game = registry.get(table.game)
    seats = list(table.seats.order_by("index"))
    if len(seats) not in game.seats:
        raise Refusal("illegal", reason="too-few")
    previous = table.matches.order_by("-number").first()
    seed = secrets.token_bytes(SEED_BYTES)
    first = game.first(
        seats=len(seats),
        host=_host_seat(table, seats),
        previous=previous.first if previous else None,
        draw=lot(seed),
    )
    state = game.deal(game.Options(**table.options), seats=len(seats), seed=seed, first=first)
    match = Match.objects.create(
        table=table,
        number=previous.number + 1 if previous else 1,
        game=game.slug,
        rules_version=game.version,
        options=table.options,
        seat_count=len(seats),
        first=first,
        seed=seed,
        seed_hash=seed_hash(seed),
        state=game.dump_state(state),
        prompts=turns.prompts(game, state, seats=len(seats), version=table.version, before=None),
    )
    Participant.objects.bulk_create(
        Participant(match=match, seat=s.index, user_id=s.user_id, name=s.name, cpu_level=s.cpu_level) for s in seats
    )
    table.seats.update(accepted=False, timeouts=0, stood_in=0, stand_in=False)
    table.status = Status.PLAYING
    table.save(update_fields=["status"])
    _tell(table, EventKind.STARTED, match=match, count=match.number)
    _rearm(table, match)
    return match


def _host_seat(table: Table, seats: Iterable[Seat]) -> int | None:
    if table.mode == Mode.RANKED:
        return None
    return next((seat.index for seat in seats if seat.user_id == table.host_id), 0)


def finish_match(*, match_id: int, outcome: Outcome, version: int, ended_by: str = EndedBy.PLAYED) -> None:
    """Write how a match ended. The caller's transaction holds the table and finishes it exactly once."""
    match = Match.objects.select_related("table").get(pk=match_id)
    match.ended_by = ended_by
    match.finished_at = timezone.now()
    match.deadline_at = match.next_cpu_at = match.paused_at = None
    match.save(update_fields=["ended_by", "finished_at", "deadline_at", "next_cpu_at", "paused_at"])
    _write_places(match, outcome)
    _keep_personal_best(match, outcome)
    match.table.version = version
    _tell(match.table, EventKind.FINISHED, match=match, count=match.number)
    match_finished.send(sender=Match, match=match, outcome=outcome)


def _write_places(match: Match, outcome: Outcome) -> None:
    stood_in = set(match.table.seats.filter(stand_in=True).values_list("index", flat=True))
    automatic = Q(made_by__in=[MadeBy.STAND_IN, MadeBy.CLOCK])
    shares = {
        row["seat"]: (row["automatic"], row["all"])
        for row in Move.objects.filter(match=match)
        .values("seat")
        .annotate(automatic=Count("id", filter=automatic), all=Count("id"))
        .order_by()
    }
    people = list(match.participants.all())
    for person in people:
        made, of = shares.get(person.seat, (0, 0))
        person.score, person.place = outcome.scores[person.seat], outcome.places[person.seat]
        person.absent = not person.cpu_level and (person.seat in stood_in or made * ABSENT_SHARE > of)
    Participant.objects.bulk_update(people, ["score", "place", "absent"])


def _keep_personal_best(match: Match, outcome: Outcome) -> None:
    """Alone at the table, the total is the result (HL-15)."""
    person = match.participants.first()
    if match.seat_count != 1 or person is None or person.user_id is None or person.absent:
        return
    best, created = PersonalBest.objects.get_or_create(
        user_id=person.user_id,
        game=match.game,
        options=options_key(match.options),
        defaults={"score": outcome.scores[0], "match": match},
    )
    if not created and outcome.scores[0] > best.score:
        PersonalBest.objects.filter(pk=best.pk).update(score=outcome.scores[0], match=match, reached_at=timezone.now())


# ── coming and going ───────────────────────────────────────────────────────────


@transaction.atomic
def mark_away(*, code: str, user_id: int, since: datetime | None = None) -> bool:
    """Note that nobody has this person's page open; whether that is news. No version: presence is not state."""
    table = _lock(code)
    gone = table.seats.filter(user=user_id, away_since=None)
    if not gone.update(away_since=since or timezone.now(), accepted=False):
        return False
    if _waits(table) and table.status == Status.PLAYING:
        _rearm(table, _match(table))
    _publish(table)
    return True


@transaction.atomic
def mark_back(*, code: str, user_id: int) -> int:
    """The person is here again: the seat is theirs at once. How many moves were made for them (G-5)."""
    table = _lock(code)
    held = list(table.seats.filter(user=user_id))
    if not held:
        return 0
    paused = Match.objects.live().filter(table=table, paused_at__isnull=False).exists()
    if not paused and not any(seat.away_since or seat.stand_in or seat.stood_in for seat in held):
        return 0
    replaced = [seat for seat in held if seat.stand_in]
    table.seats.filter(user=user_id).update(away_since=None, stand_in=False, timeouts=0, stood_in=0)
    if replaced or paused:
        _bump(table)
    for seat in replaced:
        _tell(table, EventKind.BACK, seat, count=seat.stood_in)
    if table.status == Status.PLAYING and (paused or any(seat.away_since or seat.stand_in for seat in held)):
        Match.objects.live().filter(table=table).update(paused_at=None)
        _rearm(table, _match(table))
    _publish(table)
    return sum(seat.stood_in for seat in held)


@transaction.atomic
def let_stand_in(*, code: str, index: int) -> None:
    """From now on a Medium CPU plays this seat, said to everybody (G-5)."""
    table = _lock(code)
    seat = table.seats.filter(index=index, stand_in=False).exclude(user=None).first()
    if seat is None or table.status != Status.PLAYING or _waits(table):
        return
    Seat.objects.filter(pk=seat.pk).update(stand_in=True)
    _bump(table)
    _tell(table, EventKind.STAND_IN, seat)
    _rearm(table, _match(table))


@transaction.atomic
def pause_match(*, code: str) -> None:
    """With nobody there a casual match waits (G-7). A new version: what a CPU is thinking of comes too late."""
    table = _lock(code)
    going = Match.objects.live().filter(table=table, paused_at=None)
    if going.update(paused_at=timezone.now(), deadline_at=None, next_cpu_at=None):
        _bump(table)


@transaction.atomic
def expire_tables(*, now: datetime) -> int:
    """Close tables that nobody has touched for too long (G-7); how many."""
    idle = list(Table.objects.select_for_update().idle(now)[:500])
    for table in idle:
        _close(table)
        _bump(table)
    return len(idle)


# ── moving a seat to another browser ───────────────────────────────────────────


@transaction.atomic
def create_pass(*, code: str, user: User) -> str:
    """A token that moves this person's seat to another browser, once and soon."""
    table = _lock(code)
    seat = table.seats.filter(user=user).first()
    if seat is None:
        raise Refusal("not-seated")
    token = secrets.token_urlsafe(24)
    SeatPass.objects.filter(seat=seat).delete()
    SeatPass.objects.create(token_hash=_hash(token), seat=seat, expires_at=timezone.now() + PASS_LIFE)
    return token


@transaction.atomic
def use_pass(*, token: str, user: User) -> Table:
    """Give the seats behind a token to this person. Raises Refusal for a used, old or unknown token."""
    given = SeatPass.objects.select_related("seat__table").filter(
        token_hash=_hash(token), used_at=None, expires_at__gt=timezone.now()
    )
    seat_pass = given.first()
    if seat_pass is None:
        raise Refusal("stale", reason="pass")
    table = _lock(seat_pass.seat.table.code)
    if not given.update(used_at=timezone.now()):
        raise Refusal("stale", reason="pass")
    _hand_over(table, former=seat_pass.seat.user_id, user=user)
    return table


def _hand_over(table: Table, *, former: int | None, user: User) -> None:
    if former is None:
        raise Refusal("stale", reason="pass")
    if table.seats.filter(user=user).exists():
        raise Refusal("illegal", reason="seated-already")
    table.seats.filter(user=former).update(user=user)
    Participant.objects.filter(match__table=table, match__finished_at=None, user=former).update(user=user)
    if table.host_id == former:
        table.host = user
        table.save(update_fields=["host"])
    _bump(table)
    transaction.on_commit(lambda: publish.seat_gone(code=table.code, user_id=former))


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# ── people who are forgotten ───────────────────────────────────────────────────


@transaction.atomic
def forget_person(*, user: User) -> None:
    """Before an account goes: their own tables go with it, from others' only the name does (G-7)."""
    Table.objects.exclude(mode=Mode.LINK).filter(host=user).delete()
    for seat in Seat.objects.filter(user=user).select_related("table"):
        Event.objects.filter(table=seat.table, name=seat.name).update(name=nameless(seat.index))
        if seat.table.expired_at is None:
            leave_table(code=seat.table.code, user=user)
        _take_name_away(table_id=seat.table_id, index=seat.index, name=seat.name)
    for person in Participant.objects.filter(user=user).select_related("match"):
        _take_name_away(table_id=person.match.table_id, index=person.seat, name=person.name)
    Participant.objects.filter(user=user).update(name=Concat(Value("#"), Cast(F("seat") + 1, CharField())))


def _take_name_away(*, table_id: int, index: int, name: str) -> None:
    """From a table's seat and from what it tells; a seat that somebody else holds by now keeps theirs."""
    Event.objects.filter(table=table_id, name=name).update(name=nameless(index))
    Seat.objects.filter(table=table_id, index=index, name=name).update(name=nameless(index))


def nameless(seat: int) -> str:
    """What stands where a name was."""
    return f"#{seat + 1}"


# ── the clock's own writes ─────────────────────────────────────────────────────


@transaction.atomic
def lease_due(*, now: datetime, life: timedelta, limit: int) -> list[str]:
    """Codes of tables on which a clock has to act; no other clock gets them meanwhile."""
    due = Match.objects.select_for_update(skip_locked=True, of=("self",)).due(now).order_by("id")[:limit]
    codes = dict(due.values_list("pk", "table__code"))
    Match.objects.filter(pk__in=codes).update(leased_until=now + life)
    return list(codes.values())


@transaction.atomic
def release(*, code: str) -> None:
    """Give a lease back when the clock had nothing to do after all."""
    Match.objects.live().filter(table__code=code).update(leased_until=None)


@transaction.atomic
def shift_deadlines(*, by: timedelta) -> None:
    """Nobody is charged for the time in which no clock was there."""
    live = Match.objects.live()
    for code in live.filter(deadline_at__isnull=False).values_list("table__code", flat=True):
        transaction.on_commit(partial(publish.table_changed, code=code))
    live.filter(deadline_at__isnull=False).update(deadline_at=F("deadline_at") + by)
    live.filter(next_cpu_at__isnull=False).update(next_cpu_at=F("next_cpu_at") + by)
    Seat.objects.filter(away_since__isnull=False).update(away_since=F("away_since") + by)


# ── shared steps ───────────────────────────────────────────────────────────────


def _lock(code: str) -> Table:
    table = Table.objects.select_for_update().filter(code=code).first()
    if table is None:
        raise Refusal("no-such-table")
    if table.expired_at is not None:
        raise Refusal("expired")
    return table


def _match(table: Table) -> Match:
    return table.matches.order_by("-number")[0]


def _bump(table: Table) -> None:
    """The next version, published once the caller's transaction is durable."""
    table.version += 1
    table.active_at = timezone.now()
    table.save(update_fields=["version", "active_at"])
    _publish(table)


def _publish(table: Table) -> None:
    code = table.code
    transaction.on_commit(lambda: publish.table_changed(code=code))


def _tell(
    table: Table, kind: EventKind, seat: Seat | None = None, *, match: Match | None = None, count: int = 0
) -> None:
    Event.objects.create(
        table=table,
        match=match,
        version=table.version,
        kind=kind,
        seat=seat.index if seat else None,
        name=seat.name if seat else "",
        count=count,
    )


def _waits(table: Table) -> bool:
    """Whether this table waits for somebody away instead of letting a CPU play (G-6)."""
    return registry.get(table.game).waits and table.mode == Mode.LINK


def _rearm(table: Table, match: Match) -> None:
    """Set when the clock acts next, after who decides for a seat has changed.

    Time that runs goes on running: nobody gains any by going and coming back. A match that waits goes on waiting.
    """
    if match.paused_at is not None:
        return
    game = registry.get(table.game)
    seats = {seat.index: seat for seat in table.seats.all()}

    def automatic(index: int) -> bool:
        seat = seats[index]
        return bool(seat.cpu_level) or seat.stand_in or seat.user_id is None

    asked = game.to_act(game.load_state(bytes(match.state)))
    waiting = _waits(table) and any(seat.away_since for seat in seats.values())
    now = timezone.now()
    match.deadline_at = turns.deadline(
        asked=asked,
        automatic=automatic,
        seconds=0 if waiting else table.seconds,
        now=now,
        kept=match.deadline_at,
    )
    match.next_cpu_at = turns.next_cpu(asked=asked, automatic=automatic, now=now, pace=settings.CPU_PACE_SECONDS)
    match.leased_until = None
    match.save(update_fields=["deadline_at", "next_cpu_at", "leased_until"])
