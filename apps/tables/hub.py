"""The viewers of this process, and what each of them has been shown.

One table change is rendered once for each audience, whatever their number, and each viewer is sent
the regions that differ from what it has. A viewer that misses something asks for everything again.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Iterable
from contextvars import Context
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from channels.db import database_sync_to_async
from channels.layers import InMemoryChannelLayer, get_channel_layer

from apps.tables import live as tables
from apps.tables import presence
from apps.tables.board import Audience
from apps.tables.live import LiveTable
from apps.tables.render import Rendering, render

logger = logging.getLogger(__name__)


class Viewer(Protocol):
    """An open page of a table."""

    code: str
    user_id: int | None

    def audience(self, table: LiveTable) -> Audience: ...
    async def show(self, rendering: Rendering) -> None: ...
    async def close_with(self, code: int) -> None: ...


class Hub:
    """Everything this process shows, on one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._viewers: defaultdict[str, set[Viewer]] = defaultdict(set)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._reading: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keeper: asyncio.Task[Any] | None = None
        self._channel: str | None = None

    def lock(self, code: str) -> asyncio.Lock:
        """Moves of one table are made one after the other in this process."""
        lock = self._locks.get(code)
        if lock is None:
            lock = self._locks[code] = asyncio.Lock()
        return lock

    # ── viewers ──

    async def join(self, viewer: Viewer) -> None:
        self._viewers[viewer.code].add(viewer)
        if self._keeper is None:
            self._keeper = self.spawn(self._keep_present())
        await self._listen()

    def leave(self, viewer: Viewer) -> None:
        self._viewers[viewer.code].discard(viewer)
        if not self._viewers[viewer.code]:
            del self._viewers[viewer.code]

    def has(self, code: str, user_id: int) -> bool:
        """Whether this person has this table open in this process."""
        return any(viewer.user_id == user_id for viewer in self._viewers.get(code, ()))

    async def _keep_present(self) -> None:
        """Renew the presence of everybody here while anybody is."""
        while True:
            await asyncio.sleep(presence.RENEW_EVERY_SECONDS)
            people = {
                (code, viewer.user_id)
                for code, viewers in self._viewers.items()
                for viewer in viewers
                if viewer.user_id is not None
            }
            await _renew(people)

    # ── showing ──

    def publish(self, table: LiveTable) -> None:
        """Show this state of a table to its viewers here, and tell the other processes."""
        self.spawn(self.show(table))
        self.spawn(self._tell_others(table.code, table.version))

    def read_again(self, code: str) -> None:
        """Something else than a move changed this table: show it as the database has it."""
        if code in self._viewers and code not in self._reading:
            self._reading.add(code)
            self.spawn(self._read_and_show(code))

    async def _read_and_show(self, code: str) -> None:
        self._reading.discard(code)
        table = await _load(code)
        if table is None:
            return
        tables.cache.put(table)
        await self.show(table)
        if table.expired:
            await self._close_all(self._viewers.get(code, ()), 4410)

    async def show(self, table: LiveTable) -> None:
        renderings: dict[Audience, Rendering] = {}
        for viewer in tuple(self._viewers.get(table.code, ())):
            audience = viewer.audience(table)
            if audience not in renderings:
                renderings[audience] = render(table, audience)
            await viewer.show(renderings[audience])

    def expel(self, code: str, user_id: int) -> None:
        """Close the pages of somebody whose seat has gone elsewhere."""
        theirs = [viewer for viewer in self._viewers.get(code, ()) if viewer.user_id == user_id]
        self.spawn(self._close_all(theirs, 4401))

    async def close_everything(self, code: int) -> None:
        """Send all viewers away, as before a restart."""
        await self._close_all([viewer for viewers in self._viewers.values() for viewer in viewers], code)

    async def _close_all(self, viewers: Iterable[Viewer], code: int) -> None:
        for viewer in tuple(viewers):
            await viewer.close_with(code)

    # ── other processes ──

    async def _listen(self) -> None:
        """Join the one group through which processes tell each other which table changed."""
        layer = _shared_layer()
        if layer is None or self._channel is not None:
            return
        self._channel = await layer.new_channel()
        await layer.group_add("tables", self._channel)
        self.spawn(self._hear(layer, self._channel))

    async def _hear(self, layer: Any, channel: str) -> None:
        while True:
            message = await layer.receive(channel)
            if message["type"] == "seat.gone":
                self.expel(message["code"], message["user_id"])
                continue
            known = tables.cache.get(message["code"])
            if known is None or known.version != message.get("version"):
                tables.cache.drop(message["code"])
                self.read_again(message["code"])

    async def _tell_others(self, code: str, version: int) -> None:
        layer = _shared_layer()
        if layer is not None:
            await layer.group_send("tables", {"type": "table.changed", "code": code, "version": version})

    def spawn(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something beside, kept until it is done, its failure logged.

        Whoever causes it lends it nothing: neither a language nor a request's thread, which ends first.
        """
        task = self.loop.create_task(coroutine, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a table could not be shown", exc_info=error)


def _shared_layer() -> Any:
    layer = get_channel_layer()
    return None if isinstance(layer, InMemoryChannelLayer) else layer


_load = database_sync_to_async(tables.load)
_renew = database_sync_to_async(presence.renew)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(loop)
    return _hubs[loop]


def all_hubs() -> list[Hub]:
    """The hubs of this process that still run."""
    return [hub for loop, hub in list(_hubs.items()) if loop.is_running()]
