"""The restore drill of README: a dump taken while people play, restored, and every match played again."""

import subprocess
import sys

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from config import servers
from tests.site import BASE_DIR, clean_environment
from tests.tables.pages import SHORT, finish, forms, open_table

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not servers.available(), reason="pg_dump comes with PostgreSQL as a wheel"),
]

RESTORED = "test_upcard_restored"


def address_of(database):
    """A database beside the test's own."""
    given = settings.DATABASES["default"]
    parts = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"], "password": given["PASSWORD"]}
    options = {name: value for name, value in given["OPTIONS"].items() if name not in {"pool", "isolation_level"}}
    return psycopg.conninfo.make_conninfo(dbname=database, **{k: v for k, v in (parts | options).items() if v})


def run(program, *arguments):
    folder = servers.Postgres.programs_folder()
    subprocess.run([str(folder / program), *arguments], check=True, capture_output=True)


@pytest.fixture
def restored(world, worker_id):
    """The name of an empty database."""
    if not world.shared:
        pytest.skip("SQLite is one file, copied")
    name = f"{RESTORED}_{worker_id}"
    with psycopg.connect(address_of("postgres"), autocommit=True) as line:
        line.execute(f'DROP DATABASE IF EXISTS "{name}"')
        line.execute(f'CREATE DATABASE "{name}"')
    yield name
    with psycopg.connect(address_of("postgres"), autocommit=True) as line:
        line.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_dump_taken_during_play_is_restored_and_proved(client, slug, restored, tmp_path):
    finish(client, open_table(client, slug, mode="same_device", **SHORT))
    address = open_table(client, slug, mode="same_device", **SHORT)
    form = forms(client.get(address).content).moves[-1]
    dump = tmp_path / "upcard.dump"
    command = ["--format=custom", f"--file={dump}", address_of(connection.settings_dict["NAME"])]
    run("pg_dump", *command)
    client.post(form["action"], form)  # nobody waits for the dump
    run("pg_restore", "--no-owner", f"--dbname={address_of(restored)}", str(dump))
    host = settings.DATABASES["default"]["OPTIONS"].get("host", "")
    env = clean_environment(DATA_DIR=str(tmp_path), DATABASE_URL=f"postgres:///{restored}?host={host}&user=postgres")
    done = subprocess.run(
        [sys.executable, "manage.py", "replay"], cwd=BASE_DIR, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 matches of ")
