"""Nothing that a viewer may not know is in what they are given: not in a page, a frame, a log line or an error."""

import base64
import logging
import re
from random import Random

import msgspec
import pytest
from channels.db import database_sync_to_async
from django.test import Client

from apps.games import registry
from apps.tables import live, render
from apps.tables.board import Audience
from apps.tables.models import Match, Status
from tests.contract.matches import CARD
from tests.tables.pages import SHORT, code_of, do, forms, open_async, open_table, play
from tests.tables.records import move_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

load = database_sync_to_async(live.load)
CODE = re.compile(r"\b([A2-9TJQK][SHDC]|X[RB])\b")
"""A card's code wherever it could stand in HTML: an attribute, an id, a move, a comment."""


def codes_in(text: str) -> set[str]:
    """Every card code of a page, its drawn pictures left out."""
    return set(CODE.findall(re.sub(r'data:image/[^"]*', "", text)))


def spellings(secret: bytes) -> list[str]:
    numbers = str(list(secret))[1:-1]
    return [
        secret.hex(),
        secret.hex().upper(),
        base64.b64encode(secret).decode().rstrip("="),
        base64.urlsafe_b64encode(secret).decode().rstrip("="),
        str(int.from_bytes(secret)),
        numbers,
        numbers.replace(" ", ""),
    ]


def cards_known_to(table, seat):
    """Every card that the view of a seat, or a spectator's, names."""
    return {card.decode() for card in CARD.findall(msgspec.json.encode(table.game.view(table.match.state, seat)))}


def cards_told(table):
    """Every card in what has happened so far and anybody may know."""
    told = (table.game.dump_events(entry.events) for entry in table.log if live.is_move(entry))
    return {card.decode() for events in told for card in CARD.findall(events)}


# ── a whole match, looked at by everybody ──────────────────────────────────────


async def test_nobody_is_sent_a_card_before_they_may_know_it(visitors, slug, enter):
    """Frames and pages of two players and a spectator, at every move: each card code in them is in their own view."""
    browsers = [visitors(), visitors()]
    address = await open_async(browsers[0], slug, mode="link", **SHORT)
    await do(browsers[1], address, "sit", name="Bo")
    await do(browsers[0], address, "start")
    pages = [await enter(browser, address) for browser in browsers] + [await enter(None, address)]
    visited = [*browsers, visitors()]
    viewers = [0, 1, None]
    read = [0, 0, 0]
    known = [set(), set(), set()]
    while True:
        table = await load(code_of(address))
        for number, page in enumerate(pages):
            await page.at(table.version)
            known[number] |= cards_known_to(table, viewers[number]) | cards_told(table)
            shown = [*page.frames[read[number] :], (await visited[number].get(address)).content.decode()]
            read[number] = len(page.frames)
            for text in shown:
                assert codes_in(text) <= known[number], (viewers[number], codes_in(text))
        if not table.playing:
            break
        acting = next(page for page in pages if page.forms.moves)
        await acting.choose(Random(table.version).choice(acting.forms.moves))
        for page in pages:
            await page.at(table.version + 1)


async def test_the_seed_is_nowhere_before_the_end(visitors, slug, enter, caplog):
    """At the end it is shown, and it is the one that was promised."""
    caplog.set_level(logging.DEBUG)
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device", names=["Ada", "Bo"], **SHORT)
    pages = [await enter(ada, address), await enter(None, address)]
    match = await database_sync_to_async(Match.objects.get)()
    secrets = spellings(bytes(match.seed))
    texts = []
    await play(pages[0], Random(1))
    for page in pages:
        await page.until(lambda page: page.forms.over)
        texts += [frame for frame in page.frames if f'data-status="{Status.FINISHED}"' not in frame]
        assert secrets[0] in page.frames[-1]
        assert all(match.seed_hash in frame for frame in page.frames if 'id="table"' in frame)
    for text in [*texts, caplog.text]:
        for secret in secrets:
            assert secret not in text


def test_the_page_does_not_hold_the_state(client, slug):
    """Not as JSON, not in base64, not the stock's order in any spelling."""
    address = open_table(client, slug, mode="same_device", names=["Ada", "Bo"])
    state = bytes(Match.objects.get().state)
    order = [card.decode() for card in CARD.findall(state)]
    stored = {tuple(order[at : at + 3]) for at in range(len(order) - 2)}
    for page in (client.get(address), Client().get(address), client.post(f"{address}move/", {"move": "x"})):
        text = page.content.decode()
        shown = CODE.findall(text)
        assert state.decode() not in text
        assert base64.b64encode(state).decode()[:60] not in text
        assert not stored & {tuple(shown[at : at + 3]) for at in range(len(shown) - 2)}


