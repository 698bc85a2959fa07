"""Wrong seats, wrong moves, wrong bytes and wrong settings are refused with a code, and nothing else happens."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.games.kernel.draws import SEED_BYTES
from apps.games.kernel.errors import BadMove, IllegalMove, OptionError, Refusal
from tests.contract.matches import some_steps, start, steps

fuzzed = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

NASTY = [
    b"",
    b" ",
    b"\x00",
    b"\xff\xfe",
    b"null",
    b"true",
    b"0",
    b"-1e999",
    b"1" * 5000,
    b'""',
    b"{}",
    b"[]",
    b'{"type":null}',
    b'{"type":[]}',
    b'{"type":"\\ud800"}',
    b'{"type":"' + b"a" * 1_000_000 + b'"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"type":' * 100_000,
]


def test_a_seat_that_is_not_to_act_is_refused(game):
    for step in some_steps(game, Random(1), matches=40, each=4):
        for seat in {-1, *range(step.seats + 1), 99} - game.to_act(step.before):
            assert game.legal_moves(step.before, seat) == ()
            assert _refusal(game, step.before, seat, step.move) == "not-your-turn"


def test_nothing_can_be_played_once_it_is_over(game):
    rng = Random(2)
    for number in range(len(game.seats)):
        played = list(steps(game, start(game, rng, number), rng))
        for step in played:
            assert _refusal(game, played[-1].after, step.seat, step.move) == "finished"


def test_moves_that_are_not_offered_are_refused(game):
    """Every move seen anywhere is tried everywhere: made where it is offered, refused elsewhere."""
    found = list(some_steps(game, Random(3), matches=30, each=4))
    moves = {game.dump_move(move): move for step in found for move in game.legal_moves(step.before, step.seat)}
    refused = 0
    for step in found:
        before = game.dump_state(step.before)
        offered = game.legal_moves(step.before, step.seat)
        for move in moves.values():
            if move in offered:
                game.play(step.before, step.seat, move)
            else:
                refused += 1
                assert _refusal(game, step.before, step.seat, move) == "illegal"
        assert game.dump_state(step.before) == before
    assert refused


def _refusal(game, state, seat, move) -> str:
    with pytest.raises(IllegalMove) as refusal:
        game.play(state, seat, move)
    return refusal.value.code


@pytest.mark.parametrize("data", NASTY, ids=range(len(NASTY)))
def test_nasty_bytes_are_no_move_no_state_and_no_events(game, data):
    for load in (game.load_move, game.load_state):
        with pytest.raises(BadMove) as refusal:
            load(data)
        assert refusal.value.code == "bad-message"
    if data != b"[]":
        with pytest.raises(BadMove):
            game.load_events(data)


@fuzzed
@given(data=st.binary(max_size=200) | st.text(max_size=200) | anything.map(json.dumps))
def test_any_bytes_are_a_move_or_refused(game, data):
    _same_or_refused(game.load_move, game.dump_move, data)


@fuzzed
@given(data=st.binary(max_size=200) | anything.map(json.dumps).map(str.encode))
def test_any_bytes_are_a_state_or_refused(game, data):
    _same_or_refused(game.load_state, game.dump_state, data)


@fuzzed
@given(draw=st.data())
def test_a_move_with_one_thing_changed_is_a_move_or_refused(game, draw):
    _, step = _found(game, draw)
    data = _changed(json.loads(game.dump_move(step.move)), draw)
    _same_or_refused(game.load_move, game.dump_move, data)


@fuzzed
@given(draw=st.data())
def test_a_state_with_one_thing_changed_is_a_state_or_refused(game, draw):
    _, step = _found(game, draw)
    data = _changed(json.loads(game.dump_state(step.before)), draw)
    _same_or_refused(game.load_state, game.dump_state, data)


@pytest.mark.parametrize("extra", [{"more": 1}, {"seat": 0, "version": 3}])
def test_unknown_fields_are_refused(game, extra):
    for step in some_steps(game, Random(4), matches=5, each=3):
        for load, data in (
            (game.load_move, game.dump_move(step.move)),
            (game.load_state, game.dump_state(step.before)),
        ):
            with pytest.raises(BadMove):
                load(json.dumps({**json.loads(data), **extra}).encode())


@fuzzed
@given(draw=st.data())
def test_any_value_of_a_setting_is_taken_or_refused(game, draw):
    names = [field.name for field in msgspec.structs.fields(game.Options)]
    values = draw.draw(st.dictionaries(st.sampled_from(names), anything | st.integers(-3, 60), max_size=3))
    options = _unless(OptionError, "bad-option", lambda: game.Options(**values))
    if options is None:
        return
    # What is taken means the same after a journey through JSON: true is not 1, and 3.0 is not 3.
    assert msgspec.json.decode(msgspec.json.encode(options), type=game.Options) == options
    for name, value in values.items():
        assert type(value) is type(getattr(game.Options(), name))


@pytest.mark.parametrize("wrong", [None, [], {}, "", "x", -1, 10**6, 2.5, float("nan"), 10**400])
def test_no_setting_takes_nonsense(game, wrong):
    for field in msgspec.structs.fields(game.Options):
        with pytest.raises(OptionError):
            game.Options(**{field.name: wrong})


def test_a_number_is_not_a_switch_and_a_switch_is_not_a_number(game):
    defaults = game.Options()
    for field in msgspec.structs.fields(game.Options):
        wrong = {bool: 1, int: True, str: 1}[type(getattr(defaults, field.name))]
        with pytest.raises(OptionError):
            game.Options(**{field.name: wrong})


def test_seats_that_the_game_does_not_have_are_refused(game):
    for seats in (-1, 0, game.seats.start - 1, game.seats.stop, 1000):
        with pytest.raises(OptionError) as refusal:
            game.deal(game.Options(), seats=seats, seed=bytes(SEED_BYTES), first=0)
        assert refusal.value.code == "bad-option"


def _found(game, draw) -> tuple[int, Any]:
    number = draw.draw(st.integers(0, 40))
    rng = Random(number)
    played = list(steps(game, start(game, rng, number), rng))
    return number, played[draw.draw(st.integers(0, len(played) - 1))]


def _changed(value: dict[str, Any], draw) -> bytes:
    """The same object with one place anywhere in it replaced, removed or renamed."""
    places = list(_places(value))
    holder, key = places[draw.draw(st.integers(0, len(places) - 1))]
    how = draw.draw(st.sampled_from(["replace", "remove", "rename"]))
    if how == "replace":
        holder[key] = draw.draw(anything | st.integers(-2, 60) | st.sampled_from(["AS", "7D", "XR", "S", "up"]))
    elif how == "remove" or isinstance(holder, list):
        del holder[key]
    else:
        holder[draw.draw(st.text(max_size=8))] = holder.pop(key)
    return json.dumps(value).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _same_or_refused(load, dump, data) -> None:
    loaded = _unless(BadMove, "bad-message", lambda: load(data))
    assert loaded is None or load(dump(loaded)) == loaded


def _unless(kind: type[Refusal], code: str, made: Callable[[], Any]) -> Any:
    """What is made, or None if it is refused in just this way; anything else is a failure."""
    try:
        return made()
    except kind as refusal:
        if refusal.code != code:
            raise
        return None
