"""Bad input: each gets its coded refusal or close code, the state stays, the socket lives where it may."""

import logging
import time
from random import Random

import msgspec
import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.games import registry
from apps.games.kernel.errors import Refusal
from apps.tables import consumers, limits, live, refusals, services, views
from apps.tables.models import Match, Table
from config.asgi import application
from tests.contract.matches import some_steps
from tests.tables.pages import HOST, PATIENCE, SHORT, Page, code_of, do, forms, open_async, open_table
from tests.tables.records import end_now, move_elsewhere, state_of_everything

pytestmark = pytest.mark.django_db(transaction=True)

LANGUAGES = ("en", "fr", "de", "ru")
NO_MOVES = [
    "",
    " ",
    "{",
    "[]",
    "{}",
    "null",
    "true",
    "17",
    '"guess"',
    '{"type":"cheat"}',
    '{"type":null}',
    '{"type":["guess"]}',
    "\x00",
    '{"type":"\\ud800"}',
    "[" * 190,
    '{"a":' * 38,
    "<script>alert(1)</script>",
]
NO_VERSIONS = ["", "x", "-1", "+1", "1.0", "1e3", " 1", "1 ", "¹", "٣", "0x1", "None", "9" * 10, "9" * 5000]


def with_unknown_field(move):
    return msgspec.json.encode({**msgspec.json.decode(move), "seat": 1}).decode()


def not_offered(slug):
    """A move of this game, well-formed, that is not among those offered now."""
    game = registry.get(slug)
    state = game.load_state(bytes(Match.objects.get().state))
    offered = game.legal_moves(state, min(game.to_act(state)))
    for step in some_steps(game, Random(1), matches=50, each=20):
        if step.move not in offered:
            return game.dump_move(step.move).decode()
    raise AssertionError("every move is offered")


# ── by POST ────────────────────────────────────────────────────────────────────


@pytest.fixture
def match(slug):
    """(address, browser to act, another one, their form) of a match that has begun."""
    browsers = [Client(), Client()]
    address = open_table(browsers[0], slug, mode="link", **SHORT)
    assert browsers[1].post(f"{address}sit/", {"name": "Bo"}).status_code == 303
    assert browsers[0].post(f"{address}start/").status_code == 303
    pages = [forms(browser.get(address).content) for browser in browsers]
    acting = 0 if pages[0].moves else 1
    return address, browsers[acting], browsers[1 - acting], pages[acting].moves[0]


def refused(browser, form, **changes):
    """Status and code of what answers a form; that nothing has changed by it."""
    before = state_of_everything()
    answer = browser.post(form["action"], {"move": form["move"], "version": form["version"]} | changes)
    assert state_of_everything() == before
    page = forms(answer.content)
    assert page.table["data-status"], "the whole page comes back"
    return answer.status_code, page.refused


def test_what_is_no_move_is_not_understood(match):
    _, acting, _, form = match
    for move in NO_MOVES:
        assert refused(acting, form, move=move) == (400, "bad-message"), move


def test_what_is_no_version_is_not_understood(match):
    _, acting, _, form = match
    for version in NO_VERSIONS:
        assert refused(acting, form, version=version) == (400, "bad-message"), version


def test_fields_that_a_move_does_not_have_are_not_understood(match):
    _, acting, _, form = match
    assert refused(acting, form, move=with_unknown_field(form["move"])) == (400, "bad-message")
    assert refused(acting, form, move=form["move"] + " " * 200) == (400, "bad-message")


def test_missing_fields_are_not_understood(match):
    _, acting, _, form = match
    before = state_of_everything()
    assert acting.post(form["action"]).status_code == 400
    assert acting.post(form["action"], {"move": form["move"]}).status_code == 400
    assert state_of_everything() == before


def test_a_move_that_is_not_offered_is_illegal(match, slug):
    _, acting, _, form = match
    assert refused(acting, form, move=not_offered(slug)) == (422, "illegal")


def test_nobody_moves_for_somebody_else(match):
    _, _, waiting, form = match
    assert refused(waiting, form) == (409, "not-your-turn")
    assert refused(waiting, form, seat="0") == (409, "not-your-turn")


