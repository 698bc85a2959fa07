"""Tables by plain POST: what a browser without JavaScript does, done by a client that knows no rules."""

import pytest
from django.test import Client

from apps.tables.models import Match, Status, Table
from tests.tables.conftest import code_of, forms, open_table

pytestmark = pytest.mark.django_db(transaction=True)


def test_alone_a_match_is_played_by_choosing_forms(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="same_device")
    for _ in range(2000):
        page = forms(client.get(address).content)
        if page.table["data-status"] == Status.FINISHED:
            break
        form = page.moves[-1]
        answer = client.post(form["action"], {"move": form["move"], "version": form["version"]})
        assert answer.status_code == 303
    match = Match.objects.get()
    assert match.finished_at is not None
    assert match.moves.count() == match.move_count
    assert Table.objects.get(code=code_of(address)).status == Status.FINISHED
