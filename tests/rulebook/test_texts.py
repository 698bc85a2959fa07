"""The texts themselves: the same facts in every language, and each language's own typography."""

import re
from collections import Counter

import pytest

from apps.games import registry
from apps.rulebook.documents import TEXTS_DIR, game_rules, rules_path, site_page, split
from apps.rulebook.markdown import facts_used
from tests.rulebook.conftest import LANGUAGES, every_language

NAMES = sorted(path.name for path in TEXTS_DIR.iterdir())
PATHS = {
    (name, language): path
    for language in LANGUAGES
    for name, path in [
        *((name, TEXTS_DIR / name / f"{language}.md") for name in NAMES),
        *((game.slug, rules_path(game.slug, language)) for game in registry.all_games()),
    ]
}
every_text = pytest.mark.parametrize("name", sorted({name for name, _ in PATHS}))


def text_of(name, language):
    return PATHS[name, language].read_text("utf-8")


@every_text
def test_same_facts_and_headings_in_every_language(name):
    bodies = {language: split(text_of(name, language))[1] for language in LANGUAGES}
    assert len({frozenset(Counter(facts_used(body)).items()) for body in bodies.values()}) == 1
    assert len({tuple(re.findall(r"\{#([a-z-]+)\}", body)) for body in bodies.values()}) == 1
    assert len({len(re.findall(r"^(?:- |\d+\. |: |:::)", body, re.MULTILINE)) for body in bodies.values()}) == 1
    assert len({tuple(re.findall(r"\(page:(\w+)\)", body)) for body in bodies.values()}) == 1
    assert (
        len({tuple(re.findall(r": ((?:-?[A2-9TJQK][SHDC] ?)+)$", body, re.MULTILINE)) for body in bodies.values()}) == 1
    )


@every_text
def test_title_and_description_fit_a_search_result(name):
    for language in LANGUAGES:
        document = game_rules(name, language) if name not in NAMES else site_page(name, language)
        assert len(document.matter.title) <= 80
        assert 60 <= len(document.matter.description) <= 200


@every_text
@every_language
def test_no_typewriter_signs(name, language):
    prose = re.sub(
        r'^\w+ = |\[\[\w+\]\]|^\+\+\+|(?<=[\[ ])"|"(?=[\],]|$)|```.*', "", text_of(name, language), flags=re.MULTILINE
    )
    assert not re.findall(r"\w'\w|\s'|'\s|\s\"|\"\s|\.\.\.| - ", prose)


@every_text
def test_french_spaces(name):
    text = text_of(name, "fr")
    assert not re.findall(r" [;!?»]|« |\w[;!?](?=\s)|\S :(?=\s)", text)
    body = split(text)[1]
    assert not re.findall(r"[a-zé]»|«[a-zé]", body)


@every_text
def test_german_is_on_first_name_terms(name):
    assert not re.findall(r"(?<![.:!?] )(?<!^)\b(?:Ihnen|Ihre[mnrs]?)\b", split(text_of(name, "de"))[1])


@every_text
def test_russian_writes_yo(name):
    text = split(text_of(name, "ru"))[1].lower()
    assert not re.findall(
        r"\b(?:ее|еще|идет|свое|твое|мое|семерк|черт|четырех|вперед|счет|нее|пойдет|дает|остается|берет)\w*", text
    )


@every_text
def test_russian_dash_never_begins_a_line(name):
    assert " —" not in text_of(name, "ru")


@every_text
def test_every_plural_has_its_languages_number_of_forms(name):
    """A missing form would raise while rendering; here for every page at once."""
    for language in LANGUAGES:
        assert (game_rules(name, language) if name not in NAMES else site_page(name, language)).body
