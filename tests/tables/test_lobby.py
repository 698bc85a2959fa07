"""Coming, sitting, hosting, starting, leaving: who may do what to a table, and what becomes of it."""

from hashlib import sha256
from random import Random

import pytest
from channels.db import database_sync_to_async
from django.db import IntegrityError, transaction
from django.test import Client

from apps.accounts.models import User
from apps.games import registry
from apps.games.kernel.record import replay
from apps.tables import services
from apps.tables.models import MadeBy, Match, Move, Participant, Seat, Status, Table
from apps.tables.selectors import record_of
from tests.tables.pages import SHORT, code_of, do, forms, open_async, open_table, play
from tests.tables.records import end_now, state_of_everything

pytestmark = pytest.mark.django_db(transaction=True)


def sit(browser, address, name):
    return browser.post(f"{address}sit/", {"name": name})


def post(browser, address, action, **fields):
    """The status of the answer, and the code of the refusal it shows."""
    answer = browser.post(f"{address}{action}/", fields)
    return answer.status_code, forms(answer.content).refused


@pytest.fixture
def ada():
    return Client()


@pytest.fixture
def bo():
    return Client()


@pytest.fixture
def cleo():
    return Client()


def play_out(address, *browsers):
    """Everybody chooses the last form there is until the match is over."""
    while not (page := forms(browsers[0].get(address).content)).over:
        for browser in browsers:
            for form in forms(browser.get(address).content).moves[-1:]:
                browser.post(form["action"], form)
    return page


@pytest.fixture
def room(ada, bo, slug):
    """A table by link at which Ada, who hosts, and Bo sit."""
    address = open_table(ada, slug, mode="link", **SHORT)
    assert sit(bo, address, "Bo").status_code == 303
    return address


# ── between matches ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("who", ["ada", "bo", "cleo"])
def test_people_come_after_a_match(room, ada, bo, cleo, who, slug):
    """Whoever sits down for the next match is seen, and what is shown of the last one stays what it was."""
    assert post(ada, room, "start") == (303, None)
    play_out(room, ada, bo)
    result = [row.score for row in Participant.objects.all()]
    if len(registry.get(slug).seats) > 2:
        assert sit(cleo, room, "Cleo").status_code == 303
        assert post(ada, room, "cpu", level="easy") == (303, None)
    page = {"ada": ada, "bo": bo, "cleo": cleo}[who].get(room)
    assert page.status_code == 200
    assert "Cleo" in page.content.decode()
    assert [row.score for row in Participant.objects.all()] == result
    assert post(bo, room, "rematch") == (303, None)
    assert Match.objects.get(number=2).seat_count == 4


@pytest.mark.parametrize("who", ["ada", "bo", "cleo"])
def test_people_go_after_a_match(room, ada, bo, cleo, who, slug):
    assert post(ada, room, "start") == (303, None)
    play_out(room, ada, bo)
    assert post(ada, room, "leave")[0] == 302
    page = {"ada": ada, "bo": bo, "cleo": cleo}[who].get(room)
    assert page.status_code == 200
    shown = page.content.decode()
    assert "Ada" in shown, "the result still names whoever has gone"
    assert Table.objects.get().host == Seat.objects.get().user


# ── sitting down ───────────────────────────────────────────────────────────────


def test_opening_the_link_takes_no_seat(room, cleo):
    assert cleo.get(f"/t/{code_of(room)}/", follow=True).status_code == 200
    assert Seat.objects.count() == 2
    assert not cleo.cookies.get("sessionid")


def test_the_link_leads_to_the_readers_language(room, cleo):
    answer = cleo.get(f"/t/{code_of(room)}/", headers={"Accept-Language": "ru"})
    assert answer["Location"] == f"/ru/tables/{code_of(room)}/"
    assert "Accept-Language" in answer["Vary"]


@pytest.mark.parametrize("path", ["/t/{code}/", "/en/tables/{code}/", "/en/", "/en/tables/new/"])
def test_messengers_may_ask_for_the_head_alone(room, cleo, path):
    assert cleo.head(path.format(code=code_of(room))).status_code in {200, 302}


