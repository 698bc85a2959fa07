"""A table drawn for one audience: the context of its templates, in the active language."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from apps.games import registry, wording
from apps.games.kernel.game import BoardFacts, Mode, SeatFacts
from apps.games.wording import worded
from apps.rulebook.pages import Page
from apps.tables.live import LiveResult, LiveTable, LogEntry, is_move
from apps.tables.models import LEVEL_LABELS, EventKind, MadeBy, Status

SHOWN_LOG = 40


class Audience(msgspec.Struct, frozen=True):
    """All that may differ between two views of one table: whoever shares it gets the same bytes."""

    language: str
    letters: str = "own"
    held: tuple[int, ...] = ()
    """Seats of this browser; none for a spectator."""
    host: bool = False

    def you(self, table: LiveTable) -> int | None:
        """The seat this page is the view of: of several on one device, the one that is asked."""
        return next((seat for seat in self.held if seat in table.to_act), self.held[0] if self.held else None)


def page_context(table: LiveTable, audience: Audience) -> dict[str, Any]:
    """Everything the table's templates show."""
    return context(table, audience) | {"log": log(table, audience)}


def context(table: LiveTable, audience: Audience) -> dict[str, Any]:
    """What the regions show that a move may change; the log only grows."""
    you = audience.you(table)
    seats = seat_facts(table, audience, you)
    cast = cast_of(table, seats, you)
    return {
        "table": _table(table),
        "language": audience.language,
        "letters": audience.letters,
        "seats": seats,
        "you": you,
        "your_name": seats[you].name if you is not None else "",
        "host": audience.host,
        "reseated": cast.reseated,
        "title": _title(table, you),
        "subtitle": _subtitle(table),
        "places": [_place(table, seat) for seat in seats],
        **_board(table, cast),
        **_dock(table, audience, seats, you),
        **(_results(table, cast) if table.status == Status.FINISHED else {}),
    }


class Cast(msgspec.Struct, frozen=True):
    """Those who play, or played, the match that the table shows."""

    seats: tuple[SeatFacts, ...]
    you: int | None
    """The seat of that match this page is the view of."""
    reseated: bool = False
    """Others sit here by now, waiting for the next match."""


def cast_of(table: LiveTable, seats: tuple[SeatFacts, ...], you: int | None) -> Cast:
    """Whoever sits here while the match lasts; once it is over its participants, whoever comes and goes."""
    if table.match is None or table.status != Status.FINISHED:
        return Cast(seats, you)
    results = table.match.results
    if [(r.name, r.cpu_level) for r in results] == [(seat.name, seat.cpu_level) for seat in table.seats]:
        return Cast(seats, you)
    names = dict(_result_names(results))
    user_id = None if you is None else table.seats[you].user_id
    played = next((r.seat for r in results if user_id is not None and r.user_id == user_id), None)
    facts = tuple(SeatFacts(index=r.seat, name=names[r.seat], you=r.seat == played, cpu=r.cpu_level) for r in results)
    return Cast(facts, played, reseated=True)


def seat_facts(table: LiveTable, audience: Audience, you: int | None) -> tuple[SeatFacts, ...]:
    names = seat_names(table)
    return tuple(
        SeatFacts(
            index=seat.index,
            name=names[seat.index],
            you=seat.index == you,
            to_act=seat.index in table.to_act,
            away=not seat.cpu_level and (seat.user_id is None or seat.away_since is not None),
            cpu=seat.cpu_level,
            stand_in=seat.stand_in,
        )
        for seat in table.seats
    )


def seat_names(table: LiveTable) -> tuple[str, ...]:
    """What each seat is called; CPUs are numbered where there are several."""
    cpus = [seat.index for seat in table.seats if seat.cpu_level]
    return tuple(
        cpu_name(cpus.index(seat.index) + 1 if len(cpus) > 1 else 0) if seat.cpu_level else seat.name
        for seat in table.seats
    )


def _place(table: LiveTable, seat: SeatFacts) -> dict[str, Any]:
    """A seat before the first deal."""
    host = table.host_id is not None and table.seats[seat.index].user_id == table.host_id
    return {"seat": seat, "tags": [*([gettext("host")] if host else []), *wording.seat_tags(seat)]}


def cpu_name(number: int) -> str:
    return gettext("CPU %(number)s") % {"number": number} if number else gettext("CPU")


def _table(table: LiveTable) -> dict[str, Any]:
    return {
        "code": table.code,
        "url": _table_url(table.code),
        "version": table.version,
        "status": table.status,
        "game": table.game.name,
        "slug": table.slug,
        "mode": table.mode,
        "public": table.public,
        "casual": table.casual,
        "match": table.match.number if table.match else 0,
        "seed_hash": table.match.seed_hash if table.match else "",
        "seed": table.match.seed if table.match else "",
        "summary": _summary(table.slug, table.options),
        **_of_game(table.slug),
    }


