"""What is promised of the whole site and of all its code, whoever writes the next line."""

import gettext
import re
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse
from django.utils import translation

from apps.games import registry

LANGUAGES = [code for code, _ in settings.LANGUAGES]
SOURCES = ("apps", "config", "templates", "static")
TEXT = {".py", ".html", ".txt", ".xml", ".css", ".js", ".svg", ".json"}


class Outline(HTMLParser):
    """The parts of a page that every page has to have right."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def count(self, name):
        return sum(tag == name for tag, _ in self.tags)

    def attributes(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]


def game_pages():
    for game in registry.all_games():
        yield "rulebook:game", {"game": game.slug}, ""
        yield "tables:new", {}, f"?game={game.slug}"


PAGES = [
    ("home", {}, ""),
    *((f"rulebook:{page}", {}, "") for page in ("hub", "imprint", "privacy", "terms", "accessibility")),
    ("accounts:settings", {}, ""),
    *game_pages(),
]
every_page = pytest.mark.parametrize(("name", "arguments", "query"), PAGES, ids=lambda value: str(value)[:30])
every_language = pytest.mark.parametrize("language", LANGUAGES)


def address(language, name, arguments, query):
    with translation.override(language):
        return reverse(name, kwargs=arguments) + query


def sources():
    for folder in SOURCES:
        for path in sorted((settings.BASE_DIR / folder).rglob("*")):
            if path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


@every_language
@every_page
def test_page_has_one_heading_its_language_and_a_title(client, db, language, name, arguments, query):
    response = client.get(address(language, name, arguments, query))
    assert response.status_code == 200
    assert response.headers["Content-Language"] == language
    page = Outline(response.content.decode())
    assert page.count("h1") == page.count("title") == page.count("main") == 1
    assert page.attributes("html")[0]["lang"] == language
    identities = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(identities) == len(set(identities))


@every_language
def test_missing_page_is_told_in_the_language_of_its_address(client, db, language):
    response = client.get(f"/{language}/no-such-page/")
    assert response.status_code == 404
    page = Outline(response.content.decode())
    assert page.attributes("html")[0]["lang"] == language
    assert page.count("h1") == 1


@every_language
@pytest.mark.parametrize(("name", "arguments", "query"), [page for page in PAGES if page[0].startswith("rulebook:")])
def test_reading_leaves_no_trace_and_differs_for_nobody(client, db, language, name, arguments, query):
    path = address(language, name, arguments, query)
    first = client.get(path)
    second = client.get(path, headers={"Accept-Language": "ru", "Cookie": "django_language=de; sessionid=abc"})
    assert not first.cookies
    assert "Cookie" not in first.headers.get("Vary", "")
    assert first.content == second.content


@every_language
def test_catalogues_of_the_language_load(language):
    for folder in settings.LOCALE_PATHS if language != settings.LANGUAGE_CODE else ():
        assert gettext.translation("django", folder, [language])._catalog
    with translation.override(language):
        assert str(translation.gettext("English"))


def test_models_and_migrations_agree(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_health_is_told_without_a_session(client, db):
    response = client.get("/healthz")
    assert (response.status_code, response.content, dict(response.cookies)) == (200, b"ok", {})


def test_no_code_outside_its_folder_names_a_game():
    for game in registry.all_games():
        name = re.compile(rf"(?<![a-z]){'[-_ ]?'.join(game.slug.split('-'))}(?![a-z])", re.IGNORECASE)
        own = registry.folder_of(game)
        strangers = [
            f"{path.relative_to(settings.BASE_DIR)}: {found[0]}"
            for path, text in sources()
            if not path.is_relative_to(own) and "migrations" not in path.parts and (found := name.search(text))
        ]
        assert not strangers


def test_nothing_in_a_template_is_inline():
    """The policy would drop it silently. Pictures drawn from a template are never served as one."""
    inline = re.compile(
        r"""<[^>]*\s(?:style|on[a-z]+)\s*=|<style|<script(?![^>]*(?:src=|type="application/))|javascript:"""
    )
    guilty = {
        str(path): found[0]
        for path, text in sources()
        if path.suffix == ".html" and path.name != "preview.html" and (found := inline.search(text))
    }
    assert not guilty


def test_nothing_is_fetched_from_elsewhere():
    foreign = re.compile(r"""(?:src|href|action)="https?://|url\(["']?https?:|@import\s+["']https?:""")
    guilty = {
        str(path): found[0]
        for path, text in sources()
        if path.suffix in {".html", ".css", ".js"} and (found := foreign.search(text))
    }
    assert not guilty


def test_no_language_outlives_its_request():
    """In code as well as in whatever the linter does not read."""
    bare = re.compile(r"\b(?:translation\.)?activate\(")
    assert not [str(path) for path, text in sources() if path.suffix == ".py" and bare.search(text)]


def test_languages_of_concurrent_requests_are_kept_apart():
    """asgiref before 3.9 mixed them up."""
    assert tuple(map(int, version("asgiref").split(".")[:2])) >= (3, 9)


def test_every_package_of_tests_is_one():
    """Two test files of one name collide without."""
    folders = {path.parent for path in Path(settings.BASE_DIR / "tests").rglob("*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]
