"""States, moves and events as bytes, and records that replay."""

import json
from random import Random

import msgspec
import pytest

from apps.games.kernel.errors import BadMove, IllegalMove, OptionError
from apps.games.kernel.record import Record, replay
from tests.contract.matches import record_of, some_steps, start, steps


def test_states_moves_and_events_survive_their_bytes(game):
    for step in some_steps(game, Random(1), matches=60, each=6):
        assert game.load_state(game.dump_state(step.before)) == step.before
        assert game.load_state(game.dump_state(step.after)) == step.after
        for move in game.legal_moves(step.before, step.seat):
            assert game.load_move(game.dump_move(move)) == move
            assert game.load_move(game.dump_move(move).decode()) == move
        for viewer in step.viewers:
            told = game.events(step.before, step.seat, step.move, step.after, viewer)
            assert game.load_events(game.dump_events(told)) == told


def test_moves_are_json_objects_with_type_first(game):
    for step in some_steps(game, Random(2), matches=20, each=4):
        for move in game.legal_moves(step.before, step.seat):
            assert next(iter(json.loads(game.dump_move(move)))) == "type"


def test_no_two_moves_offered_at_once_are_the_same(game):
    for step in some_steps(game, Random(3), matches=20, each=6):
        offered = [game.dump_move(move) for move in game.legal_moves(step.before, step.seat)]
        assert len(set(offered)) == len(offered)
        assert [game.dump_move(move) for move in game.legal_moves(step.before, step.seat)] == offered


def test_options_come_as_an_object_and_go_back(game):
    for number in range(50):
        begun = start(game, Random(number), number)
        fields = msgspec.json.decode(msgspec.json.encode(begun.options))
        assert game.Options(**fields) == begun.options


def test_a_record_replays_to_the_stored_state_at_every_move(game):
    rng = Random(4)
    begun = start(game, rng, 1)
    played = list(steps(game, begun, rng))
    for number in range(len(played)):
        state = replay(game, record_of(game, begun, played[: number + 1]))
        assert game.dump_state(state) == game.dump_state(played[number].after)


def test_a_record_without_moves_is_the_deal(game):
    begun = start(game, Random(5), 1)
    assert replay(game, record_of(game, begun, [])) == begun.state


def test_states_that_went_through_bytes_play_on_alike(game):
    """A restart in the middle of a match changes nothing of what follows, shuffles included."""
    for number in range(len(game.seats) * 2):
        rng = Random(number)
        stored = (begun := start(game, rng, number)).state
        for step in steps(game, begun, rng):
            stored = game.play(game.load_state(game.dump_state(stored)), step.seat, step.move)
            assert stored == step.after


@pytest.mark.parametrize("change", [{"version": -1}, {"game": "no-such-game"}])
def test_records_of_another_game_or_version_do_not_replay(game, change):
    with pytest.raises(BadMove):
        replay(game, msgspec.structs.replace(_short_record(game), **change))


def test_records_with_settings_nobody_has_do_not_replay(game):
    record = _short_record(game)
    with pytest.raises(OptionError):
        replay(game, msgspec.structs.replace(record, options={**record.options, "no_such_setting": 1}))


def test_records_with_a_seat_that_was_not_to_act_do_not_replay(game):
    record = _short_record(game)
    (_, move), *_rest = record.moves
    with pytest.raises(IllegalMove):
        replay(game, msgspec.structs.replace(record, moves=((record.seats, move),)))


def test_records_with_moves_that_are_none_do_not_replay(game):
    with pytest.raises(BadMove):
        replay(game, msgspec.structs.replace(_short_record(game), moves=((0, b'{"type":"cheat"}'),)))


def _short_record(game) -> Record:
    rng = Random(6)
    begun = start(game, rng, 1)
    return record_of(game, begun, [next(steps(game, begun, rng))])
