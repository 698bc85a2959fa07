import re
import runpy
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import ENVIRONMENT

BASE_DIR = Path(__file__).resolve().parents[2]
COMPLETE = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": "correct-horse-battery-staple-and-then-thirty-more-characters",
    "ALLOWED_HOSTS": "play.example",
    "PUBLIC_URL": "https://play.example",
    "DATABASE_URL": "sqlite:////tmp/upcard-test.sqlite3",
}


@pytest.fixture
def load(monkeypatch, tmp_path):
    """The settings of an environment: ``load(DEBUG="1")``."""

    def settings(**env):
        for name in ENVIRONMENT.names:
            monkeypatch.delenv(name, raising=False)
        for name, value in ({"DATA_DIR": str(tmp_path)} | env).items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(BASE_DIR / "config/settings.py"))

    return settings


def test_nothing_has_to_be_set_on_one_machine(load, tmp_path):
    settings = load()
    assert settings["DEBUG"] is False
    assert settings["DATABASES"]["default"]["NAME"] == tmp_path / "upcard.sqlite3"
    assert settings["CHANNEL_LAYERS"]["default"]["BACKEND"].endswith("InMemoryChannelLayer")
    assert "*" not in settings["ALLOWED_HOSTS"]


def test_secret_of_one_machine_is_its_own(load, tmp_path):
    assert load()["SECRET_KEY"] == load()["SECRET_KEY"]
    assert load(DATA_DIR=str(tmp_path / "other"))["SECRET_KEY"] != load()["SECRET_KEY"]


def test_complete_production_starts_and_keeps_cookies_to_https(load):
    settings = load(**COMPLETE)
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_HSTS_SECONDS"] > 0
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://play.example"]
    for cookie in ("SESSION", "CSRF", "LANGUAGE"):
        assert settings[f"{cookie}_COOKIE_SECURE"] is True
        assert settings[f"{cookie}_COOKIE_HTTPONLY"] is True
        assert settings[f"{cookie}_COOKIE_SAMESITE"] == "Lax"


@pytest.mark.parametrize("name", ["SECRET_KEY", "ALLOWED_HOSTS", "PUBLIC_URL", "DATABASE_URL"])
def test_production_without_a_needed_setting_does_not_start(load, name):
    with pytest.raises(ImproperlyConfigured, match=f"^{name} must be set in production.$"):
        load(**COMPLETE | {name: ""})


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("SECRET_KEY", "short", "SECRET_KEY must be at least 50 random characters"),
        ("ALLOWED_HOSTS", "*", "ALLOWED_HOSTS must name the hosts"),
        ("PUBLIC_URL", "http://play.example", "PUBLIC_URL must be an address such as https://"),
        ("DEBUG", "1", "DEBUG=1 shows state"),
    ],
)
def test_unsafe_production_does_not_start(load, name, value, complaint):
    with pytest.raises(ImproperlyConfigured, match=complaint):
        load(**COMPLETE | {name: value})


def test_redis_carries_more_sockets_than_its_client_would(load):
    settings = load(REDIS_URL="redis://cache.example:6379/0")
    layer = settings["CHANNEL_LAYERS"]["default"]
    assert layer["BACKEND"] == "channels_redis.pubsub.RedisPubSubChannelLayer"
    assert layer["CONFIG"]["hosts"] == [{"address": "redis://cache.example:6379/0", "max_connections": 5000}]
    assert settings["CACHES"]["default"]["BACKEND"] == "django.core.cache.backends.redis.RedisCache"


@pytest.mark.parametrize("url", ["", "postgres://u:p@db.example/cards"])
def test_no_connection_outlives_its_request(load, url):
    assert load(DATABASE_URL=url)["DATABASES"]["default"]["CONN_MAX_AGE"] == 0


def test_nothing_inline_runs(load):
    policy = load()["SECURE_CSP"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & {source for sources in policy.values() for source in sources}


def test_proxy_is_believed_only_when_told_so(load):
    assert load(**COMPLETE)["SECURE_PROXY_SSL_HEADER"] is None
    assert load(**COMPLETE, TRUST_PROXY="1")["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")


def test_readme_lists_exactly_the_variables_that_are_read():
    rows = re.findall(r"^\| `([A-Z_]+)`( \*)? \|", (BASE_DIR / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(ENVIRONMENT.names)
    assert {name for name, star in rows if star} == COMPLETE.keys() - {"ENVIRONMENT"}
