"""A match as a record that replays to the same state anywhere."""

from typing import Any

import msgspec

from apps.games.kernel.errors import BadMove, OptionError
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

    Raises BadMove for another game or version, OptionError for settings that the game does not have,
    and whatever ``deal`` and ``play`` refuse.
    """
    if (record.game, record.version) != (game.slug, game.version):
        raise BadMove("bad-message", reason="other-version")
    state = game.deal(_options(game, record), seats=record.seats, seed=record.seed, first=record.first)
    for seat, move in record.moves:
        state = game.play(state, seat, game.load_move(move))
    return state


def _options(game: AnyGame, record: Record) -> Any:
    try:
        return game.Options(**record.options)
    except TypeError:
        raise OptionError("bad-option") from None
