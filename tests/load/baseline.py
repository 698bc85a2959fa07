"""What people would write first: a Channels consumer, the in-memory layer, and a Django template for each viewer.

It plays no game and keeps nothing: a click makes the next version, in memory, and each of two viewers is rendered as
many bytes as the site sends. `play.py --baseline` runs it beside the site, under Daphne with the site's limits.

    uv run python -m tests.load.baseline PORT BYTES
"""

import json
import sys
from collections import defaultdict

import django
from django.conf import settings

TABLE = """{% load i18n %}<div id="table" hidden data-version="{{ version }}" data-status="playing"></div>
<section id="dock" data-region>{% if turn %}{% for move in moves %}<form data-move method="post" action="move/">\
<input type="hidden" name="move" value="{{ move }}"><input type="hidden" name="version" value="{{ version }}">\
<button class="btn">{% translate "Yes" %}</button></form>{% endfor %}{% else %}{{ name }}{% endif %}</section>
<section id="seats" data-region><ul class="seats">{% for row in rows %}\
<li class="seat" id="seat-{{ forloop.counter }}"><span class="name">{{ row.name }}</span>\
<span class="score">{{ row.score }}</span></li>
{% endfor %}</ul></section>"""

settings.configure(
    SECRET_KEY="baseline",
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["channels"],
    CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    USE_I18N=True,
    LOGGING_CONFIG=None,
)
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.template import engines  # noqa: E402
from django.urls import re_path  # noqa: E402
from django.utils import translation  # noqa: E402

template = engines["django"].from_string(TABLE)
versions: defaultdict[str, int] = defaultdict(int)
viewers: defaultdict[str, int] = defaultdict(int)
rows = 1


class Bare(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        arguments = self.scope["url_route"]["kwargs"]
        self.code, self.language = arguments["code"], arguments["language"]
        self.seat = viewers[self.code] % 2
        viewers[self.code] += 1
        await self.channel_layer.group_add(self.code, self.channel_name)
        await self.accept()
        await self.show()

    async def receive(self, text_data=None, bytes_data=None) -> None:
        if int(json.loads(text_data)["version"]) == versions[self.code]:
            versions[self.code] += 1
            await self.channel_layer.group_send(self.code, {"type": "changed"})

    async def changed(self, event) -> None:
        await self.show()

    async def show(self) -> None:
        with translation.override(self.language):
            await self.send(render(versions[self.code], self.seat))


def render(version: int, seat: int) -> str:
    people = [{"name": f"Somebody {number}", "score": version + number} for number in range(rows)]
    turn = version % 2 == seat
    return template.render({"version": version, "turn": turn, "moves": ("a", "b", "c"), "name": "Bo", "rows": people})


def fill(size: int) -> None:
    """As many rows as make the mean message so many bytes long."""
    global rows
    while sum(len(render(1000, seat)) for seat in (0, 1)) < 2 * size:
        rows += 1


application = ProtocolTypeRouter(
    {"websocket": URLRouter([re_path(r"^ws/(?P<language>\w+)/tables/(?P<code>\w+)/$", Bare.as_asgi())])}
)


def main(port: int, size: int) -> None:
    from daphne.server import Server

    fill(size)
    Server(application, endpoints=[f"tcp:port={port}:interface=127.0.0.1"], verbosity=0).run()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