def test_who_only_watches_does_not_move(match):
    _, _, _, form = match
    assert refused(Client(), form) == (403, "not-seated")
    elsewhere = Client()
    open_table(elsewhere, Table.objects.get().game, mode="link")
    code = code_of(form["action"])
    before = state_of_everything()
    answer = elsewhere.post(form["action"], form)
    assert (answer.status_code, forms(answer.content).refused) == (403, "not-seated")
    assert forms(answer.content).table["data-version"] == str(Table.objects.get(code=code).version)
    assert state_of_everything() == before


def test_an_old_version_is_stale(match):
    _, acting, _, form = match
    assert acting.post(form["action"], form).status_code == 303
    assert refused(acting, form)[1] in {"stale", "not-your-turn"}
    assert refused(acting, form, version="0")[1] == "stale"
    assert refused(acting, form, version="1")[1] == "stale"


def test_a_version_that_is_still_to_come_is_stale(match):
    _, acting, _, form = match
    later = str(int(form["version"]) + 1)
    assert refused(acting, form, version=later) == (409, "stale")
    assert refused(acting, form, version="999999999") == (409, "stale")


def test_a_match_that_is_over_takes_no_move(match):
    _, acting, waiting, form = match
    end_now(Match.objects.get())
    for browser in (acting, waiting):
        assert refused(browser, form) == (409, "finished")
        assert refused(browser, form, version=str(Table.objects.get().version)) == (409, "finished")


def test_before_the_match_there_is_nothing_to_move(client, slug):
    address = open_table(client, slug, mode="link")
    form = {"action": f"{address}move/", "move": not_offered_anywhere(slug), "version": "1"}
    assert refused(client, form) == (409, "stale")


def not_offered_anywhere(slug):
    game = registry.get(slug)
    return game.dump_move(next(some_steps(game, Random(1), matches=1, each=1)).move).decode()


def test_a_closed_table_is_gone(match):
    address, acting, waiting, form = match
    for browser in (acting, waiting):
        browser.post(f"{address}leave/")
    before = state_of_everything()
    for action in ("move", "sit", "start", "cpu", "leave", "rematch", "pass"):
        assert acting.post(f"{address}{action}/", {**form, "name": "Ada"}).status_code == 410
    assert state_of_everything() == before


def test_no_post_without_the_token(match):
    address, acting, _, form = match
    guarded = Client(enforce_csrf_checks=True)
    guarded.cookies = acting.cookies
    fields = {"move": form["move"], "version": form["version"], "name": "Cleo", "level": "easy"}
    before = state_of_everything()
    for action in ("move", "sit", "cpu", "start", "leave", "rematch", "accept", "pass"):
        assert guarded.post(f"{address}{action}/", fields).status_code == 403, action
    assert state_of_everything() == before


def test_no_other_post_without_the_token(slug):
    guarded = Client(enforce_csrf_checks=True)
    for path in ("tables/new/", "settings/", "tables/pass/anything/"):
        assert guarded.post(f"/en/{path}", {"game": slug, "mode": "link", "name": "Ada"}).status_code == 403, path
    assert not User.objects.exists()


@pytest.mark.parametrize("language", LANGUAGES)
def test_refusals_speak_the_language_of_the_page(match, language):
    _, acting, _, form = match
    path = form["action"].replace("/en/", f"/{language}/")
    answer = acting.post(path, {"move": form["move"], "version": "999999999"})
    page = forms(answer.content)
    assert page.refused == "stale"
    assert answer["Content-Language"] == language
    assert f'<html lang="{language}"' in answer.content.decode()
    assert refusals.notice(Refusal("stale"), language)["text"] in answer.content.decode()
    # From a page that was posted to, the language switch and the refresh lead back to the table.
    assert f'href="/de/tables/{code_of(path)}/"' in answer.content.decode()
    assert "/move/" not in "".join(line for line in answer.content.decode().splitlines() if "refresh" in line)


