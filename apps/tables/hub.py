"""The viewers of this process, and what each of them has been shown.

One table change is rendered once for each audience, whatever their number, and each viewer is sent
the regions that differ from what it has. A viewer that misses something asks for everything again.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextvars import Context
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from channels.db import database_sync_to_async

from apps.tables import layer, metrics, presence
from apps.tables import live as tables
from apps.tables.board import Audience
from apps.tables.live import LiveTable
from apps.tables.render import Rendering, render

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 0.5
"""So long other processes are given to say who is with them."""

RETRY_SECONDS = 2
"""After a failure of what goes on for ever."""

LOOK_EVERY_SECONDS = 2
"""So long at most a page is behind when a message between processes was lost."""


class Viewer(Protocol):
    """An open page of a table."""

    code: str
    user_id: int | None
    version: int | None
    """What it shows; None until it shows anything."""

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
        self._running = False

    def lock(self, code: str) -> asyncio.Lock:
        """Moves of one table are made one after the other in this process."""
        lock = self._locks.get(code)
        if lock is None:
            lock = self._locks[code] = asyncio.Lock()
        return lock

    # ── viewers ──

    async def join(self, viewer: Viewer) -> None:
        self._viewers[viewer.code].add(viewer)
        metrics.VIEWERS.inc()
        if not self._running:
            self._running = True
            self.spawn(self._for_ever(self._keep_present))
            if layer.shared_layer() is not None:
                self.spawn(self._for_ever(self._listen))
                self.spawn(self._for_ever(self._look))

    def leave(self, viewer: Viewer) -> None:
        self._viewers[viewer.code].discard(viewer)
        metrics.VIEWERS.dec()
        if not self._viewers[viewer.code]:
            del self._viewers[viewer.code]

    def has(self, code: str, user_id: int) -> bool:
        """Whether this person has this table open in this process."""
        return any(viewer.user_id == user_id for viewer in self._viewers.get(code, ()))

    async def _keep_present(self) -> None:
        """Renew the presence of everybody here."""
        await asyncio.sleep(presence.RENEW_EVERY_SECONDS)
        people = {
            (code, viewer.user_id)
            for code, viewers in self._viewers.items()
            for viewer in viewers
            if viewer.user_id is not None
        }
        await _renew(people)

    async def _for_ever(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do this again and again; what fails, as when a service restarts, is tried again."""
        failing = False
        while True:
            try:
                await work()
                failing = False
            except Exception as error:
                if not failing:
                    logger.warning("%s failed and is tried again: %s", work.__name__, type(error).__name__)
                failing = True
                await asyncio.sleep(RETRY_SECONDS)

    # ── showing ──

    def publish(self, table: LiveTable) -> None:
        """Show this state of a table to its viewers here, and tell the other processes."""
        self.spawn(self.show(table))
        if layer.shared_layer() is not None:
            self.spawn(layer.tell({"type": "table.changed", "code": table.code, "version": table.version}))

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
        """Render for each audience once. One page that fails does not keep the others waiting."""
        renderings: dict[Audience, Rendering] = {}
        for viewer in tuple(self._viewers.get(table.code, ())):
            try:
                audience = viewer.audience(table)
                if audience not in renderings:
                    renderings[audience] = render(table, audience)
                await viewer.show(renderings[audience])
            except Exception:
                logger.exception("a viewer could not be shown the table", extra={"table": table.code})

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
        """Hear, in the one group of all processes, which table changed."""
        shared = layer.shared_layer()
        channel = await shared.new_channel()
        try:
            await shared.group_add(layer.GROUP, channel)
            while True:
                await self._hear(await shared.receive(channel))
        finally:
            await shared.group_discard(layer.GROUP, channel)

    async def _hear(self, message: dict[str, Any]) -> None:
        if message.get("origin") == layer.ORIGIN:
            return  # whatever it says, this process has done
        code, version = message["code"], message.get("version")
        match message["type"]:
            case "seat.gone":
                self.expel(code, message["user_id"])
            case "person.sought" if self.has(code, message["user_id"]):
                await _renew([(code, message["user_id"])])
            case "table.changed":
                known = tables.cache.get(code)
                if known is None or version is None or known.version < version:
                    tables.cache.drop(code)
                    self.read_again(code)

    async def _look(self) -> None:
        """See in the database what messages did not tell: a lost one never loses a game."""
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        for code, version in (await _versions_of(list(self._viewers))).items():
            if self._is_behind(code, version):
                self._heal(code, version)

    def _is_behind(self, code: str, version: int) -> bool:
        """Whether a page here shows less than this version."""
        shown = [viewer.version for viewer in self._viewers.get(code, ()) if viewer.version is not None]
        return any(each < version for each in shown)

    def _heal(self, code: str, version: int) -> None:
        known = tables.cache.get(code)
        if known is not None and known.version >= version:
            self.spawn(self.show(known))
            return
        metrics.HEALED.inc()
        tables.cache.drop(code)
        self.read_again(code)

    async def ask_others(self, code: str, user_id: int) -> None:
        """Give other processes the time to renew the presence of this person, if they have them."""
        if layer.shared_layer() is not None:
            await layer.tell({"type": "person.sought", "code": code, "user_id": user_id})
            await asyncio.sleep(ANSWER_SECONDS)

    async def finish[T](self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await something that goes on to its end even if whoever awaits it is gone by then."""
        task = self.loop.create_task(coroutine, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

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


_load = database_sync_to_async(tables.load)
_versions_of = database_sync_to_async(tables.versions_of)
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
