"""The production shape on one machine, as people start it."""

import http.client
import shutil
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from config import servers
from tests.config.test_up import fetch, refused
from tests.site import Site

PATIENCE = 30


@pytest.fixture
def directory():
    """One that PostgreSQL can enter when it may not run as root."""
    made = Path(tempfile.mkdtemp(prefix="upcard-test-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


def children(site, name):
    """Processes of the site whose command line has this in it."""
    everybody = psutil.Process(site.process.pid).children(recursive=True)
    return [child for child in everybody if name in child.cmdline()]


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def answers(site):
    try:
        return fetch(site, "/en/")[0].status == 200
    except (OSError, http.client.HTTPException):
        return False


@pytest.mark.skipif(not servers.available(), reason="PostgreSQL and Valkey as wheels exist for Linux and macOS alone")
def test_many_processes_start_heal_and_stop_together(directory):
    site = Site(directory, "--processes", "2", "--clocks", "2").start()
    assert "PostgreSQL" in site.log
    assert len(children(site, "web")) == len(children(site, "clock")) == 2
    everybody = psutil.Process(site.process.pid).children(recursive=True)
    assert answers(site)
    killed = children(site, "web")[0]
    killed.kill()
    until(lambda: "web 1 ended; starting it again" in site.log and len(children(site, "web")) == 2)
    until(lambda: answers(site))
    assert site.stop() == 0
    assert "Traceback" not in site.log
    assert not any(child.is_running() for child in everybody)


@pytest.mark.skipif(not servers.available(), reason="PostgreSQL and Valkey as wheels exist for Linux and macOS alone")
def test_children_end_with_a_parent_that_is_killed(directory):
    site = Site(directory, "--processes", "1").start()
    everybody = psutil.Process(site.process.pid).children(recursive=True)
    site.kill()
    psutil.wait_procs(everybody, timeout=PATIENCE)
    assert not any(child.is_running() for child in everybody)


@pytest.mark.parametrize("number", ["0", "-1", "65", "many", "1.5"])
def test_impossible_numbers_are_one_line(tmp_path, number):
    assert "--processes must be a number from 1 to 64" in refused(f"--processes={number}", DATA_DIR=str(tmp_path))


def test_sqlite_is_for_one_process(tmp_path):
    line = refused("--processes", "2", DATA_DIR=str(tmp_path), DATABASE_URL=f"sqlite:///{tmp_path}/upcard.sqlite3")
    assert line.startswith("CommandError: Several processes need PostgreSQL")


def test_unreachable_database_is_one_line(tmp_path):
    away = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    assert "cannot be used" in refused("--port", "0", "--processes", "1", DATA_DIR=str(tmp_path), **away)