def test_every_refusal_has_words_and_a_status():
    protocol = "stale illegal not-your-turn finished bad-message too-fast not-seated restricted"
    for code in protocol.split():
        assert str(refusals.TEXTS[code])
        assert 400 <= refusals.STATUS[code] < 500
    texts = [refusals.words(Refusal("illegal", reason=reason)) for reason in refusals.REASONS]
    assert len(set(texts)) == len(texts)
    assert refusals.words(Refusal("no-such-code")) == refusals.words(Refusal("illegal"))


class Clicks:
    """The time that limits see: it goes by with every look at it."""

    def __init__(self, step: float) -> None:
        self.step = step
        self.now = time.monotonic() + 60

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def test_a_flood_of_posts_is_told_that_it_is_too_fast(match, monkeypatch, caplog):
    _, acting, _, form = match
    clicks = Clicks(step=0)
    monkeypatch.setattr(limits, "time", clicks)
    monkeypatch.setattr(views, "_moves", limits.Buckets(limits.Limit(burst=4, rate=4)))
    codes = [refused(acting, form, version="0")[1] for _ in range(4)]
    assert "too-fast" not in codes
    assert refused(acting, form) == (429, "too-fast")
    assert acting.post(form["action"].replace("move", "leave")).status_code == 429
    clicks.now += 1
    assert acting.post(form["action"], form).status_code == 303
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING and "apps" in record.name]


# ── by socket ──────────────────────────────────────────────────────────────────


@pytest.fixture
async def room(slug, visitors, enter, monkeypatch):
    """(address, page to act, page waiting) of a match that has begun; nobody is too fast."""
    monkeypatch.setattr(consumers, "MOVES", limits.Limit(burst=10_000, rate=10_000))
    browsers = [visitors(), visitors()]
    address = await open_async(browsers[0], slug, mode="link", **SHORT)
    await do(browsers[1], address, "sit", name="Bo")
    await do(browsers[0], address, "start")
    pages = [await enter(browser, address) for browser in browsers]
    acting = 0 if pages[0].forms.moves else 1
    await pages[acting].settle()
    return address, pages[acting], pages[1 - acting]


everything = database_sync_to_async(state_of_everything)


async def refused_by_socket(page: Page, text: str | None = None, data: bytes | None = None, **message: object) -> str:
    """The code that answers a message; that nothing has changed by it and that the socket lives."""
    before = await everything()
    told = len(page.notices)
    if text is None and data is None:
        await page.send(**message)
    else:
        frame = {"text": text} if data is None else {"bytes": data}
        await page.line.send_input({"type": "websocket.receive", **frame})
    await page.settle()
    assert await everything() == before
    assert page.closed is None
    new = page.notices[told:]
    assert len(new) == 1, new
    return new[0]


NO_MESSAGES = ["", "{", "[]", "null", "17", '"x"', "{}", "[" * 3000, "x" * 5000, '{"move":{}}', '{"resync":7}', "\x00"]


async def test_messages_that_are_none_are_not_understood(room):
    _, acting, _ = room
    for text in NO_MESSAGES:
        assert await refused_by_socket(acting, text) == "bad-message", text[:20]
    assert await refused_by_socket(acting, data=b"\x00\xff") == "bad-message"
    assert await refused_by_socket(acting, "x" * 1_000_000) == "bad-message"


async def test_messages_with_half_a_move_are_not_understood(room):
    _, acting, _ = room
    form = acting.forms.moves[0]
    for message in (
        {"move": form["move"]},
        {"version": form["version"]},
        {"move": form["move"], "version": int(form["version"])},
        {"move": msgspec.json.decode(form["move"]), "version": form["version"]},
        {"move": None, "version": form["version"]},
        {"move": [form["move"]], "version": form["version"]},
    ):
        assert await refused_by_socket(acting, **message) == "bad-message", message


async def test_moves_that_are_none_are_not_understood(room, slug):
    _, acting, _ = room
    form = acting.forms.moves[0]
    for move in [*NO_MOVES, with_unknown_field(form["move"]), form["move"] + " " * 200]:
        assert await refused_by_socket(acting, move=move, version=form["version"]) == "bad-message", move
    for version in NO_VERSIONS[:-1]:
        assert await refused_by_socket(acting, move=form["move"], version=version) == "bad-message", version


