"""Who is there, who is away, who plays for them meanwhile, and how they come back (G-5, G-6, G-7)."""

import asyncio
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone

from apps.accounts.models import User
from apps.games import registry
from apps.games.kernel.game import Mode
from apps.games.kernel.timing import STAND_IN_AFTER_SECONDS
from apps.tables import attendance, clock, hub, live, moves, presence, refusals, selectors, services, thinking
from apps.tables.models import Event, EventKind, MadeBy, Match, Move, Seat, Table
from tests.tables.pages import SHORT, code_of, do, eventually, forms, open_async, open_table, soon
from tests.tables.records import move_elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("think_here")]

load = database_sync_to_async(live.load)
elsewhere = database_sync_to_async(move_elsewhere)


class Room:
    """A match of Ada and Bo by link that has begun."""

    def __init__(self, ada, bo, address, enter) -> None:
        self.ada, self.bo, self.address, self.enter = ada, bo, address, enter
        self.code = code_of(address)

    async def users(self):
        return await database_sync_to_async(lambda: [seat.user_id for seat in Seat.objects.order_by("index")])()

    async def watch(self, now=None):
        await database_sync_to_async(clock.watch_presence)(now or timezone.now())

    async def gone(self, index, *, minutes=0):
        """The page of this seat is closed, and its presence over; found out, and so many minutes ago."""
        user_id = (await self.users())[index]
        await database_sync_to_async(presence.forget)((self.code, user_id))
        await self.watch(timezone.now() - timedelta(minutes=minutes))

    async def stood_in_for(self, index):
        await self.gone(index, minutes=2)
        await self.watch()

    async def seat(self, index):
        return await database_sync_to_async(Seat.objects.get)(index=index)

    async def table(self):
        return await load(self.code)

    async def turn_of(self, index):
        """Play until this seat is asked; the table then."""
        while index not in (table := await self.table()).to_act:
            await elsewhere(self.code)
        live.cache.clear()
        return table


@pytest.fixture
async def room(visitors, slug, enter):
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link")
    await do(bo, address, "sit", name="Bo")
    await do(ada, address, "start")
    return Room(ada, bo, address, enter)


async def leaving():
    """Wait until whoever closed a socket has been looked after."""
    tasks = [task for task in hub.hub()._tasks if task.get_coro().__name__ == "went"]
    await asyncio.gather(*tasks)


# ── there or away ──────────────────────────────────────────────────────────────


async def test_two_tabs_are_one_presence(room):
    ada = await room.enter(room.ada, room.address)
    first, second = await room.enter(room.bo, room.address), await room.enter(room.bo, room.address)
    await first.close()
    await leaving()
    await room.watch()
    assert (await room.seat(1)).away_since is None
    await second.close()
    await leaving()
    assert (await room.seat(1)).away_since is not None
    await ada.until(lambda page: any("data-away" in seat for seat in page.forms.seats))
    assert [seat["data-seat"] for seat in ada.forms.seats if "data-away" in seat] == ["1"]


async def test_a_reload_is_no_absence(room, monkeypatch):
    """The page closes and opens again before anybody would know."""
    go_on = asyncio.Event()
    monkeypatch.setattr(attendance.asyncio, "sleep", lambda seconds: go_on.wait())
    await room.enter(room.ada, room.address)
    page = await room.enter(room.bo, room.address)
    version = (await room.table()).version
    await page.close()
    await room.watch()
    assert (await room.seat(1)).away_since is None
    await room.enter(room.bo, room.address)
    go_on.set()
    await leaving()
    assert (await room.seat(1)).away_since is None
    assert (await room.table()).version == version


async def test_a_tab_in_another_process_keeps_its_person_there(room, monkeypatch):
    """Whoever closes the last page here is looked for elsewhere before they are called away."""
    users = await room.users()

    async def answer(self, code, user_id):
        await database_sync_to_async(presence.renew)([(code, user_id)])

    monkeypatch.setattr(hub.Hub, "ask_others", answer)
    page = await room.enter(room.bo, room.address)
    await page.close()
    await leaving()
    assert (await room.seat(1)).away_since is None
    assert presence.present([(room.code, users[1])])


async def test_processes_are_asked_who_is_with_them(room, world, monkeypatch):
    if not world.shared:
        pytest.skip("there are no other processes in memory")
    monkeypatch.setattr(hub, "ANSWER_SECONDS", 0)
    user_id = (await room.users())[1]
    await room.enter(room.bo, room.address)
    person = (room.code, user_id)
    await database_sync_to_async(presence.forget)(person)
    await hub.hub().ask_others(room.code, user_id)
    await eventually(lambda: database_sync_to_async(presence.present)([person]))


