"""Random matches of any game, through the contract alone."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import msgspec

from apps.games.kernel.draws import SEED_BYTES, lot
from apps.games.kernel.errors import OptionError
from apps.games.kernel.game import AnyGame
from apps.games.kernel.record import Record

MOST_MOVES = 20_000
"""No random match of any game comes near; one that does is taken not to end."""

CARD = re.compile(rb'"([A2-9TJQK][SHDC]|X[RB])"')


class Start(msgspec.Struct, frozen=True):
    """What a match is made from, and its first decision."""

    options: Any
    seats: int
    seed: bytes
    first: int
    state: Any


class Step(msgspec.Struct, frozen=True):
    """One move of a match of so many seats, and the states around it."""

    seats: int
    before: Any
    seat: int
    move: Any
    after: Any

    @property
    def viewers(self) -> tuple[int | None, ...]:
        """Every seat, and a spectator."""
        return (None, *range(self.seats))


def start(game: AnyGame, rng: Random, number: int) -> Start:
    """Match ``number`` of a run: seats go round, settings are any that fit, the lot says who begins."""
    seats = game.seats[number % len(game.seats)]
    seed = rng.randbytes(SEED_BYTES)
    first = game.first(seats=seats, host=rng.choice([None, *range(seats)]), previous=None, draw=lot(seed))
    for _ in range(1000):
        options = any_options(game, rng)
        try:
            state = game.deal(options, seats=seats, seed=seed, first=first)
        except OptionError:
            continue
        return Start(options, seats, seed, first, state)
    raise AssertionError(f"no settings of {game.slug} fit {seats} seats")


def any_options(game: AnyGame, rng: Random) -> Any:
    return game.Options(**{field.name: rng.choice(field.choices)[0] for field in game.option_fields})


def steps(game: AnyGame, begun: Start, rng: Random) -> Iterator[Step]:
    """Random legal moves to the end; where several may act, any of them does."""
    state = begun.state
    for _ in range(MOST_MOVES):
        acting = sorted(game.to_act(state))
        if not acting:
            return
        seat = rng.choice(acting)
        move = rng.choice(game.legal_moves(state, seat))
        after = game.play(state, seat, move)
        yield Step(begun.seats, state, seat, move, after)
        state = after
    raise AssertionError(f"{game.slug} did not end in {MOST_MOVES} moves")


def some_steps(game: AnyGame, rng: Random, *, matches: int, each: int) -> Iterator[Step]:
    """A few random steps of each of so many matches, the last one among them."""
    for number in range(matches):
        played = list(steps(game, start(game, rng, number), rng))
        yield from rng.sample(played, min(each, len(played)))
        yield played[-1]


def record_of(game: AnyGame, begun: Start, played: list[Step]) -> Record:
    assert all(one.after is other.before for one, other in pairwise(played))
    return Record(
        game=game.slug,
        version=game.version,
        options=msgspec.to_builtins(begun.options),
        seats=begun.seats,
        first=begun.first,
        seed=begun.seed,
        moves=tuple((step.seat, game.dump_move(step.move)) for step in played),
    )


def encoded(game: AnyGame, state: Any, viewer: int | None) -> bytes:
    """The bytes of what a viewer may know."""
    return msgspec.json.encode(game.view(state, viewer))


def cards_in(dumped: bytes) -> Counter[bytes]:
    """Every card that a dumped state names, wherever it stands."""
    return Counter(CARD.findall(dumped))
