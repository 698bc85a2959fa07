"""Reads that span models: for the home page, and a match as a record."""

from typing import Any

import msgspec
from django.db.models import Prefetch
from django.urls import reverse

from apps.accounts.models import User
from apps.games import registry
from apps.games.kernel.game import AnyGame, Mode
from apps.games.kernel.record import Record
from apps.rulebook.pages import Page
from apps.tables import presence
from apps.tables.forms import mode_choices
from apps.tables.models import Match, Seat, Status, Table

OPEN_SHOWN = 12
OPEN_SEARCHED = 300
"""Hosts go without a word: so many of the newest tables are looked at for those that are there."""
YOURS_SHOWN = 12


def game_card(game: AnyGame) -> dict[str, Any]:
    """A game with its ways to play, as lists show it."""
    new = reverse("tables:new")
    return {
        "game": game,
        "rules_url": Page("game", game.slug).url(),
        "play_url": f"{new}?game={game.slug}",
        "modes": [(label, f"{new}?game={game.slug}&mode={mode}") for mode, label in mode_choices(game)],
        "fewest": game.seats.start,
        "most": game.seats.stop - 1,
    }


def solo_game() -> AnyGame | None:
    """The shortest game that one person can play alone, for those who just want to turn a card."""
    return next((game for game in registry.all_games() if 1 in game.seats and Mode.COMPUTER in game.modes), None)


def tables_of(user: User) -> list[dict[str, Any]]:
    """The tables at which this person sits, the newest first."""
    tables = Table.objects.seating(user.pk).prefetch_related(_seats()).order_by("-active_at")[:YOURS_SHOWN]
    return [_row(table) for table in tables]


def open_tables() -> list[dict[str, Any]]:
    """Public tables with a free seat whose host is there."""
    tables = list(Table.objects.open().prefetch_related(_seats()).order_by("-created_at")[:OPEN_SEARCHED])
    try:
        here = presence.present((table.code, table.host_id or 0) for table in tables)
    except presence.Away:
        here = set()
    rows = [_row(table) for table in tables if (table.code, table.host_id) in here]
    return [row for row in rows if row["taken"] < row["seats"]][:OPEN_SHOWN]


def _seats() -> Prefetch:
    return Prefetch("seats", queryset=Seat.objects.order_by("index"), to_attr="seated")


def _row(table: Any) -> dict[str, Any]:
    game = registry.get(table.game)
    return {
        "url": reverse("tables:table", args=[table.code]),
        "game": game,
        "status": table.status,
        "status_text": Status(table.status).label,
        "names": [seat.name for seat in table.seated if seat.name],
        "settings": game.summary(game.Options(**table.options)),
        "taken": len(table.seated),
        "seats": game.seats.stop - 1,
    }


def record_of(match: Match) -> Record:
    """Exactly what the match was, to be replayed anywhere."""
    return Record(
        game=match.game,
        version=match.rules_version,
        options=match.options,
        seats=match.seat_count,
        first=match.first,
        seed=bytes(match.seed),
        moves=tuple((move.seat, msgspec.json.encode(move.move)) for move in match.moves.order_by("number")),
    )
