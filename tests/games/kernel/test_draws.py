"""The stream of draws, against numbers worked out apart from this code with sha256sum and shell arithmetic."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.games.kernel.cards import STANDARD_PACK
from apps.games.kernel.draws import SEED_BYTES, Draws, draw, lot, seed_hash

ZEROS = bytes(SEED_BYTES)
COUNTING = bytes(range(SEED_BYTES))

seeds = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)


@pytest.mark.parametrize(
    ("k", "n", "zeros", "counting"),
    [
        (0, 2, 1, 0),
        (0, 8, 3, 0),
        (0, 10, 9, 6),
        (1, 52, 18, 35),
        (2, 51, 41, 5),
        (7, 54, 16, 20),
        (51, 2, 1, 0),
        (255, 13, 9, 2),
        (256, 13, 7, 6),
        (65536, 1_000_003, 246_543, 193_284),
    ],
)
def test_a_draw_is_the_hash_of_seed_and_number(k, n, zeros, counting):
    assert draw(ZEROS, k, n) == zeros
    assert draw(COUNTING, k, n) == counting


@pytest.mark.parametrize(
    ("seed", "pack"),
    [
        (
            ZEROS,
            "AH JH 9D 8S QD KH 8D 9H 8C 4C AC 2D 9C 3D JD 9S 7S JC 7D KS 5C TD 5S JS AD TC 7C QC 6D 6S 2S QS 5H 3H "
            "4H 7H 2H QH KC 4S AS TH 6C TS 5D KD 3S 4D 8H 2C 3C 6H",
        ),
        (
            COUNTING,
            "TC 9H AS 2C 9D JC 7C AC 8C TH 8D 4D 5D 3H QD 6D QH 4C 5H AD 2D KC 6H JD 7S 8H 5S QC 4S KH 5C 3S AH 8S "
            "TS 3C 4H QS JH JS 3D 9S 2H 7D 9C 6C 7H KD 2S KS 6S TD",
        ),
    ],
)
def test_the_pack_is_shuffled_with_draws_1_to_51(seed, pack):
    draws = Draws(seed, 1)
    assert draws.shuffled(STANDARD_PACK) == tuple(pack.split())
    assert draws.position == 52


def test_the_lot_is_draw_0():
    assert lot(ZEROS)(8) == 3
    assert lot(COUNTING)(10) == 6


def test_the_seed_hash_proves_the_seed():
    assert seed_hash(ZEROS) == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
    assert seed_hash(COUNTING) == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"


def test_draws_go_on_where_they_stopped():
    at_once = Draws(ZEROS, 1)
    numbers = [at_once.below(52) for _ in range(10)]
    first = Draws(ZEROS, 1)
    begun = [first.below(52) for _ in range(4)]
    resumed = Draws(ZEROS, first.position)
    assert begun + [resumed.below(52) for _ in range(6)] == numbers


@given(seed=seeds, k=st.integers(0, 2**64 - 1), n=st.integers(1, 1000))
def test_a_draw_stays_below_its_bound(seed, k, n):
    assert 0 <= draw(seed, k, n) < n


@given(seed=seeds, items=st.lists(st.integers(), max_size=60))
def test_a_shuffle_keeps_every_item_and_its_argument(seed, items):
    given_items = list(items)
    draws = Draws(seed, 1)
    assert Counter(draws.shuffled(items)) == Counter(items)
    assert items == given_items
    assert draws.position == max(len(items), 1)


def test_all_orders_come_equally_often():
    """Each of the 24 orders of four cards within five standard deviations, over fixed seeds."""
    rounds = 24_000
    seen = Counter(Draws(number.to_bytes(SEED_BYTES), 1).shuffled("ABCD") for number in range(rounds))
    assert set(seen) == set(permutations("ABCD"))
    expected = rounds / 24
    assert all(abs(count - expected) < 5 * expected**0.5 for count in seen.values())
