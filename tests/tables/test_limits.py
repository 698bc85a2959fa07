"""How much one person may ask for at once."""

from types import SimpleNamespace

import pytest

from apps.tables import limits
from apps.tables.limits import Buckets, Limit, TokenBucket


@pytest.fixture
def at(monkeypatch):
    """The time, which stands still until the test moves it."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_burst_and_then_a_rate(at):
    bucket = TokenBucket(Limit(burst=5, rate=2))
    assert [bucket.take() for _ in range(7)] == [True] * 5 + [False] * 2
    at.now += 1
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    at.now += 3600
    assert [bucket.take() for _ in range(7)] == [True] * 5 + [False] * 2


def test_a_flood_is_told_once_however_long_it_lasts(at):
    """Single tokens that come back in between do not make it a new one."""
    bucket = TokenBucket(Limit(burst=40, rate=30))
    told = taken = 0
    for _ in range(1000):
        at.now += 1 / 100
        if bucket.take():
            taken += 1
        else:
            told += bucket.just_emptied
    assert told == 1
    assert 300 < taken < 350


def test_the_next_flood_is_told_again(at):
    bucket = TokenBucket(Limit(burst=4, rate=1))
    for _ in range(2):
        refused = [bucket.just_emptied for _ in range(8) if not bucket.take()]
        assert refused == [True] + [False] * 3
        at.now += 60


def test_people_do_not_use_up_each_others_limits(at):
    buckets = Buckets(Limit(burst=2, rate=1))
    assert [buckets.take("ada") for _ in range(3)] == [True, True, False]
    assert buckets.take("bo")
    buckets.clear()
    assert buckets.take("ada")


def test_only_so_many_people_are_remembered(at, monkeypatch):
    monkeypatch.setattr(limits, "TRACKED", 3)
    buckets = Buckets(Limit(burst=1, rate=0))
    for name in ("ada", "bo", "cleo"):
        assert buckets.take(name)
    assert not buckets.take("ada"), "used last"
    assert buckets.take("dan")
    assert buckets.take("bo"), "forgotten, for it was the oldest"
    assert not buckets.take("ada")
