"""People come to a table's page and go from it."""

import asyncio
import logging

from channels.db import database_sync_to_async
from django.utils.translation import get_language

from apps.accounts import services as accounts
from apps.accounts.models import User
from apps.games.kernel.errors import Refusal
from apps.tables import presence, services
from apps.tables.hub import hub
from apps.tables.live import LiveTable

logger = logging.getLogger(__name__)

GRACE_SECONDS = 2
"""A reload is no absence."""


@database_sync_to_async
def came(table: LiveTable, user: User) -> int:
    """Somebody who sits here opened a socket: they are in their seat. How many moves were made for them."""
    presence.renew([(table.code, user.pk)])
    return _back(table, user)


def saw_page(table: LiveTable, user: User) -> int:
    """Somebody who sits here loaded the page. How many moves were made for them."""
    presence.saw_page((table.code, user.pk))
    accounts.touch_user(user=user, language=get_language() or "")
    return _back(table, user)


async def went(code: str, user_id: int) -> None:
    """A socket closed: its person is away if no other page of theirs is open soon, here or in another process."""
    await asyncio.sleep(GRACE_SECONDS)
    if hub().has(code, user_id):
        return
    await _forget(code, user_id)
    await hub().ask_others(code, user_id)
    if not hub().has(code, user_id):
        await _away(code, user_id)


def _back(table: LiveTable, user: User) -> int:
    accounts.touch_user(user=user)
    if not table.misses(user.pk):
        return 0
    try:
        return services.mark_back(code=table.code, user_id=user.pk)
    except Refusal:
        return 0


@database_sync_to_async
def _forget(code: str, user_id: int) -> None:
    presence.forget((code, user_id))


@database_sync_to_async
def _away(code: str, user_id: int) -> None:
    try:
        if presence.present([(code, user_id)]):
            return
    except presence.Away:
        return  # the clock sees to it later
    try:
        services.mark_away(code=code, user_id=user_id)
    except Refusal as refusal:
        logger.debug("not away: %s", refusal.code, extra={"table": code})
