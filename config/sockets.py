"""What every socket passes before it reaches a consumer."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

type Application = Callable[[Any, Any, Any], Awaitable[Any]]

NO_SUCH_PATH: Final = 4404


class SameOriginOnly:
    """Refuses the handshake (403) unless a page of this very site opens the socket.

    The browser sends the visitor's cookie whichever site asks for it, and a socket has no other proof.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if same_origin(scope):
            await self.application(scope, receive, send)
        else:
            await send({"type": "websocket.close"})


def same_origin(scope: Mapping[str, Any]) -> bool:
    """Whether Origin is there once, and names the host and port asked for, or the public address."""
    origins = _header(scope, b"origin")
    hosts = _header(scope, b"host")
    if len(origins) != 1 or len(hosts) != 1:
        return False
    if origins[0].lower() == settings.PUBLIC_URL.lower():
        return True
    scheme, netloc = urlsplit(origins[0].lower())[:2]
    domain, _port = split_domain_port(hosts[0])
    return (
        scheme in ({"https"} if settings.PRODUCTION else {"http", "https"})
        and netloc == hosts[0].lower()
        and validate_host(domain, settings.ALLOWED_HOSTS)
    )


def _header(scope: Mapping[str, Any], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


async def no_such_path(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """For every path that is no socket's: accepted first, since a browser cannot read a refused handshake."""
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": NO_SUCH_PATH})
