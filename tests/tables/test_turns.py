"""Who is asked, since which version, and when the clock has to act."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.tables import turns

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Secret:
    """A game in which all bid at once: a state is the tuple of bids, None where somebody has yet to bid."""

    def to_act(self, state):
        return frozenset(seat for seat, bid in enumerate(state) if bid is None)

    def legal_moves(self, state, seat):
        return ("a", "b") if state[seat] is None else ()


def prompts(state, before=None, version=7):
    return turns.prompts(Secret(), state, seats=3, version=version, before=before)


def test_at_the_deal_everybody_is_asked_at_its_version():
    assert prompts((None, None, None)) == (7, 7, 7)
    assert prompts((None, 1, None)) == (7, None, 7)


def test_one_secret_bid_does_not_spoil_the_others():
    """Their forms go on to count."""
    after = prompts((1, None, None), before=((None, None, None), (5, 5, 5), 0))
    assert after == (None, 5, 5)


def test_a_decision_that_offers_something_else_is_a_new_one():
    class Changing(Secret):
        def legal_moves(self, state, seat):
            return tuple(range(sum(bid is not None for bid in state) + 1)) if state[seat] is None else ()

    after = turns.prompts(Changing(), (1, None, None), seats=3, version=7, before=((None, None, None), (5, 5, 5), 0))
    assert after == (None, 7, 7)


def test_whoever_moved_and_is_asked_again_is_asked_anew():
    class Again(Secret):
        def to_act(self, state):
            return frozenset({0})

        def legal_moves(self, state, seat):
            return ("a", "b")

    assert turns.prompts(Again(), (), seats=1, version=7, before=((), (5,), 0)) == (7,)


def automatic(*seats):
    return lambda seat: seat in seats


@pytest.mark.parametrize(
    ("asked", "cpus", "seconds", "left"),
    [
        ({0}, (), 30, 30),
        ({0}, (), 0, None),
        ({0}, (0,), 30, None),
        ({0, 1}, (0,), 30, 30),
        ({0, 1}, (0, 1), 60, None),
        (set(), (), 30, None),
    ],
)
def test_time_runs_for_people_who_are_asked(asked, cpus, seconds, left):
    deadline = turns.deadline(asked=frozenset(asked), automatic=automatic(*cpus), seconds=seconds, now=NOW)
    assert deadline == (None if left is None else NOW + timedelta(seconds=left))


def test_time_that_runs_for_others_goes_on():
    kept = NOW + timedelta(seconds=3)
    assert turns.deadline(asked=frozenset({1}), automatic=automatic(), seconds=30, now=NOW, kept=kept) == kept
    assert turns.deadline(asked=frozenset({1}), automatic=automatic(1), seconds=30, now=NOW, kept=kept) is None


def test_a_cpu_moves_a_human_pace_after_it_is_asked():
    assert turns.next_cpu(asked=frozenset({0, 1}), automatic=automatic(1), now=NOW, pace=1) == NOW + timedelta(
        seconds=1
    )
    assert turns.next_cpu(asked=frozenset({0}), automatic=automatic(1), now=NOW, pace=1) is None
    assert turns.next_cpu(asked=frozenset(), automatic=automatic(0), now=NOW, pace=1) is None