async def test_moves_that_may_not_be_made_now(room, slug):
    _, acting, waiting = room
    form = acting.forms.moves[0]
    illegal = await database_sync_to_async(not_offered)(slug)
    later = str(int(form["version"]) + 1)
    assert await refused_by_socket(acting, move=illegal, version=form["version"]) == "illegal"
    assert await refused_by_socket(acting, move=form["move"], version=later) == "stale"
    assert await refused_by_socket(acting, move=form["move"], version="0") == "stale"
    assert await refused_by_socket(waiting, **pick(form)) == "not-your-turn"
    await acting.choose(form)
    await acting.at(int(form["version"]) + 1)
    assert await refused_by_socket(acting, **pick(form)) == "stale"


def pick(form):
    return {"move": form["move"], "version": form["version"]}


async def test_watchers_do_not_move(room, enter, visitors):
    address, acting, _ = room
    for visitor in (None, visitors()):
        watcher = await enter(visitor, address)
        assert not watcher.forms.moves
        assert await refused_by_socket(watcher, **pick(acting.forms.moves[0])) == "not-seated"


async def test_a_finished_match_takes_no_move_by_socket(room):
    _, acting, waiting = room
    form = acting.forms.moves[0]
    await database_sync_to_async(lambda: end_now(Match.objects.get()))()
    for page in (acting, waiting):
        assert await refused_by_socket(page, **pick(form)) == "finished"


async def test_other_keys_of_a_message_are_ignored(room):
    """htmx adds some."""
    _, acting, _ = room
    form = acting.forms.moves[0]
    await acting.send(**pick(form), HEADERS={"HX-Request": "true"}, csrfmiddlewaretoken="x", seat=1, user_id=1)
    await acting.at(int(form["version"]) + 1)
    assert not any(acting.notices)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_refusals_by_socket_speak_the_language_of_the_page(room, enter, language):
    address, _, _ = room
    page = await enter(None, address, language=language)
    await page.send(move="{}", version="1")
    assert await page.refusal() == "bad-message"
    text = refusals.notice(Refusal("bad-message"), language)["text"]
    assert text in page.regions["notice"]
    assert page.announced[-1] == text


async def test_a_hundred_messages_a_second_are_told_once_to_be_too_many(room, enter, monkeypatch, caplog):
    address, acting, waiting = room
    monkeypatch.setattr(consumers, "MOVES", limits.MOVES)
    acting = await enter(acting.visitor, address)
    form = acting.forms.moves[0]
    caplog.set_level(logging.INFO)
    caplog.clear()
    clicks = Clicks(step=1 / 100)
    monkeypatch.setattr(limits, "time", clicks)
    told = len(acting.notices)
    for _ in range(300):
        await acting.send(move="{}", version="1")
    await acting.taken()
    clicks.now += 60
    await acting.settle()
    new = acting.notices[told:]
    assert new.count("too-fast") == 1
    assert set(new) == {"too-fast", "bad-message"}
    assert len(new) < limits.MOVES.burst + 3 * limits.MOVES.rate + 2
    await acting.choose(form)
    await acting.at(int(form["version"]) + 1)
    await waiting.at(int(form["version"]) + 1)
    assert not [record for record in caplog.records if record.name.startswith("apps")]


# ── doors ──────────────────────────────────────────────────────────────────────


async def knock(path, **headers):
    """Accepted or not, and the close code that follows."""
    given = {"host": HOST.decode(), "origin": f"http://{HOST.decode()}"} | headers
    headers = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
    line = WebsocketCommunicator(application, path, headers)
    accepted, _ = await line.connect(timeout=PATIENCE)
    if not accepted:
        return False, None
    output = await line.receive_output(timeout=PATIENCE)
    await line.disconnect(timeout=PATIENCE)
    return True, output.get("code")


