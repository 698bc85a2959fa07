"""What viewers are sent: rendered once for each audience, only what has changed, never older than what they have."""

import asyncio
import re

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import OperationalError
from django.utils import translation
from django.utils.html import escape

from apps.accounts.models import User
from apps.games import registry
from apps.tables import clock, consumers, hub, live, moves, publish, render
from apps.tables.hub import all_hubs
from apps.tables.models import Match, Seat, Table
from tests.tables.pages import SHORT, Elements, Page, code_of, do, forms, open_async, open_table, soon
from tests.tables.records import move_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

LANGUAGES = ("en", "fr", "de", "ru")
elsewhere = database_sync_to_async(move_elsewhere)
load = database_sync_to_async(live.load)


@pytest.fixture
def rendered(monkeypatch):
    """The audiences for which a table was rendered, one entry a rendering."""
    audiences = []

    def counted(table, audience):
        audiences.append(audience)
        return render.render(table, audience)

    monkeypatch.setattr(hub, "render", counted)
    return audiences


@pytest.fixture
async def match(visitors, slug):
    """(browser, address) of a match of two on one screen."""
    ada = visitors()
    return ada, await open_async(ada, slug, mode="same_device", names=["Ada", "Bo"])


async def move(page):
    """Make a move and wait until the page shows it; the version it made."""
    version = page.forms.version
    await page.choose(page.forms.moves[0])
    await page.at(version + 1)
    return version + 1


# ── once for each audience, and only what has changed ──────────────────────────


async def test_a_move_is_rendered_once_for_each_audience(match, enter, visitors, rendered):
    ada, address = match
    page = await enter(ada, address)
    tabs = [await enter(ada, address)]
    watchers = [await enter(None, address) for _ in range(4)] + [await enter(visitors(), address)]
    russian = await enter(None, address, language="ru")
    del rendered[:]
    version = await move(page)
    for viewer in (*tabs, *watchers, russian):
        await viewer.at(version)
    assert len(rendered) == 3, "one for both tabs, one for five who watch, one in Russian"
    assert len(set(rendered)) == 3
    assert len({watcher.frames[-1] for watcher in watchers}) == 1


async def test_messages_hold_only_what_has_changed(match, enter):
    ada, address = match
    page, watcher = await enter(ada, address), await enter(None, address)
    before = dict(watcher.regions)
    version = await move(page)
    await watcher.at(version)
    frame = watcher.frames[-1]
    sent = Elements(frame).found
    assert "data-full" not in frame
    assert sent.pop("table")
    for name in ("announce", "log-news", "notice"):
        assert sent.pop(name)
    assert sent, "a move changes something"
    for name, html in sent.items():
        assert html != before[name], name
    assert "menu" not in sent
    assert "where" not in sent or sent["where"] != before["where"]


async def test_a_page_by_socket_is_the_page_by_http(match, enter):
    """After every message: the same forms, seats and cards as a page loaded anew."""
    ada, address = match
    page, watcher = await enter(ada, address), await enter(None, address)
    for _ in range(4):
        version = await move(page)
        await watcher.at(version)
        loaded = forms((await ada.get(address)).content)
        assert loaded.version == page.forms.version
        assert [(form["move"], form["version"]) for form in loaded.moves] == [
            (form["move"], form["version"]) for form in page.forms.moves
        ]
        assert loaded.seats == page.forms.seats
        assert sorted(loaded.cards) == sorted(page.forms.cards)
        assert sorted(watcher.forms.cards) == sorted(page.forms.cards) or registry.get(live_slug(address)).hidden


def live_slug(address):
    return live.cache.get(code_of(address)).slug


async def test_each_region_has_one_root_with_its_id_and_ids_are_unique(match, enter):
    ada, address = match
    page = await enter(ada, address)
    await move(page)
    for frame in page.frames:
        elements = Elements(frame)
        assert len(elements.order) == len(set(elements.order))
        assert elements.order[0] == "table"
    assert "<form" not in page.regions["table"]
    assert re.fullmatch(r"<div [^>]*></div>", page.regions["table"].strip()), "an empty leaf"
    identities = page.forms.identities
    assert len(identities) == len(set(identities))


