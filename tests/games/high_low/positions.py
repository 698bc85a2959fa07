"""Positions of High-Low built by hand."""

from apps.games.high_low.rules import Options, State, play
from apps.games.kernel.cards import STANDARD_PACK

SEED = bytes(range(32))

STRAIGHT = "A23456789TJQK"


def position(
    revealed="7D",
    coming="",
    *,
    last=False,
    turn=0,
    streak=0,
    scores=(0, 0),
    turns_taken=None,
    position=52,
    **options,
):
    """A state with these cards revealed (the current one last) and these coming (the next one first).

    All other cards lie under ``coming`` in the stock; with ``last`` they have been revealed instead,
    before those named.
    """
    shown, next_cards = revealed.split(), coming.split()
    others = [card for card in STANDARD_PACK if card not in shown and card not in next_cards]
    return State(
        options=Options(**options),
        seed=SEED,
        position=position,
        stock=(*(() if last else others), *reversed(next_cards)),
        revealed=(*(others if last else ()), *shown),
        turn=turn,
        streak=streak,
        scores=scores,
        turns_taken=turns_taken or (0,) * len(scores),
    )


def run(state, *moves):
    """The state after these moves, each made by whoever's turn it is."""
    for move in moves:
        state = play(state, state.turn, move)
    return state
