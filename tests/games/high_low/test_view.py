"""What may be seen of High-Low, by the names that other parts rely on."""

import json
from random import Random

import msgspec
import pytest

from apps.games.high_low.rules import BANK, HIGHER
from apps.games.high_low.view import sample, view
from apps.games.kernel.cards import STANDARD_PACK
from tests.games.high_low.positions import position, run


def test_hl_17_the_fields_of_a_view():
    state = position("4S 7D", streak=1, scores=(6, 2, 0), turns_taken=(2, 1, 1), turn=1, ace_high=True)
    assert json.loads(msgspec.json.encode(view(state, 1))) == {
        "seat": 1,
        "options": {"turns": 3, "ace_high": True},
        "to_act": [1],
        "current": "7D",
        "streak": 1,
        "scores": [6, 2, 0],
        "turns_taken": [2, 1, 1],
        "stock": 50,
        "revealed": ["4S", "7D"],
    }


def test_hl_17_every_seat_and_every_spectator_sees_the_same():
    state = position("4S 7D", streak=1, scores=(6, 2, 0))
    public = view(state, None)
    assert public.seat is None
    assert {msgspec.structs.replace(view(state, seat), seat=None) for seat in range(3)} == {public}


def test_nobody_is_to_act_once_it_is_over():
    over = run(position("7D", streak=1, scores=(0,), turns=1), BANK)
    assert view(over, 0).to_act == ()
    assert view(sample(view(over, 0), Random(1)), 0) == view(over, 0)


def test_hl_11_a_view_names_no_card_from_before_the_last_shuffle():
    seen = view(run(position("7D", "9S", last=True), HIGHER), 0)
    assert (seen.revealed, seen.stock) == (("9S",), 51)


@pytest.mark.parametrize("last", [False, True])
def test_a_sample_is_a_full_state_in_another_order_with_another_seed(last):
    state = position("7D 8H", "9S 2C 3H", last=last)
    other = sample(view(state, 0), Random(1))
    assert view(other, 0) == view(state, 0)
    assert sorted((*other.stock, *other.revealed)) == sorted(STANDARD_PACK)
    assert len({state.seed, other.seed, sample(view(state, 0), Random(2)).seed}) == 3
    assert set(other.stock) == set(state.stock)


def test_every_order_of_the_unseen_cards_can_be_sampled():
    seen = view(position("7D 8H", "9S 2C 3H", last=True), None)
    rng = Random(1)
    assert len({sample(seen, rng).stock for _ in range(100)}) == 6
