"""Socket paths. The language comes first, as in pages."""

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.urls import re_path

from apps.tables.consumers import NoSuchPath, TableConsumer
from apps.tables.middleware import SameOrigin

_languages = "|".join(code for code, _ in settings.LANGUAGES)

websocket_urlpatterns = [
    re_path(rf"^ws/(?P<language>{_languages})/tables/(?P<code>[a-z0-9]+)/$", TableConsumer.as_asgi()),
    re_path(r"", NoSuchPath.as_asgi()),
]

application = SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
