"""CPUs of every level, and the clock's move."""

from random import Random

import pytest

from apps.games.kernel.errors import OptionError
from apps.games.kernel.game import Level
from tests.contract.matches import some_steps, start


@pytest.mark.parametrize("level", list(Level))
def test_cpus_choose_legal_moves(game, level):
    bot = game.bot(level)
    for step in some_steps(game, Random(1), matches=40, each=6):
        for seat in game.to_act(step.before):
            move = bot.choose(game.view(step.before, seat), Random(2), 2)
            assert move in game.legal_moves(step.before, seat)


@pytest.mark.parametrize("level", list(Level))
def test_cpus_play_to_the_end_at_any_number_of_seats(game, level):
    for number in range(len(game.seats)):
        rng = Random(number)
        state = start(game, rng, number).state
        while acting := game.to_act(state):
            seat = min(acting)
            state = game.play(state, seat, game.bot(level).choose(game.view(state, seat), rng, 1))
        assert game.outcome(state) is not None


@pytest.mark.parametrize("level", list(Level))
def test_the_same_view_and_dice_give_the_same_move(game, level):
    """So a CPU knows nothing but its view, and a thought that was lost can be thought again."""
    for step in some_steps(game, Random(3), matches=20, each=3):
        for seat in game.to_act(step.before):
            seen = game.view(step.before, seat)
            twin = game.view(game.sample(seen, Random(4)), seat)
            moves = {game.bot(level).choose(view, Random(5), 2) for view in (seen, twin)}
            assert len(moves) == 1


def test_levels_are_named_by_text_or_by_level(game):
    for level in Level:
        assert type(game.bot(str(level))) is type(game.bot(level))
    with pytest.raises(OptionError):
        game.bot("no-such-level")


def test_the_clock_makes_a_legal_move(game):
    for step in some_steps(game, Random(6), matches=80, each=6):
        for seat in game.to_act(step.before):
            assert game.timeout_move(step.before, seat, Random(7)) in game.legal_moves(step.before, seat)


def test_the_clock_alone_ends_a_match(game):
    for number in range(len(game.seats)):
        rng = Random(number)
        state = start(game, rng, number).state
        while acting := game.to_act(state):
            seat = min(acting)
            state = game.play(state, seat, game.timeout_move(state, seat, rng))
        assert game.outcome(state) is not None