async def test_the_page_by_http_knows_the_same_regions(match, enter):
    ada, address = match
    page = await enter(ada, address)
    html = (await ada.get(address)).content.decode()
    identities = forms(html).identities
    assert len(identities) == len(set(identities))
    for name in page.regions:
        assert name in identities
    owner = html.index("ws-connect")
    for name in page.regions:
        assert html.index(f'id="{name}"') > owner, "the element that owns the socket is in no region"


# ── order ──────────────────────────────────────────────────────────────────────


async def test_nothing_older_is_shown_after_something_newer(match, enter):
    _, address = match
    code = code_of(address)
    watcher = await enter(None, address)
    states = [await load(code)]
    for _ in range(4):
        await elsewhere(code)
        states.append(await load(code))
    here = hub.hub()
    for number in (2, 4, 3, 1):
        await here.show(states[number])
    await watcher.settle()
    versions = [forms(frame).version for frame in watcher.frames if 'id="table"' in frame]
    assert versions == sorted(versions)
    assert watcher.forms.version == states[4].version


async def test_a_page_that_missed_something_hears_all_of_it(match, enter):
    """A gap: the announcements since the version that the page had, once and in order."""
    _, address = match
    code = code_of(address)
    told, missed = await enter(None, address), await enter(None, address)
    since = missed.forms.version
    for _ in range(3):
        await elsewhere(code)
        await hub.hub().show(await load(code))
        await told.at(await version_of(code))
    await missed.send(resync=str(since))
    await missed.until(lambda page: len(page.announced) >= 2 * len(told.announced))
    expected = told.announced
    assert missed.announced == expected * 2, "by the messages themselves, and by the answer"


async def version_of(code):
    return (await load(code)).version


@pytest.mark.parametrize("since", ["", "x", "-1", "0", "999999999", "9" * 40])
async def test_any_resync_is_answered_with_the_whole_page(match, enter, since):
    ada, address = match
    page = await enter(ada, address)
    await page.send(resync=since)
    await page.read()
    assert "data-full" in page.frames[-1]
    assert set(Elements(page.frames[0]).found) <= set(Elements(page.frames[-1]).found)
    assert (since == "0") == bool(page.announced)


async def test_a_greeting_announces_nothing(match, enter):
    ada, address = match
    await elsewhere(code_of(address))
    page = await enter(ada, address)
    assert not page.announced
    assert "data-full" in page.frames[0]


async def test_a_resync_asks_the_database(match, enter):
    """A lost message leaves this process behind; whoever asks again is told the truth."""
    ada, address = match
    page = await enter(ada, address)
    await elsewhere(code_of(address))
    assert live.cache.get(code_of(address)).version == page.forms.version
    await page.send(resync=str(page.forms.version))
    await page.at(page.forms.version + 1)
    assert page.announced


async def test_who_connects_is_shown_what_the_database_has(match, enter):
    ada, address = match
    await enter(ada, address)
    await elsewhere(code_of(address))
    late = await enter(None, address)
    assert late.forms.version == await version_of(code_of(address))


async def test_what_happens_while_a_page_is_being_read_is_not_lost(match, enter, monkeypatch):
    """The row was read, then the table moved on, then the row arrived: the newer of both is shown."""
    _, address = match
    code = code_of(address)
    old = await load(code)
    await elsewhere(code)
    new = await load(code)

    async def slow(code):
        live.cache.put(new)
        return old

    live.cache.clear()
    monkeypatch.setattr(moves, "_load", slow)
    assert (await moves.current_table(code)).version == new.version


# ── languages ──────────────────────────────────────────────────────────────────


