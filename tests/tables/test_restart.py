"""The process is killed at any moment and started again: every table goes on where it was."""

import re
import sqlite3
import time
from contextlib import closing
from datetime import datetime, timedelta
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.site import Site
from tests.tables.pages import PATIENCE, Forms, forms

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
OUTAGE = timedelta(minutes=2)


class Browser:
    """Loads pages and posts forms without a script; keeps its cookies."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> tuple[str, str]:
        """The path where it ends, and the page."""
        return self._open(path, None)

    def post(self, path: str, fields: dict[str, str], *, after: str) -> tuple[str, str]:
        """Post with the token of the page at ``after``."""
        found = TOKEN.search(self.get(after)[1])
        assert found
        return self._open(path, urlencode({**fields, "csrfmiddlewaretoken": found[1]}).encode())

    def _open(self, path: str, data: bytes | None) -> tuple[str, str]:
        try:
            answer = self.opener.open(self.site.url + path, data, timeout=PATIENCE)
        except HTTPError as refused:
            answer = refused
        with answer:
            return answer.url.removeprefix(self.site.url), answer.read().decode()


class Database:
    """What is on the disk while nobody runs."""

    def __init__(self, site: Site) -> None:
        self.path = site.data_dir / "upcard.sqlite3"

    def ask(self, sql: str, *values: str) -> list[tuple]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(sql, values).fetchall()

    def match(self) -> tuple[int, str | None, str | None]:
        return self.ask("SELECT move_count, deadline_at, next_cpu_at FROM tables_match")[0]

    def made_by(self) -> list[str]:
        return [made for (made,) in self.ask("SELECT made_by FROM tables_move ORDER BY number")]

    def let_time_go_by(self) -> None:
        """As if nobody had been there for so long."""
        at = moment(self.ask("SELECT at FROM tables_heartbeat")[0][0]) - OUTAGE
        self.ask("UPDATE tables_heartbeat SET at = ?", str(at))


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.fixture
def site(tmp_path):
    running = Site(tmp_path / "site", CPU_PACE_SECONDS="1", CLOCK_TICK_SECONDS="0.05").start()
    yield running
    running.kill()


def seat(browser: Browser, slug: str) -> str:
    """Ada and a CPU, half a minute a turn; the table's address."""
    fields = {"game": slug, "mode": "link", "name": "Ada", "seconds": "30"}
    address, page = browser.post("/en/tables/new/", fields, after="/en/tables/new/")
    assert forms(page).table["data-status"] == "seating"
    browser.post(f"{address}cpu/", {"level": "easy"}, after=address)
    browser.post(f"{address}start/", {}, after=address)
    return address


def until(browser: Browser, address: str, *, own_turn: bool) -> Forms:
    """Play until it is, or is not, one's own turn."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        page = forms(browser.get(address)[1])
        assert page.refused != "unavailable"
        assert not page.over
        if bool(page.moves) == own_turn:
            return page
        if page.moves:
            form = page.moves[-1]
            browser.post(form["action"], {"move": form["move"], "version": form["version"]}, after=address)
        time.sleep(0.05)
    raise AssertionError("the table does not go on")


def test_a_killed_site_goes_on_where_it_was(site, slug):
    browser, database = Browser(site), Database(site)
    address = seat(browser, slug)
    before = until(browser, address, own_turn=True)
    site.kill()
    moves, deadline, _ = database.match()
    database.let_time_go_by()
    site.start()
    after = forms(browser.get(address)[1])
    assert after.seats == before.seats
    assert after.moves
    assert [form["move"] for form in after.moves] == [form["move"] for form in before.moves]
    assert after.version == before.version
    given = moment(database.match()[1]) - moment(deadline)
    assert OUTAGE <= given < OUTAGE + timedelta(minutes=2), "nobody is charged for the outage"
    assert database.match()[0] == moves

    form = before.moves[-1]
    browser.post(form["action"], {"move": form["move"], "version": form["version"]}, after=address)
    assert database.match()[0] > moves, "a form of before still counts"
    assert "clock" not in database.made_by()

    while forms(browser.get(address)[1]).moves:
        until(browser, address, own_turn=False)
    site.kill()
    moves, _, due = database.match()
    assert due is not None
    site.start()
    until(browser, address, own_turn=True)
    assert database.made_by()[moves:] == ["cpu"] * (database.match()[0] - moves), "a CPU that was due moves"
    assert "Traceback" not in site.log
