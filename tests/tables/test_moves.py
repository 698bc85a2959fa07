"""The one path of a move: made once or not at all, durable before anybody is told, told to everybody."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from channels.db import database_sync_to_async
from django.db import DatabaseError, OperationalError, connection
from django.db.models import F

from apps.accounts.models import User
from apps.games.kernel.errors import Refusal
from apps.tables import journal, live, moves, services
from apps.tables.journal import Journal, NotWritten
from apps.tables.models import Match, Move, Participant, Seat, Status, Table
from apps.tables.moves import Wish, make_move
from apps.tables.signals import match_finished
from tests.tables.pages import SHORT, code_of, do, forms, open_async, open_table, soon
from tests.tables.records import entry_of, move_elsewhere, state_of_everything

pytestmark = pytest.mark.django_db(transaction=True)

everything = database_sync_to_async(state_of_everything)
elsewhere = database_sync_to_async(move_elsewhere)
load = database_sync_to_async(live.load)


async def count(queryset):
    return await database_sync_to_async(queryset.count)()


@pytest.fixture
async def solo(visitors, slug):
    """(browser, address) of a match of everybody on one screen."""
    ada = visitors()
    return ada, await open_async(ada, slug, mode="same_device")


@pytest.fixture
def held_writer():
    """``with held_writer() as release``: nothing is written until released."""

    @contextmanager
    def hold():
        gate, reached = threading.Event(), threading.Event()

        def wait():
            reached.set()
            gate.wait(20)

        journal._writer.submit(wait)
        reached.wait(20)
        try:
            yield gate.set
        finally:
            gate.set()

    return hold


@pytest.fixture
def commits(monkeypatch):
    """How many entries each transaction wrote or tried to."""
    sizes = []
    commit = journal.commit

    def counted(entries):
        sizes.append(len(entries))
        return commit(entries)

    monkeypatch.setattr(journal, "commit", counted)
    return sizes


def wish_of(table, **fields):
    """The wish of the person who is asked, for the first move there is."""
    seat = min(table.to_act)
    move = table.game.legal_moves(table.match.state, seat)[0]
    fields = {"version": table.match.prompts[seat], "user_id": table.seats[seat].user_id} | fields
    return Wish(code=table.code, move=table.game.dump_move(move), **fields)


# ── the same move many times ───────────────────────────────────────────────────


async def test_of_ten_identical_moves_by_socket_one_is_made(solo, enter):
    ada, address = solo
    tabs = [await enter(ada, address) for _ in range(2)]
    form = tabs[0].forms.moves[0]
    await asyncio.gather(*(tabs[number % 2].choose(form) for number in range(10)))
    for tab in tabs:
        await tab.settle()
    assert await count(Move.objects) == 1
    told = [code for tab in tabs for code in tab.notices if code]
    assert told == ["stale"] * 9
    version = int(form["version"]) + 1
    assert {tab.forms.version for tab in tabs} == {version}
    assert (await load(code_of(address))).version == version


async def test_of_ten_identical_moves_by_post_one_is_made(solo):
    ada, address = solo
    form = forms((await ada.get(address)).content).moves[0]
    answers = await asyncio.gather(*(ada.post(form["action"], form) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [303] + [409] * 9
    assert {forms(answer.content).refused for answer in answers if answer.status_code == 409} == {"stale"}
    assert await count(Move.objects) == 1


async def test_the_same_move_by_socket_and_by_post_is_made_once(solo, enter):
    ada, address = solo
    page = await enter(ada, address)
    form = page.forms.moves[0]
    await asyncio.gather(page.choose(form), ada.post(form["action"], form), page.choose(form))
    await page.settle()
    assert await count(Move.objects) == 1
    assert page.forms.version == int(form["version"]) + 1


async def test_different_moves_of_one_decision_are_one(solo, enter):
    """Clicks that were queued while offline: at most one of them still makes sense."""
    ada, address = solo
    page = await enter(ada, address)
    shown = page.forms.moves
    await asyncio.gather(*(page.choose(form) for form in shown * 3))
    await page.settle()
    assert await count(Move.objects) == 1
    assert [code for code in page.notices if code] == ["stale"] * (3 * len(shown) - 1)


# ── another process ────────────────────────────────────────────────────────────


async def test_a_move_made_elsewhere_is_read_before_this_one_is_judged(solo, enter):
    ada, address = solo
    page = await enter(ada, address)
    form = page.forms.moves[0]
    await elsewhere(code_of(address))
    await page.choose(form)
    assert await page.refusal() == "stale"
    assert page.forms.version == int(form["version"]) + 1
    assert await count(Move.objects) == 1


async def test_nobody_is_refused_by_what_this_process_remembers(solo):
    """The page knows a version of which this process has not heard yet."""
    _, address = solo
    await moves.current_table(code_of(address))
    await elsewhere(code_of(address))
    newer = await load(code_of(address))
    after = await make_move(wish_of(newer))
    assert after.version == newer.version + 1


async def test_what_does_not_touch_the_decision_does_not_spoil_it(solo):
    """A lost comparison is not yet a refusal: the rules are run again on the newest state."""
    _, address = solo
    table = await moves.current_table(code_of(address))
    await database_sync_to_async(Table.objects.update)(version=F("version") + 3)
    after = await make_move(wish_of(table))
    assert after.version == table.version + 4
    assert after.match.move_count == 1
    assert await database_sync_to_async(lambda: Move.objects.get().version)() == after.version


async def test_a_table_that_never_stands_still_refuses_in_the_end(solo, monkeypatch):
    _, address = solo
    table = await moves.current_table(code_of(address))

    async def lost(self, entry):
        return False

    monkeypatch.setattr(Journal, "write", lost)
    with pytest.raises(Refusal, match="stale"):
        await make_move(wish_of(table))


async def test_of_two_processes_one_makes_the_move(solo):
    """Both decided on the same version; the comparison lets one of them write."""
    _, address = solo
    table = await load(code_of(address))
    entry = entry_of(table)
    written = await asyncio.gather(
        *(asyncio.to_thread(in_own_thread, entry) for _ in range(5)), journal.journal().write(entry)
    )
    assert sorted(written) == [False] * 5 + [True]
    assert await count(Move.objects) == 1


def in_own_thread(entry):
    try:
        return journal.commit([entry])[0]
    finally:
        connection.close()


async def test_half_a_move_is_never_written(solo):
    """Whatever disagrees with the match although the version fits: nothing of it is kept."""
    _, address = solo
    table = await load(code_of(address))
    before = await everything()
    for wrong in ({"number": 5}, {"match_id": table.match.id + 1}, {"seat": None}, {"move": b"not json"}):
        with pytest.raises(NotWritten):
            await journal.journal().write(entry_of(table, **wrong))
        assert await everything() == before
    assert await journal.journal().write(entry_of(table))


# ── batches ────────────────────────────────────────────────────────────────────


@pytest.fixture
async def tables(visitors, slug):
    ada = visitors()
    addresses = [await open_async(ada, slug, mode="same_device") for _ in range(4)]
    return [await load(code_of(address)) for address in addresses]


async def test_moves_that_arrive_together_are_written_together(tables, held_writer, commits):
    with held_writer() as release:
        writing = [asyncio.ensure_future(journal.journal().write(entry_of(table))) for table in tables]
        await asyncio.sleep(0)
        release()
        assert await asyncio.gather(*writing) == [True] * 4
    assert commits == [4]


async def test_one_batch_holds_one_move_of_a_match(tables, commits):
    """The second was decided before the first was known: it is for the next batch to refuse it."""
    entries = [entry_of(table) for table in (*tables, tables[0])]
    written = await asyncio.gather(*(journal.journal().write(entry) for entry in entries))
    assert written == [True] * 4 + [False]
    assert commits == [4, 1]


async def test_a_batch_that_fails_is_tried_move_by_move(tables, commits, caplog):
    poisoned = entry_of(tables[1], number=7)
    entries = [entry_of(tables[0]), poisoned, entry_of(tables[2]), entry_of(tables[3])]
    writing = [asyncio.ensure_future(journal.journal().write(entry)) for entry in entries]
    results = await asyncio.gather(*writing, return_exceptions=True)
    assert [results[0], results[2], results[3]] == [True] * 3
    assert isinstance(results[1], NotWritten)
    assert commits == [4, 1, 1, 1, 1]
    assert await count(Move.objects) == 3
    assert (await load(tables[1].code)).version == tables[1].version
    assert [record.levelno for record in caplog.records if record.name == "apps.tables.journal"] == [logging.ERROR]


async def test_one_of_a_batch_that_comes_too_late_does_not_hold_up_the_others(tables):
    await elsewhere(tables[1].code)
    written = await asyncio.gather(*(journal.journal().write(entry_of(table)) for table in tables))
    assert written == [True, False, True, True]


# ── durable first ──────────────────────────────────────────────────────────────


async def test_nobody_is_told_before_it_is_durable(solo, enter, held_writer):
    ada, address = solo
    page, watcher = await enter(ada, address), await enter(None, address)
    await page.settle()
    form = page.forms.moves[0]
    with held_writer() as release:
        await page.choose(form)
        await page.taken()
        await watcher.settle()
        assert live.cache.get(code_of(address)).version == int(form["version"])
        assert watcher.forms.version == int(form["version"])
        release()
    await watcher.at(int(form["version"]) + 1)
    assert live.cache.get(code_of(address)).version == int(form["version"]) + 1


@pytest.mark.parametrize("error", [OperationalError("database is locked"), DatabaseError("x"), RuntimeError("a bug")])
async def test_what_could_not_be_written_is_told_and_changes_nothing(solo, enter, monkeypatch, error, caplog):
    ada, address = solo
    page, watcher = await enter(ada, address), await enter(None, address)
    form = page.forms.moves[0]
    before = await everything()

    def fail(entries):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(journal, "commit", fail)
        await page.choose(form)
        assert await page.refusal() == "unavailable"
        answer = await ada.post(form["action"], form)
        assert (answer.status_code, forms(answer.content).refused) == (503, "unavailable")
        await watcher.settle()
        assert watcher.forms.version == int(form["version"])
        assert await everything() == before
    await page.choose(form)
    await page.at(int(form["version"]) + 1)
    assert "seed" not in caplog.text


@pytest.fixture
def writing(monkeypatch):
    """Set as soon as a move is about to be written."""
    reached = asyncio.Event()
    write = Journal.write

    async def tell(self, entry):
        reached.set()
        return await write(self, entry)

    monkeypatch.setattr(Journal, "write", tell)
    return reached


async def test_a_move_goes_on_when_whoever_made_it_hangs_up(solo, enter, held_writer, writing):
    """A request that is cut off in mid-write: the move is made, and everybody hears of it."""
    _, address = solo
    watcher = await enter(None, address)
    table = await moves.current_table(code_of(address))
    with held_writer() as release:
        request = asyncio.create_task(make_move(wish_of(table)))
        await soon(writing)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        release()
    await watcher.at(table.version + 1)
    assert live.cache.get(table.code).version == table.version + 1
    assert (await load(table.code)).version == table.version + 1


async def test_who_hangs_up_leaves_no_complaint_behind(solo, held_writer, writing, caplog):
    _, address = solo
    table = await moves.current_table(code_of(address))
    with held_writer() as release:
        requests = [asyncio.create_task(make_move(wish_of(table))) for _ in range(5)]
        await soon(writing)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        release()
    after = await make_move(wish_of(await settled(table)))
    assert after.version == table.version + 2
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def settled(table):
    """The table once the first of those moves is made: the lock of a table is fair."""
    async with moves.hub().lock(table.code):
        return await moves.current_table(table.code)


# ── the end ────────────────────────────────────────────────────────────────────


@pytest.fixture
def receive():
    """``receive(function)``: connected to the end of matches for this test."""
    connected = []

    def connect(receiver):
        connected.append(receiver)
        match_finished.connect(receiver, weak=False)

    yield connect
    for receiver in connected:
        match_finished.disconnect(receiver)


async def to_the_last_move(address):
    """Play until the next move ends the match; the table then."""
    while True:
        table = await load(code_of(address))
        if entry_of(table).outcome:
            live.cache.clear()
            return table
        await elsewhere(code_of(address))


async def test_the_end_is_told_once_inside_the_transaction(solo, receive, commits):
    _, address = solo
    heard = []

    def receiver(*, match, outcome, **kwargs):
        assert connection.in_atomic_block
        assert match.finished_at is not None
        places = tuple(person.place for person in match.participants.all())
        heard.append((match.pk, places, outcome.places, outcome.scores))

    receive(receiver)
    table = await to_the_last_move(address)
    wishes = [make_move(wish_of(table)) for _ in range(10)]
    results = await asyncio.gather(*wishes, return_exceptions=True)
    assert sum(isinstance(result, live.LiveTable) for result in results) == 1
    assert {result.code for result in results if isinstance(result, Refusal)} == {"finished"}
    assert len(heard) == 1
    match_id, places, outcome_places, scores = heard[0]
    assert (match_id, places) == (table.match.id, outcome_places)
    after = await load(table.code)
    assert after.status == Status.FINISHED
    assert tuple(result.score for result in after.match.results) == scores
    assert commits[-1] == 1


async def test_a_receiver_that_fails_takes_everything_back(solo, receive, enter, caplog):
    ada, address = solo

    def receiver(**kwargs):
        raise RuntimeError("no ratings today")

    receive(receiver)
    table = await to_the_last_move(address)
    page = await enter(ada, address)
    before = await everything()
    await page.choose(page.forms.moves[0])
    assert await page.refusal() == "unavailable"
    assert await everything() == before
    assert (await load(table.code)).playing
    match_finished.disconnect(receiver)
    await page.choose(page.forms.moves[0])
    await page.until(lambda page: page.forms.over)


async def test_a_finishing_move_is_written_alone(tables, solo, commits, held_writer):
    _, address = solo
    last = await to_the_last_move(address)
    del commits[:]
    entries = [entry_of(tables[0]), entry_of(last), entry_of(tables[1])]
    with held_writer() as release:
        writing = [asyncio.ensure_future(journal.journal().write(entry)) for entry in entries]
        await asyncio.sleep(0)
        release()
        assert await asyncio.gather(*writing) == [True] * 3
    assert sorted(commits) == [1, 2]


async def test_the_end_is_written_once_by_twenty_processes(solo, receive):
    _, address = solo
    heard = []
    receive(lambda **kwargs: heard.append(1))
    entry = entry_of(await to_the_last_move(address))
    written = await asyncio.gather(*(asyncio.to_thread(in_own_thread, entry) for _ in range(20)))
    assert sorted(written) == [False] * 19 + [True]
    assert len(heard) == 1
    assert await count(Participant.objects.exclude(place=None)) == await count(Participant.objects)


async def test_a_personal_best_is_kept_for_each_setting(visitors, slug):
    """HL-15, and alike wherever one plays alone."""
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device", **SHORT)
    if len((await load(code_of(address))).seats) > 1:
        pytest.skip("nobody plays this game alone")
    scores = []
    for _ in range(3):
        table = await to_the_last_move(address)
        after = await make_move(wish_of(table))
        scores.append(after.match.results[0].score)
        assert after.best.score == max(scores)
        assert after.best.new == (scores[-1] > max([0, *scores[:-1]]))
        await do(ada, address, "rematch")


async def test_nothing_is_a_personal_best_that_others_played_for(visitors, slug):
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device", **SHORT)
    if len((await load(code_of(address))).seats) > 1:
        pytest.skip("nobody plays this game alone")
    await to_the_last_move(address)
    await database_sync_to_async(Seat.objects.update)(stand_in=True)
    await elsewhere(code_of(address))
    assert (await load(code_of(address))).best is None


# ── who moves ──────────────────────────────────────────────────────────────────


async def test_of_several_seats_of_one_browser_the_one_asked_moves(visitors, slug):
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device", names=["Ada", "Bo"], **SHORT)
    seen = set()
    while (page := forms((await ada.get(address)).content)).moves:
        you = [int(seat["data-seat"]) for seat in page.seats if "data-you" in seat]
        acting = [int(seat["data-seat"]) for seat in page.seats if "data-to-act" in seat]
        assert len(you) == 1
        assert you[0] in acting
        seen.add(you[0])
        assert (await ada.post(page.moves[-1]["action"], page.moves[-1])).status_code == 303
    assert seen == {0, 1}
    made = await database_sync_to_async(lambda: list(Move.objects.values_list("seat", flat=True)))()
    assert set(made) == {0, 1}


async def test_the_version_before_and_the_seat_decide_not_the_hand_that_is_claimed(solo, enter):
    """A message may claim what it likes: who moves is known from the session."""
    ada, address = solo
    page = await enter(ada, address)
    form = page.forms.moves[0]
    await page.send(move=form["move"], version=form["version"], made_by="cpu", seat=7, user_id=1)
    await page.at(int(form["version"]) + 1)
    assert await database_sync_to_async(lambda: Move.objects.get().made_by)() == "player"


async def test_a_table_unknown_to_the_path_is_refused():
    with pytest.raises(Refusal, match="no-such-table"):
        await make_move(Wish(code="nosuchtable1", move="{}", version="1"))


def test_the_database_keeps_each_number_of_a_match_once(client, slug):
    address = open_table(client, slug, mode="same_device")
    code = code_of(address)
    move_elsewhere(code)
    match = Match.objects.get()
    move = match.moves.get()
    with pytest.raises(DatabaseError):
        Move.objects.create(match=match, number=move.number, version=9, seat=0, move={}, made_by="player")


def test_services_lock_the_table_first(client, slug):
    """Twenty changes from as many threads are in one order: no version is lost."""
    address = open_table(client, slug, mode="link")
    host = User.objects.get()

    def change(number):
        try:
            if number % 2:
                services.create_pass(code=code_of(address), user=host)
            else:
                services.add_cpu(code=code_of(address), user=host, level="easy")
                return 1
        except Refusal:
            return 0
        finally:
            connection.close()
        return 0

    with ThreadPoolExecutor(8) as pool:
        changes = sum(pool.map(change, range(20)))
    assert Table.objects.get().version == 1 + changes
    assert Seat.objects.count() == 1 + changes
