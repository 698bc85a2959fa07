"""What a match sounds like: the live region, word for word and once an event, in four languages."""

from random import Random

import pytest
from django.utils import translation

from apps.games.high_low.rules import BANK, HIGHER, LOWER, dump_move, dump_state
from apps.games.kernel.game import SeatFacts
from tests.e2e.archive import kept, query
from tests.e2e.people import LANGUAGES, OVER, play_out
from tests.games.high_low.positions import position

BEGINS = {
    "en": "Game 1 begins.",
    "fr": "La partie 1 commence.",
    "de": "Partie 1 beginnt.",
    "ru": "Партия 1 начинается.",
}
OVER_IN_WORDS = {
    "en": "The game is over",
    "fr": "La partie est terminée",
    "de": "Die Partie ist beendet",
    "ru": "Партия окончена",
}


def everybody(come):
    """Ada and Bo, who play, and two who watch: a language each."""
    return [come(name, language) for name, language in zip(("Ada", "Bo", "Eve", "Даша"), LANGUAGES, strict=True)]


def told(match, person):
    """What this person's page must have said of the moves."""
    facts = tuple(SeatFacts(index=seat, name=name, you=person.name == name) for seat, name in enumerate(("Ada", "Bo")))
    with translation.override(person.language):
        lines = [match.game.sentence(event, facts) for move in match.moves for event in move.events]
    return [line for line in lines if line]


def test_every_event_is_announced_once_to_each_in_their_language(come, site, slug):
    people = everybody(come)
    ada, bo, *watchers = people
    code = ada.open_table(slug, turns=2)
    bo.sit(code)
    for person in people:
        person.visit(code)
    ada.page.locator("#start").click()
    for person in people:
        person.page.locator("#table[data-status=playing]").wait_for(state="attached")
    play_out([ada, bo], Random(11), watchers=watchers)
    match = kept(site, code)
    for person in people:
        begins, *moves, ending = person.heard()
        assert begins == BEGINS[person.language]
        assert moves == told(match, person)
        assert ending.startswith(OVER_IN_WORDS[person.language])
        assert person.page.locator("#live > p").count() == len(moves) + 2
    assert len({tuple(person.heard()) for person in people}) == len(people)


TRANSCRIPTS = {
    "en": [
        "Ada says higher: queen of spades. Hit, streak 1.",
        "Ada says lower: 2 of clubs. Hit, streak 2.",
        "Ada banks 2 points.",
        "It is Bo’s turn.",
        "Bo says higher: king of hearts. Hit, streak 1.",
        "Bo says lower: king of spades. Same rank, miss: streak of 1 lost.",
        "The game is over: Ada wins.",
    ],
    "fr": [
        "Ada dit plus haut : dame de pique. Bonne réponse, série de 1.",
        "Ada dit plus bas : 2 de trèfle. Bonne réponse, série de 2.",
        "Ada valide 2 points.",
        "À vous de jouer, Bo.",
        "Bo dit plus haut : roi de cœur. Bonne réponse, série de 1.",
        "Bo dit plus bas : roi de pique. Même valeur, erreur : série de 1 perdue.",
        "La partie est terminée. Ada gagne.",
    ],
    "de": [
        "Ada sagt höher: Pik-Dame. Treffer, Folge: 1.",
        "Ada sagt niedriger: Kreuz 2. Treffer, Folge: 2.",
        "Ada sichert 2 Punkte.",
        "Bo ist dran.",
        "Bo sagt höher: Herz-König. Treffer, Folge: 1.",
        "Bo sagt niedriger: Pik-König. Gleicher Wert, Fehlversuch: Folge von 1 verloren.",
        "Die Partie ist beendet. Ada gewinnt.",
    ],
    "ru": [
        "Ada говорит «Выше»: дама пик. Верно, серия: 1.",
        "Ada говорит «Ниже»: 2 треф. Верно, серия: 2.",
        "Ada забирает 2 очка.",
        "Ходит Bo.",
        "Bo говорит «Выше»: король червей. Верно, серия: 1.",
        "Bo говорит «Ниже»: король пик. То же достоинство, ошибка: пропала серия из 1.",
        "Партия окончена. Ada побеждает.",
    ],
}
"""A match of Ada, in English, and Bo, in French: as they hear it, and as those do who watch in German and Russian."""


def plain(lines):
    """Spaces that keep words together read like others."""
    return [line.replace("\u00a0", " ").replace("\u202f", " ") for line in lines]


def deal_by_hand(site, code, state):
    """Put these cards on the table: a new version, before anybody has its page open."""
    table = query(site, "select id, version from tables_table where code = ?", code)[0]
    version = table["version"] + 1
    prompts = [version if seat == state.turn else None for seat in range(len(state.scores))]
    sql = "update tables_match set state = ?, prompts = ? where table_id = ?"
    query(site, sql, dump_state(state), str(prompts).replace("None", "null"), table["id"])
    query(site, "update tables_table set version = ? where id = ?", version, table["id"])


def play(person, move):
    before = person.version
    text = dump_move(move).decode()
    person.page.locator(f"form[data-move]:has(input[value='{text}']) button").click()
    person.past(before)


@pytest.mark.parametrize("slug", ["high-low"])
def test_the_transcript_of_a_match(come, site, slug):
    people = everybody(come)
    ada, bo, *_ = people
    code = ada.open_table(slug, turns=1)
    bo.sit(code)
    ada.do(code, "start")
    deal_by_hand(site, code, position("7D", "QS 2C KH KS", turns=1))
    for person in people:
        person.visit(code)
    for move in (HIGHER, LOWER, BANK):
        play(ada, move)
    bo.at(ada.version)
    for move in (HIGHER, LOWER):
        play(bo, move)
    for person in people:
        person.page.locator(OVER).wait_for(state="attached")
        # The log tells the same to those who look: the newest line first.
        assert plain(person.page.locator("#log li").all_inner_texts())[:7] == TRANSCRIPTS[person.language][::-1]
    assert {person.language: plain(person.heard()) for person in people} == TRANSCRIPTS