async def test_whoever_is_there_after_all_is_called_back(room):
    """An absence noted by mistake heals by itself."""
    await room.enter(room.ada, room.address)
    await room.enter(room.bo, room.address)
    await database_sync_to_async(Seat.objects.filter(index=1).update)(away_since=timezone.now())
    await room.watch()
    assert (await room.seat(1)).away_since is None


async def test_a_killed_process_leaves_nobody_behind(room, later, world):
    """Presence is over by itself when nobody renews it."""
    if world.shared:
        pytest.skip("a server's time does not leap")
    users = await room.users()
    people = {(room.code, user_id) for user_id in users}
    presence.renew(people)
    later.go(seconds=presence.SOCKET_SECONDS - 1)
    assert presence.present(people) == people
    later.go(seconds=2)
    assert presence.present(people) == set()
    await room.watch()
    assert await database_sync_to_async(lambda: Match.objects.get().paused_at)() is not None


async def test_pages_that_are_open_renew_themselves_in_time(room, monkeypatch):
    assert presence.RENEW_EVERY_SECONDS * 2 < presence.SOCKET_SECONDS
    monkeypatch.setattr(presence, "RENEW_EVERY_SECONDS", 0.01)
    await room.enter(room.bo, room.address)
    person = (room.code, (await room.users())[1])
    await database_sync_to_async(presence.forget)(person)
    await eventually(lambda: database_sync_to_async(presence.present)([person]))


def test_a_page_without_a_script_counts_for_a_minute(client, slug, later, world):
    if world.shared:
        pytest.skip("a server's time does not leap")
    address = open_table(client, slug, mode="same_device")
    client.get(address)
    later.go(seconds=presence.PAGE_SECONDS - 1)
    clock.watch_presence(timezone.now())
    assert Match.objects.get().paused_at is None
    later.go(seconds=2)
    clock.watch_presence(timezone.now())
    assert Match.objects.get().paused_at is not None


def test_a_page_without_a_script_loads_itself_again_except_in_ones_own_turn(client, slug):
    address = open_table(client, slug, mode="same_device")
    refresh = f'content="5; url={address}"'
    page = client.get(address).content.decode()
    assert forms(page).moves
    assert refresh not in page
    lobby = open_table(client, slug, mode="link")
    assert f'content="5; url={lobby}"' in client.get(lobby).content.decode()


def test_presence_of_nobody_is_asked_for_without_a_look(monkeypatch):
    monkeypatch.setattr(presence.cache, "get_many", None, raising=False)
    assert presence.present([]) == set()


async def test_open_tables_are_shown_while_their_host_is_there(visitors, slug, enter):
    ada = visitors()
    address = await open_async(ada, slug, mode="link", public="on")
    page = await enter(ada, address)
    shown = database_sync_to_async(selectors.open_tables)
    assert [row["url"] for row in await shown()] == [address]
    await page.close()
    await leaving()
    assert await shown() == []


async def test_tables_by_link_alone_are_shown_to_nobody(visitors, slug, enter):
    ada = visitors()
    await enter(ada, await open_async(ada, slug, mode="link"))
    await enter(ada, await open_async(ada, slug, mode="same_device", public="on"))
    assert await database_sync_to_async(selectors.open_tables)() == []


# ── stand-ins ──────────────────────────────────────────────────────────────────


async def test_the_computer_plays_for_whoever_is_away_for_a_minute(room):
    ada = await room.enter(room.ada, room.address)
    await room.gone(1)
    away = (await room.seat(1)).away_since
    await room.watch(away + timedelta(seconds=STAND_IN_AFTER_SECONDS - 1))
    assert not (await room.seat(1)).stand_in
    version = (await room.table()).version
    await room.watch(away + timedelta(seconds=STAND_IN_AFTER_SECONDS))
    assert (await room.seat(1)).stand_in
    await ada.at(version + 1)
    assert "The computer is playing for Bo." in ada.announced
    await room.watch(away + timedelta(hours=1))
    assert (await room.table()).version == version + 1, "said once"


async def test_the_stand_in_hands_back_and_tells_what_it_played(room):
    ada = await room.enter(room.ada, room.address)
    await room.stood_in_for(1)
    played = 0
    while played < 2:
        table = await room.table()
        if 1 in table.to_act:
            await clock._play_cpu(table)
            played += 1
        else:
            await elsewhere(room.code)
    bo = await room.enter(room.bo, room.address)
    assert await bo.refusal() == "back"
    assert "Welcome back. The computer played 2 moves for you." in bo.regions["notice"]
    seat = await room.seat(1)
    assert (seat.stand_in, seat.away_since, seat.stood_in) == (False, None, 0)
    await ada.until(lambda page: "Bo is back. The computer played 2 moves." in page.announced)
    made = await database_sync_to_async(lambda: set(Move.objects.filter(seat=1).values_list("made_by", flat=True)))()
    assert MadeBy.STAND_IN in made


