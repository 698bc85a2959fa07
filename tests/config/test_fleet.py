"""The production shape on one machine, as people start it."""

import http.client
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from config import servers
from tests import worlds
from tests.config.test_up import fetch, refused
from tests.site import BASE_DIR, Site, clean_environment

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


def over_unix(path, request):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(path))
        line.sendall(f"GET {request} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return line.makefile("rb").read()


def test_one_process_behind_a_proxy_listens_on_a_unix_socket(tmp_path):
    env = clean_environment(DATA_DIR=str(tmp_path), **worlds.servers_of_this_run())
    assert subprocess.run([sys.executable, "manage.py", "prepare"], cwd=BASE_DIR, env=env, check=False).returncode == 0
    path = tmp_path / "web.sock"
    command = [sys.executable, "manage.py", "web", "--unix", str(path)]
    with (tmp_path / "web.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=BASE_DIR, env=env, stdout=log, stderr=log)
    until(lambda: path.exists() or process.poll() is not None)
    assert over_unix(path, "/en/").split()[1] == b"200"
    assert over_unix(path, "/metrics").split()[1] == b"404", "whoever speaks for others needs a token"
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert not (tmp_path / "web.log").read_text()


def test_a_process_beside_others_needs_redis(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "web", "--port", "0"],
        cwd=BASE_DIR,
        env=clean_environment(DATA_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr == "CommandError: A process beside others needs REDIS_URL; one alone is `manage.py up`.\n"


@pytest.mark.parametrize("number", ["0", "-1", "65", "many", "1.5"])
def test_impossible_numbers_are_one_line(tmp_path, number):
    assert "--processes must be a number from 1 to 64" in refused(f"--processes={number}", DATA_DIR=str(tmp_path))


def test_sqlite_is_for_one_process(tmp_path):
    line = refused("--processes", "2", DATA_DIR=str(tmp_path), DATABASE_URL=f"sqlite:///{tmp_path}/upcard.sqlite3")
    assert line.startswith("CommandError: Several processes need PostgreSQL")


def test_unreachable_database_is_one_line(tmp_path):
    away = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    assert "cannot be used" in refused("--port", "0", "--processes", "1", DATA_DIR=str(tmp_path), **away)
