"""What tables, ladders and pages read from a game before anybody plays."""

import re
from itertools import product
from random import Random

import msgspec
import pytest
from django.utils.translation import override

from apps.games import registry
from apps.games.kernel.cards import is_card
from apps.games.kernel.draws import SEED_BYTES
from apps.games.kernel.game import BoardFacts, Mode, SeatFacts
from tests.contract.matches import some_steps

LANGUAGES = ("en", "fr", "de", "ru")


def test_games_are_found_by_their_slug(game):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", game.slug)
    assert registry.get(game.slug) is game
    assert (registry.folder_of(game) / "game.py").is_file()


def test_an_unknown_slug_is_no_game():
    with pytest.raises(KeyError):
        registry.get("no-such-game")


def test_games_are_listed_once_shortest_first():
    games = registry.all_games()
    assert len({game.slug for game in games}) == len(games)
    assert [game.minutes for game in games] == sorted(game.minutes for game in games)


def test_names_numbers_and_cards(game):
    assert str(game.name)
    assert str(game.tagline)
    assert game.minutes > 0
    assert game.version > 0
    assert game.seats.step == 1
    assert 0 < game.seats.start < game.seats.stop
    assert 2 <= len(game.motif) <= 3
    assert all(card == "" or is_card(card) for card in game.motif)


def test_modes_and_manners(game):
    assert game.modes
    assert game.modes <= set(Mode)
    assert all(isinstance(flag, bool) for flag in (game.hidden, game.waits, game.consent))


def test_settings_have_a_label_a_meaning_and_choices(game):
    names = [field.name for field in msgspec.structs.fields(game.Options)]
    defaults = game.Options()
    for field in game.option_fields:
        assert field.name in names
        assert str(field.label)
        assert str(field.meaning)
        values = [value for value, _ in field.choices]
        assert getattr(defaults, field.name) in values
        assert len(set(values)) == len(values)
        for value, label in field.choices:
            assert str(label)
            assert getattr(game.Options(**{field.name: value}), field.name) is value


def test_the_ladder_is_one_that_can_be_played(game):
    assert (game.ladder is not None) == (Mode.RANKED in game.modes)
    if game.ladder is None:
        return
    assert set(game.ladder.seats) <= set(game.seats) - {1}
    assert game.ladder.seconds in (30, 60)
    options = game.Options(**game.ladder.options)
    for seats in game.ladder.seats:
        game.deal(options, seats=seats, seed=bytes(SEED_BYTES), first=0)


def test_the_default_settings_fit_every_number_of_seats(game):
    for seats in game.seats:
        state = game.deal(game.Options(), seats=seats, seed=bytes(SEED_BYTES), first=seats - 1)
        assert game.to_act(state)


def test_somebody_at_the_table_begins(game):
    for seats, dice in product(game.seats, range(20)):
        for host, previous in product([None, *range(seats)], repeat=2):
            first = game.first(seats=seats, host=host, previous=previous, draw=lambda n, dice=dice: dice % n)
            assert first in range(seats)


def test_in_ranked_play_the_lot_decides(game):
    for seats in game.seats:
        begun = {game.first(seats=seats, host=None, previous=None, draw=lambda n, k=k: k) for k in range(seats)}
        assert begun == set(range(seats))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_game_can_be_told_and_drawn_in_every_language(game, language):
    with override(language):
        for step in some_steps(game, Random(1), matches=12, each=3):
            for viewer in step.viewers:
                _check_words(game, step, viewer)


def _check_words(game, step, viewer):
    told = game.events(step.before, step.seat, step.move, step.after, viewer)
    acting = game.to_act(step.after)
    seats = tuple(
        SeatFacts(index=seat, name=f"Name {seat}", you=seat == viewer, to_act=seat in acting)
        for seat in range(step.seats)
    )
    moves = () if viewer is None else game.legal_moves(step.after, viewer)
    seen = game.view(step.after, viewer)
    facts = BoardFacts(seats=seats, you=viewer, moves=moves, last=told)
    assert "hint" in game.board(seen, facts)
    assert all(isinstance(game.sentence(event, seats), str) for event in told)
    assert any(game.sentence(event, seats) for event in told)
    assert game.summary(seen.options)
    assert game.progress(seen)