async def test_loading_the_page_hands_back_too(room):
    await room.enter(room.ada, room.address)
    await room.stood_in_for(1)
    table = await room.turn_of(1)
    await clock._play_cpu(table)
    answer = await room.bo.get(room.address)
    assert forms(answer.content).refused == "back"
    assert "The computer played 1 move for you." in answer.content.decode()
    assert not (await room.seat(1)).stand_in
    assert forms((await room.bo.get(room.address)).content).refused is None, "said once"


async def test_a_move_hands_back_too(room):
    """Two time-outs in a row brought the stand-in; the person is there and goes on."""
    await room.enter(room.ada, room.address)
    page = await room.enter(room.bo, room.address)
    table = await room.turn_of(1)
    await database_sync_to_async(services.let_stand_in)(code=room.code, index=1)
    await page.send(resync="")
    await page.at(table.version + 1)
    assert "The computer is playing for you" in page.regions["dock"]
    await page.choose(page.forms.moves[0])
    await page.at(table.version + 3)
    seat = await room.seat(1)
    assert (seat.stand_in, seat.timeouts) == (False, 0)
    made = await database_sync_to_async(lambda: Move.objects.filter(seat=1).last().made_by)()
    assert made == MadeBy.PLAYER


async def test_what_a_stand_in_thought_of_is_not_played_once_the_person_is_back(room, monkeypatch):
    await room.enter(room.ada, room.address)
    await room.stood_in_for(1)
    table = await room.turn_of(1)
    await database_sync_to_async(Match.objects.update)(next_cpu_at=timezone.now())
    thought, go_on = asyncio.Event(), asyncio.Event()

    async def think(job, *arguments):
        thought.set()
        await go_on.wait()
        return job(*arguments)

    monkeypatch.setattr(thinking, "_think", think)
    acting = asyncio.create_task(clock.act(room.code))
    await soon(thought)
    bo = await room.enter(room.bo, room.address)
    go_on.set()
    await acting
    await bo.settle()
    assert bo.forms.moves, "the decision is still theirs"
    assert (await room.table()).match.move_count == table.match.move_count


async def test_a_stranger_brings_nobody_back(room):
    await room.stood_in_for(1)
    stranger = await database_sync_to_async(User.objects.create)(username="x")
    assert await database_sync_to_async(services.mark_back)(code=room.code, user_id=stranger.pk) == 0
    watcher = await room.enter(None, room.address)
    await watcher.settle()
    assert (await room.seat(1)).stand_in


async def test_moves_of_before_are_not_counted_again(room, monkeypatch):
    """A time-out of somebody who went on playing is not part of what a later stand-in played."""
    await room.enter(room.ada, room.address)
    await room.enter(room.bo, room.address)
    await clock._move_for(await room.turn_of(1), 1)
    table = await room.turn_of(1)
    await moves.make_move(wish_of(table, 1, table.seats[1].user_id))
    assert (await room.seat(1)).stood_in == 0


def wish_of(table, seat, user_id):
    move = table.game.dump_move(table.game.legal_moves(table.match.state, seat)[0])
    return moves.Wish(code=table.code, move=move, version=table.match.prompts[seat], user_id=user_id)


async def test_a_game_that_waits_has_no_stand_in(room, slug, monkeypatch):
    """G-6: the room waits for the player, and its clock stops meanwhile (CE-21)."""
    monkeypatch.setattr(type(registry.get(slug)), "waits", True)
    await database_sync_to_async(Table.objects.update)(seconds=30)
    live.cache.clear()
    await room.enter(room.ada, room.address)
    bo = await room.enter(room.bo, room.address)
    table = await room.turn_of(0)
    await moves.make_move(wish_of(table, 0, table.seats[0].user_id))
    assert (await room.table()).match.deadline_at is not None
    await bo.close()
    await leaving()
    assert (await room.table()).match.deadline_at is None
    await room.watch(timezone.now() + timedelta(hours=1))
    assert not (await room.seat(1)).stand_in
    table = await room.turn_of(0)
    after = await moves.make_move(wish_of(table, 0, table.seats[0].user_id))
    assert after.match.deadline_at is None
    await room.enter(room.bo, room.address)
    assert (await room.table()).match.deadline_at is not None


# ── nobody there ───────────────────────────────────────────────────────────────


