"""Tables, people and a client that knows no rules."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.test import Client

from apps.games import registry
from apps.tables import live, thinking


@pytest.fixture(autouse=True)
def nothing_cached() -> Iterator[None]:
    live.cache.clear()
    yield
    live.cache.clear()
    thinking.shut_down()


class Forms(HTMLParser):
    """The forms of a page with their hidden fields, and the attributes of ``#table``."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.moves: list[dict[str, str]] = []
        self.deeds: list[str] = []
        self.table: dict[str, str | None] = {}
        self.notice: dict[str, str | None] = {}
        self._form: dict[str, str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id") == "table":
            self.table = found
        if found.get("id") == "notice":
            self.notice = found
        if tag == "form" and "data-move" in found:
            self._form = {"action": found["action"] or ""}
        elif tag == "form" and "data-do" in found:
            self.deeds.append(found["data-do"] or "")
        elif tag == "input" and self._form is not None and found.get("type") == "hidden":
            self._form[found["name"] or ""] = found["value"] or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form is not None:
            self.moves.append(self._form)
            self._form = None


def forms(html: str | bytes) -> Forms:
    return Forms(html.decode() if isinstance(html, bytes) else html)


def open_table(client: Client, game: str, *, language: str = "en", **fields: object) -> str:
    """Open a table through the new-table page; its address."""
    response = client.post(f"/{language}/tables/new/", {"game": game, "name": "Ada", **fields})
    assert response.status_code == 303, response.content.decode()
    return response["Location"]


def code_of(address: str) -> str:
    found = re.search(r"/tables/([a-z0-9]+)/", address)
    assert found
    return found[1]


@pytest.fixture(params=[game.slug for game in registry.all_games()])
def slug(request: pytest.FixtureRequest) -> str:
    return request.param
