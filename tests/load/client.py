"""A client of the page protocol that knows no rules and costs little: thousands of them fit beside a server.

It reads the forms of the regions it was sent, posts one, and knows by `#table` which version it shows.
"""

import asyncio
import base64
import html
import json
import os
import re
from collections.abc import Callable
from urllib.parse import quote_plus, urlsplit

REGION = re.compile(r'<\w+ (?:[^>]*? )?id="(table|where|notice|seats|felt|dock|side|menu|log|log-news|announce)"')
FORM = re.compile(
    r'<form data-move[^>]*><input type="hidden" name="move" value="([^"]*)"><input type="hidden" name="version" '
    r'value="(\d+)">'
)
VERSION = re.compile(r'data-version="(\d+)"')
STATUS = re.compile(r'data-status="(\w+)"')
REFUSAL = re.compile(r'data-code="([\w-]+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
ADDRESS = re.compile(r"/tables/([a-z0-9]+)/")

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
NO_MASK = b"\0\0\0\0"  # a legal mask that changes nothing
PATIENCE = 60


class Page:
    """What one viewer has been shown: the newest of each region."""

    def __init__(self) -> None:
        self.regions: dict[str, str] = {}
        self.version = 0
        self.status = ""
        self._forms: list[tuple[str, str]] | None = None

    def take(self, frame: str) -> str | None:
        """Put a message in place; the code of the refusal it brings, if any."""
        starts = [(found.start(), found[1]) for found in REGION.finditer(frame)]
        ends = [start for start, _ in starts[1:]] + [len(frame)]
        for (start, name), end in zip(starts, ends, strict=True):
            self.regions[name] = frame[start:end]
        names = {name for _, name in starts}
        if "table" in names:
            table = self.regions["table"]
            self.version = int(VERSION.search(table)[1])
            self.status = STATUS.search(table)[1]
        self._forms = None
        refused = REFUSAL.search(self.regions["notice"]) if "notice" in names else None
        return refused[1] if refused else None

    @property
    def moves(self) -> list[tuple[str, str]]:
        """(move, version) of every form there is, as they are written in the page."""
        if self._forms is None:
            regions = [region for region in self.regions.values() if "data-move" in region]
            self._forms = [form for region in regions for form in FORM.findall(region)]
        return self._forms


class Socket(asyncio.Protocol):
    """A WebSocket of one viewer. ``heard`` is called with it and the refusal after every message."""

    def __init__(self, path: str, host: str, cookie: str, heard: Callable[["Socket", str | None], None]) -> None:
        self.page = Page()
        self.heard = heard
        self.bytes = self.messages = 0
        self.closed: int | None = None
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[int] = loop.create_future()
        self._buffer = bytearray()
        self._parts = bytearray()
        key = base64.b64encode(os.urandom(16)).decode()
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nCookie: {cookie}\r\n\r\n"
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        transport.write(self._request.encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self.opened.done() and not self._shake_hands():
            return
        while self._take_frame():
            pass

    def _shake_hands(self) -> bool:
        head, end, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not end:
            return False
        status = int(head.split(b" ", 2)[1])
        self._buffer = bytearray(rest)
        if status != 101:
            self.opened.set_exception(ConnectionError(f"handshake answered {status}"))
            self.transport.close()
            return False
        self.opened.set_result(None)
        return True

    def _take_frame(self) -> bool:
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        length, start = buffer[1] & 127, 2
        if length == 126:
            length, start = int.from_bytes(buffer[2:4]), 4
        elif length == 127:
            length, start = int.from_bytes(buffer[2:10]), 10
        if len(buffer) < start + length:
            return False
        first, payload = buffer[0], bytes(buffer[start : start + length])
        del buffer[: start + length]
        self.bytes += start + length
        self._handle(first, payload)
        return True

    def _handle(self, first: int, payload: bytes) -> None:
        kind = first & 15
        if kind == PING:
            self._send(PONG, payload)
        elif kind == CLOSE:
            self.closed = int.from_bytes(payload[:2]) if payload else 1005
            self._send(CLOSE, payload)
            self.transport.close()
        elif kind in (0, TEXT):
            self._parts += payload
            if first & 128:
                text, self._parts = self._parts.decode(), bytearray()
                self.messages += 1
                self.heard(self, self.page.take(text))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(error or ConnectionError("closed before it was open"))
        if not self.ended.done():
            self.ended.set_result(self.closed or 1006)

    def send(self, **message: str) -> None:
        self._send(TEXT, json.dumps(message).encode())

    def move(self, form: tuple[str, str]) -> None:
        self.send(move=html.unescape(form[0]), version=form[1])

    def _send(self, kind: int, payload: bytes) -> None:
        size = len(payload)
        head = bytes((128 | kind, 128 | size)) if size < 126 else bytes((128 | kind, 254)) + size.to_bytes(2)
        self.transport.write(head + NO_MASK + payload)

    def close(self) -> None:
        self.transport.close()


class Visitor:
    """One browser: cookies, plain requests, sockets. ``source``: which of this machine's addresses it comes from."""

    def __init__(self, url: str, *, language: str = "en", source: str = "127.0.0.1") -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.language, self.source = language, source
        self.cookies: dict[str, str] = {}

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    async def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str, str]:
        """(status, the address it sends us to, page)."""
        body = "&".join(f"{name}={quote_plus(value)}" for name, value in (fields or {}).items())
        request = (
            f"{method} {path} HTTP/1.0\r\nHost: {self.host}:{self.port}\r\nOrigin: http://{self.host}:{self.port}\r\n"
            f"Cookie: {self.cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=(self.source, 0))
        try:
            writer.write(request.encode())
            answer = await asyncio.wait_for(reader.read(), PATIENCE)
        finally:
            writer.close()
        return self._read(answer)

    def _read(self, answer: bytes) -> tuple[int, str, str]:
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head:
            raise ConnectionError("no answer")
        status, *lines = head.decode().split("\r\n")
        location = ""
        for name, value in (line.split(": ", 1) for line in lines):
            if name.lower() == "set-cookie":
                cookie, _, found = value.split(";")[0].partition("=")
                self.cookies[cookie] = found
            elif name.lower() == "location":
                location = value
        return int(status.split(" ")[1]), location, body.decode()

    async def post(self, path: str, page: str, **fields: str) -> str:
        """Post a form of this page; where it leads. Raises AssertionError for a refusal."""
        token = TOKEN.search(page)
        fields["csrfmiddlewaretoken"] = token[1] if token else ""
        status, location, answer = await self.ask("POST", path, fields)
        assert status in {302, 303}, (path, status, answer[:2000])
        return location

    async def open_table(self, game: str, **fields: str) -> str:
        """A table by link, this visitor its host; its address without the language."""
        new = f"/{self.language}/tables/new/"
        _, _, page = await self.ask("GET", f"{new}?game={game}&mode=link")
        location = await self.post(new, page, game=game, mode="link", name="Host", seconds="0", **fields)
        return ADDRESS.search(location)[1]

    async def page_of(self, code: str) -> str:
        return (await self.ask("GET", f"/{self.language}/tables/{code}/"))[2]

    async def do(self, code: str, deed: str, **fields: str) -> None:
        await self.post(f"/{self.language}/tables/{code}/{deed}/", await self.page_of(code), **fields)

    async def watch(self, code: str, heard: Callable[[Socket, str | None], None]) -> Socket:
        """A socket of this visitor, once it shows the table."""
        path, host = f"/ws/{self.language}/tables/{code}/", f"{self.host}:{self.port}"
        loop = asyncio.get_running_loop()
        _, socket = await loop.create_connection(
            lambda: Socket(path, host, self.cookie, heard), self.host, self.port, local_addr=(self.source, 0)
        )
        await asyncio.wait_for(socket.opened, PATIENCE)
        return socket
