"""Every rule of High-Low by its number."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.games.high_low import rules
from apps.games.high_low.rules import (
    BANK,
    HIGHER,
    LOWER,
    Banked,
    Options,
    Reshuffled,
    Turned,
    TurnOver,
    deal,
    legal_moves,
    outcome,
    play,
    strength,
    timeout_move,
    to_act,
)
from apps.games.kernel.cards import STANDARD_PACK
from apps.games.kernel.errors import BadMove, IllegalMove, OptionError
from apps.games.kernel.game import Outcome
from tests.games.high_low.positions import SEED, STRAIGHT, position, run


def dealt(seats=2, first=0, seed=SEED, **options):
    return deal(Options(**options), seats=seats, seed=seed, first=first)


class TestSeatsAndOptions:
    @pytest.mark.parametrize("seats", range(1, 9))
    def test_hl_1_one_to_eight_seats(self, seats):
        state = dealt(seats)
        assert state.scores == state.turns_taken == (0,) * seats

    @pytest.mark.parametrize("seats", [0, 9, -1, True, "2", None, 2.0])
    def test_hl_1_no_other_number_of_seats(self, seats):
        with pytest.raises(OptionError) as refusal:
            dealt(seats)
        assert (refusal.value.code, refusal.value.params) == ("bad-option", {"field": "seats"})

    @pytest.mark.parametrize("first", [-1, 2, None, "0"])
    def test_a_seat_that_is_not_there_cannot_begin(self, first):
        with pytest.raises(OptionError):
            dealt(2, first)

    def test_hl_12_hl_13_three_turns_and_a_low_ace_unless_set(self):
        assert Options() == Options(turns=3, ace_high=False)

    @pytest.mark.parametrize("turns", range(1, 11))
    def test_hl_12_one_to_ten_turns(self, turns):
        assert Options(turns=turns).turns == turns

    @pytest.mark.parametrize("turns", [0, 11, -3, True, False, 3.0, "3", None, [3]])
    def test_hl_12_no_other_number_of_turns(self, turns):
        with pytest.raises(OptionError) as refusal:
            Options(turns=turns)
        assert (refusal.value.code, refusal.value.params) == ("bad-option", {"field": "turns"})

    @pytest.mark.parametrize("ace_high", [0, 1, "true", None, []])
    def test_hl_13_the_ace_is_high_or_it_is_not(self, ace_high):
        with pytest.raises(OptionError) as refusal:
            Options(ace_high=ace_high)
        assert (refusal.value.code, refusal.value.params) == ("bad-option", {"field": "ace_high"})


class TestDeal:
    def test_hl_2_hl_3_one_of_52_cards_is_turned_up(self):
        state = dealt()
        assert state.revealed == (state.current,)
        assert len(state.stock) == 51
        assert sorted((*state.stock, *state.revealed)) == sorted(STANDARD_PACK)

    def test_g_1_the_deal_follows_from_the_seed(self):
        """Worked out apart from this code, draws 1 to 51; the last card is turned first."""
        state = dealt()
        assert state.current == "TD"
        assert state.stock[-4:] == ("KD", "2S", "KS", "6S")
        assert state.stock[:2] == ("TC", "9H")
        assert state.position == 52

    def test_g_2_whoever_begins_acts_first(self):
        assert to_act(dealt(5, first=3)) == {3}


class TestStrength:
    def test_hl_13_the_ace_is_lowest(self):
        assert [strength(rank + "S", False) for rank in STRAIGHT] == list(range(13))

    def test_hl_13_a_setting_puts_the_ace_above_the_king(self):
        assert [strength(rank + "S", True) for rank in "23456789TJQKA"] == list(range(13))

    @pytest.mark.parametrize("ace_high", [False, True])
    def test_hl_2_suits_never_matter(self, ace_high):
        for rank in STRAIGHT:
            assert len({strength(rank + suit, ace_high) for suit in "SHDC"}) == 1


class TestGuess:
    @pytest.mark.parametrize(
        ("coming", "guess", "hit"),
        [
            ("8S", HIGHER, True),
            ("KS", HIGHER, True),
            ("6S", LOWER, True),
            ("AS", LOWER, True),
            ("6S", HIGHER, False),
            ("8S", LOWER, False),
            ("7S", HIGHER, False),
            ("7S", LOWER, False),
        ],
    )
    def test_hl_4_strictly_higher_or_lower_hits_and_equal_misses(self, coming, guess, hit):
        after = run(position("7D", coming), guess)
        assert (after.turn == 0) is hit
        assert after.streak == int(hit)

    @pytest.mark.parametrize("guess", [HIGHER, LOWER])
    def test_hl_5_the_turned_card_is_the_current_card_on_a_hit_and_on_a_miss(self, guess):
        before = position("7D", "QS 2H")
        after = run(before, guess)
        assert after.current == "QS"
        assert after.revealed == ("7D", "QS")
        assert after.stock == before.stock[:-1]

    def test_hl_13_a_high_ace_beats_the_king(self):
        assert run(position("KD", "AS", ace_high=True), HIGHER).streak == 1
        assert run(position("2D", "AS"), LOWER).streak == 1

    @pytest.mark.parametrize(
        ("current", "ace_high", "moves"),
        [
            ("KD", False, (LOWER,)),
            ("AD", False, (HIGHER,)),
            ("AD", True, (LOWER,)),
            ("2D", True, (HIGHER,)),
            ("QD", False, (HIGHER, LOWER)),
            ("2D", False, (HIGHER, LOWER)),
            ("KD", True, (HIGHER, LOWER)),
            ("3D", True, (HIGHER, LOWER)),
        ],
    )
    def test_hl_6_a_guess_that_no_card_can_win_is_not_offered(self, current, ace_high, moves):
        assert legal_moves(position(current, ace_high=ace_high), 0) == moves
        assert legal_moves(position(current, ace_high=ace_high, streak=2), 0) == (*moves, BANK)

    @pytest.mark.parametrize(("current", "guess"), [("KD", HIGHER), ("AD", LOWER)])
    def test_hl_6_nor_is_it_taken(self, current, guess):
        with pytest.raises(IllegalMove) as refusal:
            run(position(current), guess)
        assert (refusal.value.code, refusal.value.params) == ("illegal", {"reason": "no-card-can-win"})

    def test_hl_6_only_the_rank_decides_even_if_counting_shows_that_no_winner_is_left(self):
        state = position("KS KH KD KC QS QH QD", "QC 3S 2S", last=True)
        assert HIGHER in legal_moves(state, 0)
        assert set(state.stock) == {"QC", "3S", "2S"}

    def test_hl_7_after_a_hit_guess_again_or_bank(self):
        after = run(position("7D", "9S"), HIGHER)
        assert to_act(after) == {0}
        assert legal_moves(after, 0) == (HIGHER, LOWER, BANK)

    def test_hl_7_a_streak_has_no_maximum(self):
        coming = " ".join(rank + suit for suit in "SHC" for rank in "K2Q3J4T5")
        state = run(position("2D", coming), *[HIGHER, LOWER] * 12)
        assert state.streak == 24
        assert legal_moves(state, 0) == (HIGHER, LOWER, BANK)


class TestEndOfTurn:
    def test_hl_8_a_miss_loses_the_streak_but_never_the_total(self):
        after = run(position("7D", "9S 2S", streak=4, scores=(6, 1)), HIGHER, HIGHER)
        assert after.scores == (6, 1)
        assert after.streak == 0
        assert after.turns_taken == (1, 0)
        assert to_act(after) == {1}

    def test_hl_9_banking_adds_the_streak_and_ends_the_turn(self):
        before = position("7D", streak=4, scores=(6, 1))
        after = run(before, BANK)
        assert after.scores == (10, 1)
        assert after.streak == 0
        assert after.turns_taken == (1, 0)
        assert to_act(after) == {1}
        assert (after.stock, after.revealed) == (before.stock, before.revealed)

    def test_hl_10_banking_needs_a_streak(self):
        with pytest.raises(IllegalMove) as refusal:
            run(position("7D"), BANK)
        assert (refusal.value.code, refusal.value.params) == ("illegal", {"reason": "nothing-to-bank"})

    def test_hl_12_turns_go_round_until_everybody_has_had_theirs(self):
        state = position("7D", scores=(0, 0, 0), turn=2, turns=2)
        seats = []
        while to_act(state):
            (seat,) = to_act(state)
            seats.append(seat)
            state = run(position("7D", "9S", **_standing(state)), HIGHER, BANK)
        assert seats == [2, 0, 1, 2, 0, 1]
        assert state.scores == (2, 2, 2)
        assert state.turns_taken == (2, 2, 2)

    def test_hl_14_a_match_never_ends_early(self):
        state = position("7D", "2S", scores=(0, 500), turns_taken=(2, 3))
        assert outcome(state) is None
        assert to_act(state) == {0}


def _standing(state):
    return {
        "turn": state.turn,
        "scores": state.scores,
        "turns_taken": state.turns_taken,
        "turns": state.options.turns,
    }


class TestEmptyStock:
    def test_hl_11_a_hit_with_the_last_card_refills_the_stock_and_keeps_the_streak(self):
        state = position("7D", "9S", last=True, streak=4)
        after = run(state, HIGHER)
        assert after.streak == 5
        assert to_act(after) == {0}
        assert after.revealed == ("9S",)
        assert len(after.stock) == 51
        assert sorted((*after.stock, "9S")) == sorted(STANDARD_PACK)
        assert after.position == 52 + 50

    def test_hl_11_a_miss_with_the_last_card_refills_the_stock_too(self):
        after = run(position("7D", "2S", last=True, streak=4), HIGHER)
        assert (after.revealed, len(after.stock), after.streak) == (("2S",), 51, 0)
        assert to_act(after) == {1}

    def test_hl_11_not_a_card_earlier(self):
        after = run(position("7D", "9S 3H", last=True), HIGHER)
        assert after.stock == ("3H",)
        assert len(after.revealed) == 51

    def test_hl_11_also_when_the_match_is_over(self):
        after = run(position("7D", "2S", last=True, scores=(0,), turns=1), HIGHER)
        assert after.over
        assert (after.revealed, len(after.stock)) == (("2S",), 51)

    def test_hl_11_the_new_stock_follows_from_the_seed(self):
        """The cards in the order they were turned, draws 52 to 101; worked out apart from this code."""
        state = dealt(8, turns=10)
        while state.position == 52:
            state = play(state, state.turn, rules.guess_by_rank(state.current, ace_high=False))
        assert state.current == "TC"
        assert " ".join(state.stock) == (
            "9S 8C 6C 4C 8H JD 4H 7C TH 9C 6D 6H 5S AD 8D 2S 3H 2D JC QS AC JS 5H 6S QC 9H 5C 5D KH AH TS 7D KD 2H "
            "QH JH KS 9D KC 7S 4S 7H 2C 3C 8S 4D 3D QD 3S TD AS"
        )
        assert state.position == 102


class TestOutcome:
    def test_nothing_before_the_end(self):
        assert outcome(dealt()) is None

    def test_hl_15_the_highest_total_wins(self):
        after = run(position("7D", streak=2, scores=(3, 4), turns_taken=(2, 3)), BANK)
        assert outcome(after) == Outcome(scores=(5, 4), places=(1, 2))
        assert to_act(after) == frozenset()

    def test_g_8_g_9_five_five_three_is_a_draw_for_first(self):
        after = run(position("7D", streak=2, scores=(5, 3, 3), turn=1, turns_taken=(3, 2, 3)), BANK)
        assert outcome(after) == Outcome(scores=(5, 5, 3), places=(1, 1, 3))

    def test_hl_15_alone_the_total_is_the_result(self):
        after = run(position("7D", streak=2, scores=(3,), turns_taken=(2,)), BANK)
        assert outcome(after) == Outcome(scores=(5,), places=(1,))

    @pytest.mark.parametrize("move", [HIGHER, LOWER, BANK])
    @pytest.mark.parametrize("seat", [0, 1])
    def test_nothing_can_be_played_after_the_end(self, move, seat):
        after = run(position("7D", streak=2, scores=(3, 4), turns_taken=(2, 3)), BANK)
        assert legal_moves(after, seat) == ()
        with pytest.raises(IllegalMove) as refusal:
            play(after, seat, move)
        assert refusal.value.code == "finished"


class TestWhoseTurn:
    @pytest.mark.parametrize("seat", [1, 2, -1, 8, None])
    def test_only_the_seat_whose_turn_it_is_plays(self, seat):
        state = position("7D", streak=1, scores=(0, 0, 0))
        assert legal_moves(state, seat) == ()
        with pytest.raises(IllegalMove) as refusal:
            play(state, seat, BANK)
        assert refusal.value.code == "not-your-turn"


class TestTimeOut:
    @pytest.mark.parametrize("streak", [1, 2, 7])
    @pytest.mark.parametrize("current", ["AD", "7D", "KD"])
    def test_hl_16_a_streak_is_banked(self, current, streak):
        assert timeout_move(position(current, streak=streak), 0, Random(1)) == BANK

    @pytest.mark.parametrize("ace_high", [False, True])
    @pytest.mark.parametrize("rank", STRAIGHT)
    def test_hl_16_without_a_streak_medium_makes_one_guess(self, rank, ace_high):
        state = position(rank + "D", ace_high=ace_high)
        move = timeout_move(state, 0, Random(1))
        assert move in legal_moves(state, 0)
        better = 12 - strength(rank + "D", ace_high) >= strength(rank + "D", ace_high)
        assert move == (HIGHER if better else LOWER)


class TestWorkedChecks:
    @staticmethod
    def answers(current, **options):
        """How many of the 51 cards would answer higher, lower and neither."""
        others = [card for card in STANDARD_PACK if card != current]
        found = Counter()
        for card in others:
            state = position(current, card, **options)
            hits = [guess.higher for guess in (HIGHER, LOWER) if guess in legal_moves(state, 0)]
            hits = [higher for higher in hits if run(state, rules.Guess(higher=higher)).streak]
            found[{(): "neither", (True,): "higher", (False,): "lower"}[tuple(hits)]] += 1
        return found

    def test_a_seven_with_a_low_ace_and_a_fresh_stock(self):
        assert self.answers("7D") == {"higher": 24, "lower": 24, "neither": 3}

    def test_a_king_with_a_high_ace(self):
        assert self.answers("KD", ace_high=True)["higher"] == 4


class TestEvents:
    @staticmethod
    def told(before, move):
        return rules.events(before, before.turn, move, run(before, move))

    def test_a_hit(self):
        assert self.told(position("7D", "QS", streak=2), HIGHER) == (
            Turned(seat=0, previous="7D", card="QS", higher=True, hit=True, streak=3),
        )

    def test_a_miss_tells_the_streak_that_was_lost_and_who_goes_on(self):
        assert self.told(position("7D", "7S", streak=2), LOWER) == (
            Turned(seat=0, previous="7D", card="7S", higher=False, hit=False, streak=2),
            TurnOver(seat=0, number=1, next_seat=1),
        )

    def test_banking(self):
        assert self.told(position("7D", streak=4, scores=(1, 6), turn=1, turns_taken=(2, 1)), BANK) == (
            Banked(seat=1, points=4, total=10),
            TurnOver(seat=1, number=2, next_seat=0),
        )

    def test_the_last_turn_of_all_has_nobody_next(self):
        assert self.told(position("7D", streak=4, scores=(6,), turns_taken=(2,)), BANK)[-1] == TurnOver(
            seat=0, number=3, next_seat=None
        )

    def test_a_reshuffle_comes_between_the_card_and_the_end_of_the_turn(self):
        kinds = [type(event) for event in self.told(position("7D", "2S", last=True), HIGHER)]
        assert kinds == [Turned, Reshuffled, TurnOver]


class TestBytes:
    @pytest.mark.parametrize(
        ("move", "data"),
        [
            (HIGHER, b'{"type":"guess","higher":true}'),
            (LOWER, b'{"type":"guess","higher":false}'),
            (BANK, b'{"type":"bank"}'),
        ],
    )
    def test_moves_as_json(self, move, data):
        assert rules.dump_move(move) == data
        assert rules.load_move(data) == rules.load_move(data.decode()) == move

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"null",
            b"[]",
            b"{}",
            b'"bank"',
            b'{"type":"pass"}',
            b'{"type":"guess"}',
            b'{"type":"guess","higher":1}',
            b'{"type":"guess","higher":"true"}',
            b'{"type":"guess","higher":null}',
            b'{"type":"guess","higher":true,"seat":0}',
            b'{"type":"bank","higher":true}',
            b'{"higher":true}',
            b'{"type":"bank"}{"type":"bank"}',
            b'{"type":"b\xffnk"}',
            b'{"a":' * 20_000,
            b"[" * 20_000,
            "{\ud800}",
        ],
    )
    def test_anything_else_is_refused(self, data):
        with pytest.raises(BadMove) as refusal:
            rules.load_move(data)
        assert refusal.value.code == "bad-message"

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b'"turns":3', b'"turns":11'),
            (b'"ace_high":false', b'"ace_high":0'),
            (b'"TD"', b'"TX"'),
            (b'"TD"', b'"6S"'),
            (b'"TD"', b'"TD\\n"'),
            (b'"TD"', b'"XR"'),
            (b'"turn":0', b'"turn":2'),
            (b'"turn":0', b'"turn":-1'),
            (b'"streak":0', b'"streak":-1'),
            (b'"streak":0', b'"streak":0.5'),
            (b'"scores":[0,0]', b'"scores":[0,0,0]'),
            (b'"scores":[0,0]', b'"scores":[]'),
            (b'"scores":[0,0]', b'"scores":[0,-1]'),
            (b'"turns_taken":[0,0]', b'"turns_taken":[3,0]'),
            (b'"turns_taken":[0,0]', b'"turns_taken":[0,4]'),
            (b'"position":52', b'"position":0'),
            (b'"position":52', b'"position":null'),
            (b'"seed":"AAEC', b'"seed":"AA'),
            (b'"seed":"AAEC', b'"seed":"!!!!'),
            (b'{"options"', b'{"more":1,"options"'),
        ],
    )
    def test_a_state_that_cannot_be_is_refused(self, old, new):
        data = rules.dump_state(dealt())
        assert data.count(old) == 1
        with pytest.raises(BadMove) as refusal:
            rules.load_state(data.replace(old, new))
        assert refusal.value.code == "bad-message"

    @pytest.mark.parametrize("data", [b"[]", b'[{"type":"turned"}]', b'[{"type":"won","seat":0}]', b"{", b"\xff"])
    def test_events_that_are_none(self, data):
        if data == b"[]":
            assert rules.load_events(data) == ()
            return
        with pytest.raises(BadMove):
            rules.load_events(data)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.binary(min_size=32, max_size=32),
    seats=st.integers(1, 8),
    turns=st.integers(1, 10),
    ace_high=st.booleans(),
    rng=st.randoms(use_true_random=False),
)
def test_the_books_balance(seed, seats, turns, ace_high, rng):
    """HL-8, HL-9: totals are exactly the banked streaks; HL-12: everybody has N turns."""
    state = deal(Options(turns=turns, ace_high=ace_high), seats=seats, seed=seed, first=rng.randrange(seats))
    banked = [0] * seats
    while not state.over:
        move = rng.choice(legal_moves(state, state.turn))
        if move == BANK:
            banked[state.turn] += state.streak
        state = run(state, move)
    assert state.scores == tuple(banked)
    assert state.turns_taken == (turns,) * seats
