"""Who has which table's page open. Kept in the cache, and gone by itself when nobody renews it.

Presence is of a person at a table: two tabs are one, and a killed process leaves nobody behind.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps

from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

SOCKET_SECONDS = 45
"""A page with a socket renews its presence three times within this."""

RENEW_EVERY_SECONDS = 15

PAGE_SECONDS = 60
"""Without a socket, loading the page counts for so long."""

REMEMBERED = "present-since"
KNOWN_AFTER_SECONDS = RENEW_EVERY_SECONDS + 5
"""By then everybody with a socket has renewed their presence in a cache that began empty."""

Away = RedisError
"""The cache cannot be asked just now; one in memory always can."""

type Person = tuple[str, int]
"""(table's code, user id)."""


def _key(person: Person) -> str:
    code, user_id = person
    return f"present:{code}:{user_id}"


def _if_possible(write: Callable[..., None]) -> Callable[..., None]:
    """While the cache is away nobody's presence is noted, and nobody is turned away for that."""

    @wraps(write)
    def wrapper(*arguments: object) -> None:
        with suppress(Away):
            write(*arguments)

    return wrapper


@_if_possible
def renew(people: Iterable[Person]) -> None:
    """These people have a socket open."""
    present = {_key(person): True for person in people}
    if present:
        cache.set_many(present, SOCKET_SECONDS)


@_if_possible
def saw_page(person: Person) -> None:
    """This person loaded the page, maybe without a script to open a socket."""
    cache.set(_key(person), True, PAGE_SECONDS)


@_if_possible
def forget(person: Person) -> None:
    """The last socket of this person closed here."""
    cache.delete(_key(person))


def present(people: Iterable[Person]) -> set[Person]:
    """Those of these who are there, in one look-up. Raises Away."""
    by_key = {_key(person): person for person in people}
    return {by_key[key] for key in cache.get_many(by_key)} if by_key else set()


def is_known() -> bool:
    """Whether who is not present is away: a cache that has just begun, or lost everything, knows nobody.

    Raises Away.
    """
    now = timezone.now().timestamp()
    since = cache.get_or_set(REMEMBERED, now, None)
    return since is not None and now - since >= KNOWN_AFTER_SECONDS


def trust_cache() -> None:
    """From now on, whoever is not in the cache is away."""
    cache.set(REMEMBERED, 0.0, None)