async def test_each_page_speaks_its_own_language(visitors, slug, enter, ticking):
    """Four languages at one table, for what people, CPUs and the clock bring about."""
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link", seconds="30", **SHORT)
    several = len(registry.get(slug).seats) > 2
    if several:
        await do(ada, address, "cpu", level="easy")
    await do(bo, address.replace("/en/", "/ru/"), "sit", name="Bo")
    pages = {language: await enter(None, address, language=language) for language in LANGUAGES}
    await do(bo, address.replace("/en/", "/fr/"), "leave")
    await do(bo, address.replace("/en/", "/de/"), "sit", name="Bo")
    await do(ada, address, "start")
    code = code_of(address)
    async with ticking():
        while (table := await load(code)).status != "finished":
            late = [seat for seat in table.to_act if not table.seats[seat].automatic]
            if late:
                await clock._time_out(table)
            else:
                await asyncio.sleep(0.01)
    for language, page in pages.items():
        await page.until(lambda page: page.forms.over)
        with translation.override(language):
            words = [
                translation.gettext("%(name)s has left.") % {"name": "Bo"},
                translation.gettext("%(name)s takes a seat.") % {"name": "Bo"},
                translation.gettext("Game %(count)s begins.") % {"count": 1},
                translation.gettext("Time is up for %(name)s.") % {"name": "Ada"},
            ]
        for sentence in words:
            assert sentence in page.announced, (language, page.announced)
    await agree_on_everything(pages, table)


async def agree_on_everything(pages, table):
    """Every sentence that was announced is one of its language: told again in it, it is the same."""
    lines = {language: page.announced for language, page in pages.items()}
    assert len({len(told) for told in lines.values()}) == 1, "one sentence an event, everywhere"
    for language, page in pages.items():
        await page.send(resync="0")
        told = len(page.announced)
        await page.until(lambda page, told=told: len(page.announced) > told)
        again = page.announced[told:]
        assert set(lines[language]) <= set(again)
        audience = hub.Audience(language=language)
        assert again == [escape(line) for line in announced_in(language, table, audience)]


def announced_in(language, table, audience):
    with translation.override(language):
        return render.board.announcements(table, audience, since=0)


async def test_no_language_is_lent_to_what_others_are_shown(match, enter):
    """Whoever posts in French changes an English page in English."""
    _, address = match
    ada, _ = match
    page = await enter(None, address)
    form = forms((await ada.get(address)).content).moves[0]
    with translation.override("ru"):
        await ada.post(form["action"].replace("/en/", "/fr/"), form)
        await page.at(int(form["version"]) + 1)
    audience = hub.Audience(language="en")
    table = await load(code_of(address))
    assert page.announced == [escape(line) for line in announced_in("en", table, audience)][-len(page.announced) :]


# ── failures ───────────────────────────────────────────────────────────────────


async def test_one_page_that_cannot_be_drawn_does_not_keep_the_others_waiting(match, enter, monkeypatch, caplog):
    ada, address = match
    page = await enter(ada, address)
    broken = [await enter(None, address, language="fr") for _ in range(3)]
    fine = await enter(None, address, language="de")

    def fail(table, audience):
        if audience.language == "fr":
            raise ValueError("no such word")
        return render.render(table, audience)

    monkeypatch.setattr(hub, "render", fail)
    version = await move(page)
    await fine.at(version)
    assert "could not be shown" in caplog.text
    monkeypatch.undo()
    for viewer in broken:
        await viewer.send(resync=str(viewer.forms.version))
        await viewer.at(version)


async def test_what_goes_on_for_ever_survives_a_failure(monkeypatch, caplog):
    """A cache that is away for a moment does not end the renewal of presence."""
    monkeypatch.setattr(hub, "RETRY_SECONDS", 0)
    tries = []
    done = asyncio.Event()

    async def work():
        tries.append(1)
        if len(tries) >= 4:
            done.set()
            await asyncio.Event().wait()
        raise ConnectionError

    task = asyncio.create_task(hub.hub()._for_ever(work))
    await soon(done)
    task.cancel()
    assert len(tries) == 4
    assert caplog.text.count("is tried again") == 1, "told once, however often"


async def test_a_database_that_is_away_closes_with_come_again(match, enter, monkeypatch):
    _, address = match

    async def away(code):
        raise OperationalError

    monkeypatch.setattr(consumers, "newest_table", away)
    page = Page(None, address)
    await page.line.connect(timeout=20)
    await page.read()
    assert page.closed == 4012


