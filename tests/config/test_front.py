"""Pages that are answered before Django: as it answered them, compressed, and only those that anybody may keep."""

import asyncio
import gzip
from statistics import median
from time import perf_counter

import pytest
from asgiref.testing import ApplicationCommunicator

from apps.games import registry
from apps.rulebook import views
from config.asgi import pages
from config.front import Front, accepts_gzip

pytestmark = pytest.mark.django_db

GAME = f"/en/rules/{registry.all_games()[0].slug}/"


class Reader:
    """Asks the front, behind which Django is counted."""

    def __init__(self):
        self.reached = 0
        self.front = Front(self.django)

    async def django(self, scope, receive, send):
        self.reached += 1
        await pages(scope, receive, send)

    async def ask(self, path, method="GET", query=b"", **headers):
        """(status, headers, body)."""
        lines = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query,
            "headers": [(name.encode(), value.encode()) for name, value in lines.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        line = ApplicationCommunicator(self.front, scope)
        await line.send_input({"type": "http.request", "body": b"", "more_body": False})
        start = await line.receive_output(10)
        body, more = b"", True
        while more:
            part = await line.receive_output(10)
            body, more = body + part.get("body", b""), part.get("more_body", False)
        await line.wait(10)
        return start["status"], {name.decode().lower(): value.decode() for name, value in start["headers"]}, body


@pytest.fixture
def reader():
    return Reader()


async def test_a_page_is_rendered_once(reader):
    first = await reader.ask(GAME)
    again = await reader.ask(GAME)
    assert first == again
    assert first[0] == 200
    assert reader.reached == 1


async def test_a_page_keeps_all_that_django_says_of_it(reader):
    direct = Reader()
    direct.front = direct.django
    status, headers, body = await direct.ask(GAME)
    kept = await reader.ask(GAME)
    assert kept[0] == status
    assert kept[2] == body
    for name, value in headers.items():
        assert kept[1][name] == (f"W/{value}" if name == "etag" else value)
    assert "default-src 'self'" in kept[1]["content-security-policy"]
    assert kept[1]["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in kept[1]


async def test_a_page_is_sent_compressed_to_whoever_takes_it(reader):
    _, _, plain = await reader.ask(GAME)
    _, headers, packed = await reader.ask(GAME, accept_encoding="br, gzip;q=0.8")
    assert headers["content-encoding"] == "gzip"
    assert headers["vary"] == "Accept-Encoding"
    assert int(headers["content-length"]) == len(packed)
    assert gzip.decompress(packed) == plain


async def test_whoever_has_the_page_gets_none(reader):
    _, headers, _ = await reader.ask(GAME)
    for asked in (
        {"if_none_match": headers["etag"]},
        {"if_none_match": f'"other", {headers["etag"].removeprefix("W/")}'},
        {"if_none_match": "*"},
        {"if_modified_since": headers["last-modified"]},
    ):
        status, unchanged, body = await reader.ask(GAME, **asked)
        assert (status, body) == (304, b"")
        assert unchanged["etag"] == headers["etag"]
        assert "content-security-policy" in unchanged
        assert "content-length" not in unchanged
    assert (await reader.ask(GAME, if_none_match='"older"'))[0] == 200
    assert (await reader.ask(GAME, if_modified_since="yesterday"))[0] == 200
    assert reader.reached == 1


async def test_the_head_alone_has_no_body(reader):
    await reader.ask(GAME)
    status, headers, body = await reader.ask(GAME, method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0
    assert reader.reached == 1


async def test_pages_of_one_person_are_never_kept(reader):
    for path in ("/en/", "/en/tables/new/", "/nothing-here", "/healthz", "/"):
        await reader.ask(path)
        await reader.ask(path)
    assert reader.reached == 10
    assert not reader.front.answers


async def test_a_question_in_the_address_is_djangos_to_answer(reader):
    await reader.ask(GAME)
    await reader.ask(GAME, query=b"a=b")
    assert reader.reached == 2


async def test_other_hosts_get_pages_of_their_own(reader):
    _, _, here = await reader.ask(GAME)
    _, _, there = await reader.ask(GAME, host="127.0.0.1")
    assert b"http://127.0.0.1" in there
    assert here != there
    assert (await reader.ask(GAME, host="evil.example"))[0] == 400


def test_rendering_a_page_asks_the_database_nothing(client, django_assert_num_queries):
    views._rendered.cache_clear()
    with django_assert_num_queries(0):
        assert client.get(GAME).status_code == 200


async def test_having_the_page_costs_a_seventh_of_rendering_it(reader):
    _, headers, _ = await reader.ask(GAME)

    async def send(message):
        pass

    async def seconds(application, *asked):
        asks = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive():
            return next(asks, None) or await asyncio.Event().wait()

        scope = {"type": "http", "method": "GET", "scheme": "http", "path": GAME, "query_string": b""}
        scope["headers"] = [(b"host", b"localhost"), *asked]
        began = perf_counter()
        await application(scope, receive, send)
        return perf_counter() - began

    async def rendered():
        views._rendered.cache_clear()
        return await seconds(pages)

    known = (b"if-none-match", headers["etag"].encode())
    rendering = median([await rendered() for _ in range(7)])
    answering = median([await seconds(reader.front, known) for _ in range(7)])
    assert answering * 7 < rendering


async def test_memory_is_bounded(reader):
    reader.front.kept = 2
    for language, leaf in (("en", "rules"), ("fr", "regles"), ("de", "regeln")):
        assert (await reader.ask(f"/{language}/{leaf}/"))[0] == 200
    assert [key[-1] for key in reader.front.answers] == ["/fr/regles/", "/de/regeln/"]


@pytest.mark.parametrize(
    ("header", "taken"),
    [(b"gzip", True), (b"br, GZIP", True), (b"gzip;q=0", False), (b"gzip; q=0.0", False), (b"br", False), (b"", False)],
)
def test_gzip_is_sent_to_those_who_ask_for_it(header, taken):
    assert accepts_gzip(header) is taken
