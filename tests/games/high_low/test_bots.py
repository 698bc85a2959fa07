"""The three CPUs on positions where the right answer is known."""

from collections import Counter
from random import Random

import pytest

from apps.games.high_low import bots
from apps.games.high_low.bots import Easy, Hard, Medium, bot
from apps.games.high_low.rules import BANK, HIGHER, LOWER, strength
from apps.games.high_low.view import view
from apps.games.kernel.errors import OptionError
from tests.games.high_low.positions import STRAIGHT, position


def choice(cpu, state):
    return cpu.choose(view(state, state.turn), Random(1), 1)


@pytest.mark.parametrize(("level", "kind"), [("easy", Easy), ("medium", Medium), ("hard", Hard)])
def test_g_13_the_three_levels(level, kind):
    assert type(bot(level)) is kind


@pytest.mark.parametrize("level", ["", "HARD", "expert", None, 3])
def test_there_is_no_other_level(level):
    with pytest.raises(OptionError) as refusal:
        bot(level)
    assert refusal.value.params == {"field": "level"}


@pytest.mark.parametrize(
    ("current", "streak", "moves"),
    [("7D", 1, {HIGHER, LOWER, BANK}), ("7D", 0, {HIGHER, LOWER}), ("KD", 0, {LOWER}), ("KD", 2, {LOWER, BANK})],
)
def test_easy_picks_any_legal_move_equally_often(current, streak, moves):
    seen = view(position(current, streak=streak), 0)
    rng = Random(1)
    picked = Counter(Easy().choose(seen, rng, 1) for _ in range(900))
    assert set(picked) == moves
    assert min(picked.values()) > 900 / len(moves) * 0.8


class TestMedium:
    @pytest.mark.parametrize("ace_high", [False, True])
    @pytest.mark.parametrize("rank", STRAIGHT)
    @pytest.mark.parametrize("streak", [0, 1, 2])
    def test_guesses_by_rank(self, rank, ace_high, streak):
        state = position(rank + "D", streak=streak, ace_high=ace_high)
        assert choice(Medium(), state) == (HIGHER if strength(rank + "D", ace_high) <= 6 else LOWER)

    @pytest.mark.parametrize("rank", STRAIGHT)
    @pytest.mark.parametrize("streak", [3, 4, 9])
    def test_banks_at_three(self, rank, streak):
        assert choice(Medium(), position(rank + "D", streak=streak)) == BANK

    def test_does_not_count(self):
        low_cards_gone = " ".join(rank + suit for rank in "A2345678" for suit in "SHDC")
        assert choice(Medium(), position(low_cards_gone + " 9D")) == LOWER


class TestHard:
    def test_counts_what_was_revealed(self):
        low_cards_gone = " ".join(rank + suit for rank in "A2345678" for suit in "SHDC")
        assert choice(Hard(), position(low_cards_gone + " 9D")) == HIGHER

    def test_goes_on_for_ever_while_it_cannot_miss(self):
        low_cards_gone = " ".join(rank + suit for rank in "A23456789" for suit in "SHDC")
        assert choice(Hard(), position(low_cards_gone.replace("9D", "") + " 9D", streak=20)) == HIGHER

    @pytest.mark.parametrize("streak", [1, 9])
    def test_takes_a_sure_hit_and_banks_before_a_sure_miss(self, streak):
        assert choice(Hard(), position("JS", "QS QH QD", last=True, streak=streak)) == HIGHER
        assert choice(Hard(), position("JS", "JH JD JC", last=True, streak=streak)) == BANK

    def test_weighs_nine_points_against_four_chances_in_five(self):
        assert choice(Hard(), position("JS", "QS QH QD QC JH", last=True, streak=9)) == BANK
        assert choice(Hard(), position("JS", "QS QH QD QC JH", last=True, streak=1)) == HIGHER

    @pytest.mark.parametrize(("rank", "streak", "move"), [("7D", 3, BANK), ("8D", 1, LOWER), ("2D", 3, HIGHER)])
    def test_weighs_the_streak_against_the_risk(self, rank, streak, move):
        assert choice(Hard(), position(rank, streak=streak)) == move

    def test_looks_three_cards_ahead_exactly(self):
        """Against the same sum written out over single cards, on a stock small enough to do so."""
        for number, coming in enumerate(["2S KH 7S 9D", "AS AH KD QC 7C", "3S 8D TC JH QH 2C"]):
            state = position("6D", coming, last=True, streak=number)
            seen = view(state, 0)
            lookout = bots._Lookout(bots.POINTS, bots._unseen(seen))
            for guess in (HIGHER, LOWER):
                counted = lookout.guessed(guess, strength("6D", False), number, 2)
                assert counted == pytest.approx(_over_cards(guess, "6D", coming.split(), number, 2))


