"""Refusals in words, in the active language."""

from collections.abc import Mapping

from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.games.kernel.errors import Refusal

TEXTS = {
    "stale": _("That decision is already made. The page shows the table as it is now."),
    "illegal": _("That is not possible now."),
    "not-your-turn": _("It is not your turn."),
    "finished": _("This game is over."),
    "bad-message": _("The table did not understand that."),
    "bad-option": _("These settings do not fit together."),
    "too-fast": _("That was too fast. Try again in a moment."),
    "not-seated": _("You have no seat at this table."),
    "restricted": _("You may not do that here."),
    "no-such-table": _("There is no such table."),
    "expired": _("This table is no longer available."),
    "unavailable": _("The table could not be reached just now. Nothing was lost; try again."),
}

REASONS = {
    "full": _("All seats are taken."),
    "started": _("The game has already started. You can watch."),
    "private": _("This table is played on one screen."),
    "name-taken": _("Somebody at this table already has that name."),
    "name-empty": _("Please enter a name."),
    "name-long": _("A name has at most 24 characters."),
    "name-characters": _("A name needs a letter or a digit, and has no hidden characters."),
    "not-host": _("Only the host can do that."),
    "no-such-seat": _("There is no such seat."),
    "no-such-level": _("There is no such difficulty."),
    "too-few": _("Not enough people are seated for this game."),
    "seated-already": _("You already have a seat at this table."),
    "pass": _("This link has been used or is too old. Ask for a new one."),
}

STATUS = {
    "stale": 409,
    "finished": 409,
    "not-your-turn": 409,
    "illegal": 422,
    "bad-message": 400,
    "bad-option": 400,
    "too-fast": 429,
    "not-seated": 403,
    "restricted": 403,
    "no-such-table": 404,
    "expired": 410,
    "unavailable": 503,
}
"""The answer's status where a refusal is an HTTP response."""


def words(refusal: Refusal) -> str:
    """One sentence that says what is wrong, without naming anything hidden."""
    reason = str(refusal.params.get("reason", ""))
    return str(REASONS.get(reason) or TEXTS.get(refusal.code) or TEXTS["illegal"])


def notice(refusal: Refusal, language: str) -> Mapping[str, str]:
    """What the ``#notice`` region shows of a refusal."""
    with translation.override(language):
        return {"code": refusal.code, "text": words(refusal)}


def welcome_back(moves: int, language: str) -> Mapping[str, str]:
    """What somebody who returns is told (G-5)."""
    with translation.override(language):
        text = ngettext(
            "Welcome back. The computer played %(moves)s move for you.",
            "Welcome back. The computer played %(moves)s moves for you.",
            moves,
        )
        return {"code": "back", "text": text % {"moves": moves}}
