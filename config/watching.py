"""For whatever watches over the site: whether it lives, whether it can serve, and how it fares."""

import os
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from apps.tables.models import Heartbeat

OLDEST_HEARTBEAT = timedelta(seconds=15)
FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the database answers, 503 while it does not: whether to start this process again."""
    healthy = _database_answers()
    text, status = ("ok", 200) if healthy else ("no database", 503)
    return HttpResponse(text, status=status, content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 while people can play here, else 503, and what each part says: whether to send people here."""
    parts = {"database": _database_answers(), "layer": _layer_answers()}
    parts["clock"] = parts["database"] and _clock_goes()
    words = {name: "ok" if well else "away" for name, well in parts.items()}
    return JsonResponse(words, status=200 if all(parts.values()) else 503)


@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Counts for Prometheus: of all processes that share `PROMETHEUS_MULTIPROC_DIR`, else of this one.

    For this machine alone, or with METRICS_TOKEN as bearer token; others are told there is no such page.
    """
    if not _may_see_metrics(request):
        raise Http404
    return HttpResponse(generate_latest(_registry()), content_type=CONTENT_TYPE_LATEST)


def _registry() -> CollectorRegistry:
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        return REGISTRY
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return registry


def _may_see_metrics(request: HttpRequest) -> bool:
    """A proxy on this machine is this machine too: whatever it passes on needs the token."""
    token = settings.METRICS_TOKEN
    if token and constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return True
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and not any(name in request.META for name in FORWARDED)


def _is_loopback(address: Any) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _layer_answers() -> bool:
    """A group that nobody is in takes a message as any other would."""
    layer = get_channel_layer()
    try:
        async_to_sync(layer.group_send)("readiness", {"type": "asked"})
    except Exception:  # whatever the layer's own client raises
        return False
    return True


def _clock_goes() -> bool:
    return Heartbeat.objects.filter(name="clock", at__gte=timezone.now() - OLDEST_HEARTBEAT).exists()
