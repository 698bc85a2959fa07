"""High-Low in words and as the context of its board, in the active language."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.games.high_low.rules import BANK, HIGHER, LOWER, Banked, Event, Options, Reshuffled, Turned, dump_move
from apps.games.high_low.view import View
from apps.games.kernel.game import BoardFacts, SeatFacts


def board(view: View, facts: BoardFacts) -> Mapping[str, Any]:
    """The view, and the moves offered as the JSON that their forms post."""
    moves = {
        name: dump_move(move).decode()
        for name, move in (("higher", HIGHER), ("lower", LOWER), ("bank", BANK))
        if move in facts.moves
    }
    return {"view": view, "moves": moves, "hint": ""}


def sentence(event: Event, seats: tuple[SeatFacts, ...]) -> str:
    """One event in a sentence; empty for the end of a turn."""
    if isinstance(event, Turned):
        text = _("{name}: correct") if event.hit else _("{name}: wrong")
        return text.format(name=seats[event.seat].name)
    if isinstance(event, Banked):
        text = ngettext("{name} banks {points} point", "{name} banks {points} points", event.points)
        return text.format(name=seats[event.seat].name, points=event.points)
    if isinstance(event, Reshuffled):
        return _("The cards seen are shuffled into a new stock.")
    return ""


def summary(options: Options) -> str:
    """The settings in a few words."""
    turns = ngettext("{turns} turn each", "{turns} turns each", options.turns).format(turns=options.turns)
    return f"{turns} · {_('ace high') if options.ace_high else _('ace low')}"


def progress(view: View) -> str:
    """Which turn is being played."""
    turn = min(min(view.turns_taken) + 1, view.options.turns)
    return _("Turn {turn} of {turns}").format(turn=turn, turns=view.options.turns)