async def test_unknown_sockets_are_accepted_and_closed_with_4404():
    for path in [
        "/ws/en/tables/nosuchtable1/",
        "/ws/it/tables/abc/",
        "/ws/en/tables/",
        "/ws/",
        "/",
        "/ws/en/tables/a%00b/",
        "/admin/",
    ]:
        assert await knock(path) == (True, 4404), path


async def test_the_socket_of_a_closed_table_is_closed_with_4410(slug, visitors):
    ada = visitors()
    address = await open_async(ada, slug, mode="link")
    await do(ada, address, "leave")
    assert await knock(f"/ws/en/tables/{code_of(address)}/") == (True, 4410)


async def test_open_pages_of_a_table_that_closes_are_closed_with_4410(slug, visitors, enter):
    ada = visitors()
    address = await open_async(ada, slug, mode="link")
    pages = [await enter(ada, address), await enter(None, address)]
    await do(ada, address, "leave")
    for page in pages:
        while page.closed is None:
            await page.read()
        assert page.closed == 4410


ORIGINS = [
    None,
    "",
    "null",
    "http://evil.example",
    "https://evil.example",
    "http://testserver:81",
    "http://testserver.evil.example",
    "http://evil.example/testserver",
    "http://evil.example#testserver",
    "http://testserver@evil.example",
    "http://sub.testserver",
    "https://testserver:80",
    "ftp://testserver",
    "file://",
    "testserver",
    "//testserver",
    "http://[::1",
    "http://testserver:port",
    "http://tests\xe9rver",
]


