"""People. Whoever sits down is a User; a guest is one who has not signed up yet."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class CardLetters(models.TextChoices):
    """Which letters the reader's cards carry."""

    OWN = "own", _("my language")
    LATIN = "latin", _("A K Q J")


class Theme(models.TextChoices):
    AUTO = "auto", _("like the device")
    LIGHT = "light", _("light")
    DARK = "dark", _("dark")


class User(AbstractUser):
    """A member, or a guest with a generated username and no password."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    display_name = models.CharField(_("display name"), max_length=24, blank=True)
    is_guest = models.BooleanField(_("guest"), default=False)
    language = models.CharField(_("language"), max_length=8, blank=True)
    card_letters = models.CharField(
        _("card letters"), max_length=8, choices=CardLetters.choices, default=CardLetters.OWN
    )
    four_colour = models.BooleanField(_("four-colour deck"), default=False)
    theme = models.CharField(_("theme"), max_length=8, choices=Theme.choices, default=Theme.AUTO)
    sound = models.BooleanField(_("sound"), default=False)
    seen_at = models.DateTimeField(_("last seen"), auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.display_name or self.username