def test_ten_parallel_joins_on_the_last_seat_take_one(ada, slug, ten_at_once):
    address = open_table(ada, slug, mode="link")
    for number in range(registry.get(slug).seats.stop - 3):
        assert sit(Client(), address, f"Early {number}").status_code == 303
    seated = Seat.objects.count()
    answers = ten_at_once(lambda number: sit(Client(), address, f"Late {number}").status_code)
    assert sorted(answers) == [303] + [422] * 9
    assert Seat.objects.count() == seated + 1
    assert User.objects.count() == seated + 1, "who was refused is nobody"


def test_ten_clicks_on_join_take_one_seat(room, cleo, slug, ten_at_once):
    if registry.get(slug).seats.stop == 3:
        pytest.skip("only two play this game")
    cleo.get(room)
    assert sit(cleo, room, "Cleo").status_code == 303

    def click(number):
        browser = Client()
        browser.cookies = cleo.cookies
        return sit(browser, room, "Cleo").status_code

    assert set(ten_at_once(click)) == {303}
    assert Seat.objects.filter(name="Cleo").count() == 1


def test_the_database_itself_seats_nobody_twice(room):
    seat = Seat.objects.get(name="Bo")
    with pytest.raises(IntegrityError), transaction.atomic():
        Seat.objects.create(table=seat.table, user=seat.user, index=5, name="Bo again")
    with pytest.raises(IntegrityError), transaction.atomic():
        Seat.objects.create(table=seat.table, index=seat.index, name="CPU", cpu_level="easy")


@pytest.mark.parametrize("name", ["Ada", "ADA", " ada ", "aDa"])
def test_names_at_a_table_differ(room, cleo, name):
    answer = sit(cleo, room, name)
    assert answer.status_code == 422
    assert forms(answer.content).refused == "illegal"
    assert "already has that name" in answer.content.decode()


def test_names_differ_in_any_script(ada, bo, slug):
    address = open_table(ada, slug, mode="link", name="Ёжик")
    assert sit(bo, address, "ёЖИК").status_code == 422
    assert sit(bo, address, "Ёжики").status_code == 303


def test_nobody_sits_down_at_a_table_on_one_screen(ada, bo, slug):
    address = open_table(ada, slug, mode="same_device", **SHORT)
    answer = sit(bo, address, "Bo")
    assert answer.status_code == 422
    assert "one screen" in answer.content.decode()


def test_a_third_person_on_a_table_that_has_started_watches(room, ada, bo, cleo):
    post(ada, room, "start")
    assert post(cleo, room, "sit", name="Cleo") == (422, "illegal")
    page = forms(cleo.get(room).content)
    assert not page.moves
    assert "sit" not in page.deeds
    assert not any("data-you" in seat for seat in page.seats)
    assert not User.objects.filter(display_name="Cleo").exists()


def test_who_sits_without_a_name_gets_one(ada, bo, slug):
    address = open_table(ada, slug, mode="link")
    assert sit(bo, address, "").status_code == 303
    assert Seat.objects.get(index=1).name.startswith("Guest ")


# ── CPUs ───────────────────────────────────────────────────────────────────────


def test_only_the_host_has_to_do_with_cpus(room, ada, bo, cleo, slug):
    if len(registry.get(slug).seats) < 3:
        pytest.skip("only two play this game")
    assert post(bo, room, "cpu", level="easy") == (422, "illegal")
    assert post(cleo, room, "cpu", level="easy") == (403, "not-seated")
    assert post(ada, room, "cpu", level="easy") == (303, None)
    for browser in (bo, cleo):
        assert post(browser, room, "cpu", remove="2")[0] in {403, 422}
        assert post(browser, room, "cpu", seat="2", level="hard")[0] in {403, 422}
    assert Seat.objects.get(index=2).cpu_level == "easy"
    assert post(ada, room, "cpu", seat="2", level="hard") == (303, None)
    assert Seat.objects.get(index=2).cpu_level == "hard"
    assert post(ada, room, "cpu", remove="2") == (303, None)
    assert Seat.objects.count() == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"level": "brutal"},
        {"level": ""},
        {"remove": "0"},
        {"remove": "7"},
        {"remove": "-1"},
        {"remove": "²"},
        {"remove": "9" * 50},
        {"seat": "1", "level": "easy"},
        {"seat": "", "level": "easy"},
    ],
)
def test_impossible_wishes_about_cpus_are_refused(room, ada, fields):
    before = state_of_everything()
    assert post(ada, room, "cpu", **fields) == (422, "illegal")
    assert state_of_everything() == before


