"""Who is asking. The session cookie is the key to the seat; a guest gets one with their first POST."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth import login
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import get_language

from apps.accounts import services
from apps.accounts.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


@contextmanager
def as_user(request: HttpRequest, *, name: str = "") -> Iterator[User]:
    """The visitor as a User, for what the block does.

    Whoever is nobody yet becomes a guest, in one transaction with the block: who is refused stays nobody.
    """
    user = known_user(request)
    if user is not None:
        services.touch_user(user=user, language=get_language() or "")
        yield user
        return
    with transaction.atomic():
        guest = services.create_guest(name=name, language=get_language() or "")
        yield guest
    login(request, guest, backend=BACKEND)


def known_user(request: HttpRequest) -> User | None:
    """The visitor if they are somebody; reading makes nobody a guest."""
    return request.user if isinstance(request.user, User) else None
