"""The command that proves a restored database."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.tables.models import Match, Move
from tests.tables.pages import SHORT, finish, open_table

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def played(client, slug):
    finish(client, open_table(client, slug, mode="same_device", **SHORT))
    return Match.objects.get()


def replay():
    """(what it says, what is wrong)."""
    said, wrong = StringIO(), StringIO()
    try:
        call_command("replay", stdout=said, stderr=wrong)
    except CommandError as error:
        return str(error), wrong.getvalue()
    return said.getvalue(), wrong.getvalue()


def test_matches_as_they_were_played_replay(played, client, slug):
    open_table(client, slug, mode="same_device")
    said, wrong = replay()
    assert said == f"2 matches of {played.move_count} moves replay to what is stored.\n"
    assert not wrong


def test_a_lost_move_is_found(played):
    Move.objects.filter(number=1).delete()
    said, wrong = replay()
    assert said == "1 of 1 matches are not what their moves make of them."
    assert f"has {played.move_count - 1} of {played.move_count} moves" in wrong


def test_another_state_is_found(client, slug):
    open_table(client, slug, mode="same_device")
    open_table(client, slug, mode="same_device")
    first, second = Match.objects.order_by("pk")
    Match.objects.filter(pk=first.pk).update(state=second.state)
    assert "comes to another state" in replay()[1]


def test_another_end_is_found(played):
    Match.objects.update(ended_by="cancelled")
    assert "ended otherwise" in replay()[1]


def test_matches_of_older_rules_are_left_alone(played):
    Match.objects.update(rules_version=99)
    assert replay()[1] == ""
