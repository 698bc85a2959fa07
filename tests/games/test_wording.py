"""Cards in words, letters and markup."""

import pytest
from django.template import Context, Template
from django.utils import translation

from apps.games import wording
from apps.games.kernel.cards import JOKERS, STANDARD_PACK
from apps.games.kernel.game import SeatFacts


def render(source: str, **context: object) -> str:
    return Template("{% load cards %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("QS", "queen of spades"),
        ("TH", "10 of hearts"),
        ("AD", "ace of diamonds"),
        ("2C", "2 of clubs"),
        ("XR", "red joker"),
        ("XB", "black joker"),
    ],
)
def test_a_card_has_a_name(card: str, name: str) -> None:
    assert wording.card_name(card) == name


@pytest.mark.parametrize("language", ["en", "fr", "de", "ru"])
def test_every_card_has_a_name_of_its_own(language: str) -> None:
    with translation.override(language):
        names = {wording.card_name(card) for card in (*STANDARD_PACK, *JOKERS)}
    assert len(names) == 54


def test_letters_stay_latin_for_those_who_prefer_it() -> None:
    with translation.override("ru"):
        assert [wording.rank_letter(rank, "latin") for rank in "AKQJT9"] == ["A", "K", "Q", "J", "10", "9"]


def test_a_seat_says_who_plays_it() -> None:
    seat = SeatFacts(index=0, name="Mira", you=True, away=True, stand_in=True)
    assert wording.seat_tags(seat) == ("you", "CPU plays")
    assert wording.seat_tags(SeatFacts(index=1, name="Computer", cpu="hard")) == ("hard",)


def test_a_card_face_up_names_itself() -> None:
    html = render('{% card "TH" big=True classes="m-turn" %}')
    assert html.startswith('<span class="card big m-turn" data-card="TH" role="img" aria-label="10 of hearts">')
    assert '<b class="ten">10</b>' in html
    assert html.count('href="#H"') == 3


def test_a_court_card_has_its_frame_and_letter() -> None:
    html = render('{% card "QC" %}')
    assert 'data-l="Q"' in html
    assert 'href="#fQ"' in html


def test_a_card_as_decoration_is_not_read_aloud() -> None:
    html = render('{% card "QC" decor=True %}')
    assert html.startswith('<span class="card" data-card="QC" aria-hidden="true">')
    assert "queen" not in html


def test_a_card_face_down_says_nothing_about_itself() -> None:
    assert render('{% card_back label="stock" %}') == '<span class="card down" role="img" aria-label="stock"></span>'
    assert render("{% card_back big=True %}") == '<span class="card down big" aria-hidden="true"></span>'


def test_what_is_no_card_is_never_drawn() -> None:
    with pytest.raises(ValueError, match="not a card"):
        render("{% card code %}", code='8H" onclick="')
