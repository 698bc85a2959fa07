"""Who is asking. The session cookie is the key to the seat; a guest gets one with their first POST."""

from django.contrib.auth import login
from django.http import HttpRequest
from django.utils.translation import get_language

from apps.accounts import services
from apps.accounts.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


def ensure_user(request: HttpRequest, *, name: str = "") -> User:
    """The visitor as a User, made a guest now if they are nobody yet."""
    user = request.user
    if isinstance(user, User):
        services.touch_user(user=user)
        return user
    guest = services.create_guest(name=name, language=get_language() or "")
    login(request, guest, backend=BACKEND)
    return guest


def known_user(request: HttpRequest) -> User | None:
    """The visitor if they are somebody; reading makes nobody a guest."""
    return request.user if isinstance(request.user, User) else None
