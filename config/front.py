"""Answers pages that are the same for everybody from memory, before Django sees the request.

Django renders such a page once for each process and address; what it answered, its security headers included, is kept
as it was, compressed too, until the process ends. So a new deployment begins with nothing.
"""

import gzip
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.utils.http import parse_http_date_safe

type Scope = Mapping[str, Any]
type Receive = Callable[[], Awaitable[dict[str, Any]]]
type Send = Callable[[dict[str, Any]], Awaitable[None]]
type Application = Callable[[Any, Any, Any], Awaitable[None]]
type Headers = list[tuple[bytes, bytes]]

KEPT = 512
ABOUT_THE_BODY = {b"content-length", b"content-type", b"content-encoding"}
NEVER_KEPT = {b"set-cookie", b"vary", b"content-encoding"}
"""Headers of answers that are not the same for everybody, or that somebody else has compressed."""


class Answer:
    """A page as it is sent: whole or compressed, or not at all to whoever has it."""

    def __init__(self, headers: Headers, body: bytes) -> None:
        found = dict(headers)
        etag = found[b"etag"].removeprefix(b"W/")
        self.etag = etag
        self.modified = parse_http_date_safe(found.get(b"last-modified", b"").decode("latin-1"))
        # One tag for both forms of a page: it is the same page, and so the tag is a weak one.
        common = [(name, value) for name, value in headers if name not in {b"etag", b"content-length"}]
        common += [(b"ETag", b"W/" + etag), (b"Vary", b"Accept-Encoding")]
        self.unchanged = [(name, value) for name, value in common if name not in ABOUT_THE_BODY]
        self.plain = ([*common, _length(body)], body)
        packed = gzip.compress(body, mtime=0)
        self.packed = ([*common, (b"Content-Encoding", b"gzip"), _length(packed)], packed)

    def is_known(self, asked: Mapping[bytes, bytes]) -> bool:
        """Whether whoever asks has this very page already."""
        if tags := asked.get(b"if-none-match"):
            known = {tag.strip().removeprefix(b"W/") for tag in tags.split(b",")}
            return self.etag in known or b"*" in known
        since = parse_http_date_safe(asked.get(b"if-modified-since", b"").decode("latin-1"))
        return since is not None and self.modified is not None and self.modified <= since

    async def send(self, asked: Mapping[bytes, bytes], send: Send, *, head: bool) -> None:
        status, headers, body = 304, self.unchanged, b""
        if not self.is_known(asked):
            status = 200
            headers, body = self.packed if accepts_gzip(asked.get(b"accept-encoding", b"")) else self.plain
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head else body})


class Front:
    """Keeps what Django says may be kept by anybody: `Cache-Control: public` with an ETag, and no cookie."""

    def __init__(self, application: Application, *, kept: int = KEPT) -> None:
        self.application = application
        self.kept = kept
        self.answers: OrderedDict[tuple[object, ...], Answer] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method not in {"GET", "HEAD"} or scope["query_string"]:
            await self.application(scope, receive, send)
            return
        asked = dict(scope["headers"])
        key = (scope["scheme"], asked.get(b"x-forwarded-proto"), asked.get(b"host"), scope["path"])
        answer = self.answers.get(key)
        if answer is not None:
            self.answers.move_to_end(key)
            await answer.send(asked, send, head=method == "HEAD")
        elif method == "GET":
            await self.application(
                scope, receive, Recorder(send, lambda answer: self._answer(key, answer, asked, send))
            )
        else:
            await self.application(scope, receive, send)

    async def _answer(self, key: tuple[object, ...], answer: Answer, asked: Mapping[bytes, bytes], send: Send) -> None:
        self.answers[key] = answer
        if len(self.answers) > self.kept:
            self.answers.popitem(last=False)
        await answer.send(asked, send, head=False)


class Recorder:
    """Passes on what the application sends, unless it is a page to keep: that one is handed over whole."""

    def __init__(self, send: Send, keep: Callable[[Answer], Awaitable[None]]) -> None:
        self.pass_on, self.keep = send, keep
        self.headers: Headers | None = None
        self.parts: list[bytes] = []

    async def __call__(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start" and may_be_kept(message):
            self.headers = [(name.lower(), value) for name, value in message["headers"]]
        elif self.headers is None:
            await self.pass_on(message)
        else:
            self.parts.append(message.get("body", b""))
            if not message.get("more_body"):
                await self.keep(Answer(self.headers, b"".join(self.parts)))


def may_be_kept(start: Mapping[str, Any]) -> bool:
    """Whether an answer that begins so is a whole page, the same for everybody, that anybody may keep."""
    headers = {name.lower(): value for name, value in start["headers"]}
    lasting = headers.get(b"cache-control", b"").startswith(b"public, max-age=")
    once = b"'nonce-" in headers.get(b"content-security-policy", b"")
    return start["status"] == 200 and lasting and b"etag" in headers and not once and not NEVER_KEPT & headers.keys()


def accepts_gzip(header: bytes) -> bool:
    """Whether `Accept-Encoding` takes gzip; a weight of 0 refuses it."""
    for choice in header.lower().split(b","):
        name, _, weight = choice.partition(b";")
        if name.strip() == b"gzip":
            return weight.replace(b" ", b"") not in {b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"}
    return False


def _length(body: bytes) -> tuple[bytes, bytes]:
    return b"Content-Length", str(len(body)).encode()
