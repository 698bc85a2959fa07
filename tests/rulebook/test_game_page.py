"""A game's rules page says what the game and the site do, in numbers of theirs."""

import re
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from django.utils import translation

from apps.games import registry
from apps.games.kernel import timing
from apps.rulebook import facts
from apps.rulebook.documents import game_rules
from apps.rulebook.pages import Page
from tests.rulebook.conftest import LANGUAGES, Html, address, every_language

SECTIONS = ["setup", "play", "result", "defaults", "house-rules", "terms", "tips", "questions"]
every_game = pytest.mark.parametrize("game", registry.all_games(), ids=lambda game: game.slug)


def read(client, language, game):
    return Html(client.get(address(language, Page("game", game.slug))).content.decode())


@every_game
@every_language
def test_sections_come_in_the_same_order_everywhere(client, language, game):
    html = read(client, language, game)
    assert [heading["id"] for heading in html.all("h2") if "id" in heading] == SECTIONS
    contents = [link["href"] for link in html.all("a") if link["href"].startswith("#")]
    assert [f"#{anchor}" for anchor in SECTIONS] == [link for link in contents if link != "#main"]


@every_game
@every_language
def test_play_fills_in_exactly_the_defaults(client, language, game):
    links = [link["href"] for link in read(client, language, game).all("a") if f"game={game.slug}" in link["href"]]
    assert len(set(links)) == 1
    url = urlsplit(links[0])
    told = {name: values[0] for name, values in parse_qs(url.query).items()}
    options = msgspec.to_builtins(game.Options())
    assert told == {"game": game.slug, "seconds": "0"} | {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()
    }
    assert url.path == f"/{language}/tables/new/"


@every_game
def test_new_table_understands_the_play_link(client, db, game):
    html = Html(client.get(read_play_link(client, game)).content.decode())
    chosen = {box["name"]: box["value"] for box in html.all("input") if "checked" in box and "value" in box}
    options = msgspec.to_builtins(game.Options())
    for name, value in options.items():
        assert str(chosen[name]).lower() == str(value).lower()
    assert chosen["seconds"] == "0"


def read_play_link(client, game):
    html = read(client, "en", game)
    return next(link["href"] for link in html.all("a") if f"game={game.slug}" in link["href"])


@every_game
@every_language
def test_defaults_on_the_page_are_the_games(client, language, game):
    with translation.override(language):
        rows = facts.default_rows(game, source="a source", checked="a date")
        values = [row.value for row in rows]
        labels = [
            str(next(label for value, label in field.choices if value == getattr(game.Options(), field.name)))
            for field in game.option_fields
        ]
    text = read(client, language, game).text
    assert facts.seats_text(game) in values
    assert set(labels) <= set(values)
    assert str(timing.EXPIRES_AFTER_DAYS) in " ".join(values)
    assert all(value in text for value in values if value not in ("a source", "a date"))


@every_game
def test_another_default_would_show(monkeypatch, game):
    """The table follows the engine, not the prose."""
    field = game.option_fields[0]
    value, label = field.choices[-1]
    changed = type("Changed", (), {"__getattr__": lambda self, name: getattr(game, name)})()
    changed.Options = lambda: game.Options(**{field.name: value})
    assert facts.Row(str(field.label), str(label)) in facts.default_rows(changed, source="", checked="")


def test_stand_in_of_the_page_is_the_clocks(monkeypatch):
    game = next(game for game in registry.all_games() if not game.waits)
    monkeypatch.setattr(timing, "STAND_IN_AFTER_SECONDS", 77)
    monkeypatch.setattr(timing, "EXPIRES_AFTER_DAYS", 9)
    told = " ".join(row.value for row in facts.default_rows(game, source="", checked=""))
    assert "77" in told
    assert "9" in told


@every_game
@every_language
def test_house_rules_name_every_setting_and_who_may_change_it(client, language, game):
    html = read(client, language, game)
    with translation.override(language):
        rules = facts.house_rules(game)
        fixed = game_rules(game.slug, language).matter.fixed
    assert len(rules) == len(game.option_fields) + 1
    assert all(rule.choices for rule in rules)
    for rule in (*rules, *fixed):
        assert rule.name in html.text
        assert rule.meaning in html.text
        assert rule.default in html.text


@every_game
@every_language
def test_summary_says_how_many_how_long_and_that_it_is_free(client, language, game):
    text = read(client, language, game).text
    with translation.override(language):
        assert facts.players_text(game) in text
        assert facts.minutes_text(game) in text


@every_game
@every_language
def test_other_names_source_dates_and_operator_are_told(client, settings, language, game):
    settings.OPERATOR_NAME = "Ada Lovelace & Co"
    text = read(client, language, game).text
    matter = game_rules(game.slug, language).matter
    told = (*matter.other_names, matter.source, matter.checked_by, "Ada Lovelace & Co")
    assert all(re.sub(r"[ \n]+", " ", name) in text for name in told)
    assert str(matter.updated.year) in text


@every_game
def test_pages_of_all_languages_have_the_same_structure(game):
    shapes = {language: _shape(game_rules(game.slug, language)) for language in LANGUAGES}
    assert len(set(shapes.values())) == 1, shapes


def _shape(document):
    """Everything about a page but its words."""
    html = Html(str(document.body.opening) + "".join(str(section.html) for section in document.body.sections))
    tags = tuple(tag for tag, _ in html.tags if tag not in ("strong", "em"))
    anchors = tuple(section.anchor for section in document.body.sections)
    return tags, anchors, len(document.matter.fixed), document.matter.checked, document.matter.updated


@every_game
@every_language
def test_example_shows_cards_by_name(client, language, game):
    html = read(client, language, game)
    drawn = [tag for tag in html.all("span", role="img") if tag.get("data-card")]
    assert drawn
    assert all(tag["aria-label"] for tag in drawn)
    assert html.all("figure", class_="eg")[0]["aria-label"]
