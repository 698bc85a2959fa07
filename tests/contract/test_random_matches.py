"""Ten thousand random matches of every game, over all seat counts and any mix of settings."""

from random import Random

import pytest

from apps.games.kernel.record import replay
from tests.contract.matches import cards_in, encoded, record_of, start, steps

MATCHES = 10_000
CHUNKS = 40


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_matches(game, chunk):
    """Play ends; the pack is conserved; no state is changed; who may act can; the record replays."""
    rng = Random(f"{game.slug} {chunk}")
    for number in range(MATCHES // CHUNKS):
        begun = start(game, rng, number)
        played = []
        before = game.dump_state(begun.state)
        pack = cards_in(before)
        assert set(pack.values()) == {1}
        for step in steps(game, begun, rng):
            check_decision(game, step)
            after = game.dump_state(step.after)
            assert game.dump_state(step.before) == before, "play changed its argument"
            assert cards_in(after) == pack
            before = after
            played.append(step)
        check_end(game, played[-1])
        check_any(game, rng.choice(played), rng)
        assert replay(game, record_of(game, begun, played)) == played[-1].after


def check_decision(game, step):
    """Somebody may act and has a legal move, so the match is not over."""
    acting = game.to_act(step.before)
    assert acting <= set(range(step.seats))
    assert all(game.legal_moves(step.before, seat) for seat in acting)
    assert game.outcome(step.before) is None


def check_end(game, step):
    """Nobody may act, and every seat has a score and a place."""
    outcome = game.outcome(step.after)
    assert game.to_act(step.after) == frozenset()
    assert not any(game.legal_moves(step.after, seat) for seat in range(step.seats))
    assert len(outcome.scores) == len(outcome.places) == step.seats
    assert all(place == 1 + sum(other < place for other in outcome.places) for place in outcome.places)


def check_any(game, step, rng):
    """One step of each match: states survive their bytes, views survive a change of what they hide."""
    for state in (step.before, step.after):
        assert game.load_state(game.dump_state(state)) == state
        viewer = rng.choice(step.viewers)
        assert encoded(game, game.sample(game.view(state, viewer), rng), viewer) == encoded(game, state, viewer)
