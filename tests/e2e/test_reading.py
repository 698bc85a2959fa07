"""The rulebook in a browser: read on any screen, by anybody, and left for a table with the settings on the page."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import translation

from apps.games import registry
from apps.rulebook.pages import Page, all_pages

LANGUAGES = ("en", "fr", "de", "ru")
GAMES = [Page("game", game.slug) for game in registry.all_games()]
NARROW = {"width": 320, "height": 640}
OPEN_ALL = "document.querySelectorAll('main details').forEach(each => each.open = true)"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def address(language, page):
    with translation.override(language):
        return page.url()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("leaf", all_pages(), ids=lambda leaf: leaf.game or leaf.name)
def test_nobody_is_shut_out(new_context, leaf, theme):
    # Small print is one column on any screen.
    for size in (NARROW, {"width": 1280, "height": 800}) if leaf in GAMES else (NARROW,):
        page = new_context(color_scheme=theme, viewport=size).new_page()
        page.goto(address("en", leaf))
        page.evaluate(OPEN_ALL)
        assert not Axe().run(page).response["violations"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_overflows_a_small_screen(new_context, language):
    page = new_context(viewport=NARROW).new_page()
    for leaf in all_pages():
        page.goto(address(language, leaf))
        page.evaluate(OPEN_ALL)
        assert page.evaluate(OVERFLOW) <= 0, leaf
    # Whoever only reads takes nothing with them.
    assert page.context.cookies() == []


@pytest.mark.parametrize("leaf", GAMES, ids=lambda leaf: leaf.game)
def test_language_is_switched_round_and_the_page_stays(new_context, leaf):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(address("en", leaf))
    for language in ("fr", "de", "ru", "en"):
        page.locator(".lang summary").click()
        page.locator(f".lang a[hreflang={language}]").click()
        page.wait_for_url(f"**{address(language, leaf)}")
        assert page.locator("html").get_attribute("lang") == language
    assert page.context.cookies() == []


@pytest.mark.parametrize("leaf", GAMES, ids=lambda leaf: leaf.game)
def test_play_is_always_in_reach_and_leads_to_a_filled_in_table(new_context, leaf):
    page = new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(address("de", leaf))
    page.mouse.wheel(0, 2000)
    play = page.locator(".stick a.btn")
    box = play.bounding_box()
    assert box["y"] + box["height"] <= 844
    assert box["height"] >= 44
    play.click()
    page.wait_for_url("**/de/tables/new/?**")
    assert page.locator("main").is_visible()


@pytest.mark.parametrize("leaf", GAMES, ids=lambda leaf: leaf.game)
def test_contents_lead_to_their_sections(new_context, leaf):
    page = new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address("en", leaf))
    for link in page.locator(".doc aside nav a").all():
        link.click()
        target = page.locator(link.get_attribute("href"))
        assert target.bounding_box()["y"] < 800
