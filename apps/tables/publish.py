"""Tells every process that shows a table that it has changed. Called after commit, from any thread."""

from asgiref.sync import async_to_sync

from apps.tables import layer, live
from apps.tables.hub import all_hubs


def table_changed(*, code: str) -> None:
    """Whoever shows this table reads it again."""
    live.cache.drop(code)
    for hub in all_hubs():
        hub.loop.call_soon_threadsafe(hub.read_again, code)
    _tell({"type": "table.changed", "code": code})


def seat_gone(*, code: str, user_id: int) -> None:
    """The sockets through which this person held a seat are closed: 4401."""
    for hub in all_hubs():
        hub.loop.call_soon_threadsafe(hub.expel, code, user_id)
    _tell({"type": "seat.gone", "code": code, "user_id": user_id})


def _tell(message: dict[str, object]) -> None:
    if layer.shared_layer() is not None:
        async_to_sync(layer.tell)(message)
