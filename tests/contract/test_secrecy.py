"""What a viewer cannot see may change without one byte of what they are given changing."""

import base64
from random import Random

import msgspec

from tests.contract.matches import encoded, some_steps, start, steps


def test_a_view_survives_a_change_of_all_that_it_hides(game):
    for step in some_steps(game, Random(1), matches=80, each=5):
        for viewer in step.viewers:
            seen = game.view(step.after, viewer)
            for number in range(3):
                other = game.sample(seen, Random(number))
                assert game.view(other, viewer) == seen
                assert encoded(game, other, viewer) == msgspec.json.encode(seen)
                assert game.to_act(other) == game.to_act(step.after)
                assert game.outcome(other) == game.outcome(step.after)


def test_a_sample_offers_the_viewer_the_same_moves(game):
    for step in some_steps(game, Random(2), matches=60, each=5):
        for seat in game.to_act(step.before):
            other = game.sample(game.view(step.before, seat), Random(1))
            assert game.legal_moves(other, seat) == game.legal_moves(step.before, seat)


def test_a_sample_is_a_whole_state_that_can_be_stored_and_played_to_the_end(game):
    rng = Random(3)
    for number in range(len(game.seats) * 3):
        begun = start(game, rng, number)
        middle = rng.choice(list(steps(game, begun, rng))).before
        other = game.sample(game.view(middle, rng.choice([None, *range(begun.seats)])), rng)
        assert game.load_state(game.dump_state(other)) == other
        last = list(steps(game, msgspec.structs.replace(begun, state=other), rng))[-1]
        assert game.outcome(last.after) is not None


def test_samples_differ_in_what_is_hidden(game):
    """Else a view could carry the hidden cards along and nobody would notice."""
    begun = start(game, Random(4), 1)
    for viewer in (None, *range(begun.seats)):
        seen = game.view(begun.state, viewer)
        others = {game.dump_state(game.sample(seen, Random(number))) for number in range(20)}
        assert len(others) == 20
        assert game.dump_state(begun.state) not in others


def test_a_sample_depends_on_the_view_and_the_dice_alone(game):
    for step in some_steps(game, Random(5), matches=20, each=3):
        for viewer in step.viewers:
            seen = game.view(step.before, viewer)
            twin = game.sample(seen, Random(6))
            assert game.sample(game.view(twin, viewer), Random(7)) == game.sample(seen, Random(7))


def test_what_is_told_of_a_move_depends_on_what_can_be_seen(game):
    """The same move in two worlds that a viewer cannot tell apart before or after is told alike."""
    compared = 0
    for step in some_steps(game, Random(8), matches=80, each=5):
        for viewer in step.viewers:
            for number in range(3):
                before = game.sample(game.view(step.before, viewer), Random(number))
                if step.move not in game.legal_moves(before, step.seat):
                    continue
                after = game.play(before, step.seat, step.move)
                if encoded(game, after, viewer) != encoded(game, step.after, viewer):
                    continue
                compared += 1
                told = game.events(before, step.seat, step.move, after, viewer)
                assert told == game.events(step.before, step.seat, step.move, step.after, viewer)
    assert compared


def test_the_seed_is_never_given_away(game):
    """Not in a view, not in an event, in no spelling, not even of the whole state's next seed."""
    rng = Random(9)
    for number in range(len(game.seats) * 4):
        begun = start(game, rng, number)
        spellings = _spellings(begun.seed)
        for step in steps(game, begun, rng):
            viewer = rng.choice(step.viewers)
            told = game.events(step.before, step.seat, step.move, step.after, viewer)
            shown = encoded(game, step.after, viewer) + game.dump_events(told)
            assert not any(spelling in shown for spelling in spellings)


def _spellings(seed: bytes) -> tuple[bytes, ...]:
    numbers = str(list(seed)).encode()
    return (
        base64.b64encode(seed).rstrip(b"="),
        base64.urlsafe_b64encode(seed).rstrip(b"="),
        seed.hex().encode(),
        seed.hex().upper().encode(),
        str(int.from_bytes(seed)).encode(),
        numbers[1:-1],
        numbers[1:-1].replace(b" ", b""),
    )


def test_a_view_says_whose_it_is_and_who_may_act(game):
    for step in some_steps(game, Random(10), matches=20, each=3):
        for viewer in step.viewers:
            shown = msgspec.json.decode(encoded(game, step.after, viewer))
            assert shown["seat"] == viewer
            assert shown["to_act"] == sorted(game.to_act(step.after))
            assert isinstance(shown["options"], dict)
