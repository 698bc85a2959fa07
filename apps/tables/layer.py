"""Messages between the processes that show tables. A lost one delays a page and never a game: the hub looks itself."""

import logging
import secrets
import time
from typing import Any

from channels.exceptions import ChannelFull
from channels.layers import InMemoryChannelLayer, get_channel_layer

from apps.tables import metrics

logger = logging.getLogger(__name__)

ORIGIN = secrets.token_hex(8)
"""Tells this process's own messages, which come back to it, from the others'."""

GROUP = "tables"
"""All processes are in it: one message a change and process, however many look on."""

COMPLAIN_EVERY_SECONDS = 60


def shared_layer() -> Any:
    """The layer; None when all there is is this process."""
    layer = get_channel_layer()
    return None if isinstance(layer, InMemoryChannelLayer) else layer


async def tell(message: dict[str, object]) -> None:
    """Send this to every process. What is told is durable already, so a layer that is away stops nobody."""
    layer = shared_layer()
    if layer is None:
        return
    try:
        await layer.group_send(GROUP, {**message, "origin": ORIGIN})
    except Exception as error:  # whatever the layer's own client raises
        _complaints.take(error)


class Complaints:
    """Counts what fails, and logs it once a minute: a layer that is away is away for every move."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def take(self, error: Exception) -> None:
        kind = "over-capacity" if isinstance(error, ChannelFull) else "unreachable"
        metrics.LAYER_FAILURES.labels(kind).inc()
        if time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + COMPLAIN_EVERY_SECONDS
            logger.warning("the channel layer is %s: %s", kind, type(error).__name__)


_complaints = Complaints()
