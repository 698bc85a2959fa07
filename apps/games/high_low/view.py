"""What one seat, or a spectator, may see of High-Low: all but the order of the stock and the seed."""

from random import Random

import msgspec

from apps.games.high_low.rules import Options, State, to_act
from apps.games.kernel.cards import STANDARD_PACK, Card
from apps.games.kernel.draws import SEED_BYTES


class View(msgspec.Struct, frozen=True):
    """The public face of a match (HL-17); ``seat`` is whose eyes it is, None a spectator's.

    ``stock`` is a count, ``revealed`` are the cards since the last shuffle in order, the current one
    last: stock and revealed make 52. ``scores`` and ``turns_taken`` go by seat.
    """

    seat: int | None
    options: Options
    to_act: tuple[int, ...]
    current: Card
    streak: int
    scores: tuple[int, ...]
    turns_taken: tuple[int, ...]
    stock: int
    revealed: tuple[Card, ...]


def view(state: State, seat: int | None) -> View:
    """What ``seat`` may know. Every seat may know the same, for nobody holds a card."""
    return View(
        seat=seat,
        options=state.options,
        to_act=tuple(sorted(to_act(state))),
        current=state.current,
        streak=state.streak,
        scores=state.scores,
        turns_taken=state.turns_taken,
        stock=len(state.stock),
        revealed=state.revealed,
    )


def sample(view: View, rng: Random) -> State:
    """A state that looks like this view: the unseen cards in any order, and a fresh seed."""
    unseen = [card for card in STANDARD_PACK if card not in view.revealed]
    return State(
        options=view.options,
        seed=rng.randbytes(SEED_BYTES),
        position=1,
        stock=tuple(rng.sample(unseen, view.stock)),
        revealed=view.revealed,
        turn=view.to_act[0] if view.to_act else 0,
        streak=view.streak,
        scores=view.scores,
        turns_taken=view.turns_taken,
    )