def _over_cards(guess, current, coming, streak, plies):
    """The mean worth of a guess, card by card; beyond the horizon what all ranks alike promise."""
    total = 0.0
    for card in coming:
        rise = strength(card, False) - strength(current, False)
        if (rise > 0) if guess.higher else (rise < 0):
            rest = [other for other in coming if other != card]
            total += _best_after(card, rest, streak + 1, plies - 1)
    return total / len(coming)


def _best_after(current, coming, streak, plies):
    if plies == 0:
        return bots._outlook(bots.POINTS)[streak][strength(current, False)]
    return max(streak, *(_over_cards(guess, current, coming, streak, plies) for guess in (HIGHER, LOWER)))


class TestLastTurn:
    """Hard's last turn against others: u(s) is 1, ½, 0 as the total is above, at, below the best rival's."""

    @staticmethod
    def last(current="7D", coming="", *, streak, scores, rivals_done=True, **more):
        taken = (2, *[3 if rivals_done else 2] * (len(scores) - 1))
        return position(current, coming, streak=streak, scores=scores, turns_taken=taken, **more)

    @pytest.mark.parametrize("current", [rank + "D" for rank in STRAIGHT])
    @pytest.mark.parametrize("streak", range(1, 8))
    def test_banks_as_soon_as_that_wins_and_never_while_it_loses(self, current, streak):
        move = choice(Hard(), self.last(current, streak=streak, scores=(4, 9)))
        if streak > 5:
            assert move == BANK
        elif streak < 5:
            assert move != BANK

    def test_takes_the_tie_or_goes_for_the_win_as_the_odds_are(self):
        """A tie is worth ½: at an even chance or better it goes on."""
        assert choice(Hard(), self.last("2D", streak=5, scores=(4, 9))) == HIGHER
        assert choice(Hard(), self.last("7D", streak=5, scores=(4, 9))) == BANK

    def test_the_best_rival_counts(self):
        assert choice(Hard(), self.last("7D", streak=4, scores=(4, 6, 9, 1))) != BANK
        assert choice(Hard(), self.last("7D", streak=6, scores=(4, 6, 9, 1))) == BANK

    @pytest.mark.parametrize("scores", [(10, 4), (0, 90)])
    def test_plays_for_points_once_the_match_is_decided(self, scores):
        for current in (rank + "D" for rank in STRAIGHT):
            for streak in range(6):
                decided = choice(Hard(), self.last(current, streak=streak, scores=scores))
                assert decided == choice(Hard(), position(current, streak=streak))

    def test_it_reckons_for_its_own_seat(self):
        behind = position("7D", streak=4, scores=(9, 4), turns_taken=(3, 2), turn=1)
        assert choice(Hard(), behind) != BANK

    def test_alone_it_plays_for_points_to_the_end(self):
        state = position("7D", streak=3, scores=(2,), turns_taken=(2,))
        assert choice(Hard(), state) == choice(Hard(), position("7D", streak=3, scores=(2,)))

    def test_a_rival_with_a_turn_to_come_is_not_beaten_by_one_point(self):
        """At a lead of 1 with a fair card: enough against those who are done, too little against those to come."""
        assert choice(Hard(), self.last("2D", streak=1, scores=(0, 0))) == BANK
        assert choice(Hard(), self.last("2D", streak=1, scores=(0, 0), rivals_done=False)) == HIGHER

    def test_before_the_last_turn_the_totals_do_not_matter(self):
        for scores in [(0, 0), (0, 9), (9, 0)]:
            assert choice(Hard(), position("7D", streak=3, scores=scores, turns_taken=(1, 2))) == BANK