@worded
def _table_url(code: str) -> str:
    return reverse("tables:table", args=[code])


@worded
def _summary(slug: str, options: Any) -> str:
    return registry.get(slug).summary(options)


@worded
def _of_game(slug: str) -> dict[str, str]:
    """Where the game's own part of the page comes from."""
    partials = {f"{part}_partial": f"games/{slug}/board.html#{part}" for part in ("seats", "felt", "dock", "side")}
    return {"rules_url": Page("game", slug).url(), "style": f"games/{slug}/board.css", **partials}


def _title(table: LiveTable, you: int | None) -> str:
    name = table.game.name
    if you is not None and you in table.to_act:
        return gettext("Your turn · %(game)s") % {"game": name}
    return str(name)


def _subtitle(table: LiveTable) -> str:
    summary = _summary(table.slug, table.options)
    if table.match is None:
        return summary
    view = table.game.view(table.match.state, None)
    return f"{table.game.progress(view)} · {summary}"


# ── the board ──────────────────────────────────────────────────────────────────


def _board(table: LiveTable, cast: Cast) -> Mapping[str, Any]:
    """The game's own part, empty until the first deal."""
    if table.match is None:
        return {}
    view = table.game.view(table.match.state, cast.you)
    moves, last = _moves(table, cast.you), _last(table)
    return table.game.board(
        view, BoardFacts(seats=cast.seats, you=cast.you, moves=moves, last=last, casual=table.casual)
    )


def _moves(table: LiveTable, you: int | None) -> tuple[Any, ...]:
    if table.match is None or you is None or you not in table.to_act:
        return ()
    return table.game.legal_moves(table.match.state, you)


def _last(table: LiveTable) -> tuple[Any, ...]:
    """What the newest move brought about, if it is of this match."""
    for entry in reversed(table.log):
        if is_move(entry):
            return entry.events
        if entry.kind == EventKind.STARTED:
            return ()
    return ()


# ── the dock: the one place where one decides ──────────────────────────────────


def _dock(table: LiveTable, audience: Audience, seats: tuple[SeatFacts, ...], you: int | None) -> Mapping[str, Any]:
    return {
        "dock": _dock_kind(table, you),
        "decision": table.match.prompts[you] if table.match and you is not None and table.playing else 0,
        "fuse": _fuse(table),
        "waiting": _waiting(table, seats),
        "stood_in_for": you is not None and seats[you].stand_in,
        **(_lobby(table, audience) if table.status != Status.PLAYING else {}),
    }


def _dock_kind(table: LiveTable, you: int | None) -> str:
    if table.status != Status.PLAYING:
        return str(table.status)
    if you is None:
        return "watching"
    return "deciding" if you in table.to_act else "waiting"


def _fuse(table: LiveTable) -> Mapping[str, int] | None:
    """The clock of the present decision in milliseconds, None where nothing runs out."""
    if table.match is None or table.match.deadline_at is None or not table.playing:
        return None
    left = table.match.deadline_at - timezone.now()
    return {"left": max(0, round(left.total_seconds() * 1000)), "total": table.seconds * 1000}


def _waiting(table: LiveTable, seats: tuple[SeatFacts, ...]) -> str:
    """Who everybody waits for, in words."""
    asked = [seat for seat in seats if seat.to_act]
    if not asked:
        return ""
    if table.match is not None and table.match.paused:
        return gettext("The game waits until somebody is back.")
    if len(asked) == 1 and (asked[0].cpu or asked[0].stand_in):
        return gettext("%(name)s is thinking…") % {"name": asked[0].name}
    return gettext("Waiting for %(name)s") % {"name": ", ".join(seat.name for seat in asked)}


def _lobby(table: LiveTable, audience: Audience) -> Mapping[str, Any]:
    # Once a match is over, a seat that only a stand-in played is free again.
    taken = sum(bool(seat.cpu_level) or seat.person for seat in table.seats)
    room = taken + 1 in table.game.seats
    between = table.mode == Mode.LINK
    return {
        "may_sit": between and room and not audience.held,
        "may_add": between and room and audience.host,
        "may_start": taken in table.game.seats,
        "missing": max(0, table.game.seats.start - taken),
        "levels": [(level.value, label) for level, label in LEVEL_LABELS.items()],
        "clock_label": _clock_label(table.seconds),
        "room": table.game.seats.stop - 1 - taken,
        "you_accepted": any(table.seats[seat].accepted for seat in audience.held),
    }


def _clock_label(seconds: int) -> str:
    if not seconds:
        return gettext("no time limit")
    return ngettext("%(seconds)s second per turn", "%(seconds)s seconds per turn", seconds) % {"seconds": seconds}


