"""Whole matches in a browser: by clicking, without a script, by keyboard alone, and watched."""

import re
from random import Random

import pytest
from django.utils import translation
from playwright.sync_api import Page, expect

from apps.games import registry, wording
from apps.games.kernel.cards import STANDARD_PACK
from tests.e2e.archive import kept
from tests.e2e.people import LANGUAGES, OVER, Frames, Person, code_of, play_out

CARD = re.compile(r"(?<![\w%-])(?:[A23456789TJQK][SHDC]|X[RB])(?![\w-])")
VERSION = re.compile(r'id="table"[^>]* data-version="(\d+)"')


def agree(everybody):
    """All pages show the same truth, each in its language, and say whose turn it is."""
    first, *others = [person.seen() for person in everybody]
    assert all(other == first for other in others)
    for person in everybody:
        assert person.page.locator("html").get_attribute("lang") == person.language
        assert bool(person.choices.count()) == person.asked
        assert person.title_tells() == person.asked
        assert person.asked == (person.seat in first["asked"])


def table_for_two(come, slug, **options):
    """Ada, in English, has opened a table and sent Bo, who is French, the link; both have their seats by clicking."""
    ada, bo = come("Ada", "en", **options), come("Bo", "fr", **options)
    ada.page.goto(f"/en/tables/new/?game={slug}&mode=link&turns=2")
    ada.page.get_by_label("Your name at the table").fill("Ada")
    ada.page.get_by_role("button", name="Open the table").click()
    ada.page.wait_for_url("**/en/tables/*/")
    link = ada.connected().page.locator("input#link").input_value()
    bo.page.goto(link)
    code = code_of(bo.page.url)
    assert bo.connected().seat is None
    bo.page.locator("input#name").fill("Bo")
    bo.page.locator("#sit").click()
    bo.page.locator("[data-you]").wait_for()
    ada.page.locator("[data-seat='1']").wait_for() if ada.script else ada.page.reload()
    ada.page.locator("#start").click()
    for person in (ada, bo):
        if not person.script:
            person.page.reload()
        person.connected().page.locator("#table[data-status=playing]").wait_for(state="attached")
    return code, ada, bo


@pytest.mark.parametrize("script", [True, False], ids=["over sockets", "without a script"])
def test_two_people_in_two_languages_play_a_whole_match(come, site, slug, script):
    code, ada, bo = table_for_two(come, slug, script=script)
    agree([ada, bo])
    play_out([ada, bo], Random(2), check=agree)
    match = kept(site, code)
    assert match.over
    assert {move.made_by for move in match.moves} == {"player"}
    outcome = registry.get(slug).outcome(match.states()[-1])
    for person in (ada, bo):
        scores = [row.inner_text() for row in person.page.locator(".results li > b:last-child").all()]
        assert sorted(map(int, scores)) == sorted(outcome.scores)
        expect(person.page.locator("#verdict")).to_be_visible()


def test_without_a_script_a_page_that_waits_looks_again_by_itself(come, slug):
    _code, ada, bo = table_for_two(come, slug, script=False)
    waiting, acting = (bo, ada) if ada.asked else (ada, bo)
    assert not acting.page.locator("noscript meta[http-equiv=refresh]").count()
    before = acting.choose()
    waiting.page.locator(f"#table:not([data-version='{before}'])").wait_for(state="attached")
    assert waiting.seat is not None


# ── the keyboard ───────────────────────────────────────────────────────────────


def tab_to(page: Page, selector: str, *, within: int = 60) -> int:
    """Press Tab until this has the focus; how often it took."""
    for presses in range(within + 1):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return presses
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not within {within} tabs")


def enter(page: Page, selector: str, **options: int) -> int:
    presses = tab_to(page, selector, **options)
    page.keyboard.press("Enter")
    return presses


def test_one_player_by_keyboard_alone(come, slug):
    """Tab and Enter, from the home page to the result; after the first decision the next is never far."""
    ada = come()
    page = ada.page
    page.goto("/en/")
    enter(page, f"a[href*='game={slug}&mode=computer']")
    page.wait_for_url("**/tables/new/**")
    enter(page, "form#new .stick button")
    page.wait_for_url("**/en/tables/*/")
    ada.connected()
    near = 60
    while True:
        page.locator(f"{OVER}, #table[data-turn]").wait_for(state="attached")
        if ada.over:
            break
        before = ada.version
        enter(page, "form[data-move] button", within=near)
        ada.past(before)
        near = 6
    expect(page.locator("#verdict")).to_be_visible()
    before = ada.version
    enter(page, "#rematch", within=6)
    ada.past(before)
    assert not ada.over


# ── those who watch ────────────────────────────────────────────────────────────


