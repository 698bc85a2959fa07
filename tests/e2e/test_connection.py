"""Reloads, tabs, lost connections, restarts, hasty clicks: the page shows the truth, and each move is made once."""

import os

import pytest
from playwright.sync_api import expect

from tests.e2e.archive import kept, version_of
from tests.e2e.people import pass_turn, turn_of

SOON = 2000 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1) / 2)
"""Milliseconds from reconnecting to the truth, on a machine that has time for it."""
CUT = ("net::ERR_", "WebSocket connection to")
"""What Chromium itself says about a connection that is lost."""


def sit_down(host, *guests, slug, **fields):
    """A table at which these people play, their pages open; its code."""
    code = host.open_table(slug, **{"turns": 5} | fields)
    for guest in guests:
        guest.sit(code)
    if not fields.get("mode"):
        host.do(code, "start")
    for person in (host, *guests):
        person.visit(code)
    return code


def check_truth(person, site, code):
    """The page's newest socket told it the truth at once."""
    line = person.lines()[-1]
    assert line["shown"] - line["opened"] < SOON
    person.at(version_of(site, code))


# ── reloads and tabs ───────────────────────────────────────────────────────────


def test_reload_in_mid_turn(come, site, slug):
    ada, bo = come("Ada"), come("Bo", "de")
    code = sit_down(ada, bo, slug=slug)
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    seen = ada.seen()
    for person in (ada, bo):
        person.page.reload()
        assert person.connected().seen() == seen
    assert bo.page.locator("[data-away]").count() == 0
    turn_of(ada, bo)[0].choose()
    assert len(kept(site, code).moves) == 2


def test_closing_one_of_two_tabs_leaves_one_present(come, slug):
    ada, bo = come("Ada"), come("Bo")
    code = sit_down(ada, bo, slug=slug)
    other = ada.context.new_page()
    other.goto(f"/en/tables/{code}/")
    other.locator("html[data-heard]").wait_for(state="attached")
    other.close()
    # Longer than the grace of a reload.
    bo.page.wait_for_timeout(3000)
    assert bo.page.locator("[data-away]").count() == 0
    ada.page.close()
    bo.page.locator("[data-seat='0'][data-away]").wait_for(state="attached")


# ── lost connections ───────────────────────────────────────────────────────────


@pytest.mark.console_errors(*CUT)
@pytest.mark.parametrize("seconds", [60, 5, 1])
def test_a_dropped_socket(come, site, wire, slug, seconds):
    ada, bo = come("Ada", base_url=wire.url), come("Bo", "fr")
    code = sit_down(ada, bo, slug=slug)
    pass_turn(ada, bo)
    ada.deafen()
    wire.cut()
    pass_turn_alone(bo)
    bo.page.wait_for_timeout(seconds * 1000)
    if seconds > 1:
        expect(ada.page.locator("#net[data-shown]")).to_be_visible()
    wire.mend()
    check_truth(ada.connected(), site, code)
    expect(ada.page.locator("#net")).not_to_have_attribute("data-shown", "")
    bo.page.locator("#seats:not(:has([data-away]))").wait_for(state="attached")
    # Away for a minute, one may have been stood in for, and is told so.
    moves = kept(site, code).moves
    assert {move.made_by for move in moves} <= ({"player", "stand-in"} if seconds >= 60 else {"player"})
    if moves[-1].made_by == "stand-in":
        expect(ada.page.locator("#notice")).to_have_attribute("data-code", "back")
    ada.at(version_of(site, code))
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    assert len(kept(site, code).moves) == len(moves) + 1


def pass_turn_alone(acting):
    """Move until somebody else is asked."""
    while acting.asked:
        acting.choose()
    assert not acting.over


@pytest.mark.console_errors(*CUT)
def test_a_network_that_dies_without_a_sign(come, site, wire, slug):
    """Nothing closes, nothing answers: the page notices, and what was under way arrives once."""
    ada = come("Ada", base_url=wire.url)
    code = sit_down(ada, slug=slug, mode="same_device", names="Ada")
    ada.deafen()
    wire.freeze()
    ada.choices.last.click()
    expect(ada.page.locator("#net[data-shown]")).to_be_visible()
    wire.mend()
    check_truth(ada.connected(), site, code)
    ada.page.locator("#table:not([data-version='1'])").wait_for(state="attached")
    assert len(kept(site, code).moves) == 1


def closable(person):
    """The sockets of somebody's pages, each to be closed by the test."""
    opened = []

    def between(line):
        line.connect_to_server()
        opened.append(line)

    person.page.route_web_socket("**/ws/**", between)
    return opened


def test_whatever_closes_the_socket_the_page_comes_back(come, slug):
    ada = come()
    opened = closable(ada)
    sit_down(ada, slug=slug, mode="same_device", names="Ada")
    for number, code in enumerate((1000, 1001, 1011, 1012, 3000, 4012, 4999), 1):
        ada.deafen()
        opened[-1].close(code=code)
        ada.connected()
        assert len(opened) == number + 1, code
    ada.choose()
    expect(ada.page.locator("#net")).not_to_have_attribute("data-shown", "")


def test_a_final_close_is_explained_and_not_retried(come, slug):
    ada = come()
    opened = closable(ada)
    table = sit_down(ada, slug=slug, mode="same_device", names="Ada")
    for number, code in enumerate((4401, 4403, 4404, 4410), 1):
        opened[-1].close(code=code)
        text = ada.page.locator("#net").get_attribute(f"data-on{code}")
        expect(ada.page.locator("#net[data-final]")).to_have_text(text)
        # Longer than it would take to try again.
        ada.page.wait_for_timeout(700)
        assert len(opened) == number, code
        ada.visit(table)


