"""What the database holds, for comparing and replaying."""

from typing import Any

from django.apps import apps

from apps.games import registry
from apps.tables import live
from apps.tables.journal import Entry, commit
from apps.tables.models import MadeBy, Match


def state_of_everything() -> dict[str, list[Any]]:
    """Every row of tables and people: what a refusal must leave as it was."""
    models = [*apps.get_app_config("tables").get_models(), apps.get_model("accounts.User")]
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models}


def entry_of(table: live.LiveTable, *, made_by: str = MadeBy.PLAYER, **changes: Any) -> Entry:
    """The journal entry of the first legal move of whoever is to act, as another process would write it."""
    game, match = table.game, table.match
    assert match is not None
    seat = min(table.to_act)
    move = game.legal_moves(match.state, seat)[0]
    after = game.play(match.state, seat, move)
    asked = game.to_act(after)
    fields = {
        "table_id": table.id,
        "match_id": match.id,
        "version": table.version + 1,
        "number": match.move_count + 1,
        "seat": seat,
        "move": game.dump_move(move),
        "made_by": made_by,
        "events": game.dump_events(game.events(match.state, seat, move, after, None)),
        "state": game.dump_state(after),
        "prompts": tuple(table.version + 1 if each in asked else None for each in range(len(table.seats))),
        "deadline_at": None,
        "next_cpu_at": None,
        "seat_changes": {},
        "outcome": game.outcome(after),
    }
    return Entry(**fields | changes)


def move_elsewhere(code: str) -> None:
    """Another process makes a move: nothing in this one hears of it."""
    table = live.load(code)
    assert table is not None
    assert commit([entry_of(table)]) == [True]


def end_now(match: Match) -> None:
    """Play a match to its end as another process would, whoever is to act."""
    while True:
        table = live.load(match.table.code)
        assert table is not None
        if not table.playing:
            break
        move_elsewhere(match.table.code)
    live.cache.clear()
    assert registry.get(match.game).outcome(live.load(match.table.code).match.state)
