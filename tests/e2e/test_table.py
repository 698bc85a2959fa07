"""The table's page around the game: its link, its language, half-typed text, the clock, a seat in another browser."""

import pytest
from django.utils import translation
from playwright.sync_api import expect

from apps.games import registry
from tests.e2e.archive import kept
from tests.e2e.people import LANGUAGES, code_of, turn_of


def menu(person):
    person.page.locator("[popovertarget=menu-panel]").click()
    return person.page.locator("#menu-panel")


def switch(person, language):
    """Choose another language in the table's menu."""
    panel = menu(person)
    panel.locator(".lang summary").click()
    panel.locator(f"a[hreflang={language}]").click()
    person.page.wait_for_url(f"**/{language}/tables/*/")
    person.language = language
    return person.connected()


# ── the friend link ────────────────────────────────────────────────────────────


def test_the_link_takes_no_seat_and_previews_the_table(come, slug):
    ada, bo = come("Ada"), come("Bo", "de")
    code = ada.open_table(slug)
    link = ada.visit(code).page.locator("input#link").input_value()
    assert link.endswith(f"/t/{code}/")
    bo.page.goto(link)
    assert code_of(bo.connected().page.url) == code
    assert bo.page.locator("html").get_attribute("lang") == "de"
    assert bo.page.locator("[data-seat]").count() == 1
    assert bo.seat is None
    assert "sessionid" not in {cookie["name"] for cookie in bo.context.cookies()}
    preview = {name: bo.page.locator(f"meta[property='og:{name}']").get_attribute("content") for name in PREVIEW}
    assert preview["url"] == link
    with translation.override("de"):
        assert str(registry.get(slug).name) in preview["title"]
    assert preview["description"]
    picture = bo.context.request.get(preview["image"])
    assert picture.ok
    assert picture.headers["content-type"] == "image/png"
    # Width and height of a PNG stand at its beginning.
    assert int.from_bytes(picture.body()[16:20]) == 1200
    assert int.from_bytes(picture.body()[20:24]) == 630


PREVIEW = ("title", "description", "image", "url")


def test_the_invitation_can_be_copied_and_scanned(come, slug):
    ada = come(permissions=["clipboard-read", "clipboard-write"])
    code = ada.open_table(slug)
    page = ada.visit(code).page
    link = page.locator("input#link").input_value()
    label = page.locator("#copy [data-label]").inner_text()
    page.locator("#copy").click()
    expect(page.locator("#copy [data-label]")).not_to_have_text(label)
    assert page.evaluate("navigator.clipboard.readText()") == link
    code_picture = page.locator("main img.qr")
    expect(code_picture).to_be_visible()
    assert code_picture.get_attribute("alt")
    assert code_picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 0
    ada.do(code, "cpu", level="easy")
    page.locator("[data-cpu]").wait_for()
    expect(code_picture).to_be_visible()


# ── nothing is taken out of one's hands ────────────────────────────────────────


def test_a_half_typed_name_survives_what_others_do(come, slug):
    ada, cleo = come("Ada"), come("Cleo")
    code = ada.open_table(slug)
    ada.visit(code)
    name = cleo.visit(code).page.locator("input#name")
    name.fill("Clopatra")
    name.evaluate("field => field.setSelectionRange(2, 2)")
    name.press("e")
    before = cleo.version
    if len(registry.get(slug).seats) > 2:
        ada.page.locator("#addcpu").click()
    ada.past(before)
    cleo.past(before)
    assert name.input_value() == "Cleopatra"
    expect(name).to_be_focused()
    assert name.evaluate("field => [field.selectionStart, field.selectionEnd]") == [3, 3]
    name.press("!")
    assert name.input_value() == "Cle!opatra"


def test_the_focus_and_an_open_menu_survive_the_moves_of_others(come, slug):
    ada, bo = come("Ada"), come("Bo")
    code = ada.open_table(slug, turns=5)
    bo.sit(code)
    ada.do(code, "start")
    ada.visit(code)
    bo.visit(code)
    acting, waiting = turn_of(ada, bo)
    panel = menu(waiting)
    leave = panel.locator("#leave")
    leave.focus()
    waiting.past(acting.choose())
    expect(panel).to_be_visible()
    expect(leave).to_be_focused()


# ── language ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without"])
def test_switching_language_in_mid_game_keeps_the_seat(come, site, slug, script):
    ada, bo = come("Ada", script=script), come("Bo", "fr")
    code = ada.open_table(slug, turns=10)
    bo.sit(code)
    ada.do(code, "start")
    ada.visit(code)
    bo.visit(code)
    seat, board = ada.seat, ada.board()
    words = {}
    for language in [*LANGUAGES[1:], *LANGUAGES[-2::-1]]:
        switch(ada, language)
        assert ada.page.locator("html").get_attribute("lang") == language
        assert ada.seat == seat
        assert ada.board() == board
        words[language] = ada.page.locator("#dock h2").inner_text()
    assert len(set(words.values())) == len(LANGUAGES)
    switch(bo, "ru")
    acting, other = turn_of(ada, bo)
    before = acting.choose()
    other.past(before)
    assert ada.board() == bo.board()
    assert len(kept(site, code).moves) == 1
    assert bo.page.locator("[data-away]").count() == 0


