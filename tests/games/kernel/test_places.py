import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.games.kernel.game import places_of


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ((5, 5, 3), (1, 1, 3)),
        ((3, 5, 5), (3, 1, 1)),
        ((0,), (1,)),
        ((0, 0), (1, 1)),
        ((9, 7, 7, 7, 2), (1, 2, 2, 2, 5)),
        ((-3, 4, -3), (2, 1, 2)),
    ],
)
def test_g_8_equal_totals_share_a_place_and_the_next_skips(scores, places):
    assert places_of(scores) == places


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=10).map(tuple))
def test_g_8_a_better_total_has_a_better_place(scores):
    places = places_of(scores)
    assert min(places) == 1
    for score, place in zip(scores, places, strict=True):
        assert place == 1 + sum(other > score for other in scores)
