"""The only writer of people."""

import secrets
from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.signals import user_erased
from apps.games.kernel.timing import GUEST_KEPT_DAYS

SEEN_EVERY = timedelta(hours=12)


def create_guest(*, name: str = "", language: str = "") -> User:
    """Somebody who sat down without signing up. The session that logs them in is the only key."""
    guest = User(username=f"guest-{secrets.token_hex(8)}", is_guest=True, display_name=name, language=language)
    guest.set_unusable_password()
    guest.save()
    return guest


def touch_user(*, user: User, language: str = "", now: datetime | None = None) -> None:
    """Note that this person was here, at most twice a day, and the language they read in now."""
    now = now or timezone.now()
    if language and language != user.language:
        User.objects.filter(pk=user.pk).update(language=language)
    if now - user.seen_at >= SEEN_EVERY:
        User.objects.filter(pk=user.pk).update(seen_at=now)


def change_preferences(*, user: User, **preferences: object) -> User:
    """Set the named preferences. Raises ValidationError."""
    for name, value in preferences.items():
        setattr(user, name, value)
    user.full_clean(exclude=["password"])
    user.save(update_fields=list(preferences))
    return user


def erase_sessions() -> None:
    """Delete sessions that have run out."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


@transaction.atomic
def erase_guests(*, now: datetime | None = None) -> int:
    """Delete guests who have not come back in time (G-7); how many."""
    since = (now or timezone.now()) - timedelta(days=GUEST_KEPT_DAYS)
    gone = list(User.objects.select_for_update().filter(is_guest=True, seen_at__lt=since)[:500])
    for guest in gone:
        user_erased.send(sender=User, user=guest)
        guest.delete()
    return len(gone)
