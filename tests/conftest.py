"""What every test stands on: compiled catalogues, two worlds to live in, nothing remembered from the test before."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from config import catalogues
from tests import worlds

BASE_DIR = Path(__file__).resolve().parent.parent
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "live_server"}

servers = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    catalogues.compile_stale()
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        _start_servers(config)


def _start_servers(config: pytest.Config) -> None:
    """One PostgreSQL and one Valkey for all workers of a run; nobody waits for them before they are needed."""
    if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
        return
    directory = Path(tempfile.mkdtemp(prefix="upcard-tests-"))
    directory.chmod(0o711)  # PostgreSQL, which root may not run, gets in
    os.environ["TEST_SERVERS"] = str(directory)
    command = [sys.executable, "-m", "tests.hold_servers", str(directory)]
    with (directory / "servers.log").open("wb") as log:
        config.stash[servers] = subprocess.Popen(
            command, cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    if process := config.stash.get(servers, None):
        process.communicate()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever touches the database or the layer runs in both worlds."""
    marked = metafunc.definition.get_closest_marker("django_db") or metafunc.definition.get_closest_marker("layer")
    if marked or DATABASE_FIXTURES & set(metafunc.fixturenames) or "world" in metafunc.fixturenames:
        metafunc.fixturenames.insert(0, "world")
        metafunc.parametrize("world", [worlds.ONE, worlds.MANY], indirect=True, scope="session")


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> worlds.World:
    """Where the test lives: ``one-process`` on SQLite and memory, ``many-processes`` on PostgreSQL and Redis."""
    entered = worlds.world_of(request.param, worker_id, tmp_path_factory.mktemp("world"))
    worlds.enter(entered)
    return entered


@pytest.fixture(scope="session")
def django_db_setup(world: worlds.World, django_test_environment: None, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock(), worlds.database_of(world), django_db_blocker.block():
        yield


@pytest.fixture(autouse=True)
def forgetful_cache() -> Iterator[None]:
    """Presence, rate limits and language of one test do not reach the next."""
    yield
    translation.deactivate()
    worlds.forget_everything()
