"""A match as a record that replays to the same state anywhere."""

from typing import Any

import msgspec

from apps.games.kernel.errors import BadMove
from apps.games.kernel.game import AnyGame


class Record(msgspec.Struct, frozen=True):
    """Exactly what a match is: the game at a version, its settings, seats, seed and moves."""

    game: str
    version: int
    options: dict[str, Any]
    seats: int
    first: int
    seed: bytes
    moves: tuple[tuple[int, bytes], ...]
    """(seat, move as JSON), in order."""


def replay(game: AnyGame, record: Record) -> Any:
    """The state after all moves of the record.

    Raises BadMove for another game or version, and whatever ``deal`` and ``play`` refuse.
    """
    if (record.game, record.version) != (game.slug, game.version):
        raise BadMove("bad-message", reason="other-version")
    options = game.Options(**record.options)
    state = game.deal(options, seats=record.seats, seed=record.seed, first=record.first)
    for seat, move in record.moves:
        state = game.play(state, seat, game.load_move(move))
    return state