def test_cpus_take_no_more_seats_than_there_are(ada, slug):
    address = open_table(ada, slug, mode="link")
    most = registry.get(slug).seats.stop - 1
    for _ in range(most - 1):
        assert post(ada, address, "cpu", level="easy") == (303, None)
    assert post(ada, address, "cpu", level="easy") == (422, "illegal")
    assert Seat.objects.count() == most
    assert sit(Client(), address, "Late").status_code == 422


def test_removing_a_cpu_closes_the_gap(ada, slug):
    if len(registry.get(slug).seats) < 3:
        pytest.skip("only two play this game")
    address = open_table(ada, slug, mode="link")
    post(ada, address, "cpu", level="easy")
    sit(Client(), address, "Bo")
    post(ada, address, "cpu", remove="1")
    assert list(Seat.objects.values_list("index", "name")) == [(0, "Ada"), (1, "Bo")]


def test_the_level_may_change_in_mid_match(ada, slug):
    """CE-19: changing the level keeps the round."""
    address = open_table(ada, slug, mode="computer", cpus="1", level="easy")
    before = bytes(Match.objects.get().state)
    assert post(ada, address, "cpu", seat="1", level="hard") == (303, None)
    match = Match.objects.get()
    assert bytes(match.state) == before
    assert match.participants.get(seat=1).cpu_level == Seat.objects.get(index=1).cpu_level == "hard"


# ── starting ───────────────────────────────────────────────────────────────────


def test_only_the_host_starts_and_only_once(room, ada, bo, cleo):
    assert post(bo, room, "start") == (422, "illegal")
    assert post(cleo, room, "start") == (403, "not-seated")
    assert post(ada, room, "start") == (303, None)
    assert post(ada, room, "start") == (409, "stale")
    assert Match.objects.count() == 1


def test_ten_clicks_on_start_deal_once(room, ada, ten_at_once):
    def click(number):
        browser = Client()
        browser.cookies = ada.cookies
        return post(browser, room, "start")

    answers = ten_at_once(click)
    assert sorted(answers) == [(303, None)] + [(409, "stale")] * 9
    assert Match.objects.count() == 1
    assert Table.objects.get().version == 3


def test_a_match_needs_enough_people(ada, slug):
    least = registry.get(slug).seats.start
    if least == 1:
        pytest.skip("one person is enough")
    address = open_table(ada, slug, mode="link")
    assert post(ada, address, "start") == (422, "illegal")
    assert not Match.objects.exists()


def test_a_match_begins_with_a_whole_record(room, ada, slug):
    post(ada, room, "start")
    match = Match.objects.get()
    game = registry.get(slug)
    assert match.seed_hash == sha256(bytes(match.seed)).hexdigest()
    assert len(bytes(match.seed)) == 32
    assert (match.game, match.rules_version, match.seat_count, match.number) == (slug, game.version, 2, 1)
    assert replay(game, record_of(match)) == game.load_state(bytes(match.state))
    assert [person.name for person in match.participants.all()] == ["Ada", "Bo"]
    asked = game.to_act(game.load_state(bytes(match.state)))
    assert match.prompts == [Table.objects.get().version if seat in asked else None for seat in range(2)]


# ── again ──────────────────────────────────────────────────────────────────────


