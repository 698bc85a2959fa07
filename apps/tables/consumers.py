"""Sockets. They parse, ask the move path, and show what the hub renders; nothing else."""

from collections.abc import Mapping

import msgspec
from asgiref.typing import WebSocketScope
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError

from apps.accounts.models import CardLetters
from apps.games.kernel.errors import Refusal
from apps.tables import attendance, metrics, refusals
from apps.tables.board import Audience
from apps.tables.hub import hub
from apps.tables.limits import MOVES, TokenBucket
from apps.tables.live import LiveTable
from apps.tables.moves import Wish, make_move, newest_table
from apps.tables.render import Rendering, render, render_notice

LONGEST_MESSAGE = 4096

NO_TABLE, EXPIRED, COME_AGAIN = 4404, 4410, 4012
"""Close codes of the page protocol."""


class Message(msgspec.Struct, frozen=True):
    """What a page sends: a move with its version, or a wish to see everything again. Other keys are htmx's."""

    move: str | None = None
    version: str | None = None
    resync: str | None = None


_decoder = msgspec.json.Decoder(Message)


class TableConsumer(AsyncWebsocketConsumer):
    """One open page of a table: a seat's, or a spectator's."""

    scope: WebSocketScope
    channel_layer_alias = None

    async def connect(self) -> None:
        await self.accept()
        arguments = self.scope["url_route"]["kwargs"]  # type: ignore[typeddict-item]
        self.code: str = arguments["code"]
        self.language: str = arguments["language"]
        user = self.scope["user"]  # type: ignore[typeddict-item]
        self.user_id: int | None = user.pk
        self.letters = str(getattr(user, "card_letters", CardLetters.OWN))
        self.bucket = TokenBucket(MOVES)
        self.shown: Mapping[str, str] = {}
        self.version: int | None = None
        self.noticed = True
        """The page may show a notice, which goes with the next change."""
        self.joined = False
        try:
            await self._join(await newest_table(self.code))
        except Refusal as refusal:
            await self.close(EXPIRED if refusal.code == "expired" else NO_TABLE)
        except DatabaseError:
            await self.close(COME_AGAIN)

    async def _join(self, table: LiveTable) -> None:
        self.joined = True
        await hub().join(self)
        moves = 0
        if self.user_id is not None and table.seats_of(self.user_id):
            moves = await attendance.came(table, self.scope["user"])  # type: ignore[typeddict-item]
        await self._show_all(since=None)
        if moves:
            await self._notify(refusals.welcome_back(moves, self.language))

    async def disconnect(self, code: int) -> None:
        if not self.joined:
            return
        hub().leave(self)
        if self.user_id is not None:
            hub().spawn(attendance.went(self.code, self.user_id))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            await self._handle(text_data)
        except Refusal as refusal:
            await self._refuse(refusal)
        except DatabaseError:
            await self._refuse(Refusal("unavailable"))

    async def _handle(self, text: str | None) -> None:
        if not self.bucket.take():
            if self.bucket.just_emptied:
                raise Refusal("too-fast")
            return
        if text is None or len(text) > LONGEST_MESSAGE:
            raise Refusal("bad-message")
        try:
            message = _decoder.decode(text)
        except msgspec.MsgspecError:
            raise Refusal("bad-message") from None
        if message.resync is not None:
            metrics.RESYNCS.inc()
            await self._show_all(since=_version(message.resync))
            return
        if message.move is None or message.version is None:
            raise Refusal("bad-message")
        wish = Wish(code=self.code, move=message.move, version=message.version, user_id=self.user_id)
        await make_move(wish)

    async def _refuse(self, refusal: Refusal) -> None:
        """Say why, and in case the page is behind, show the table as it is."""
        metrics.REFUSALS.labels(refusal.code).inc()
        if refusal.code == "stale":
            await self._show_all(since=self.version)
        await self._notify(refusals.notice(refusal, self.language))

    async def _notify(self, notice: Mapping[str, str]) -> None:
        self.noticed = True
        await self.send(self.shown.get("table", "") + render_notice(notice, self.language))

    async def _show_all(self, *, since: int | None) -> None:
        table = await newest_table(self.code)
        rendering = render(table, self.audience(table))
        if self.version is not None and rendering.version < self.version:
            return
        self.shown, self.version = rendering.regions, rendering.version
        await self.send(rendering.whole(since=since))

    # ── what the hub asks of a viewer ──

    def audience(self, table: LiveTable) -> Audience:
        held = table.seats_of(self.user_id)
        return Audience(
            language=self.language,
            letters=self.letters,
            held=held,
            host=bool(held) and table.host_id == self.user_id,
        )

    async def show(self, rendering: Rendering) -> None:
        """Send what has changed; never anything older than what is shown."""
        if self.version is None or rendering.version < self.version:
            return
        changes = rendering.changes(shown=self.shown, since=self.version)
        if self.noticed and rendering.version > self.version:
            changes += render_notice(None, self.language)
            self.noticed = False
        self.shown, self.version = rendering.regions, rendering.version
        await self.send(changes)

    async def close_with(self, code: int) -> None:
        await self.close(code)


def _version(raw: str) -> int | None:
    """The version a page shows; None when it does not know."""
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 10 else None


class NoSuchPath(AsyncWebsocketConsumer):
    """Any other path: accepted, so that the page learns the reason, then closed."""

    channel_layer_alias = None

    async def connect(self) -> None:
        await self.accept()
        await self.close(NO_TABLE)
