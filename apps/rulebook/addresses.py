"""Where the rulebook's pages live in each language.

The words are data and not messages: an address must not change with the state of a catalogue.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.utils.functional import lazystr
from django.utils.translation import get_language

from apps.rulebook import documents

SEGMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "hub": {"en": "rules", "fr": "regles", "de": "regeln", "ru": "pravila"},
    "imprint": {"en": "legal-notice", "fr": "mentions-legales", "de": "impressum", "ru": "pravovaya-informatsiya"},
    "privacy": {"en": "privacy", "fr": "confidentialite", "de": "datenschutz", "ru": "konfidentsialnost"},
    "terms": {
        "en": "terms",
        "fr": "conditions-utilisation",
        "de": "nutzungsbedingungen",
        "ru": "usloviya-ispolzovaniya",
    },
    "accessibility": {"en": "accessibility", "fr": "accessibilite", "de": "barrierefreiheit", "ru": "dostupnost"},
}
SMALL_PRINT: Final = ("imprint", "privacy", "terms", "accessibility")


class _Segment:
    """The word for a page in the language that is active when it is read."""

    def __init__(self, page: str, rest: str = "") -> None:
        self.page = page
        self.rest = rest

    def __str__(self) -> str:
        language = get_language() or settings.LANGUAGE_CODE
        return f"{SEGMENTS[self.page][language]}/{self.rest}"


def route(page: str, rest: str = "") -> Any:
    """A lazy route for ``path()``, as a translated one would be: ``regles/`` while French is active."""
    return lazystr(_Segment(page, rest))


def any_segment(page: str) -> str:
    """A regular expression for the page's word in whichever language."""
    return "|".join(dict.fromkeys(SEGMENTS[page].values()))


class GameConverter:
    """A game in an address: its slug in the active language.

    The slug of another language is understood too, so that the view can send the reader on to the right one.
    """

    regex = "[a-z0-9-]+"

    def to_python(self, value: str) -> str:
        """The game's own slug. Raises ValueError for no game's slug, which is a 404."""
        for slugs in documents.slugs().values():
            if value in slugs.values():
                return next(game for game, slug in slugs.items() if slug == value)
        raise ValueError(value)

    def to_url(self, value: str) -> str:
        """Raises ValueError for what is no game, which is no reverse match."""
        slugs = documents.slugs()[get_language() or settings.LANGUAGE_CODE]
        if value not in slugs:
            raise ValueError(value)
        return slugs[value]
