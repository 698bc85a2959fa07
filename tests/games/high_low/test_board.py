"""The board of High-Low: what it shows, offers and tells."""

from typing import Any

import pytest
from django.utils import translation

from apps.games.high_low import board, rules
from apps.games.high_low.view import View
from apps.games.kernel.game import BoardFacts, SeatFacts

MIRA = SeatFacts(index=0, name="Mira", you=True, to_act=True)
JONAS = SeatFacts(index=1, name="Jonas")
SEATS = (MIRA, JONAS)


def position(*revealed: str, streak: int = 0, turns: int = 3, ace_high: bool = False, over: bool = False) -> View:
    return View(
        seat=0,
        options=rules.Options(turns=turns, ace_high=ace_high),
        to_act=() if over else (0,),
        current=revealed[-1],
        streak=streak,
        scores=(6, 4),
        turns_taken=(turns, turns) if over else (1, 0),
        stock=52 - len(revealed),
        revealed=revealed,
    )


def drawn(view: View, *, casual: bool = True, last: tuple[rules.Event, ...] = (), acts: bool = True) -> dict[str, Any]:
    moves = rules.offered(view.current, view.streak, view.options.ace_high) if acts else ()
    return dict(board.board(view, BoardFacts(seats=SEATS, you=0, moves=moves, last=last, casual=casual)))


def turned(card: str, *, previous: str = "9S", higher: bool = True, hit: bool = True, streak: int = 1) -> rules.Turned:
    return rules.Turned(seat=0, previous=previous, card=card, higher=higher, hit=hit, streak=streak)


def test_the_trail_is_the_streak_without_the_current_card() -> None:
    steps = board.trail(position("KS", "4S", "7D", "JH", "QC", "9D", streak=4))
    assert [step["card"] for step in steps] == ["4S", "7D", "JH", "QC"]
    assert [step["dir"] for step in steps] == ["", "up", "up", "up"]


def test_a_fall_points_down_and_a_high_ace_up() -> None:
    assert [step["dir"] for step in board.trail(position("9S", "2D", "3C", streak=2))] == ["", "down"]
    assert [step["dir"] for step in board.trail(position("9S", "AD", "3C", streak=2, ace_high=True))] == ["", "up"]


def test_a_new_turn_has_no_trail() -> None:
    assert board.trail(position("KS", "4S", "7D")) == []


def test_after_a_shuffle_the_trail_begins_anew() -> None:
    assert board.trail(position("9D", streak=5)) == []
    assert [step["card"] for step in board.trail(position("9D", "TC", streak=6))] == ["9D"]


def test_a_long_trail_keeps_its_end() -> None:
    cards = ("2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS")
    context = drawn(position(*cards, streak=8))
    assert [step["card"] for step in context["trail"]] == ["4S", "5S", "6S", "7S", "8S", "9S"]
    assert context["trail_cut"]


def test_odds_count_the_cards_not_yet_seen() -> None:
    higher, lower = drawn(position("KS", "KH", "9D"))["guesses"]
    assert higher["note"] == "14 of 49 cards"
    assert lower["note"] == "32 of 49 cards"


@pytest.mark.parametrize(
    ("card", "ace_high", "higher", "lower"),
    [("KS", False, 0, 48), ("KS", True, 4, 44), ("2S", False, 44, 4), ("2S", True, 48, 0), ("AS", True, 0, 48)],
)
def test_the_extremes_follow_the_ace(card: str, ace_high: bool, higher: int, lower: int) -> None:
    view = position(card, ace_high=ace_high)
    assert (board.odds(view, rules.HIGHER), board.odds(view, rules.LOWER)) == (higher, lower)


def test_rated_play_gives_no_odds_but_shows_what_was_seen() -> None:
    context = drawn(position("KS", "KH", "9D"), casual=False)
    assert [guess["note"] for guess in context["guesses"]] == ["", ""]
    seen = {row["rank"]: row["count"] for row in context["ranks"]}
    assert (seen["K"], seen["9"], seen["2"]) == (2, 1, 0)


