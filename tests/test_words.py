"""No English is left on a page in another language: neither in the text nor where only a screen reader finds it."""

import asyncio
import re
from functools import cache
from html.parser import HTMLParser

import polib
import pytest
from django.conf import settings
from django.test import AsyncClient
from django.urls import reverse

from apps.games import registry
from config import extraction
from tests.test_promises import LANGUAGES, PAGES, Outline, address

SPOKEN = {"aria-label", "aria-roledescription", "alt", "placeholder", "title"}
# Names: of the site, of the languages in themselves, of cookies.
NAMES = {"Upcard", "English", "français", "Deutsch", "русский", "csrftoken", "sessionid", "django_language", "Zoé"}
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|%[sd]|\{[a-z_]*\}")


class Words(HTMLParser):
    """The pieces of text of a page that have words in them, with those that scripts and screen readers use."""

    def __init__(self, html):
        super().__init__()
        self.pieces = set()
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        for name, value in attrs:
            if name in SPOKEN or name.startswith(("data-text", "data-on", "data-say")):
                self.add(value)

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in {"script", "style"}:
            self.add(data)

    def add(self, text):
        piece = re.sub("[0-9a-f]{64}", "", " ".join((text or "").split()))  # a seed's hash is no word
        if re.search("[A-Za-z]{3}", piece):
            self.pieces.add(piece)


@cache
def translations(language):
    """What a piece of text may look like that is the same in English, such as the French “table”."""
    paths = [extraction.catalogue_path(folder, language) for folder in settings.LOCALE_PATHS]
    entries = [entry for path in paths if path.exists() for entry in polib.pofile(str(path), encoding="utf-8")]
    texts = [text for entry in entries for text in (entry.msgstr, *entry.msgstr_plural.values()) if text]
    return [re.compile(".+".join(map(re.escape, PLACEHOLDER.split(" ".join(text.split()))))) for text in texts]


def left_in_english(english, other, language):
    """The pieces that two pages share, without names and without words that are the same in both languages."""
    shared = Words(english).pieces & Words(other).pieces - NAMES
    return {piece for piece in shared if not any(known.fullmatch(piece) for known in translations(language))}


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize(("name", "arguments", "query"), PAGES, ids=lambda value: str(value)[:30])
def test_page_has_no_english_left(client, db, name, arguments, query, language):
    english, other = (client.get(address(code, name, arguments, query)).content.decode() for code in ("en", language))
    assert not left_in_english(english, other, language)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize("mode", ["link", "computer", "same_device"])
@pytest.mark.parametrize("game", registry.all_games(), ids=lambda game: game.slug)
def test_table_has_no_english_left(client, db, game, mode, language):
    form = client.get(address("en", "tables:new", {}, f"?game={game.slug}&mode={mode}"))
    opened = client.post(
        reverse("tables:new"), filled_in(form.content.decode()) | {"name": "Zoé", "names": ["Zoé", "Я"]}
    )
    path = opened.headers["Location"]
    english, other = (client.get(path.replace("/en/", f"/{code}/")).content.decode() for code in ("en", language))
    assert not left_in_english(english, other, language)


def filled_in(page):
    """The fields of a form as a browser would send them untouched."""
    inputs = Outline(page).attributes("input")
    return {
        attrs["name"]: attrs.get("value", "on")
        for attrs in inputs
        if "name" in attrs and (attrs.get("type") not in {"radio", "checkbox"} or "checked" in attrs)
    }


async def test_languages_of_requests_at_the_same_time_are_not_mixed(transactional_db):
    """Each of many interleaved requests is answered in its own language."""

    async def ask(language):
        response = await AsyncClient().get(f"/{language}/")
        page = Outline(response.content.decode())
        return language == response.headers["Content-Language"] == page.attributes("html")[0]["lang"]

    assert all(await asyncio.gather(*(ask(LANGUAGES[number % len(LANGUAGES)]) for number in range(200))))