def test_another_match_begins_with_fresh_cards(room, ada, bo):
    post(ada, room, "start")
    play_out(room, ada, bo)
    assert post(bo, room, "rematch")[0] == 303
    assert post(ada, room, "rematch") in [(409, "stale"), (303, None)]
    old, new = Match.objects.order_by("number")
    assert bytes(old.seed) != bytes(new.seed)
    assert (new.number, new.move_count, new.finished_at) == (2, 0, None)
    assert Table.objects.get().status == Status.PLAYING


def test_only_those_who_sit_there_ask_for_another_match(room, ada, bo, cleo):
    post(ada, room, "start")
    assert post(ada, room, "rematch") == (409, "stale"), "one is being played"
    play_out(room, ada, bo)
    sit(cleo, open_table(ada, Table.objects.get().game, mode="link"), "Cleo")
    assert post(cleo, room, "rematch") == (403, "not-seated")
    assert post(Client(), room, "rematch") == (403, "not-seated")


def test_whoever_left_is_not_in_the_next_match(room, ada, bo, slug):
    game = registry.get(slug)
    post(ada, room, "start")
    post(bo, room, "leave")
    match = Match.objects.get()
    Match.objects.filter(pk=match.pk).update(next_cpu_at=None)
    end_now(match)
    answer = post(ada, room, "rematch")
    if 1 in game.seats:
        assert answer == (303, None)
        assert list(Seat.objects.values_list("name", flat=True)) == ["Ada"]
    else:
        assert answer == (422, "illegal")
        assert Table.objects.get().status == Status.FINISHED


# ── leaving ────────────────────────────────────────────────────────────────────


def test_the_next_person_hosts_when_the_host_leaves(room, ada, bo):
    assert post(ada, room, "leave")[0] == 302
    assert list(Seat.objects.values_list("index", "name")) == [(0, "Bo")]
    assert Table.objects.get().host == Seat.objects.get().user
    assert "start" in forms(bo.get(room).content).deeds or registry.get(Table.objects.get().game).seats.start > 1


def test_cpus_never_host(ada, bo, slug):
    if len(registry.get(slug).seats) < 3:
        pytest.skip("only two play this game")
    address = open_table(ada, slug, mode="link")
    post(ada, address, "cpu", level="easy")
    sit(bo, address, "Bo")
    post(ada, address, "leave")
    assert Table.objects.get().host == Seat.objects.get(name="Bo").user


def test_a_table_closes_when_everybody_has_left(room, ada, bo):
    post(ada, room, "leave")
    post(bo, room, "leave")
    assert Table.objects.get().expired_at is not None
    answer = ada.get(room)
    assert answer.status_code == 410
    assert post(ada, room, "sit", name="Ada")[0] == 410
    assert "leave" not in forms(answer.content).deeds


def test_leaving_in_mid_match_frees_the_person_at_once(room, ada, bo, slug):
    """G-14: the stand-in has the seat, and the person is nowhere seated any more."""
    post(ada, room, "start")
    assert post(bo, room, "leave")[0] == 302
    seat = Seat.objects.get(index=1)
    assert (seat.user, seat.stand_in, seat.name) == (None, True, "Bo")
    assert post(bo, room, "leave") == (403, "not-seated")
    assert "Bo" not in str(bo.get("/en/").context["your_tables"])
    assert open_table(bo, slug, mode="same_device")
    assert Participant.objects.get(seat=1, match__number=1, match__table__code=code_of(room)).user is not None


@pytest.mark.usefixtures("think_here")
async def test_the_stand_in_finishes_for_whoever_left(visitors, slug, enter, ticking):
    ada, bo = visitors(), visitors()
    address = await open_async(ada, slug, mode="link", **SHORT)
    await do(bo, address, "sit", name="Bo")
    await do(ada, address, "start")
    page = await enter(ada, address)
    await do(bo, address, "leave")
    async with ticking():
        await play(page, Random(1))
    made = await database_sync_to_async(lambda: set(Move.objects.values_list("seat", "made_by")))()
    assert made == {(0, MadeBy.PLAYER), (1, MadeBy.STAND_IN)}
    ended = await database_sync_to_async(lambda: list(Participant.objects.values_list("name", "absent")))()
    assert ended == [("Ada", False), ("Bo", True)]


