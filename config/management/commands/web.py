"""One process of pages and sockets, for sites of several: the clock runs elsewhere."""

import argparse
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.core.management.base import BaseCommand, CommandError

from config import serving


class Command(BaseCommand):
    help = "Serves pages and sockets in one process of several. The clock is another: `manage.py clock`."
    requires_system_checks = []  # `prepare` makes them

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (0.0.0.0: any)")
        parser.add_argument("--port", default="8000", help="the port to listen on")
        parser.add_argument("--shared", action="store_true", help="several processes listen on the same port")
        parser.add_argument("--unix", metavar="PATH", help="listen on a Unix socket instead")

    def handle(self, *, host: str, port: str, shared: bool, unix: str | None, **options: Any) -> None:
        """Raises CommandError with one line for whatever stands in the way."""
        if isinstance(get_channel_layer(), InMemoryChannelLayer):
            raise CommandError("A process beside others needs REDIS_URL; one alone is `manage.py up`.")
        if unix:
            listener = serving.listening_at(unix)
        else:
            listener = serving.listening(host, serving.port_number(port), shared=shared)
            serving.allow_host(host)
        serving.Site(listener, with_clock=False, ready=lambda: serving.notify("READY=1")).run()
