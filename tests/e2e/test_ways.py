"""The ways to play besides by a link: alone, against the computer, on one screen, and with whoever comes."""

from random import Random

import pytest
from playwright.sync_api import expect

from apps.games import registry
from apps.games.kernel.game import Level, Mode
from tests.e2e.archive import kept, query
from tests.e2e.people import OVER, code_of

SOLO = [game.slug for game in registry.all_games() if 1 in game.seats]
SHARED = [game.slug for game in registry.all_games() if Mode.SAME_DEVICE in game.modes and not game.hidden]


def choose_all(person, rng=None):
    """Move whenever asked, until the match is over."""
    while True:
        person.page.locator(f"{OVER}, #table[data-turn]").wait_for(state="attached")
        if person.over:
            return
        person.choose(rng)


# ── alone ──────────────────────────────────────────────────────────────────────


def test_one_click_deals_a_game_for_one_and_keeps_the_personal_best(come, site):
    ada = come()
    ada.page.goto("/en/")
    ada.page.locator(".hero form button").click()
    ada.page.wait_for_url("**/en/tables/*/")
    code = code_of(ada.page.url)
    bests = []
    for _ in range(3):
        choose_all(ada.connected())
        match = kept(site, code)
        bests.append(match.game.outcome(match.states()[-1]).scores[0])
        line = ada.page.locator("#dock .turn p")
        if bests[-1] == max(bests):
            # Once reached, a best is shown as it is reached again.
            expect(line).to_be_visible()
        else:
            expect(line).to_contain_text(str(max(bests)))
        assert query(site, "select max(score) from tables_personalbest")[0][0] >= max(bests)
        before = ada.version
        ada.page.locator("#rematch").click()
        ada.past(before)
    assert (
        query(
            site, "select count(*) from tables_match m join tables_table t on t.id = m.table_id where code = ?", code
        )[0][0]
        == 4
    )


# ── against the computer ───────────────────────────────────────────────────────


@pytest.mark.parametrize("level", [level.value for level in Level])
def test_against_the_computer(come, site, slug, level):
    ada = come(language="fr")
    ada.page.goto(f"/fr/tables/new/?game={slug}&mode=computer&turns=1")
    ada.page.locator(f"input[name=level][value={level}]").check()
    ada.page.locator("form#new .stick button").click()
    ada.page.wait_for_url("**/fr/tables/*/")
    code = code_of(ada.page.url)
    choose_all(ada.connected(), Random(3))
    match = kept(site, code)
    assert match.over
    sql = "select p.cpu_level from tables_participant p join tables_match m on m.id = p.match_id"
    sql += " join tables_table t on t.id = m.table_id where t.code = ? and p.cpu_level != ''"
    assert {row[0] for row in query(site, sql, code)} == {level}
    assert {move.made_by for move in match.moves} == {"player", "cpu"}
    expect(ada.page.locator("#verdict")).to_be_visible()
    assert ada.page.locator(".results li.me").count() == 1


# ── on one screen ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("game", SHARED)
def test_three_people_share_one_screen(come, site, game):
    ada = come()
    page = ada.page
    page.goto(f"/en/tables/new/?game={game}&turns=2")
    page.locator("input[name=mode][value=same_device]").check()
    names = ["Ada", "Bo", "Cleo"][: registry.get(game).seats.stop - 1]
    for field, name in zip(page.locator("input[name=names]").all(), names, strict=False):
        field.fill(name)
    page.locator("form#new .stick button").click()
    page.wait_for_url("**/en/tables/*/")
    code = code_of(page.url)
    ada.connected()
    asked = []
    while not ada.over:
        mine = page.locator("[data-you]")
        assert mine.get_attribute("data-to-act") is not None
        name = mine.locator(".nm").inner_text()
        expect(page.locator("#dock h2")).to_contain_text(name)
        asked.append(name)
        ada.choose(Random(len(asked)))
    assert set(asked) == set(names)
    assert len(kept(site, code).moves) == len(asked)
    assert page.locator(".results li").count() == len(names)


# ── with whoever comes ─────────────────────────────────────────────────────────


def test_a_public_table_is_on_the_home_page_while_its_host_is_there(come, slug):
    ada, bo = come("Ada"), come("Bo", "de")
    bo.page.goto("/de/")
    ada.page.goto(f"/en/tables/new/?game={slug}")
    ada.page.locator("input[name=name]").fill("Ada Augusta")
    ada.page.locator("input[name=public]").check()
    ada.page.locator("form#new .stick button").click()
    ada.page.wait_for_url("**/en/tables/*/")
    code = code_of(ada.connected().page.url)
    row = bo.page.locator(f"#open li:has(a[href='/de/tables/{code}/'])")
    expect(row).to_contain_text("Ada Augusta")
    ada.page.close()
    expect(row).to_have_count(0)


def test_joining_from_the_home_page(come, slug):
    ada, bo = come("Ada"), come("Bo", "fr")
    code = ada.open_table(slug, public="on")
    ada.visit(code)
    bo.page.goto("/fr/")
    bo.page.locator(f"#open a[href='/fr/tables/{code}/']").click()
    bo.page.locator("#sit").click()
    bo.page.locator("[data-you]").wait_for()
    ada.page.locator("[data-seat='1']").wait_for()
    # It is among one's own tables from now on, and is continued from there.
    bo.page.goto("/fr/")
    bo.page.locator(f"[aria-labelledby=yours] a[href='/fr/tables/{code}/']").click()
    assert bo.connected().seat == "1"


def test_an_empty_site_has_something_to_do(come, new_site):
    ada = come(base_url=new_site().url)
    ada.page.goto("/en/")
    suggestions = ada.page.locator("#open .tiles a").all()
    modes = [suggestion.get_attribute("href").partition("mode=")[2] for suggestion in suggestions]
    assert modes == ["computer", "same_device", "link"]
    suggestions[0].click()
    ada.page.wait_for_url("**/tables/new/?mode=computer")
    assert ada.page.locator("input[name=mode][value=computer]").is_checked()
