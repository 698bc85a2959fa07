"""The rulebook's pages as one list: what addresses, sitemap and language links go by."""

from datetime import date

import msgspec
from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from django.utils.translation import get_language, get_language_info

from apps.games import registry
from apps.rulebook import documents
from apps.rulebook.addresses import SMALL_PRINT
from apps.rulebook.documents import Document, RulesDocument

type Alternate = tuple[str, str, str]
"""A language's code, its own name for itself, and the path of the page in it."""


class Page(msgspec.Struct, frozen=True):
    """A page in whichever language is active: ``hub``, a game's rules, or one of the small print."""

    name: str
    game: str = ""

    def url(self) -> str:
        """The path in the active language."""
        return reverse(f"rulebook:{self.name}", kwargs={"game": self.game} if self.game else {})

    @property
    def language(self) -> str:
        """The active language."""
        return get_language() or settings.LANGUAGE_CODE

    def document(self) -> Document | RulesDocument:
        if self.game:
            return documents.game_rules(self.game, self.language)
        return documents.site_page(self.name, self.language)

    def updated(self) -> date:
        return self.document().matter.updated

    def alternates(self) -> tuple[Alternate, ...]:
        """This page in every language, its own included."""
        return alternates(f"rulebook:{self.name}", **({"game": self.game} if self.game else {}))


def alternates(name: str, **arguments: str) -> tuple[Alternate, ...]:
    """The page of this name in every language."""
    return tuple(_alternate(code, name, arguments) for code, _ in settings.LANGUAGES)


def _alternate(code: str, name: str, arguments: dict[str, str]) -> Alternate:
    with translation.override(code):
        return code, get_language_info(code)["name_local"], reverse(name, kwargs=arguments)


def all_pages() -> tuple[Page, ...]:
    """Every page that search engines may list."""
    rules = (Page("game", game.slug) for game in registry.all_games())
    return (Page("hub"), *rules, *map(Page, SMALL_PRINT))


def preview_picture(game: str = "") -> str:
    """The address of the 1200×630 picture that links to a game, or to the site, show in the active language."""
    language = get_language() or settings.LANGUAGE_CODE
    return static(f"games/{game}/preview-{language}.png" if game else f"img/preview-{language}.png")
