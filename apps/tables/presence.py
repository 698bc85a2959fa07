"""Who has which table's page open. Kept in the cache, and gone by itself when nobody renews it.

Presence is of a person at a table: two tabs are one, and a killed process leaves nobody behind.
"""

from collections.abc import Iterable

from django.core.cache import cache

SOCKET_SECONDS = 45
"""A page with a socket renews its presence three times within this."""

RENEW_EVERY_SECONDS = 15

PAGE_SECONDS = 60
"""Without a socket, loading the page counts for so long."""

type Person = tuple[str, int]
"""(table's code, user id)."""


def _key(person: Person) -> str:
    code, user_id = person
    return f"present:{code}:{user_id}"


def renew(people: Iterable[Person]) -> None:
    """These people have a socket open."""
    present = {_key(person): True for person in people}
    if present:
        cache.set_many(present, SOCKET_SECONDS)


def saw_page(person: Person) -> None:
    """This person loaded the page, maybe without a script to open a socket."""
    cache.set(_key(person), True, PAGE_SECONDS)


def forget(person: Person) -> None:
    """The last socket of this person closed here."""
    cache.delete(_key(person))


def present(people: Iterable[Person]) -> set[Person]:
    """Those of these who are there, in one look-up."""
    by_key = {_key(person): person for person in people}
    return {by_key[key] for key in cache.get_many(by_key)} if by_key else set()