async def test_a_match_that_nobody_attends_pauses_and_goes_on(visitors, slug, enter):
    """G-7, against the computer: it plays on only while somebody is there."""
    ada = visitors()
    address = await open_async(ada, slug, mode="link", seconds="30")
    await do(ada, address, "cpu", level="easy")
    await do(ada, address, "start")
    room = Room(ada, None, address, enter)
    await room.turn_of(1)
    await database_sync_to_async(Match.objects.update)(next_cpu_at=timezone.now())
    await room.gone(0)
    paused = (await room.table()).match
    assert (paused.paused, paused.deadline_at, paused.next_cpu_at) == (True, None, None)
    assert await database_sync_to_async(services.lease_due)(now=timezone.now(), life=clock.LEASE, limit=9) == []
    page = await enter(ada, address)
    going = (await room.table()).match
    assert (going.paused, going.next_cpu_at is not None) == (False, True)
    assert page.forms.version == (await room.table()).version


async def test_what_a_cpu_thought_of_comes_too_late_for_a_paused_match(visitors, slug, enter, monkeypatch):
    ada = visitors()
    address = await open_async(ada, slug, mode="link")
    await do(ada, address, "cpu", level="easy")
    await do(ada, address, "start")
    room = Room(ada, None, address, enter)
    table = await room.turn_of(1)
    await database_sync_to_async(Match.objects.update)(next_cpu_at=timezone.now())
    thought, go_on = asyncio.Event(), asyncio.Event()

    async def think(job, *arguments):
        thought.set()
        await go_on.wait()
        return job(*arguments)

    monkeypatch.setattr(thinking, "_think", think)
    acting = asyncio.create_task(clock.act(room.code))
    await soon(thought)
    await room.gone(0)
    go_on.set()
    await acting
    after = await room.table()
    assert after.match.move_count == table.match.move_count
    assert (after.match.paused, after.match.next_cpu_at) == (True, None)


async def test_leaving_a_paused_match_does_not_start_it(room):
    await room.gone(0)
    assert (await room.table()).match.paused
    await do(room.bo, room.address, "leave")
    match = (await room.table()).match
    assert (match.paused, match.next_cpu_at, match.deadline_at) == (True, None, None)


async def test_a_rated_match_goes_on_without_anybody(room):
    """So that its result posts."""
    await database_sync_to_async(Table.objects.update)(mode=Mode.RANKED)
    for _ in range(2):
        await room.gone(0, minutes=2)
        await room.gone(1, minutes=2)
    await room.watch()
    match = (await room.table()).match
    assert not match.paused
    assert (await room.seat(0)).stand_in
    assert (await room.seat(1)).stand_in
    assert match.next_cpu_at is not None


async def test_time_that_runs_goes_on_running_for_who_goes_and_comes_back(visitors, slug, enter):
    """Else a loser could stall for ever by loading the page."""
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link", seconds="30")
    await do(bo, address, "sit", name="Bo")
    await do(ada, address, "start")
    room = Room(ada, bo, address, enter)
    pages = [await enter(ada, address), await enter(bo, address)]
    running = (await room.table()).match.deadline_at
    for _ in range(2):
        for number, visitor in enumerate((ada, bo)):
            await pages[number].close()
            await leaving()
            assert (await room.seat(number)).away_since is not None
            pages[number] = await enter(visitor, address)
            assert (await room.seat(number)).away_since is None
    assert (await room.table()).match.deadline_at == running


async def test_presence_makes_no_version(room):
    await room.enter(room.ada, room.address)
    version = (await room.table()).version
    for _ in range(3):
        page = await room.enter(room.bo, room.address)
        await page.close()
        await leaving()
    assert (await room.table()).version == version


async def test_a_table_that_closes_meanwhile_does_not_disturb_the_watch(room, monkeypatch):
    """Found live, then closed, then paused: somebody was faster, and that is all."""
    present = presence.present

    def close_first(people):
        people = list(people)
        Table.objects.update(expired_at=timezone.now())
        return present(people)

    monkeypatch.setattr(presence, "present", close_first)
    await room.watch()
    assert await database_sync_to_async(Event.objects.filter(kind=EventKind.STAND_IN).exists)() is False


def test_words_of_welcome_count_in_every_language():
    for language in ("en", "fr", "de", "ru"):
        texts = [refusals.welcome_back(moves, language)["text"] for moves in (1, 2, 5, 11, 21)]
        assert len(set(texts)) == 5
        assert all(str(moves) in text for moves, text in zip((2, 5, 11, 21), texts[1:], strict=True))


def test_coming_back_counts_as_being_seen(client, slug, later):
    address = open_table(client, slug, mode="same_device", **SHORT)
    before = User.objects.get().seen_at
    later.go(days=1)
    client.get(address)
    assert User.objects.get().seen_at - before > timedelta(hours=12)


def test_moves_and_happenings_are_told_apart():
    """One word for both, and the log would take the one for the other."""
    assert not set(EventKind.values) & set(MadeBy.values)