async def test_pages_of_a_site_that_stops_are_told_to_come_again(match, enter):
    ada, address = match
    pages = [await enter(ada, address), await enter(None, address)]
    await hub.hub().close_everything(4012)
    for page in pages:
        while page.closed is None:
            await page.read()
        assert page.closed == 4012


# ── several processes ──────────────────────────────────────────────────────────


class Sent(list):
    """Messages to other processes; ``some`` is set with the first."""

    def __init__(self):
        self.some = asyncio.Event()


@pytest.fixture
async def far(monkeypatch, world):
    """Changes as another process would make them: heard of by the layer alone."""
    if not world.shared:
        pytest.skip("there are no other processes in memory")
    monkeypatch.setattr(publish, "all_hubs", list)
    layer = get_channel_layer()
    sent = Sent()
    send = layer.group_send

    async def counted(group, message):
        sent.append({name: value for name, value in message.items() if name != "origin"})
        sent.some.set()
        await send(group, {**message, "origin": "elsewhere"})

    monkeypatch.setattr(layer, "group_send", counted)
    return sent


async def test_a_change_elsewhere_reaches_pages_here(match, enter, far):
    ada, address = match
    pages = [await enter(ada, address), await enter(None, address)]
    code = code_of(address)
    await elsewhere(code)
    await database_sync_to_async(publish.table_changed)(code=code)
    for page in pages:
        await page.at(await version_of(code))
    assert far == [{"type": "table.changed", "code": code}], "one message a table, not one a viewer"


async def test_a_lost_message_is_made_good_within_moments(match, enter, far, monkeypatch):
    monkeypatch.setattr(hub, "LOOK_EVERY_SECONDS", 0.05)
    ada, address = match
    page = await enter(ada, address)
    await elsewhere(code_of(address))
    await page.at(await version_of(code_of(address)))


async def test_a_move_here_is_one_message_to_all_others(match, enter, far):
    ada, address = match
    page = await enter(ada, address)
    for _ in range(5):
        await enter(None, address)
    version = await move(page)
    await soon(far.some)
    assert far == [{"type": "table.changed", "code": code_of(address), "version": version}]


async def test_a_seat_that_went_elsewhere_closes_pages_here(match, enter, far, visitors):
    ada, address = match
    page, watcher = await enter(ada, address), await enter(None, address)
    user = await database_sync_to_async(User.objects.get)()
    await database_sync_to_async(publish.seat_gone)(code=code_of(address), user_id=user.pk)
    while page.closed is None:
        await page.read()
    assert page.closed == 4401
    await watcher.settle()


async def test_with_one_process_nothing_is_sent_to_others(match, enter, world, monkeypatch):
    if world.shared:
        pytest.skip("there are others")
    layer = get_channel_layer()

    async def fail(*args):
        raise AssertionError("sent to nobody")

    monkeypatch.setattr(layer, "group_send", fail)
    ada, address = match
    page = await enter(ada, address)
    await move(page)
    await do(ada, address, "leave")
    while page.closed is None:
        await page.read()


def test_hubs_of_loops_that_ended_are_not_called():
    asyncio.run(_make_hub())
    assert not all_hubs()


async def _make_hub():
    assert hub.hub() in all_hubs()


async def test_nothing_is_read_for_a_table_that_nobody_watches(match, monkeypatch):
    _, address = match

    async def fail(code):
        raise AssertionError("read for nobody")

    monkeypatch.setattr(hub, "_load", fail)
    hub.hub().read_again(code_of(address))
    await asyncio.sleep(0)


async def test_a_viewer_that_leaves_leaves_nothing_behind(match, enter):
    ada, address = match
    here = hub.hub()
    page = await enter(ada, address)
    assert here.has(code_of(address), (await database_sync_to_async(User.objects.get)()).pk)
    await page.close()
    assert not here._viewers


def test_models_are_untouched_by_reading(client, slug):
    """Rendering a page writes nothing but presence."""
    address = open_table(client, slug, mode="same_device")
    before = (list(Table.objects.values()), list(Match.objects.values()), list(Seat.objects.values()))
    for _ in range(3):
        client.get(address)
    assert before == (list(Table.objects.values()), list(Match.objects.values()), list(Seat.objects.values()))
