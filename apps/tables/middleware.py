"""Guards of the socket's handshake."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

type Application = Callable[[Any, Any, Any], Awaitable[None]]

DEFAULT_PORTS = {"http": 80, "https": 443}


class SameOrigin:
    """Lets a socket in only from this site's own pages: Origin against Host, ports included.

    Anything else is refused at the handshake (403): a cookie alone must not open a socket.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        if not same_origin(headers.get(b"origin", b""), headers.get(b"host", b"")):
            await receive()
            await send({"type": "websocket.close"})
            return
        await self._application(scope, receive, send)


def same_origin(origin: bytes, host: bytes) -> bool:
    """Whether a page of ``origin`` (scheme://host[:port]) belongs to the site at ``host[:port]``."""
    try:
        page = urlsplit(origin.decode("ascii"))
        site = urlsplit(f"//{host.decode('ascii')}")
        default = DEFAULT_PORTS[page.scheme]
        ports = page.port or default, site.port or default
    except (ValueError, KeyError):
        return False
    return bool(page.hostname) and page.hostname == site.hostname and ports[0] == ports[1]