# ── results ────────────────────────────────────────────────────────────────────


def _results(table: LiveTable, cast: Cast) -> Mapping[str, Any]:
    if table.match is None:
        return {}
    results = sorted((r for r in table.match.results if r.place is not None), key=lambda r: (r.place, r.seat))
    names = dict(_result_names(table.match.results))
    you = None if table.mode == Mode.SAME_DEVICE else cast.you
    rows = [
        {
            "place": r.place,
            "place_text": gettext("%(place)s.") % {"place": r.place},
            "name": names[r.seat],
            "score": r.score,
            "you": r.seat == you,
            "seat": r.seat,
        }
        for r in results
    ]
    return {
        "results": rows,
        "verdict": _verdict(rows, you),
        "best": table.best if cast.you is not None else None,
    }


def _result_names(results: tuple[LiveResult, ...]) -> Iterator[tuple[int, str]]:
    cpus = [result.seat for result in results if result.cpu_level]
    for result in results:
        number = cpus.index(result.seat) + 1 if result.cpu_level and len(cpus) > 1 else 0
        yield result.seat, cpu_name(number) if result.cpu_level else result.name


def _verdict(rows: list[dict[str, Any]], you: int | None) -> str:
    """Who won, in a line (G-8, G-9); alone, the total is the result (HL-15)."""
    if not rows:
        return gettext("The game was cancelled.")
    if len(rows) == 1:
        points = rows[0]["score"]
        return ngettext("%(points)s point", "%(points)s points", points) % {"points": points}
    winners = [row for row in rows if row["place"] == 1]
    if len(winners) > 1:
        return gettext("A draw: %(names)s") % {"names": ", ".join(row["name"] for row in winners)}
    if winners[0]["seat"] == you:
        return gettext("You win!")
    return gettext("%(name)s wins") % {"name": winners[0]["name"]}


# ── the log and the live region ────────────────────────────────────────────────


def log(table: LiveTable, audience: Audience) -> list[str]:
    """The log's lines, the newest first."""
    return announcements(table, audience, since=0)[::-1][:SHOWN_LOG]


def announcements(table: LiveTable, audience: Audience, *, since: int) -> list[str]:
    """What happened after version ``since``, oldest first, one sentence an event."""
    you = audience.you(table)
    cast = cast_of(table, seat_facts(table, audience, you), you)
    speakers = tuple(SeatFacts(index=seat.index, name=seat.name, you=seat.you) for seat in cast.seats)
    return [line for entry in table.log if entry.version > since for line in sentences(table, entry, speakers)]


def sentences(table: LiveTable, entry: LogEntry, seats: tuple[SeatFacts, ...]) -> tuple[str, ...]:
    """An entry in words; a seat that is no longer there is told by its name."""
    return _told(table.slug, entry, seats) if is_move(entry) else (_happening(table, entry),)


@worded
def _told(slug: str, entry: LogEntry, seats: tuple[SeatFacts, ...]) -> tuple[str, ...]:
    if entry.seat is None or entry.seat >= len(seats):
        return ()
    late = [gettext("Time is up for %(name)s.") % {"name": seats[entry.seat].name}]
    lines = [registry.get(slug).sentence(event, seats) for event in entry.events]
    return tuple(line for line in (*(late if entry.kind == MadeBy.CLOCK else ()), *lines) if line)


def _happening(table: LiveTable, entry: LogEntry) -> str:
    words = {"name": entry.name or gettext("CPU"), "count": entry.count}
    match entry.kind:
        case EventKind.SAT:
            return gettext("%(name)s takes a seat.") % words
        case EventKind.CPU_SAT:
            return gettext("A computer player takes a seat.")
        case EventKind.LEFT:
            return gettext("%(name)s has left.") % words
        case EventKind.STARTED:
            return gettext("Game %(count)s begins.") % words
        case EventKind.STAND_IN:
            return gettext("The computer is playing for %(name)s.") % words
        case EventKind.BACK:
            text = ngettext(
                "%(name)s is back. The computer played %(count)s move.",
                "%(name)s is back. The computer played %(count)s moves.",
                entry.count,
            )
            return text % words
        case _:
            return _ending(table)


def _ending(table: LiveTable) -> str:
    """The result in one sentence, for those who do not see the page."""
    if table.match is None:
        return gettext("The game is over.")
    rows = [
        {"place": r.place, "name": name, "score": r.score, "seat": r.seat}
        for r, (_, name) in zip(table.match.results, _result_names(table.match.results), strict=True)
        if r.place is not None
    ]
    return gettext("The game is over: %(verdict)s.") % {"verdict": _verdict(rows, None).rstrip("!.")}
