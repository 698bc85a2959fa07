"""Pages of tables as a client sees them that knows no rules: forms to choose from, regions that change, a socket."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from html.parser import HTMLParser
from random import Random

from channels.testing import WebsocketCommunicator
from django.test import AsyncClient, Client

from apps.tables.models import Status
from config.asgi import application

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
PATIENCE = 20
"""Seconds until something that has to come is given up. Nothing waits so long that works."""
HOST = b"testserver"
SHORT = {"turns": 1}
"""Settings of a short match; a game without them ignores them."""


class Forms(HTMLParser):
    """The forms of a page with their hidden fields, and the attributes of ``#table`` and ``#notice``."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.moves: list[dict[str, str]] = []
        self.deeds: list[str] = []
        self.table: dict[str, str | None] = {}
        self.notice: dict[str, str | None] = {}
        self.cards: list[str] = []
        self.seats: list[dict[str, str | None]] = []
        self.identities: list[str] = []
        self._form: dict[str, str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.identities += [found["id"] or ""] if "id" in found else []
        if found.get("id") == "table":
            self.table = found
        if found.get("id") == "notice":
            self.notice = found
        if "data-card" in found:
            self.cards.append(found["data-card"] or "")
        if "data-seat" in found:
            self.seats.append(found)
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

    @property
    def version(self) -> int:
        return int(self.table["data-version"] or 0)

    @property
    def over(self) -> bool:
        return self.table["data-status"] == Status.FINISHED

    @property
    def refused(self) -> str | None:
        """The code of the refusal that the page shows."""
        return self.notice.get("data-code")


def forms(html: str | bytes) -> Forms:
    return Forms(html.decode() if isinstance(html, bytes) else html)


class Elements(HTMLParser):
    """The outermost elements of a fragment, by id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.order: list[str] = []
        self._lines = [0]
        for line in html.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._html, self._depth, self._start, self._id = html, 0, 0, ""
        self.feed(html)
        self.close()
        self._finish(len(html))

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _finish(self, end: int) -> None:
        if self._id:
            self.found[self._id] = self._html[self._start : end]
        self._id = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._depth == 0:
            self._finish(self._place())
            self._start, self._id = self._place(), dict(attrs).get("id") or ""
            assert self._id, f"a fragment without an id: {self._html[self._start : self._start + 80]}"
            self.order.append(self._id)
        if tag not in VOID:
            self._depth += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """``<use/>`` opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag not in VOID


def text_of(html: str) -> list[str]:
    """The sentences of ``#announce``."""
    return re.findall(r"<p>(.*?)</p>", html)


class Page:
    """A table's page fed by its socket: keeps the newest of each region, and everything that was ever sent."""

    def __init__(
        self, visitor: Client | AsyncClient | None, address: str, *, language: str = "en", origin: bytes | None = None
    ) -> None:
        self.visitor = visitor
        self.code = code_of(address)
        self.regions: dict[str, str] = {}
        self.frames: list[str] = []
        self.announced: list[str] = []
        self.notices: list[str | None] = []
        self.closed: int | None = None
        self._forms: Forms | None = None
        self._fenced = False
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in visitor.cookies.items()) if visitor else ""
        headers = [(b"host", HOST), (b"origin", origin or b"http://" + HOST), (b"cookie", cookies.encode())]
        self.line = WebsocketCommunicator(application, f"/ws/{language}/tables/{self.code}/", headers)

    async def open(self) -> "Page":
        """Connect, and read the page as it is."""
        accepted, code = await self.line.connect(timeout=PATIENCE)
        assert accepted, code
        await self.until(lambda page: page.closed or "table" in page.regions)
        return self

    async def close(self) -> None:
        if self.closed is None and not self.line.future.done():
            await self.line.disconnect(timeout=PATIENCE)

    # ── reading ──

    async def read(self) -> str:
        """The next message; empty when the socket was closed instead."""
        output = await self.line.receive_output(timeout=PATIENCE)
        if output["type"] == "websocket.close":
            self.closed = output["code"]
            return ""
        self._take(output["text"])
        return output["text"]

    def _take(self, frame: str) -> None:
        self.frames.append(frame)
        elements = Elements(frame)
        assert elements.order[0] == "table" or (elements.order[0] == "notice" and len(elements.order) <= 2), (
            elements.order
        )
        said = text_of(elements.found.pop("announce", ""))
        elements.found.pop("log-news", None)
        if self._fenced and "data-full" in frame and (said or "<li>" not in elements.found["log"]):
            self._fenced, said = False, []
        self.announced += said
        if notice := elements.found.get("notice"):
            self.notices.append(forms(notice).refused)
        self.regions |= elements.found
        self._forms = None

    async def until(self, done: Callable[["Page"], object]) -> "Page":
        """Read until this is so."""
        while not done(self):
            assert self.closed is None, f"closed: {self.closed}"
            await self.read()
        return self

    async def at(self, version: int) -> "Page":
        """Read until the page shows this version or a newer one."""
        return await self.until(lambda page: page.forms.version >= version)

    async def settle(self) -> "Page":
        """Read all that was answered to what was sent so far: up to the one message that tells the whole log again."""
        self._fenced = True
        await self.line.send_json_to({"resync": "0"})
        return await self.until(lambda page: not page._fenced)

    @property
    def forms(self) -> Forms:
        if self._forms is None:
            self._forms = forms("".join(self.regions.values()))
        return self._forms

    # ── sending ──

    async def send(self, **message: object) -> None:
        await self.line.send_json_to(message)

    async def taken(self) -> None:
        """Wait until the site has looked at everything that was sent."""
        while not self.line.input_queue.empty():  # noqa: ASYNC110 - a queue tells nobody that it is empty
            await asyncio.sleep(0)

    async def choose(self, form: dict[str, str]) -> None:
        """Send a form as htmx does, its headers among the fields."""
        await self.send(move=form["move"], version=form["version"], HEADERS={"HX-Request": "true"})

    async def refusal(self) -> str | None:
        """The code of the next refusal."""
        told = len(self.notices)
        await self.until(lambda page: len(page.notices) > told)
        return self.notices[-1]


