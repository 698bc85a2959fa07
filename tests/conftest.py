"""What every test stands on: compiled catalogues, a database in a file, nothing remembered from the test before."""

import pytest
from django.conf import settings
from django.core.cache import cache

from config import catalogues


def pytest_configure() -> None:
    catalogues.compile_stale()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """SQLite in a file of this run and worker: the in-memory kind locks as soon as two threads write."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
        # Nothing here has to outlive a power cut.
        database["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"


@pytest.fixture(autouse=True)
def forgetful_cache():
    """Presence and rate limits of one test do not reach the next."""
    yield
    cache.clear()
