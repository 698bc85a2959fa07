"""What tables do when they hear of people."""

from typing import Any

from django.dispatch import receiver

from apps.accounts.models import User
from apps.accounts.signals import user_erased
from apps.tables import services


@receiver(user_erased)
def forget(sender: type[User], *, user: User, **_: Any) -> None:
    services.forget_person(user=user)