def code_of(address: str) -> str:
    found = re.search(r"/tables/([a-z0-9]+)/", address)
    assert found
    return found[1]


def open_table(client: Client, game: str, *, language: str = "en", **fields: object) -> str:
    """Open a table through the new-table page; its address."""
    response = client.post(f"/{language}/tables/new/", {"game": game, "name": "Ada", **fields})
    assert response.status_code == 303, response.content.decode()
    return response["Location"]


async def open_async(client: AsyncClient, game: str, *, language: str = "en", **fields: object) -> str:
    """The same in an event loop."""
    response = await client.post(f"/{language}/tables/new/", {"game": game, "name": "Ada", **fields})
    assert response.status_code == 303, response.content.decode()
    return response["Location"]


async def do(client: AsyncClient, address: str, action: str, **fields: object) -> int:
    """Post a deed; the status of the answer."""
    return (await client.post(f"{address}{action}/", fields)).status_code


def finish(client: Client, address: str) -> str:
    """Play a match of one browser to its end by choosing the last form; the page it ends with."""
    while True:
        page = client.get(address).content.decode()
        if (seen := forms(page)).over:
            return page
        form = seen.moves[-1]
        assert client.post(form["action"], form).status_code == 303


async def play(page: Page, rng: Random) -> None:
    """Choose any form whenever there is one, until the match is over."""
    while not (seen := page.forms).over:
        if seen.moves:
            await page.choose(rng.choice(seen.moves))
        await page.until(lambda page, version=seen.version: page.forms.version > version)


async def eventually(check: Callable[[], Awaitable[object]]) -> None:
    """Wait for what nothing here is told of, such as a row written by a clock."""
    async with asyncio.timeout(PATIENCE):
        while not await check():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def soon(event: asyncio.Event) -> None:
    """Wait for an event that has to come; a test that waits for ever says nothing."""
    await asyncio.wait_for(event.wait(), PATIENCE)
