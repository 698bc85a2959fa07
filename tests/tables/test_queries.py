"""What things cost in queries: nothing grows with the number of people, and a move is one short transaction."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.backends import utils
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.games import registry
from apps.tables import clock, journal, live, selectors, services
from apps.tables.models import Match
from tests.tables.pages import code_of, open_async, open_table
from tests.tables.records import entry_of, move_elsewhere

pytestmark = pytest.mark.django_db(transaction=True)


def queries(deed):
    """The statements that a deed takes, transactions left out."""
    with CaptureQueriesContext(connection) as captured:
        deed()
    plain = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
    return [query["sql"] for query in captured if not query["sql"].lstrip().upper().startswith(plain)]


@contextmanager
def every_statement():
    """(thread's name, SQL) of every statement of every thread."""
    said = []
    execute = utils.CursorWrapper._execute

    def counted(self, sql, params, *ignored):
        said.append((threading.current_thread().name, sql))
        return execute(self, sql, params, *ignored)

    patch = pytest.MonkeyPatch()
    patch.setattr(utils.CursorWrapper, "_execute", counted)
    try:
        yield said
    finally:
        patch.undo()


def table_of(browser, slug, people):
    address = open_table(browser, slug, mode="link")
    for number in range(people - 1):
        Client().post(f"{address}sit/", {"name": f"Bo {number}"})
    browser.post(f"{address}start/")
    return address


def sizes(slug):
    seats = registry.get(slug).seats
    return max(2, seats.start), seats.stop - 1


def test_a_tables_page_costs_the_same_for_two_and_for_a_full_table(slug):
    costs = set()
    for people in sizes(slug):
        ada = Client()
        address = table_of(ada, slug, people)
        for visitor in (ada, Client()):
            visitor.get(address)
            costs.add((visitor is ada, len(queries(lambda visitor=visitor, address=address: visitor.get(address)))))
    assert len(costs) == 2, costs
    assert max(cost for _, cost in costs) <= 12, costs


def test_a_tables_page_costs_the_same_however_long_the_match(client, slug):
    address = open_table(client, slug, mode="same_device")
    first = len(queries(lambda: client.get(address)))
    for _ in range(4):
        move_elsewhere(code_of(address))
    assert len(queries(lambda: client.get(address))) == first


def test_a_page_is_read_without_a_write(client, slug):
    """So that many may read at once."""
    address = open_table(client, slug, mode="same_device")
    client.get(address)
    said = queries(lambda: client.get(address))
    assert all(sql.lstrip().startswith("SELECT") for sql in said), said


def test_home_costs_the_same_for_one_table_and_for_many(client, slug):
    open_table(client, slug, mode="link", public="on")
    first = len(queries(lambda: client.get("/en/")))
    for _ in range(5):
        other = Client()
        open_table(other, slug, mode="link", public="on")
        open_table(client, slug, mode="link", public="on")
    assert len(client.get("/en/").context["open_tables"]) == 11
    assert len(queries(lambda: client.get("/en/"))) == first
    assert first <= 8


def test_open_tables_cost_two_queries(client, slug):
    open_table(client, slug, mode="link", public="on")
    assert len(queries(selectors.open_tables)) == 2


def test_loading_a_table_costs_a_handful(client, slug):
    code = code_of(open_table(client, slug, mode="same_device"))
    assert len(queries(lambda: live.load(code))) <= 8


def test_a_move_is_written_in_few_statements(client, slug):
    table = live.load(code_of(open_table(client, slug, mode="same_device")))
    said = queries(lambda: journal.commit([entry_of(table)]))
    assert [sql.split()[0] for sql in said] == ["UPDATE", "UPDATE", "INSERT"]


def test_a_batch_is_one_transaction_with_one_insert(client, slug):
    tables = [live.load(code_of(open_table(client, slug, mode="same_device"))) for _ in range(5)]
    said = queries(lambda: journal.commit([entry_of(table) for table in tables]))
    assert sum(sql.startswith("INSERT") for sql in said) == 1
    assert len(said) == 2 * 5 + 1


@pytest.mark.parametrize("way", ["socket", "post"])
async def test_a_move_on_a_known_table_reads_nothing_of_it(visitors, slug, enter, way):
    """The state comes from memory: two updates and an insert, in one transaction of the journal's own thread."""
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device")
    page = await enter(ada, address)
    form = page.forms.moves[0]
    with every_statement() as said:
        if way == "socket":
            await page.choose(form)
        else:
            await ada.post(form["action"], form)
        await page.at(int(form["version"]) + 1)
    about_tables = [(thread, sql) for thread, sql in said if '"tables_' in sql]
    assert [sql.split()[0] for _, sql in about_tables] == ["UPDATE", "UPDATE", "INSERT"], about_tables
    assert {thread for thread, _ in about_tables} == {"journal_0"}
    if connection.vendor == "sqlite":
        assert [sql for _, sql in said].count("BEGIN IMMEDIATE") == 1


async def test_those_who_watch_cost_no_query(visitors, slug, enter):
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device")
    page = await enter(ada, address)
    watchers = [await enter(None, address, language=language) for language in ("en", "fr", "de", "ru") * 2]
    form = page.forms.moves[0]
    with every_statement() as said:
        await page.choose(form)
        for viewer in (page, *watchers):
            await viewer.at(int(form["version"]) + 1)
    assert len([sql for _, sql in said if '"tables_' in sql]) == 3


def test_a_clock_with_nothing_to_do_costs_two_statements(client, slug):
    open_table(client, slug, mode="same_device")
    now = timezone.now()
    assert len(queries(lambda: services.lease_due(now=now, life=clock.LEASE, limit=50))) <= 2


def test_the_watch_over_presence_costs_the_same_for_many_tables(client, slug):
    open_table(client, slug, mode="same_device")
    first = len(queries(lambda: clock.watch_presence(timezone.now())))
    for _ in range(4):
        open_table(client, slug, mode="same_device")
    assert len(queries(lambda: clock.watch_presence(timezone.now()))) == first


async def test_an_idle_page_costs_nothing(visitors, slug, enter):
    ada = visitors()
    address = await open_async(ada, slug, mode="same_device")
    page = await enter(ada, address)
    with every_statement() as said:
        await page.send(resync=str(page.forms.version))
        await page.read()
    assert len([sql for _, sql in said if '"tables_' in sql]) == 1, "to see that nothing was missed"


def test_the_end_of_a_match_costs_a_fixed_number_of_statements(slug):
    costs = set()
    for people in sizes(slug):
        ada = Client()
        address = table_of(ada, slug, people)
        table = live.load(code_of(address))
        while not (last := entry_of(table)).outcome:
            move_elsewhere(table.code)
            table = live.load(table.code)
        costs.add(len(queries(lambda last=last: journal.commit([last]))))
    assert len(costs) == 1, costs
    assert max(costs) <= 14


def test_indexes_carry_what_clocks_ask():
    names = {index.name for index in Match._meta.indexes}
    assert {"match_deadline", "match_next_cpu"} <= names
