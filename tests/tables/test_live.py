"""A table as it is loaded and kept: of one version, whatever happens meanwhile."""

import pytest
from django.db import connection

from apps.accounts.models import User
from apps.tables import services
from apps.tables.models import Match, Status, Table
from tests.tables.conftest import code_of, forms, open_table
from tests.tables.pages import SHORT, finish

pytestmark = pytest.mark.django_db(transaction=True)


class Meddler:
    """Does something once, before the first query that mentions a text."""

    def __init__(self, text, deed):
        self.text, self.deed, self.done = text, deed, False

    def __call__(self, execute, sql, params, many, context):
        if self.text in sql and not self.done:
            self.done = True
            self.deed()
        return execute(sql, params, many, context)


def test_a_rematch_during_the_reading_does_not_give_its_seed_away(client, slug):
    """The old match's end and the new match's row, read one after the other, must not be taken for one."""
    address = open_table(client, slug, mode="same_device", **SHORT)
    finish(client, address)
    host = User.objects.get()
    again = Meddler('"tables_match"."number" DESC', lambda: services.accept_match(code=code_of(address), user=host))
    with connection.execute_wrapper(again):
        page = client.get(address).content.decode()
    assert again.done
    seed = bytes(Match.objects.get(number=2).seed)
    assert seed.hex() not in page
    assert forms(page).table["data-status"] == Status.PLAYING
    assert forms(page).version == Table.objects.get().version


def test_the_seed_is_shown_once_the_match_is_over(client, slug):
    address = open_table(client, slug, mode="same_device", **SHORT)
    match = Match.objects.get()
    page = client.get(address).content.decode()
    assert match.seed_hash in page
    assert bytes(match.seed).hex() not in page
    page = finish(client, address)
    assert bytes(match.seed).hex() in page
