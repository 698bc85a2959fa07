"""Guests are made by the first POST that needs one, never by reading; what they prefer; how they are forgotten."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from apps.accounts import services, sessions
from apps.accounts.models import User
from apps.accounts.signals import user_erased
from apps.games import registry
from apps.games.kernel.errors import Refusal
from apps.games.kernel.timing import GUEST_KEPT_DAYS

pytestmark = pytest.mark.django_db

LANGUAGES = ("en", "fr", "de", "ru")
PREFERENCES = {"card_letters": "latin", "four_colour": "on", "theme": "dark", "sound": "on"}


def open_table(client):
    game = registry.all_games()[0]
    answer = client.post("/en/tables/new/", {"game": game.slug, "mode": "link", "name": "Ada"})
    assert answer.status_code == 303
    return answer["Location"]


def pages():
    yield "/"
    for language in LANGUAGES:
        with translation.override(language):
            yield from (reverse(name) for name in ("home", "tables:new", "accounts:settings", "rulebook:hub"))
            yield from (reverse("rulebook:game", kwargs={"game": game.slug}) for game in registry.all_games())


# ── guests ─────────────────────────────────────────────────────────────────────


def test_reading_makes_nobody_a_guest(client):
    address = open_table(Client())
    people, sessions_kept = User.objects.count(), Session.objects.count()
    for path in (*pages(), address, address.replace("/en/", "/ru/"), "/en/tables/pass/abc/", "/en/nothing-here/"):
        client.get(path)
        client.head(path)
    assert User.objects.count() == people
    assert Session.objects.count() == sessions_kept
    assert "sessionid" not in client.cookies


def test_the_first_post_that_needs_one_makes_a_guest(client):
    open_table(client)
    guest = User.objects.get()
    assert guest.is_guest
    assert not guest.has_usable_password()
    assert guest.display_name == "Ada"
    assert (guest.is_staff, guest.is_superuser) == (False, False)
    assert client.session["_auth_user_id"] == str(guest.pk)
    open_table(client)
    assert User.objects.count() == 1, "and only one"


def test_the_cookie_is_the_key_and_scripts_do_not_read_it(client):
    open_table(client)
    cookie = client.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert int(cookie["max-age"]) > GUEST_KEPT_DAYS * 24 * 3600


def test_guests_get_a_session_of_their_own(client):
    """A session that somebody else prepared does not become theirs."""
    client.cookies["sessionid"] = "prepared-by-somebody-else-xxxxxx"
    open_table(client)
    assert client.cookies["sessionid"].value != "prepared-by-somebody-else-xxxxxx"


def test_who_is_refused_stays_nobody(rf):
    request = rf.post("/")
    request.session = Client().session
    request.user = None

    def deed():
        with sessions.as_user(request, name="Ada") as guest:
            assert User.objects.filter(pk=guest.pk).exists()
            raise Refusal("illegal")

    with pytest.raises(Refusal):
        deed()
    assert not User.objects.exists()
    assert "_auth_user_id" not in request.session


def test_usernames_of_guests_cannot_be_guessed():
    names = {services.create_guest().username for _ in range(20)}
    assert len(names) == 20
    assert all(len(name) >= len("guest-") + 16 for name in names)


# ── preferences ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", LANGUAGES)
def test_preferences_are_kept_and_seen(client, language):
    path = f"/{language}/settings/"
    answer = client.post(path, PREFERENCES)
    assert (answer.status_code, answer["Location"]) == (302, f"{path}?saved")
    user = User.objects.get()
    assert (user.card_letters, user.four_colour, user.theme, user.sound) == ("latin", True, "dark", True)
    page = client.get(f"/{language}/").content.decode()
    assert 'data-theme="dark"' in page
    assert 'data-deck="four"' in page
    assert "data-sound=" in page


def test_preferences_can_be_taken_back(client):
    client.post("/en/settings/", PREFERENCES)
    client.post("/en/settings/", {"card_letters": "own", "theme": "auto"})
    user = User.objects.get()
    assert (user.card_letters, user.four_colour, user.theme, user.sound) == ("own", False, "auto", False)


@pytest.mark.parametrize(
    "fields",
    [{}, {"card_letters": "greek", "theme": "auto"}, {"card_letters": "own", "theme": "neon"}, {"theme": "x" * 10_000}],
)
def test_preferences_that_do_not_exist_change_nothing(client, fields):
    assert client.post("/en/settings/", fields).status_code == 400
    assert not User.objects.exists()


def test_nothing_but_preferences_is_changed_by_the_form(client):
    client.post("/en/settings/", PREFERENCES | {"is_staff": "on", "is_superuser": "on", "username": "admin", "id": "1"})
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser) == (False, False)
    assert user.username.startswith("guest-")


def test_one_persons_preferences_are_not_anothers(client):
    client.post("/en/settings/", PREFERENCES)
    assert 'data-theme="dark"' not in Client().get("/en/").content.decode()


def test_letters_of_the_reader_are_on_their_cards(client):
    """Latin for who prefers them, in whatever language the page is."""
    game = registry.all_games()[0]
    client.post("/ru/settings/", PREFERENCES)
    answer = client.post("/ru/tables/new/", {"game": game.slug, "mode": "link", "name": "Ada"})
    assert client.get(answer["Location"]).context["letters"] == "latin"
    assert Client().get(answer["Location"]).context["letters"] == "own"


# ── the switch of languages ────────────────────────────────────────────────────


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_leads_to_every_other(client, language):
    """Same page, query kept, there and back."""
    page = client.get(f"/{language}/tables/new/?mode=computer").content.decode()
    for other in LANGUAGES:
        assert f'href="/{other}/tables/new/?mode=computer"' in page


def test_the_start_page_is_in_the_readers_language(client):
    assert client.get("/", headers={"Accept-Language": "de"})["Location"] == "/de/"
    assert client.get("/", headers={"Accept-Language": "xx"})["Location"] == "/en/"
    client.post("/fr/settings/", PREFERENCES)
    assert client.get("/", headers={"Accept-Language": "de"})["Location"] == "/fr/", "the account's comes first"


# ── forgetting ─────────────────────────────────────────────────────────────────


def gone(days, **fields):
    user = services.create_guest(name="Ada")
    User.objects.filter(pk=user.pk).update(seen_at=timezone.now() - timedelta(days=days), **fields)
    return user


def test_guests_are_forgotten_after_their_time():
    old, recent = gone(GUEST_KEPT_DAYS + 1), gone(GUEST_KEPT_DAYS - 1)
    assert services.erase_guests() == 1
    assert not User.objects.filter(pk=old.pk).exists()
    assert User.objects.filter(pk=recent.pk).exists()


def test_members_are_never_forgotten():
    gone(10_000, is_guest=False)
    assert services.erase_guests() == 0


def test_the_news_of_a_guest_who_goes_comes_before_they_are_gone():
    old = gone(GUEST_KEPT_DAYS + 1)
    heard = []

    def receiver(sender, user, **kwargs):
        heard.append((user.pk, User.objects.filter(pk=user.pk).exists()))

    user_erased.connect(receiver)
    try:
        services.erase_guests()
    finally:
        user_erased.disconnect(receiver)
    assert heard == [(old.pk, True)]


def test_a_receiver_that_fails_keeps_the_guest():
    gone(GUEST_KEPT_DAYS + 1)

    def receiver(**kwargs):
        raise RuntimeError("not now")

    user_erased.connect(receiver)
    try:
        with pytest.raises(RuntimeError):
            services.erase_guests()
    finally:
        user_erased.disconnect(receiver)
    assert User.objects.count() == 1


def test_being_there_is_noted_twice_a_day_at_most(django_assert_num_queries):
    user = gone(0)
    user.refresh_from_db()
    now = timezone.now()
    with django_assert_num_queries(0):
        services.touch_user(user=user, now=now + services.SEEN_EVERY - timedelta(minutes=1))
    services.touch_user(user=user, now=now + services.SEEN_EVERY + timedelta(minutes=1))
    user.refresh_from_db()
    assert user.seen_at > now


def test_whoever_does_anything_is_kept(client):
    open_table(client)
    User.objects.update(seen_at=timezone.now() - timedelta(days=GUEST_KEPT_DAYS + 1))
    open_table(client)
    assert services.erase_guests() == 0


def test_sessions_that_have_run_out_are_deleted(client):
    open_table(client)
    assert Session.objects.count() == 1
    services.erase_sessions()
    assert Session.objects.count() == 1
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    services.erase_sessions()
    assert not Session.objects.exists()
