"""A seat moves to another browser by a link that works once."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.tables import services
from apps.tables.models import Match, Participant, Seat, SeatPass, Table
from tests.tables.pages import SHORT, do, forms, open_async, open_table
from tests.tables.records import state_of_everything

pytestmark = pytest.mark.django_db(transaction=True)


def ask_for_pass(browser, address):
    """The path of a one-time link."""
    answer = browser.post(f"{address}pass/")
    assert answer.status_code == 200
    found = re.search(r'value="http://testserver(/en/tables/pass/[^"]+)"', answer.content.decode())
    assert found
    return found[1]


@pytest.fixture
def ada():
    return Client()


@pytest.fixture
def phone():
    return Client()


@pytest.fixture
def address(ada, slug):
    return open_table(ada, slug, mode="link", **SHORT)


def test_a_link_moves_the_seat(ada, phone, address):
    link = ask_for_pass(ada, address)
    answer = phone.post(link)
    assert (answer.status_code, answer["Location"]) == (303, address)
    assert any("data-you" in seat for seat in forms(phone.get(address).content).seats)
    assert not any("data-you" in seat for seat in forms(ada.get(address).content).seats)
    assert "start" in forms(phone.get(address).content).deeds, "and who hosts"
    assert ada.post(f"{address}start/").status_code == 422


def test_looking_at_the_link_does_not_use_it(ada, phone, address):
    """Messengers look at every link they are given."""
    link = ask_for_pass(ada, address)
    before = state_of_everything()
    for browser in (Client(), phone, ada):
        answer = browser.get(link)
        assert answer.status_code == 200
        assert browser.head(link).status_code == 200
        assert "noindex" in answer.content.decode()
    assert not phone.cookies.get("sessionid")
    assert state_of_everything() == before
    assert phone.post(link).status_code == 303


def test_a_link_works_once(ada, phone, address):
    link = ask_for_pass(ada, address)
    assert phone.post(link).status_code == 303
    late = Client()
    before = state_of_everything()
    answer = late.post(link)
    assert (answer.status_code, forms(answer.content).refused) == (409, "stale")
    assert "used or is too old" in answer.content.decode()
    assert state_of_everything() == before
    assert not late.cookies.get("sessionid"), "who is refused stays nobody"


def test_a_link_used_by_ten_at_once_moves_the_seat_to_one(ada, address):
    link = ask_for_pass(ada, address)
    browsers = [Client() for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda browser: browser.post(link).status_code, browsers))
    assert sorted(answers) == [303] + [409] * 9
    holders = [
        browser for browser in browsers if any("data-you" in s for s in forms(browser.get(address).content).seats)
    ]
    assert len(holders) == 1
    assert User.objects.count() == 2


def test_a_link_grows_old(ada, phone, address, later):
    link = ask_for_pass(ada, address)
    later.ahead = services.PASS_LIFE - timedelta(seconds=5)
    assert SeatPass.objects.get().expires_at > timezone.now()
    later.ahead = services.PASS_LIFE + timedelta(seconds=1)
    assert phone.post(link).status_code == 409
    assert Seat.objects.get().user == User.objects.get()


def test_a_new_link_makes_the_old_one_worthless(ada, phone, address):
    old = ask_for_pass(ada, address)
    new = ask_for_pass(ada, address)
    assert phone.post(old).status_code == 409
    assert phone.post(new).status_code == 303


@pytest.mark.parametrize("token", ["x", "a" * 32, "a" * 5000, "%00", "..%2f..", "'; drop table"])
def test_no_other_link_moves_anything(phone, address, token):
    before = state_of_everything()
    assert phone.post(f"/en/tables/pass/{token}/").status_code in {404, 409}
    assert state_of_everything() == before


def test_the_token_itself_is_kept_nowhere(ada, address):
    token = ask_for_pass(ada, address).rstrip("/").rsplit("/", 1)[1]
    assert token not in str(SeatPass.objects.values())
    assert len(token) >= 32


def test_only_who_sits_there_gives_a_seat_away(address, phone):
    assert phone.post(f"{address}pass/").status_code == 403
    assert not SeatPass.objects.exists()


def test_who_sits_there_already_takes_no_second_seat(ada, address, slug):
    bo = Client()
    assert bo.post(f"{address}sit/", {"name": "Bo"}).status_code == 303
    link = ask_for_pass(ada, address)
    for browser in (bo, ada):
        before = state_of_everything()
        answer = browser.post(link)
        assert (answer.status_code, forms(answer.content).refused) == (422, "illegal")
        assert state_of_everything() == before
    assert Client().post(link).status_code == 303, "it is not used up by that"


def test_who_has_left_gives_nothing_away(ada, phone, address):
    bo = Client()
    bo.post(f"{address}sit/", {"name": "Bo"})
    link = ask_for_pass(ada, address)
    ada.post(f"{address}leave/")
    assert phone.post(link).status_code == 409


def test_who_left_in_mid_match_gives_nothing_away(ada, phone, address):
    bo = Client()
    bo.post(f"{address}sit/", {"name": "Bo"})
    ada.post(f"{address}start/")
    link = ask_for_pass(ada, address)
    ada.post(f"{address}leave/")
    assert phone.post(link).status_code == 409
    assert Seat.objects.get(index=0).user is None


def test_a_whole_screen_moves_in_mid_match(ada, phone, slug):
    """With its names, its turn and the record of who played."""
    address = open_table(ada, slug, mode="same_device", names=["Ada", "Bo"])
    version = Table.objects.get().version
    assert phone.post(ask_for_pass(ada, address)).status_code == 303
    page = forms(phone.get(address).content)
    assert page.moves
    assert page.version == version + 1
    assert not forms(ada.get(address).content).moves
    mover = User.objects.get(pk=phone.session["_auth_user_id"])
    assert set(Participant.objects.values_list("user", flat=True)) == {mover.pk}
    form = page.moves[0]
    assert phone.post(form["action"], form).status_code == 303
    assert Match.objects.get().move_count == 1


async def test_pages_of_the_old_browser_are_closed_with_4401(visitors, slug, enter):
    ada, phone = visitors(), visitors()
    address = await open_async(ada, slug, mode="same_device")
    pages = [await enter(ada, address), await enter(ada, address)]
    watcher = await enter(None, address)
    answer = await ada.post(f"{address}pass/")
    link = re.search(r"(/en/tables/pass/[^\"]+)\"", answer.content.decode())[1]
    assert (await phone.post(link)).status_code == 303
    for page in pages:
        while page.closed is None:
            await page.read()
        assert page.closed == 4401
    await watcher.settle()
    there = await enter(phone, address)
    assert there.forms.moves
    back = await enter(ada, address)
    assert not back.forms.moves, "the old browser watches from then on"
    assert await do(ada, address, "leave") == 403