def test_casual_play_shows_what_is_left() -> None:
    left = {row["rank"]: row["count"] for row in drawn(position("KS", "KH", "9D"))["ranks"]}
    assert (left["K"], left["9"], left["2"]) == (2, 3, 4)


def test_a_guess_that_cannot_win_is_shown_with_its_reason() -> None:
    higher, lower = drawn(position("KS"))["guesses"]
    assert (higher["move"], higher["note"]) == ("", "no card can be right")
    assert lower["move"] == '{"type":"guess","higher":false}'


def test_banking_is_offered_with_a_streak_only() -> None:
    assert drawn(position("KS", "9D", streak=1))["bank"] == '{"type":"bank"}'
    assert drawn(position("9D"))["bank"] == ""


def test_whoever_waits_is_offered_nothing() -> None:
    context = drawn(position("9D"), acts=False)
    assert (context["guesses"], context["bank"], context["hint"]) == ([], "", "")


def test_the_last_event_is_said_under_the_card() -> None:
    said = drawn(position("9S", "JD", streak=1), last=(turned("JD"),))["said"]
    assert said == {"lead": "Mira: hit.", "text": "Jack of diamonds is higher."}


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (turned("JD", streak=4), "Mira says higher: jack of diamonds. Hit, streak 4."),
        (turned("2D", higher=False), "Mira says lower: 2 of diamonds. Hit, streak 1."),
        (turned("2D", hit=False, streak=0), "Mira says higher: 2 of diamonds. Miss."),
        (turned("2D", hit=False, streak=3), "Mira says higher: 2 of diamonds. Miss: streak of 3 lost."),
        (turned("9D", hit=False, streak=0), "Mira says higher: 9 of diamonds. Same rank, miss."),
        (turned("9D", hit=False, streak=2), "Mira says higher: 9 of diamonds. Same rank, miss: streak of 2 lost."),
        (rules.Banked(seat=1, points=1, total=5), "Jonas banks 1 point."),
        (rules.Banked(seat=1, points=4, total=8), "Jonas banks 4 points."),
        (rules.Reshuffled(stock=51), "The stock was empty: 51 cards are shuffled anew."),
        (rules.TurnOver(seat=0, number=1, next_seat=1), "It is Jonas’s turn."),
        (rules.TurnOver(seat=1, number=1, next_seat=0), "It is your turn, Mira."),
        (rules.TurnOver(seat=1, number=3, next_seat=None), ""),
    ],
)
def test_every_event_is_told_in_whole_sentences(event: rules.Event, text: str) -> None:
    assert board.sentence(event, SEATS) == text


def test_a_solo_game_does_not_say_whose_turn_it_is() -> None:
    assert board.sentence(rules.TurnOver(seat=0, number=1, next_seat=0), (MIRA,)) == ""


@pytest.mark.parametrize("language", ["en", "fr", "de", "ru"])
def test_a_name_is_never_taken_for_a_pattern(language: str) -> None:
    seats = (SeatFacts(index=0, name="%(card)s {0} <b>"), JONAS)
    with translation.override(language):
        assert "%(card)s {0} <b>" in board.sentence(turned("JD"), seats)


def test_settings_and_progress_in_words() -> None:
    assert board.summary(rules.Options()) == "3 turns each · ace low"
    assert board.summary(rules.Options(turns=1, ace_high=True)) == "1 turn each · ace high"
    assert board.progress(position("9D")) == "Turn 2 of 3"
    assert board.progress(position("9D", over=True)) == "All turns played"


def test_many_turns_are_written_not_dotted() -> None:
    assert [len(chip["dots"]) for chip in drawn(position("9D"))["chips"]] == [3, 3]
    assert drawn(position("9D", turns=10))["chips"][0]["turns_label"] == "1 of 10 turns"
    assert drawn(position("9D", turns=10))["chips"][0]["dots"] == []
