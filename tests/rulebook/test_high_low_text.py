"""The worked example on the page of High-Low, against the rules it is an example of."""

import pytest

from apps.games.high_low.rules import strength
from apps.games.kernel.cards import STANDARD_PACK
from apps.rulebook.documents import game_rules
from tests.rulebook.conftest import Html, every_language


@every_language
def test_chances_on_a_seven_are_counted_rightly(language):
    others = [card for card in STANDARD_PACK if card != "7H"]
    sides = [strength(card, ace_high=False) - strength("7H", ace_high=False) for card in others]
    higher, lower, same = (sum(map(test, sides)) for test in ((0).__lt__, (0).__gt__, (0).__eq__))
    assert (higher, lower, same) == (24, 24, 3)
    play = game_rules("high-low", language).body.sections[1].html
    told = next(part for part in str(play).split("<p>") if str(higher) in part)
    assert all(str(count) in told for count in (higher, lower, same, len(others)))


@pytest.mark.parametrize(("group", "side"), [(1, 1), (2, -1), (3, 0)])
def test_example_shows_what_it_says(group, side):
    play = str(game_rules("high-low", "en").body.sections[1].html)
    rows = play.split('<div class="row">')[1:5]
    for card in Html(rows[group]).all("span", role="img"):
        difference = strength(card["data-card"], ace_high=False) - strength("7H", ace_high=False)
        assert (difference > 0) - (difference < 0) == side
