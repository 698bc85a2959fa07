"""People come to a table's page and go from it."""

import asyncio
import logging

from channels.db import database_sync_to_async

from apps.games.kernel.errors import Refusal
from apps.tables import presence, services
from apps.tables.hub import hub

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2
"""A reload is no absence."""


@database_sync_to_async
def came(code: str, user_id: int) -> int:
    """Somebody opened a socket: they are there, and in their seat. How many moves were made for them."""
    presence.renew([(code, user_id)])
    return _back(code, user_id)


def saw_page(code: str, user_id: int) -> int:
    """Somebody loaded the page. How many moves were made for them."""
    presence.saw_page((code, user_id))
    return _back(code, user_id)


async def went(code: str, user_id: int) -> None:
    """A socket closed: its person is away if no other page of theirs is open soon."""
    if hub().has(code, user_id):
        return
    await _forget(code, user_id)
    await asyncio.sleep(GRACE_SECONDS)
    if not hub().has(code, user_id):
        await _away(code, user_id)


def _back(code: str, user_id: int) -> int:
    try:
        return services.mark_back(code=code, user_id=user_id)
    except Refusal:
        return 0


@database_sync_to_async
def _forget(code: str, user_id: int) -> None:
    presence.forget((code, user_id))


@database_sync_to_async
def _away(code: str, user_id: int) -> None:
    if presence.present([(code, user_id)]):
        return
    try:
        services.mark_away(code=code, user_id=user_id)
    except Refusal as refusal:
        logger.debug("away from %s: %s", code, refusal.code)
