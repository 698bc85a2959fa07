"""What programs ask for: sitemap, robots, favicon, pictures; and what `check --deploy` asks of the operator."""

import struct
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from django.contrib.staticfiles import finders
from django.core.checks import Tags, run_checks

from apps.games import registry
from apps.rulebook import operator
from apps.rulebook.pages import Page, all_pages
from tests.rulebook.conftest import LANGUAGES, Html, address, every_language

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
XHTML = "{http://www.w3.org/1999/xhtml}"
PNG = b"\x89PNG\r\n\x1a\n"
HEAVIEST = 80 * 1024


def entries(client):
    root = ElementTree.fromstring(client.get("/sitemap.xml").content)  # noqa: S314 - our own file
    return {entry.findtext(f"{SITEMAP}loc"): entry for entry in root}


def test_sitemap_lists_every_page_once_with_its_date(client, db):
    found = entries(client)
    expected = {f"http://testserver{address(language, page)}" for page in all_pages() for language in LANGUAGES}
    expected |= {f"http://testserver/{language}/" for language in LANGUAGES}
    assert set(found) == expected
    for location, entry in found.items():
        assert entry.findtext(f"{SITEMAP}lastmod")[:2] == "20"
        assert client.get(urlsplit(location).path).status_code == 200


def test_sitemap_names_every_language_and_a_default(client, db):
    for entry in entries(client).values():
        links = {link.get("hreflang"): link.get("href") for link in entry.findall(f"{XHTML}link")}
        assert set(links) == {*LANGUAGES, "x-default"}
        assert links["x-default"] == links["en"]
        assert entry.findtext(f"{SITEMAP}loc") in links.values()


def test_sitemap_and_robots_use_the_public_address(client, db, settings):
    settings.PUBLIC_URL = "https://cards.example"
    assert all(location.startswith("https://cards.example/") for location in entries(client))
    assert "Sitemap: https://cards.example/sitemap.xml" in client.get("/robots.txt").content.decode()


def test_robots_leave_tables_and_admin_alone(client):
    response = client.get("/robots.txt")
    lines = response.content.decode().splitlines()
    assert response.headers["Content-Type"].startswith("text/plain")
    assert not response.cookies
    assert {"User-agent: *", "Disallow: /admin/", "Disallow: /t/", "Disallow: /ws/"} <= set(lines)
    assert {f"Disallow: /{language}/tables/" for language in LANGUAGES} <= set(lines)
    assert "Sitemap: http://testserver/sitemap.xml" in lines


def test_favicon_is_where_old_programs_look(client):
    response = client.get("/favicon.ico")
    assert response.status_code == 301
    path = finders.find(response.headers["Location"].removeprefix("/static/"))
    with open(path, "rb") as icon:
        assert icon.read(4) == b"\0\0\1\0"


@every_language
@pytest.mark.parametrize("game", ["", *(game.slug for game in registry.all_games())])
def test_preview_pictures_are_there_in_the_right_size(language, game):
    path = finders.find(f"games/{game}/preview-{language}.png" if game else f"img/preview-{language}.png")
    with open(path, "rb") as picture:
        data = picture.read()
    assert data[:8] == PNG
    assert struct.unpack(">II", data[16:24]) == (1200, 630)
    assert len(data) <= HEAVIEST


def fill_in(settings, **values):
    for field, setting in operator.SETTINGS.items():
        setattr(settings, setting, values.get(field, ""))


def operator_errors(deploy):
    errors = run_checks(tags=[Tags.compatibility], include_deployment_checks=deploy)
    return [error for error in errors if error.id == "rulebook.E001"]


def test_check_asks_for_every_missing_fact_when_deploying(settings):
    fill_in(settings, name="Ada")
    assert len(operator_errors(deploy=True)) == len(operator.SETTINGS) - 1
    assert all(error.is_serious() for error in operator_errors(deploy=True))
    assert not operator_errors(deploy=False)


def test_check_is_content_once_everything_is_filled_in(settings):
    fill_in(settings, **dict.fromkeys(operator.SETTINGS, "-") | {"name": "A", "address": "B", "email": "c@d.example"})
    assert not operator_errors(deploy=True)


def test_no_operator_is_without_a_name_and_an_address(settings):
    fill_in(settings, **dict.fromkeys(operator.SETTINGS, "-"))
    assert len(operator_errors(deploy=True)) == len(operator.INDISPENSABLE)


@every_language
def test_legal_notice_shows_the_operator(client, settings, language):
    values = {
        "name": "Ada <Lovelace>",
        "address": "1 Analytical Row\\nLondon",
        "email": "ada@example.org",
        "phone": "+44 1",
        "register": "-",
        "director": "Charles Babbage",
        "host": "Engine Hosting, London",
    }
    fill_in(settings, **values)
    response = client.get(address(language, Page("imprint")))
    html = Html(response.content.decode())
    for shown in ("Ada <Lovelace>", "1 Analytical Row London", "ada@example.org", "+44 1", "Charles Babbage"):
        assert shown in html.text
    assert html.all("a", href="mailto:ada@example.org")
    assert len(html.all("dt")) == len(values) - 1
    assert not html.all("p", class_="notice bad")


@every_language
def test_legal_notice_says_so_while_nothing_is_filled_in(client, settings, language):
    fill_in(settings)
    html = Html(client.get(address(language, Page("imprint"))).content.decode())
    assert html.all("p", class_="notice bad")
    assert len(html.all("dt")) == len(operator.SETTINGS)


@every_language
def test_privacy_names_the_cookies_there_are(client, settings, language):
    settings.DEBUG = True
    text = Html(client.get(address(language, Page("privacy"))).content.decode()).text
    assert settings.SESSION_COOKIE_NAME in text
    assert settings.CSRF_COOKIE_NAME in text
    assert str(settings.SESSION_COOKIE_AGE // 86400) in text
