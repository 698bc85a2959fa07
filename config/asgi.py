"""One application for pages and sockets."""

import os
from importlib import import_module
from importlib.util import find_spec

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
pages = get_asgi_application()  # sets Django up; what follows needs its models

from config.sockets import SameOriginOnly, no_such_path  # noqa: E402

websocket_urlpatterns = (
    import_module("apps.tables.routing").websocket_urlpatterns if find_spec("apps.tables.routing") else []
)
sockets = URLRouter([*websocket_urlpatterns, re_path(r"", no_such_path)])  # type: ignore[arg-type]
application = ProtocolTypeRouter({"http": pages, "websocket": SameOriginOnly(AuthMiddlewareStack(sockets))})
