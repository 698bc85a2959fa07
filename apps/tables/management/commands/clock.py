"""The clock as a process of its own, for sites of many processes."""

import asyncio
import contextlib
import signal
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.core.management.base import BaseCommand, CommandError

from apps.tables import clock, thinking


class Command(BaseCommand):
    help = "Runs the clock: deadlines, CPU moves, stand-ins, expiry. Several may run at once."

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError where nobody could hear the clock."""
        if isinstance(get_channel_layer(), InMemoryChannelLayer):
            raise CommandError("A clock of its own needs REDIS_URL; in one process `manage.py up` has one already.")
        try:
            asyncio.run(run_until_told())
        finally:
            thinking.shut_down()


async def run_until_told() -> None:
    """Act until SIGINT or SIGTERM; moves being made are made."""
    acting = asyncio.create_task(clock.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, acting.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await acting