class Slow:
    """A page whose messages are held back while ``holding``, and delivered as the test likes."""

    def __init__(self, page):
        self.held, self.holding = [], False
        page.route_web_socket("**/ws/**", self._between)

    def _between(self, line):
        self.line = line
        line.connect_to_server().on_message(self._arrived)

    def _arrived(self, text):
        if self.holding:
            self.held.append(text)
        else:
            self.line.send(text)

    def deliver(self, *messages):
        self.holding = False
        for text in messages:
            self.line.send(text)


def test_what_comes_late_or_twice_never_turns_the_page_back(come, slug):
    ada, bo, eve = come("Ada"), come("Bo"), come("Eve", "de")
    slow = Slow(eve.page)
    code = sit_down(ada, bo, slug=slug)
    eve.visit(code)
    told = len(ada.heard())
    slow.holding = True
    for _ in range(3):
        acting, other = turn_of(ada, bo)
        other.past(acting.choose())
    while not (slow.held and f'data-version="{ada.version}"' in slow.held[-1]):
        eve.page.wait_for_timeout(20)
    *older, newest = slow.held
    slow.deliver(newest, *older, newest)
    assert eve.at(ada.version).seen() == ada.seen()
    other.past(acting.choose()) if acting.asked else acting.past(other.choose())
    assert eve.at(ada.version).seen() == ada.seen()
    assert len(eve.heard()) == len(ada.heard()) - told


# ── the server goes ────────────────────────────────────────────────────────────


@pytest.mark.console_errors(*CUT)
def test_a_restart_in_mid_turn(come, new_site, slug):
    site = new_site()
    ada, bo = come("Ada", base_url=site.url), come("Bo", "ru", base_url=site.url)
    code = sit_down(ada, bo, slug=slug, seconds=60)
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    made = len(kept(site, code).moves)
    truth = ada.board()
    for person in (ada, bo):
        person.deafen()
    site.kill()
    site.start()
    for person in (ada, bo):
        check_truth(person.connected(), site, code)
        assert person.board() == truth
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    match = kept(site, code)
    assert len(match.moves) == made + 1
    assert {move.made_by for move in match.moves} == {"player"}


@pytest.mark.console_errors(*CUT)
def test_a_computer_that_was_due_moves_after_a_restart(come, new_site, slug):
    site = new_site(CPU_PACE_SECONDS="2")
    ada = come(base_url=site.url)
    code = sit_down(ada, slug=slug, mode="computer", cpus=1, level="medium")
    while ada.asked:
        ada.choose()
    assert not ada.over
    made = len(kept(site, code).moves)
    ada.deafen()
    site.kill()
    assert len(kept(site, code).moves) == made
    site.start()
    ada.connected().page.locator("#table[data-turn]").wait_for(state="attached")
    match = kept(site, code)
    assert len(match.moves) > made
    assert {move.made_by for move in match.moves[made:]} == {"cpu"}
    assert len({move.version for move in match.moves}) == len(match.moves)


# ── hasty clicks ───────────────────────────────────────────────────────────────


def test_a_double_click_makes_one_move(come, site, slug):
    ada, bo = come("Ada"), come("Bo")
    code = sit_down(ada, bo, slug=slug)
    acting, other = turn_of(ada, bo)
    before = acting.version
    acting.choices.first.dblclick()
    for person in (ada, bo):
        person.past(before).at(before + 1)
    hasty = acting
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    assert len(kept(site, code).moves) == 2
    assert hasty.page.locator("#notice[data-code]").count() == 0


@pytest.mark.console_errors(*CUT)
def test_clicks_without_a_connection_make_no_move_nor_lose_the_page(come, site, wire, slug):
    ada, bo = come("Ada", base_url=wire.url), come("Bo")
    code = sit_down(ada, bo, slug=slug)
    pass_turn(bo, ada)
    made = len(kept(site, code).moves)
    ada.deafen()
    wire.cut()
    expect(ada.page.locator("#net[data-shown]")).to_be_visible()
    for choice in ada.choices.all():
        choice.click()
        choice.click()
    wire.mend()
    check_truth(ada.connected(), site, code)
    assert len(kept(site, code).moves) == made
    bo.past(ada.choose())
    assert len(kept(site, code).moves) == made + 1


@pytest.mark.console_errors(*CUT)
def test_what_one_does_to_a_table_without_a_connection_waits_too(come, wire, slug):
    ada = come(base_url=wire.url)
    code = ada.open_table(slug)
    ada.visit(code).deafen()
    wire.cut()
    ada.page.locator("#addcpu").click()
    expect(ada.page.locator("#net[data-shown]")).to_be_visible()
    ada.page.locator("#start").click()
    wire.mend()
    assert ada.connected().page.locator("[data-seat]").count() == 1
    ada.page.locator("#addcpu").click()
    ada.page.locator("[data-cpu]").wait_for()


@pytest.mark.console_errors(*CUT)
def test_without_sockets_a_click_is_posted(come, site, slug):
    """A proxy that lets no socket through: the forms do it."""
    ada = come()
    ada.page.route_web_socket("**/ws/**", lambda line: line.close(code=1011))
    code = ada.open_table(slug, mode="same_device", names="Ada")
    ada.page.goto(f"/en/tables/{code}/")
    expect(ada.page.locator("#net[data-shown]")).to_be_visible()
    for _ in range(2):
        before = ada.version
        ada.choices.last.click()
        ada.past(before)
        if ada.over:
            break
    assert kept(site, code).moves