async def test_pages_of_elsewhere_open_no_socket(slug, visitors):
    ada = visitors()
    address = await open_async(ada, slug, mode="link")
    cookie = f"sessionid={ada.cookies['sessionid'].value}"
    for origin in ORIGINS:
        for path in (f"/ws/en/tables/{code_of(address)}/", "/ws/en/tables/none/", "/elsewhere/"):
            assert await knock(path, origin=origin, cookie=cookie) == (False, None), origin


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://testserver", "testserver"),
        ("http://testserver:80", "testserver"),
        ("https://play.example", "play.example"),
        ("https://play.example", "play.example:443"),
        ("http://LOCALHOST:8000", "localhost:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
async def test_pages_of_this_site_open_a_socket(origin, host):
    assert await knock("/ws/en/tables/none/", origin=origin, host=host) == (True, 4404)


# ── a new table ────────────────────────────────────────────────────────────────


def refused_table(client, slug, **fields):
    before = state_of_everything()
    answer = client.post("/en/tables/new/", {"game": slug, "mode": "link", "name": "Ada"} | fields)
    assert state_of_everything() == before
    assert not client.cookies.get("sessionid"), "who is refused stays nobody"
    return answer.status_code


def test_settings_out_of_their_range_open_no_table(client, slug):
    for field in registry.get(slug).option_fields:
        for value in ("999", "-1", "1.5", "true1", "None", "²", "x" * 10_000):
            assert refused_table(client, slug, **{field.name: value}) == 400, (field.name, value)


def test_what_fits_nowhere_opens_no_table(client, slug):
    for fields in (
        {"mode": "ranked"},
        {"mode": "nothing"},
        {"mode": ""},
        {"seconds": "45"},
        {"seconds": "-30"},
        {"mode": "computer", "cpus": "99"},
        {"mode": "computer", "cpus": "-1"},
        {"mode": "computer", "level": "brutal"},
        {"mode": "same_device", "names": ["Ada", "ada"]},
        {"mode": "same_device", "names": ["Ada", "A" * 25]},
        {"mode": "same_device", "names": [f"P {n}" for n in range(50)]},
        {"name": "A" * 10_000},
        {"name": "A" * 100_000},
        {"name": "\u202eadA"},
    ):
        assert refused_table(client, slug, **fields) == 400, fields


def test_games_that_do_not_exist_are_404(client):
    for game in ("no-such-game", "../kernel", "kernel", "a" * 5000, "\x00"):
        assert client.post("/en/tables/new/", {"game": game, "mode": "link", "name": "Ada"}).status_code == 404
        assert client.get("/en/tables/new/", {"game": game}).status_code == 404


def test_settings_that_do_not_fit_the_seats_are_told(client, slug, monkeypatch):
    """A game may refuse together what it allows one by one."""

    def deal(*args, **kwargs):
        raise Refusal("bad-option")

    monkeypatch.setattr(type(registry.get(slug)), "deal", deal)
    names = [f"P {number}" for number in range(registry.get(slug).seats.start)]
    assert refused_table(client, slug, mode="same_device", names=names) == 400


def test_a_flood_of_new_tables_ends(client, slug, monkeypatch):
    monkeypatch.setattr(limits, "time", Clicks(step=0))
    monkeypatch.setattr(views, "_tables", limits.Buckets(limits.Limit(burst=4, rate=1)))
    statuses = [client.post("/en/tables/new/", {"game": slug}).status_code for _ in range(5)]
    assert statuses[-1] == 429
    assert 429 not in statuses[:-1]


def test_more_than_a_form_of_ours_has_is_refused(client, slug):
    big = {f"field{number}": "x" for number in range(300)}
    assert client.post("/en/tables/new/", {"game": slug, **big}).status_code == 400
    assert client.post("/en/tables/new/", {"game": slug, "name": "x" * 1_000_000}).status_code in {400, 413}


def test_the_new_table_page_bears_any_address(client):
    for query in ("?game=%00", "?turns=999&seconds=7&mode=x", "?name=%ff", "?" + "a=1&" * 150):
        assert client.get(f"/en/tables/new/{query}").status_code in {200, 400, 404}, query


ODD_NAMES = {
    "long": "A" * 25,
    "ten thousand": "A" * 10_000,
    "markup that is too long": "<img src=x onerror=alert(1)>",
    "punctuation": "...",
    "right to left": "\u202eadA",
    "zero width": "Ad\u200ba",
    "no such character": "Ada\uffff",
    "private": "Ada\ue000",
    "null": "Ada\x00",
    "escape": "Ada\x1b[31m",
    "filler": "\u3164",
    "stacked marks": "Z" + "\u0300" * 3 + "algo",
    "tags": "Ada\U000e0041",
}


def test_odd_names_take_no_seat(client, slug):
    address = open_table(Client(), slug, mode="link", name="Host")
    before = state_of_everything()
    for what, name in ODD_NAMES.items():
        answer = client.post(f"{address}sit/", {"name": name})
        assert (answer.status_code, forms(answer.content).refused) == (422, "illegal"), what
        assert state_of_everything() == before


def test_names_are_text_and_never_markup(client, slug):
    address = open_table(client, slug, mode="link", name="<b>Ada & 'Bo'</b>")
    page = client.get(address).content.decode()
    assert "<b>Ada" not in page
    assert "&lt;b&gt;Ada &amp; &#x27;Bo&#x27;&lt;/b&gt;" in page


async def test_names_do_not_become_regions(slug, visitors, enter):
    """`hx-swap-oob` in a name would be another element of the message."""
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link")
    page = await enter(ada, address)
    await do(bo, address, "sit", name='<i id="table">x</i>')
    await page.at(2)
    assert page.forms.identities.count("table") == 1
    assert any("&lt;i id=&quot;table&quot;&gt;x&lt;/i&gt;" in line for line in page.announced)


def test_expired_tables_are_told_with_a_way_on(client, slug, later):
    address = open_table(client, slug, mode="link", **SHORT)
    later.go(days=8)
    assert services.expire_tables(now=timezone.now()) == 1
    answer = client.get(address)
    assert answer.status_code == 410
    assert f"game={slug}" in answer.content.decode()
    assert not client.get("/en/").context["your_tables"]


def test_a_move_elsewhere_in_between_is_stale_not_lost(match):
    """A cached state that is behind is read again before anybody is refused or obeyed."""
    address, acting, _, form = match
    live.cache.put(live.load(code_of(address)))
    move_elsewhere(code_of(address))
    assert refused(acting, form)[1] in {"stale", "not-your-turn"}