def public_cards(match):
    """For each version of the table, the cards that anybody may have seen by then."""
    known, shown = set(), {}
    for number, state in enumerate(match.states()):
        view = match.game.view(state, None)
        known |= set(CARD.findall(repr(view)))
        if number:
            known |= set(CARD.findall(repr(match.moves[number - 1].events)))
        shown[match.moves[number - 1].version if number else 0] = frozenset(known)
    return shown


def allowed(shown, version):
    return shown[max(at for at in shown if at <= version)]


def named(html):
    """Every card that a piece of page names, by its code anywhere or in words."""
    with translation.override("en"):
        text = html.casefold()
        in_words = {card for card in STANDARD_PACK if wording.card_name(card).casefold() in text}
    return in_words | set(CARD.findall(html))


def test_a_spectator_watches_and_sees_only_what_is_public(come, site, slug):
    ada, bo, eve = come("Ada"), come("Bo", "de"), come("Eve")
    code = ada.open_table(slug, turns=3)
    bo.sit(code)
    for player in (ada, bo):
        player.visit(code)
    ada.page.locator("#start").click()
    ada.page.locator("#table[data-status=playing]").wait_for(state="attached")
    frames, pages = Frames(eve.page), []
    with eve.page.expect_response(f"**/en/tables/{code}/") as answer:
        eve.visit(code)
    pages.append(answer.value.text())

    def look(everybody):
        pages.append(eve.page.content())
        assert not eve.choices.count()
        assert eve.seat is None

    look([])
    play_out([ada, bo], Random(5), watchers=[eve], check=look)
    match = kept(site, code)
    shown = public_cards(match)
    for html in [*frames.received, *pages]:
        if found := VERSION.search(html):
            version = int(found[1])
            over = 'data-status="finished"' in html
            assert named(html) <= allowed(shown, version), version
            assert over or match.record.seed.hex() not in html
            assert match.seed_hash in html or "data-full" not in html
    assert len(frames.received) > len(match.moves)
    assert any('data-card="' in html for html in frames.received)


@pytest.mark.console_errors("status of 422")
def test_a_third_person_at_a_table_that_has_started_watches(come, slug):
    ada, bo = come("Ada"), come("Bo")
    cleo, dora = come("Cleo"), come("Dora", script=False)
    code = ada.open_table(slug)
    bo.sit(code)
    if 3 in registry.get(slug).seats:
        cleo.visit(code).page.locator("#sit").wait_for()
    else:
        cleo.visit(code)
    dora.visit(code)
    ada.visit(code).page.locator("#start").click()
    cleo.page.locator("#table[data-status=playing]").wait_for(state="attached")
    expect(cleo.page.locator("#sit")).to_have_count(0)
    expect(cleo.page.locator("#dock.dock-watching")).to_be_visible()
    assert cleo.seat is None
    if dora.page.locator("#sit").count():
        # Her page still shows the lobby: what she asks for comes too late, and she is told.
        dora.page.locator("#sit").click()
        assert dora.page.locator("#notice").get_attribute("data-code") == "illegal"
        expect(dora.page.locator("#dock.dock-watching")).to_be_visible()
    late = come("Eli")
    late.page.goto(f"/t/{code}/")
    expect(late.connected().page.locator("#dock.dock-watching")).to_be_visible()
    assert late.page.locator("[data-seat]").count() == 2


def test_a_match_of_as_many_as_the_game_seats_is_seen_alike_in_every_language(come, site, slug):
    """People in four languages and a CPU, at one table."""
    game = registry.get(slug)
    people = [come(name, language) for name, language in zip(("Ada", "Béa", "Cäcilie", "Даша"), LANGUAGES, strict=True)]
    people = people[: game.seats.stop - 1]
    host, *guests = people
    code = host.open_table(slug)
    for guest in guests:
        guest.sit(code)
    cpus = min(1, game.seats.stop - 1 - len(people))
    for _ in range(cpus):
        host.do(code, "cpu", level="easy")
    host.do(code, "start")
    for person in people:
        person.visit(code)
    play_on(people)
    agree(people)
    assert len({person.page.locator("#where h1").inner_text() for person in people}) > 1
    assert len(people[0].page.locator(".results li").all()) == len(people) + cpus
    assert {move.made_by for move in kept(site, code).moves} == {"player", "cpu"} if cpus else {"player"}


def play_on(people: list[Person]) -> None:
    """Whoever is asked moves; where a CPU is, everybody waits for it."""
    while not people[0].over:
        version = people[0].version
        asked = [person for person in people if person.asked]
        if asked and asked[0].version == version:
            asked[0].choose()
        people[0].past(version)
    for each in people:
        each.page.locator(OVER).wait_for(state="attached")
