"""People leave, are missed, come back, and are forgotten; what the table says of it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone, translation

from apps.accounts import services as accounts
from apps.accounts.models import User
from apps.games.kernel.errors import Refusal
from apps.tables import board, clock, live, presence, services
from apps.tables.board import Audience
from apps.tables.models import Event, Match, Participant, Seat, Status, Table
from tests.tables.conftest import code_of, forms, open_table

pytestmark = pytest.mark.django_db(transaction=True)


def play_out(client: Client, address: str) -> None:
    for _ in range(2000):
        page = forms(client.get(address).content)
        if page.table["data-status"] == Status.FINISHED:
            return
        form = page.moves[-1]
        client.post(form["action"], {"move": form["move"], "version": form["version"]})
    raise AssertionError("the match does not end")


def seat_second(address: str, name: str = "Bo") -> Client:
    second = Client()
    assert second.post(f"{address}sit/", {"name": name}).status_code == 303
    return second


def test_after_a_rematch_the_log_tells_the_present_match_alone(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="same_device")
    code = code_of(address)
    play_out(client, address)
    client.post(f"{address}rematch/")
    table = live.load(code)
    assert table is not None
    for language in ("en", "fr", "de", "ru"):
        with translation.override(language):
            lines = board.log(table, Audience(language, held=(0,), host=True))
        assert len(lines) == 1, lines


def test_who_comes_just_as_the_match_is_paused_is_noticed(client: Client, slug: str) -> None:
    code = code_of(open_table(client, slug, mode="same_device"))
    services.pause_match(code=code)
    user = User.objects.get()
    presence.renew([(code, user.pk)])
    clock.watch_presence(timezone.now() + timedelta(seconds=1))
    assert Match.objects.get().paused_at is None


def test_whoever_left_may_sit_down_again_after_the_match(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link")
    second = seat_second(address)
    client.post(f"{address}start/")
    services.leave_table(code=code_of(address), user=Seat.objects.get(name="Bo").user)
    Table.objects.update(status=Status.FINISHED)
    Match.objects.update(finished_at=timezone.now())
    assert second.post(f"{address}sit/", {"name": "Bo"}).status_code == 303
    assert Seat.objects.filter(user__isnull=False).count() == 2


def test_a_host_who_has_gone_is_followed_by_somebody_who_is_there(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link")
    seat_second(address)
    host = User.objects.get(display_name="Ada")
    services.mark_away(code=code_of(address), user_id=host.pk, since=timezone.now() - timedelta(minutes=2))
    clock.watch_hosts(timezone.now())
    assert Table.objects.get().host.display_name == "Bo"


def test_a_seat_taken_back_is_the_persons_again(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link")
    seat_second(address)
    client.post(f"{address}start/")
    services.let_stand_in(code=code_of(address), index=1)
    bo = Seat.objects.get(index=1)
    assert bo.stand_in
    services.take_seat(code=code_of(address), user=bo.user, name="Bo")
    assert not Seat.objects.get(index=1).stand_in


def test_a_forgotten_guest_takes_their_own_tables_along(client: Client, slug: str) -> None:
    open_table(client, slug, mode="same_device")
    User.objects.update(seen_at=timezone.now() - timedelta(days=100))
    assert accounts.erase_guests() == 1
    assert not Table.objects.exists()


def test_a_forgotten_guest_leaves_others_their_games_without_a_name(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link")
    seat_second(address)
    client.post(f"{address}start/")
    User.objects.filter(display_name="Bo").update(seen_at=timezone.now() - timedelta(days=100))
    assert accounts.erase_guests() == 1
    assert not Participant.objects.filter(name="Bo").exists()
    assert not Seat.objects.filter(name="Bo").exists()
    assert Match.objects.filter(finished_at=None).exists()
    assert client.get(address).status_code == 200


def test_a_forgotten_guest_is_told_of_under_no_name_they_used(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link")
    second = seat_second(address, "Robert")
    User.objects.filter(display_name="Robert").update(display_name="Bob")
    client.post(f"{address}start/")
    second.post(f"{address}leave/")
    assert Event.objects.filter(name="Robert").exists()
    services.forget_person(user=User.objects.get(display_name="Bob"))
    for model in (Event, Participant, Seat):
        assert not model.objects.filter(name="Robert").exists(), model


def test_friend_links_speak_the_language_one_reads_now(client: Client, slug: str) -> None:
    address = open_table(client, slug, mode="link", language="en")
    client.get(address.replace("/en/", "/de/"))
    assert client.get(f"/t/{code_of(address)}/")["Location"].startswith("/de/")


def test_ones_own_one_time_link_is_not_used_up(client: Client, slug: str) -> None:
    code = code_of(open_table(client, slug, mode="link"))
    owner = User.objects.get()
    token = services.create_pass(code=code, user=owner)
    with pytest.raises(Refusal):
        services.use_pass(token=token, user=owner)
    other = accounts.create_guest(name="Bo")
    services.use_pass(token=token, user=other)
    assert Seat.objects.get().user == other
