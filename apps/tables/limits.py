"""How much one person may ask for at once. A token bucket each, in memory."""

import time
from collections import OrderedDict
from threading import Lock

import msgspec


class Limit(msgspec.Struct, frozen=True):
    """``burst`` at once, and ``rate`` a second from then on."""

    burst: int
    rate: float


MOVES = Limit(burst=40, rate=30)
"""Faster than anybody clicks, slower than a flood."""

TABLES = Limit(burst=100, rate=2)
"""New tables of one address."""

TRACKED = 10_000


class TokenBucket:
    """What one person has left of a limit."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._tokens = float(limit.burst)
        self._at = time.monotonic()
        self._told = False
        self.just_emptied = False
        """The last refusal is worth telling: the first of a flood, which ends when half the burst is there again."""

    def take(self) -> bool:
        """Whether one more is allowed now."""
        now = time.monotonic()
        self._tokens = min(self._limit.burst, self._tokens + (now - self._at) * self._limit.rate)
        self._at = now
        self._told = self._told and self._tokens < self._limit.burst / 2
        if self._tokens >= 1:
            self._tokens -= 1
            return True
        self.just_emptied, self._told = not self._told, True
        return False


class Buckets:
    """Buckets by key, the least recently used forgotten first."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._lock = Lock()

    def take(self, key: str) -> bool:
        """Whether this person may do one more thing now."""
        with self._lock:
            bucket = self._buckets.setdefault(key, TokenBucket(self._limit))
            self._buckets.move_to_end(key)
            if len(self._buckets) > TRACKED:
                self._buckets.popitem(last=False)
            return bucket.take()

    def clear(self) -> None:
        self._buckets.clear()
