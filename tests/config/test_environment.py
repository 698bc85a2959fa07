import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment, database, kept_secret, key, origin, writable_directory


def wrong(match: str):
    return pytest.raises(ImproperlyConfigured, match=match)


def test_empty_variable_counts_as_unset():
    env = Environment({"EMPTY": "  "})
    assert env.text("EMPTY", "default") == "default"
    assert env.words("EMPTY", ("a",)) == ["a"]
    assert env.number("EMPTY", 1.5) == 1.5
    with wrong("EMPTY must be set"):
        env.required("EMPTY")


def test_every_name_asked_for_is_remembered():
    env = Environment({})
    env.flag("A")
    env.words("B")
    env.choice("C", ("x", "y"))
    env.whole("D", 1)
    assert env.names == {"A", "B", "C", "D"}


@pytest.mark.parametrize("value", ["yes", "true", "2", "-1"])
def test_flag_is_0_or_1(value):
    with wrong(f"FLAG must be 0 or 1, not '{value}'"):
        Environment({"FLAG": value}).flag("FLAG")


@pytest.mark.parametrize("value", ["fast", "nan", "inf", "-1", "1,5"])
def test_number_is_finite_and_not_negative(value):
    with wrong("NUMBER must be"):
        Environment({"NUMBER": value}).number("NUMBER", 1)


def test_whole_number_has_no_fraction():
    with wrong("NUMBER must be a whole number"):
        Environment({"NUMBER": "1.5"}).whole("NUMBER", 1)


def test_words_are_written_with_commas():
    assert Environment({"WORDS": " a, b ,,c"}).words("WORDS") == ["a", "b", "c"]


def test_sqlite_address_is_relative_with_three_slashes_and_absolute_with_four(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert database("sqlite:///x.sqlite3", "URL", pool_size=1)["NAME"] == tmp_path / "x.sqlite3"
    assert str(database("sqlite:////var/x%20y.db", "URL", pool_size=1)["NAME"]) == "/var/x y.db"


def test_sqlite_writers_wait_for_their_turn():
    options = database("sqlite:////x", "URL", pool_size=1)["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "WAL" in options["init_command"]


def test_postgres_address_is_taken_apart():
    found = database("postgres://u%40x:p%3Aw@db.example:6432/cards?sslmode=require", "URL", pool_size=7)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["NAME"], found["USER"], found["PASSWORD"]) == ("cards", "u@x", "p:w")
    assert (found["HOST"], found["PORT"]) == ("db.example", "6432")
    assert found["OPTIONS"]["sslmode"] == "require"
    assert found["OPTIONS"]["pool"]["max_size"] == 7
    assert found["CONN_MAX_AGE"] == 0


@pytest.mark.parametrize(
    "url", ["mysql://a/b", "sqlite://", "sqlite:///", "sqlite://host/x", "postgres://host", "postgres://h:port/x", "x"]
)
def test_other_database_address_is_refused_without_being_shown(url):
    with wrong("^URL (must look like|is not)"):
        database(url, "URL", pool_size=1)


@pytest.mark.parametrize("url", ["play.example", "ftp://play.example", "https://play.example/path", "https://", "//x"])
def test_public_address_is_an_origin(url):
    with wrong("URL must be an address such as https://play.example"):
        origin(url, "URL", secure=True)


def test_public_address_is_secure_where_it_has_to_be():
    assert origin("http://localhost:8000", "URL", secure=False) == "http://localhost:8000"
    with wrong("https://"):
        origin("http://play.example", "URL", secure=True)


@pytest.mark.parametrize("value", ["short", "a" * 60])
def test_weak_secret_is_refused_without_being_shown(value):
    with wrong("at least 50 random characters") as refused:
        key(value, "SECRET_KEY")
    assert value not in str(refused.value)


def test_generated_secret_is_kept_and_private(tmp_path):
    path = tmp_path / "secret"
    first = kept_secret(path)
    assert len(first) >= 50
    assert kept_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_directories_have_different_secrets(tmp_path):
    assert kept_secret(tmp_path / "a") != kept_secret(tmp_path / "b")


def test_processes_that_start_together_agree_on_one_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(kept_secret, [tmp_path / "secret"] * 8))) == 1


def test_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with wrong("DATA_DIR .*/file/x cannot be made: Not a directory"):
        writable_directory(tmp_path / "file" / "x", "DATA_DIR")
