"""High-Low drawn and told: the context of its board, and its events in words of the active language."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext, pgettext

from apps.games import wording
from apps.games.high_low.rules import (
    BANK,
    HIGHER,
    LOWER,
    Banked,
    Event,
    Guess,
    Options,
    Reshuffled,
    Turned,
    TurnOver,
    dump_move,
    strength,
)
from apps.games.high_low.view import View
from apps.games.kernel.cards import RANKS, STANDARD_PACK, Card, rank_of
from apps.games.kernel.game import BoardFacts, SeatFacts

TRAIL_LENGTH: Final = 6
"""As many cards of a streak as a phone has room for; earlier ones are left out."""

DOTS: Final = 5
"""Up to this many turns are drawn as dots, more are written as figures."""


def board(view: View, facts: BoardFacts) -> Mapping[str, Any]:
    """The context of ``board.html``: chips, trail, last event, the decisions offered, cards by rank."""
    return {
        "chips": [_chip(view, facts, seat) for seat in facts.seats],
        "trail": trail(view),
        "trail_cut": view.streak > TRAIL_LENGTH,
        "current": view.current,
        "turned": any(isinstance(event, Turned) for event in facts.last),
        "missed": any(isinstance(event, Turned) and not event.hit for event in facts.last),
        "streak": view.streak,
        "stock": view.stock,
        "said": _said(facts),
        "hint": _hint(view) if facts.moves else "",
        "guesses": [_guess(view, facts, guess) for guess in (HIGHER, LOWER)] if facts.moves else [],
        "bank": dump_move(BANK).decode() if BANK in facts.moves else "",
        "casual": facts.casual,
        "ranks": list(_ranks(view, left=facts.casual)),
    }


def trail(view: View) -> list[dict[str, str]]:
    """The cards that this streak has gone over, oldest first, the current one not among them.

    Each has ``card`` and ``dir``, ``up`` or ``down`` from the card before it, empty for the first.
    After a shuffle in mid-streak only the cards since then are known (HL-11).
    """
    passed = view.revealed[-1 - min(view.streak, TRAIL_LENGTH) : -1] if view.streak else ()
    steps = []
    for number, card in enumerate(passed):
        rises = number and strength(card, view.options.ace_high) > strength(passed[number - 1], view.options.ace_high)
        steps.append({"card": card, "dir": "" if number == 0 else "up" if rises else "down"})
    return steps


def odds(view: View, guess: Guess) -> int:
    """How many cards of the stock would answer the guess, counted from what was revealed (HL-17)."""
    height = strength(view.current, view.options.ace_high)
    rises = (strength(card, view.options.ace_high) - height for card in _unseen(view))
    return sum(rise > 0 if guess.higher else rise < 0 for rise in rises)


def sentence(event: Event, seats: tuple[SeatFacts, ...]) -> str:
    """One event as whole sentences, for the log and the live region."""
    match event:
        case Turned():
            return f"{_call(event, seats)} {_answer(event)}"
        case Banked():
            return _banked(event, seats)
        case Reshuffled():
            return _reshuffled(event)
        case TurnOver():
            return _next(event, seats)


def summary(options: Options) -> str:
    """The settings in a few words."""
    turns = ngettext("%(turns)s turn each", "%(turns)s turns each", options.turns) % {"turns": options.turns}
    ace = gettext("ace high") if options.ace_high else gettext("ace low")
    return f"{turns} · {ace}"


def progress(view: View) -> str:
    """Which turn it is of how many (HL-12)."""
    if not view.to_act:
        return gettext("All turns played")
    number = view.turns_taken[view.to_act[0]] + 1
    return gettext("Turn %(number)s of %(turns)s") % {"number": number, "turns": view.options.turns}


def _chip(view: View, facts: BoardFacts, seat: SeatFacts) -> dict[str, Any]:
    taken, turns = view.turns_taken[seat.index], view.options.turns
    return {
        "seat": seat,
        "score": view.scores[seat.index],
        "banked": any(isinstance(event, Banked) and event.seat == seat.index for event in facts.last),
        "lit": any(isinstance(event, TurnOver) and event.next_seat == seat.index for event in facts.last),
        "dots": [number < taken for number in range(turns)] if turns <= DOTS else [],
        "taken": taken,
        "turns": turns,
        "turns_label": ngettext("%(taken)s of %(turns)s turn", "%(taken)s of %(turns)s turns", turns)
        % {"taken": taken, "turns": turns},
        "tags": wording.seat_tags(seat),
    }


def _guess(view: View, facts: BoardFacts, guess: Guess) -> dict[str, Any]:
    """One of the two guesses; without ``move`` it is not offered, and ``note`` says why (HL-6)."""
    offered = guess in facts.moves
    return {
        "id": "guess-higher" if guess.higher else "guess-lower",
        "icon": "i-up" if guess.higher else "i-down",
        "label": gettext("Higher") if guess.higher else gettext("Lower"),
        "move": dump_move(guess).decode() if offered else "",
        "note": _note(view, facts, guess) if offered else gettext("no card can be right"),
    }


def _note(view: View, facts: BoardFacts, guess: Guess) -> str:
    if not facts.casual:
        return ""
    counts = {"good": odds(view, guess), "total": view.stock}
    return ngettext("%(good)s of %(total)s card", "%(good)s of %(total)s cards", view.stock) % counts


def _hint(view: View) -> str:
    return gettext("Higher or lower than %(rank)s?") % {"rank": wording.rank_name(rank_of(view.current))}


def _unseen(view: View) -> Iterator[Card]:
    return (card for card in STANDARD_PACK if card not in view.revealed)


def _ranks(view: View, *, left: bool) -> Iterator[dict[str, Any]]:
    """Cards by rank, lowest first: those still in the stock, or with ``left`` false those seen."""
    cards = _unseen(view) if left else iter(view.revealed)
    counts = Counter(map(rank_of, cards))
    for rank in sorted(RANKS, key=lambda rank: strength(rank, view.options.ace_high)):
        yield {
            "rank": rank,
            "label": _rank_count(rank, counts[rank]),
            "count": counts[rank],
            "current": rank == rank_of(view.current),
        }


@wording.worded
def _rank_count(rank: str, count: int) -> str:
    words = {"rank": wording.rank_name(rank), "count": count}
    return pgettext("how many cards of a rank", "%(rank)s: %(count)s") % words


def _said(facts: BoardFacts) -> dict[str, str]:
    """The last move in one line under the card: ``lead`` in bold, then ``text``; empty at the start."""
    for event in facts.last:
        match event:
            case Turned():
                return {"lead": _verdict(event, facts.seats), "text": _comparison(event)}
            case Banked():
                return {"lead": "", "text": _banked(event, facts.seats)}
            case _:
                continue
    return {"lead": "", "text": ""}


def _verdict(event: Turned, seats: tuple[SeatFacts, ...]) -> str:
    if len(seats) == 1:
        return gettext("Hit.") if event.hit else gettext("Miss.")
    name = {"name": seats[event.seat].name}
    return gettext("%(name)s: hit.") % name if event.hit else gettext("%(name)s: miss.") % name


def _comparison(event: Turned) -> str:
    card = {"card": capfirst(wording.card_name(event.card))}
    if rank_of(event.card) == rank_of(event.previous):
        return gettext("%(card)s is of the same rank.") % card
    rises = event.higher == event.hit
    return gettext("%(card)s is higher.") % card if rises else gettext("%(card)s is lower.") % card


def _call(event: Turned, seats: tuple[SeatFacts, ...]) -> str:
    words = {"name": seats[event.seat].name, "card": wording.card_name(event.card)}
    if event.higher:
        return gettext("%(name)s says higher: %(card)s.") % words
    return gettext("%(name)s says lower: %(card)s.") % words


def _answer(event: Turned) -> str:
    streak = {"streak": event.streak}
    if event.hit:
        return gettext("Hit, streak %(streak)s.") % streak
    same = rank_of(event.card) == rank_of(event.previous)
    if not event.streak:
        return gettext("Same rank, miss.") if same else gettext("Miss.")
    if same:
        return gettext("Same rank, miss: streak of %(streak)s lost.") % streak
    return gettext("Miss: streak of %(streak)s lost.") % streak


def _banked(event: Banked, seats: tuple[SeatFacts, ...]) -> str:
    words = {"name": seats[event.seat].name, "points": event.points}
    return ngettext("%(name)s banks %(points)s point.", "%(name)s banks %(points)s points.", event.points) % words


def _reshuffled(event: Reshuffled) -> str:
    text = ngettext(
        "The stock was empty: %(stock)s card is shuffled anew.",
        "The stock was empty: %(stock)s cards are shuffled anew.",
        event.stock,
    )
    return text % {"stock": event.stock}


def _next(event: TurnOver, seats: tuple[SeatFacts, ...]) -> str:
    """Whose turn it is; nothing where there is no choice of seats or no turn left."""
    if event.next_seat is None or len(seats) == 1:
        return ""
    seat = seats[event.next_seat]
    if seat.you:
        return gettext("It is your turn, %(name)s.") % {"name": seat.name}
    return gettext("It is %(name)s’s turn.") % {"name": seat.name}