# ── whose turn, and for how long ───────────────────────────────────────────────


def test_the_title_tells_whose_turn_it_is(come, slug):
    ada, bo = come("Ada"), come("Bo", "ru")
    code = ada.open_table(slug, turns=5)
    bo.sit(code)
    ada.do(code, "start")
    ada.visit(code)
    bo.visit(code)
    acting, waiting = turn_of(ada, bo)
    assert acting.title_tells()
    assert not waiting.title_tells()
    title = waiting.page.title()
    while not waiting.asked:
        waiting.past(acting.choose())
    assert waiting.page.title() != title
    assert waiting.title_tells()
    assert not acting.title_tells()


def test_a_sound_tells_whose_turn_it_is_to_those_who_want_it(come, slug):
    ada, bo = come("Ada"), come("Bo")
    for person in (ada, bo):
        person.context.add_init_script(
            "window.rung = []; window.Audio = class { constructor(url) { this.url = url; }"
            " play() { window.rung.push(this.url); return Promise.resolve(); } };"
        )
    ada.post("settings/", card_letters="own", theme="auto", sound="on")
    code = ada.open_table(slug, turns=5)
    bo.sit(code)
    ada.do(code, "start")
    for person in (ada, bo):
        person.visit(code)
    rings = 0
    for _ in range(4):
        acting, other = turn_of(ada, bo)
        while not other.asked:
            other.past(acting.choose())
        rings += other is ada
        acting.at(other.version)
    rung = ada.page.evaluate("window.rung")
    assert len(rung) == rings > 0
    assert ada.context.request.get(rung[0]).headers["content-type"].startswith("audio/")
    assert bo.page.evaluate("window.rung") == []


def test_the_clock_is_seen_to_run(come, slug):
    ada, bo, eve = come("Ada"), come("Bo"), come("Eve")
    code = ada.open_table(slug, seconds=30, turns=5)
    bo.sit(code)
    ada.do(code, "start")
    for person in (ada, bo, eve):
        fuse = person.visit(code).page.locator("#fuse")
        expect(fuse).to_be_visible()
        assert fuse.get_attribute("data-total") == "30000"
        left = fuse.evaluate("fuse => fuse.value")
        assert 20000 < left <= 30000
        person.page.wait_for_function("left => document.getElementById('fuse').value < left", arg=left)
    acting, waiting = turn_of(ada, bo)
    assert acting.page.locator("#fuse").get_attribute("data-warning")
    assert waiting.page.locator("#fuse").get_attribute("data-warning") is None
    # Every decision has its own thirty seconds.
    before = acting.choose()
    for person in (ada, bo, eve):
        person.past(before)
        assert int(person.page.locator("#fuse").get_attribute("data-left")) > 28000


def test_without_a_limit_there_is_no_clock(come, slug):
    ada = come()
    code = ada.open_table(slug, mode="same_device", names="Ada")
    assert ada.visit(code).page.locator(".fuse").count() == 0


# ── another browser ────────────────────────────────────────────────────────────


def test_a_one_time_link_moves_the_seat_to_another_browser(come, site, slug):
    ada, bo, phone = come("Ada"), come("Bo"), come("Ada's telephone", "de")
    code = ada.open_table(slug, turns=5)
    bo.sit(code)
    ada.do(code, "start")
    bo.visit(code)
    ada.visit(code)
    # The table stays open in one tab while the link is made in another.
    other = ada.context.new_page()
    other.goto(f"/en/tables/{code}/")
    other.locator("[popovertarget=menu-panel]").click()
    other.locator("form[data-do=pass] button").click()
    other.wait_for_url("**/pass/")
    expect(other.locator("img.qr")).to_be_visible()
    link = other.locator("input#link").input_value()
    phone.page.goto(link)
    phone.page.locator("main form button").click()
    phone.page.wait_for_url(f"**/tables/{code}/")
    assert phone.connected().seat == "0"
    expect(ada.page.locator("#net[data-final]")).to_have_text(ada.page.locator("#net").get_attribute("data-on4401"))
    bo.page.locator("#seats:not(:has([data-away]))").wait_for(state="attached")
    acting, other_one = turn_of(phone, bo)
    other_one.past(acting.choose())
    # Who has handed the seat over watches, in the browser as it was.
    ada.page.reload()
    expect(ada.connected().page.locator("#dock.dock-watching")).to_be_visible()
    assert len(kept(site, code).moves) == 1


@pytest.mark.console_errors("status of 409")
def test_a_seat_link_works_once(come, slug):
    ada, phone, thief = come("Ada"), come("Ada"), come("Eve")
    code = ada.open_table(slug)
    answer = ada.do(code, "pass")
    ada.page.set_content(answer.text())
    link = ada.page.locator("input#link").get_attribute("value")
    for person in (phone, thief):
        person.page.goto(link)
        person.page.locator("main form button").click()
    phone.page.wait_for_url(f"**/tables/{code}/")
    expect(thief.page.locator("#notice")).to_have_attribute("data-code", "stale")
    assert phone.connected().seat == "0"