def test_leaving_alone_ends_the_match(ada, slug):
    address = open_table(ada, slug, mode="same_device")
    assert post(ada, address, "leave")[0] == 302
    match = Match.objects.get()
    assert match.ended_by == "cancelled"
    assert match.finished_at is not None
    assert not ada.get("/en/").context["your_tables"]


def test_who_has_no_seat_cannot_leave_it(room, cleo):
    assert post(cleo, room, "leave") == (403, "not-seated")


def test_no_deed_has_an_effect_by_get(room, ada):
    before = state_of_everything()
    for action in ("sit", "cpu", "start", "leave", "rematch", "accept", "pass", "move", "anything"):
        answer = ada.get(f"{room}{action}/")
        assert (answer.status_code, answer["Location"]) == (302, room)
        assert ada.put(f"{room}{action}/").status_code == 405
    assert state_of_everything() == before


def test_unknown_deeds_and_tables_are_404(room, ada):
    assert ada.post(f"{room}dance/").status_code == 404
    for action in ("sit", "cpu", "start", "leave", "rematch", "move", "pass"):
        fields = {"move": "{}", "version": "1"}
        assert ada.post(f"/en/tables/nosuchtable1/{action}/", fields).status_code == 404


def test_every_change_that_is_seen_makes_one_version(room, ada, bo, cleo, slug):
    """And presence makes none."""
    version = Table.objects.get().version
    assert version == 2, "opened, and Bo sat down"
    several = len(registry.get(slug).seats) > 2
    deeds = [
        *([(ada, "cpu", {"level": "easy"}), (ada, "cpu", {"seat": "2", "level": "hard"})] if several else []),
        *([(ada, "cpu", {"remove": "2"})] if several else []),
        (ada, "start", {}),
    ]
    for browser, action, fields in deeds:
        assert post(browser, room, action, **fields) == (303, None)
        version += 1
        assert Table.objects.get().version == version
        for visitor in (ada, bo, cleo):
            assert visitor.get(room).status_code == 200
        assert Table.objects.get().version == version
    while not (page := forms(ada.get(room).content)).over:
        for browser in (ada, bo):
            for form in forms(browser.get(room).content).moves[:1]:
                browser.post(form["action"], form)
                version += 1
                assert Table.objects.get().version == version
    assert page.version == version


# ── games that ask everybody first ─────────────────────────────────────────────


@pytest.fixture
def asks(room, ada, bo, slug, monkeypatch):
    """The room of a game of which another match needs everybody's consent (CE-18), its match over."""
    monkeypatch.setattr(type(registry.get(slug)), "consent", True)
    post(ada, room, "start")
    end_now(Match.objects.get())
    return room


def test_another_match_begins_once_everybody_has_accepted(asks, ada, bo):
    version = Table.objects.get().version
    assert post(bo, asks, "rematch") == (303, None)
    assert Match.objects.count() == 1
    assert Table.objects.get().version == version + 1
    assert list(Seat.objects.order_by("index").values_list("accepted", flat=True)) == [False, True]
    assert post(bo, asks, "accept") == (303, None), "again is not twice"
    assert Match.objects.count() == 1
    assert post(ada, asks, "accept") == (303, None)
    assert Match.objects.get(number=2).finished_at is None
    assert not Seat.objects.filter(accepted=True).exists()


def test_an_offer_lapses_when_somebody_leaves(asks, ada, bo):
    post(bo, asks, "rematch")
    post(ada, asks, "leave")
    assert not Seat.objects.filter(accepted=True).exists()


def test_an_offer_waits_for_whoever_is_away(asks, ada, bo):
    post(ada, asks, "rematch")
    services.mark_away(code=code_of(asks), user_id=Seat.objects.get(index=0).user_id)
    post(bo, asks, "accept")
    assert Match.objects.count() == 1, "who is away has not agreed"
    ada.get(asks)
    assert post(ada, asks, "accept") == (303, None)
    assert Match.objects.count() == 2
