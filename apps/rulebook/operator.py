"""Who runs the site, as the law wants it shown; the facts come from the environment."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

SETTINGS: Final[Mapping[str, str]] = {
    "name": "OPERATOR_NAME",
    "address": "OPERATOR_ADDRESS",
    "email": "OPERATOR_EMAIL",
    "phone": "OPERATOR_PHONE",
    "register": "OPERATOR_REGISTER",
    "director": "PUBLICATION_DIRECTOR",
    "host": "HOST_NAME_AND_ADDRESS",
}
"""Each fact and the setting, and environment variable, that it is read from."""

NOT_APPLICABLE: Final = "-"
"""For what an operator does not have, such as a register entry: its line is left out."""

INDISPENSABLE: Final = frozenset({"name", "address", "email"})
"""No operator is without these."""


class Operator(msgspec.Struct, frozen=True):
    """Each fact as it is shown; empty while it is not filled in."""

    name: str = ""
    address: str = ""
    email: str = ""
    phone: str = ""
    register: str = ""
    director: str = ""
    host: str = ""

    def missing(self) -> tuple[str, ...]:
        """The settings, and environment variables, that still have to be filled in."""
        return tuple(setting for field, setting in SETTINGS.items() if self._lacks(field))

    def _lacks(self, field: str) -> bool:
        value = getattr(self, field)
        return not value or (value == NOT_APPLICABLE and field in INDISPENSABLE)


def operator() -> Operator:
    return Operator(**{field: getattr(settings, setting).strip() for field, setting in SETTINGS.items()})


@register(Tags.compatibility, deploy=True)
def check_operator(app_configs: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """A public site says who runs it: one error for each fact that is missing."""
    return [_error(field, setting) for field, setting in SETTINGS.items() if setting in operator().missing()]


def _error(field: str, setting: str) -> Error:
    way_out = "" if field in INDISPENSABLE else f"; “{NOT_APPLICABLE}” leaves the line out"
    return Error(
        f"{setting} is not set, and the legal notice needs it.",
        hint=f"Set the environment variable {setting}{way_out}.",
        id="rulebook.E001",
    )
