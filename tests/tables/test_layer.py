"""The layer and the cache between processes may lose anything and be away for as long as they like: people play on."""

import time as seconds

import pytest
from channels.db import database_sync_to_async
from django.core.cache import cache
from redis.exceptions import ConnectionError as RedisAway

from apps.tables import clock, layer, live, presence, selectors
from apps.tables.models import Match, Table
from tests import worlds
from tests.tables.pages import code_of, do, finish, open_async, open_table
from tests.tables.records import move_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

elsewhere = database_sync_to_async(move_elsewhere)
version_of = database_sync_to_async(live.version_of)
HEALED_SECONDS = 3


@pytest.fixture
async def match(visitors, slug):
    """(browser, address) of a match of two on one screen."""
    ada = visitors()
    return ada, await open_async(ada, slug, mode="same_device", names=["Ada", "Bo"])


@pytest.fixture
def away(monkeypatch):
    """The layer and the cache cannot be reached."""

    class Away:
        async def group_send(self, group, message):
            raise RedisAway

        async def new_channel(self):
            raise RedisAway

    def fail(*arguments, **options):
        raise RedisAway

    monkeypatch.setattr(layer, "get_channel_layer", Away)
    for name in ("get", "get_many", "set", "set_many", "delete", "add"):
        monkeypatch.setattr(type(cache._connections[cache._alias]), name, fail)
    yield
    monkeypatch.undo()


@pytest.mark.parametrize("kind", ["pubsub", "normal"])
async def test_killed_connections_are_made_good_in_moments(match, enter, world, kind):
    if not world.shared:
        pytest.skip("memory has no connections")
    ada, address = match
    page = await enter(ada, address)
    worlds._redis().client_kill_filter(_type=kind)
    await elsewhere(code_of(address))
    began = seconds.monotonic()
    await page.at(await version_of(code_of(address)))
    assert seconds.monotonic() - began < HEALED_SECONDS


async def test_a_burst_ends_on_the_newest_version(match, enter):
    ada, address = match
    code = code_of(address)
    page, watcher = await enter(ada, address), await enter(None, address)
    for _ in range(300):
        await layer.tell({"type": "table.changed", "code": code, "version": 1})
    await page.choose(page.forms.moves[0])
    newest = await version_of(code) + 1
    for each in (page, watcher):
        await each.at(newest)


def test_people_play_on_without_redis(client, slug, away):
    address = open_table(client, slug, mode="same_device", turns=1)
    finish(client, address)
    assert Match.objects.get().ended_by == "played"
    assert client.get("/en/").status_code == 200


async def test_pages_are_shown_without_redis(match, enter, away):
    ada, address = match
    page, watcher = await enter(ada, address), await enter(None, address)
    version = page.forms.version
    await page.choose(page.forms.moves[0])
    for each in (page, watcher):
        await each.at(version + 1)


def test_an_open_table_is_not_offered_while_nobody_knows_who_is_there(client, slug, away):
    open_table(client, slug, mode="link", public="on")
    assert selectors.open_tables() == []


async def test_a_cache_that_lost_everything_sends_nobody_away(visitors, slug, later):
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link")
    await do(bo, address, "sit", name="Bo")
    await do(ada, address, "start")
    version = await version_of(code_of(address))
    await database_sync_to_async(worlds.forget_everything)()
    watch = database_sync_to_async(clock.watch_presence)
    await watch(later.now())
    assert await version_of(code_of(address)) == version, "nobody knows who is there"
    await watch(later.go(seconds=presence.KNOWN_AFTER_SECONDS + 1))
    table = await database_sync_to_async(Table.objects.get)()
    assert table.version > version, "by now everybody would have said that they are there"
