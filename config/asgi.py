"""One application for pages and sockets."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
pages = get_asgi_application()  # sets Django up: what follows needs its models

from apps.tables.routing import application as sockets  # noqa: E402
from config.front import Front  # noqa: E402

application = ProtocolTypeRouter({"http": Front(pages), "websocket": sockets})
