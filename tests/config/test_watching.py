"""What the site tells whoever watches over it, and whom it tells nothing."""

import json
import logging
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from apps.tables import layer, metrics
from apps.tables.models import Heartbeat
from config import logs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock():
    return Heartbeat.objects.create(name="clock", at=timezone.now())


def failing(*arguments, **options):
    raise OperationalError("away")


def test_ready_when_database_layer_and_clock_are(client, clock):
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"database": "ok", "layer": "ok", "clock": "ok"})
    assert "no-store" in response["Cache-Control"]


def test_not_ready_without_a_clock(client):
    response = client.get("/readyz")
    assert (response.status_code, response.json()["clock"]) == (503, "away")


def test_not_ready_once_the_clock_has_stopped(client, clock):
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=1))
    assert client.get("/readyz").status_code == 503


def test_not_ready_without_the_layer(client, clock, monkeypatch):
    class Away:
        async def group_send(self, group, message):
            raise ConnectionError

    monkeypatch.setattr("config.watching.get_channel_layer", Away)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["layer"]) == (503, "away")


def test_alive_until_the_database_goes(client, monkeypatch):
    assert client.get("/healthz").status_code == 200
    monkeypatch.setattr(connection, "cursor", failing)
    assert client.get("/healthz").status_code == 503
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "away")


def test_metrics_are_for_this_machine(client):
    metrics.MOVES.labels("player").inc()
    page = client.get("/metrics")
    assert page.status_code == 200
    assert 'upcard_moves_total{made_by="player"}' in page.content.decode()


@pytest.mark.parametrize(
    "asked",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": "not an address"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_FORWARDED": "for=127.0.0.1"},
        {"REMOTE_ADDR": "192.0.2.7", "HTTP_AUTHORIZATION": "Bearer wrong"},
    ],
)
def test_others_are_told_there_are_no_metrics(client, settings, asked):
    settings.METRICS_TOKEN = "right"
    assert client.get("/metrics", **asked).status_code == 404
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", **asked | {"HTTP_AUTHORIZATION": "Bearer "}).status_code == 404


def test_a_token_opens_the_metrics_from_anywhere(client, settings):
    settings.METRICS_TOKEN = "right"
    asked = {"REMOTE_ADDR": "192.0.2.7", "HTTP_AUTHORIZATION": "Bearer right"}
    assert client.get("/metrics", **asked).status_code == 200


async def test_a_layer_that_is_away_is_counted_and_logged_once(monkeypatch, caplog):
    class Away:
        async def group_send(self, group, message):
            raise ConnectionError

    monkeypatch.setattr(layer, "get_channel_layer", Away)
    monkeypatch.setattr(layer, "_complaints", layer.Complaints())
    before = metrics.LAYER_FAILURES.labels("unreachable")._value.get()
    for _ in range(3):
        await layer.tell({"type": "table.changed", "code": "x"})
    assert metrics.LAYER_FAILURES.labels("unreachable")._value.get() == before + 3
    assert [record.message for record in caplog.records] == ["the channel layer is unreachable: ConnectionError"]


def test_log_says_which_table_and_match():
    record = logging.makeLogRecord({"name": "x", "levelname": "INFO", "msg": "said %s", "args": ("so",)})
    record.table, record.match, record.seed = "abc", 7, "never"
    assert logs.Line().format(record).endswith("INFO x: said so table=abc match=7")
    entry = json.loads(logs.Json().format(record))
    assert (entry["message"], entry["table"], entry["match"]) == ("said so", "abc", 7)
    assert "seed" not in entry


def test_log_in_json_keeps_an_exception_on_its_line():
    try:
        raise ValueError
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    lines = logs.Json().format(record).splitlines()
    assert len(lines) == 1
    assert "ValueError" in json.loads(lines[0])["exception"]
