"""PURE. Who is asked, since which version, and when the clock has to act."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from apps.games.kernel.game import AnyGame


def prompts(
    game: AnyGame, state: Any, *, seats: int, version: int, before: tuple[Any, Sequence[int | None], int] | None
) -> tuple[int | None, ...]:
    """The version at which each seat's present decision was put to it, None for seats not to act.

    ``before`` is (state, prompts, mover) of the decision just made. A seat that was waiting and may
    still do exactly the same keeps its version, so that one secret bid does not spoil the others'.
    """
    asked = game.to_act(state)
    return tuple(_prompt(game, state, seat, version, before) if seat in asked else None for seat in range(seats))


def _prompt(
    game: AnyGame, state: Any, seat: int, version: int, before: tuple[Any, Sequence[int | None], int] | None
) -> int:
    if before is None:
        return version
    old_state, old_prompts, mover = before
    kept = old_prompts[seat]
    if seat == mover or kept is None:
        return version
    same = game.legal_moves(old_state, seat) == game.legal_moves(state, seat)
    return kept if same else version


def deadline(
    *,
    asked: frozenset[int],
    automatic: Callable[[int], bool],
    seconds: int,
    now: datetime,
    kept: datetime | None = None,
) -> datetime | None:
    """When the time of the people who are asked runs out (G-4); None without limit or without people.

    ``kept`` is the running deadline of a decision that others share and that goes on.
    """
    if not seconds or all(automatic(seat) for seat in asked):
        return None
    return kept or now + timedelta(seconds=seconds)


def next_cpu(*, asked: frozenset[int], automatic: Callable[[int], bool], now: datetime, pace: float) -> datetime | None:
    """When the next CPU or stand-in moves: a human pace after it was asked."""
    if not any(automatic(seat) for seat in asked):
        return None
    return now + timedelta(seconds=pace)