def test_headers_and_cookies_say_nothing_of_the_match(client, slug):
    address = open_table(client, slug, mode="same_device")
    match = Match.objects.get()
    answer = client.get(address)
    told = str(answer.headers) + str(answer.cookies)
    assert not any(secret in told for secret in spellings(bytes(match.seed)))
    assert answer["X-Robots-Tag"] == "noindex"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "no-store" in answer["Cache-Control"]


# ── two worlds that a viewer cannot tell apart ─────────────────────────────────


def other_world(table, seat, number):
    """The same table in a world of which this viewer could not tell that it is another."""
    state = table.game.sample(table.game.view(table.match.state, seat), Random(number))
    match = msgspec.structs.replace(table.match, state=state)
    return msgspec.structs.replace(table, match=match)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_what_a_viewer_cannot_see_changes_no_byte_of_their_page(client, slug, language):
    address = open_table(client, slug, mode="same_device", names=["Ada", "Bo"], **SHORT)
    code = code_of(address)
    compared = 0
    while (table := live.load(code)).playing:
        for seat in (None, 0, 1):
            audience = Audience(language=language, held=() if seat is None else (seat,), host=seat == 0)
            here = render.render(table, audience)
            for number in range(3):
                there = render.render(other_world(table, seat, number), audience)
                assert there.regions == here.regions
                assert there.whole(since=0) == here.whole(since=0)
                compared += 1
        move_elsewhere(code)
    assert compared


def test_the_whole_page_is_alike_in_both_worlds(client, slug, monkeypatch):
    """By HTTP too: the same bytes but for tokens made anew."""
    address = open_table(client, slug, mode="same_device", names=["Ada", "Bo"])
    table = live.load(code_of(address))
    you = Audience(language="en", held=(0, 1)).you(table)
    pages = set()
    for number in range(3):
        world = other_world(table, you, number)
        monkeypatch.setattr(live, "load", lambda code, world=world: world)
        text = client.get(address).content.decode()
        pages.add(re.sub(r'(name="csrfmiddlewaretoken" value=|name="csrf-token" content=|nonce=)"[^"]*"', "", text))
    assert len(pages) == 1


def test_spectators_share_one_rendering(client, slug):
    """So nothing of one visitor is ever in what another is sent."""
    address = open_table(client, slug, mode="same_device")
    assert set(Audience.__struct_fields__) == {"language", "letters", "held", "host"}
    shown = render.render(live.load(code_of(address)), Audience(language="en")).whole(since=0)
    for name in ("csrfmiddlewaretoken", "sessionid", client.cookies["sessionid"].value):
        assert name not in shown


# ── what is offered, and what is logged ────────────────────────────────────────


async def test_a_spectator_is_offered_nothing(visitors, slug, enter):
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device")
    watcher = await enter(visitors(), address)
    page = forms((await visitors().get(address)).content)
    for seen in (watcher.forms, page):
        assert not seen.moves
        assert not seen.deeds
        assert not any("data-you" in seat for seat in seen.seats)


async def test_nothing_of_a_match_is_logged(visitors, slug, enter, caplog, ticking):
    """Whatever happens to it: refusals, CPUs, its end."""
    caplog.set_level(logging.DEBUG)
    ada = visitors()
    address = await open_async(ada, slug, mode="computer", cpus="1", level="easy", **SHORT)
    page = await enter(ada, address)
    await page.send(move='{"type":"hush-hush"}', version="1")
    await page.send(move="hush-hush" * 100, version="1")
    async with ticking():
        await play(page, Random(2))
    match = await database_sync_to_async(Match.objects.get)()
    state = bytes(match.state).decode()
    for record in caplog.records:
        if record.name.startswith(("apps", "config", "channels", "daphne", "django.request")):
            text = logging.Formatter().format(record)
            assert not any(secret in text for secret in spellings(bytes(match.seed)))
            assert state not in text
            assert "hush-hush" not in text
            assert not CODE.findall(text), text


def test_errors_show_no_state(slug, client, monkeypatch, caplog):
    """A fault of ours in the middle of a page: neither the visitor nor the log is told what was in it."""
    address = open_table(client, slug, mode="same_device")
    match = Match.objects.get()

    def fail(self, view, facts):
        raise ValueError("no such thing")

    monkeypatch.setattr(type(registry.get(slug)), "board", fail)
    client.raise_request_exception = False
    answer = client.get(address)
    assert answer.status_code == 500
    for text in (answer.content.decode(), caplog.text):
        assert not any(secret in text for secret in spellings(bytes(match.seed)))
        assert bytes(match.state).decode() not in text
