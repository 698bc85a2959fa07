"""High-Low in a browser: the helpers of casual play, and the cards of a turn."""

import re

import pytest
from playwright.sync_api import expect

from apps.games.high_low.rules import HIGHER, LOWER, strength
from apps.games.kernel.cards import RANKS, STANDARD_PACK, rank_of
from tests.e2e.archive import kept
from tests.e2e.test_transcript import deal_by_hand, play
from tests.games.high_low.positions import position

NUMBER = re.compile(r"\d+")


def counts(text):
    return [int(number) for number in NUMBER.findall(text)]


def test_odds_are_those_of_the_cards_not_seen(come, site):
    ada = come()
    code = ada.open_table("high-low", mode="same_device", names="Ada", turns=10)
    page = ada.visit(code).page
    for _ in range(5):
        match = kept(site, code)
        view = match.game.view(match.states()[-1], None)
        unseen = [strength(card, False) for card in STANDARD_PACK if card not in view.revealed]
        height = strength(view.current, False)
        good = {"higher": sum(each > height for each in unseen), "lower": sum(each < height for each in unseen)}
        for guess, number in good.items():
            button = page.locator(f"#guess-{guess}")
            if number:
                assert counts(button.locator("small").inner_text()) == [number, len(unseen)]
            else:
                expect(button).to_have_attribute("aria-disabled", "true")
        rows = page.locator("#side-game .left .vh").all_text_contents()
        left = [sum(rank_of(card) == rank for card in STANDARD_PACK if card not in view.revealed) for rank in RANKS]
        assert [counts(row)[-1] for row in rows] == left
        ada.choose()


@pytest.mark.parametrize("language", ["fr", "ru"])
def test_the_trail_of_a_streak_and_the_letters_of_the_language(come, site, language):
    ada = come(language=language)
    code = ada.open_table("high-low", mode="same_device", names="Ada", turns=3)
    deal_by_hand(site, code, position("7D", "QS 2C KH", turns=3, scores=(0,)))
    page = ada.visit(code).page
    for move in (HIGHER, LOWER, HIGHER):
        play(ada, move)
    trail = page.locator(".trail [data-card]")
    assert [card.get_attribute("data-card") for card in trail.all()] == ["7D", "QS", "2C"]
    assert [step.get_attribute("data-dir") for step in page.locator(".trail li:has([data-card])").all()] == [
        None,
        "up",
        "down",
    ]
    expect(page.locator(".streak b")).to_have_text("3")
    expect(page.locator("#bank")).to_contain_text("+3")
    queen = {"fr": "D", "ru": "Д"}[language]
    expect(trail.nth(1)).to_contain_text(queen)


def test_letters_and_deck_follow_the_settings(come, site):
    ada = come(language="ru")
    page = ada.page
    page.goto("/ru/settings/")
    page.locator("input[name=card_letters][value=latin]").check()
    page.locator("input[name=four_colour]").check()
    page.locator("input[name=theme][value=dark]").check()
    page.locator("main form button").click()
    expect(page.locator("p.notice")).to_be_visible()
    code = ada.open_table("high-low", mode="same_device", names="Ada")
    deal_by_hand(site, code, position("QS", "2C", turns=1, scores=(0,)))
    page = ada.visit(code).page
    expect(page.locator("[data-card=QS]")).to_contain_text("Q")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-deck", "four")
    # A page that is the same for everybody remembers it in this browser.
    page.goto("/ru/pravila/")
    expect(root).to_have_attribute("data-theme", "dark")
