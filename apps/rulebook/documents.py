"""The rulebook's texts: one markdown file a page and language, with its facts in TOML above the text.

A game's pages live in its own folder (``rulebook/<language>.md``), the site's under ``texts/<name>/``.
"""

from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.urls import reverse
from django.utils import translation

from apps.games import registry
from apps.rulebook import facts
from apps.rulebook.markdown import Body, Setting, render

TEXTS_DIR: Final = Path(__file__).parent / "texts"
FENCE: Final = "+++\n"


class Matter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a page says about itself."""

    title: str
    heading: str
    description: str
    preview: tuple[str, str] = ("", "")
    """Headline and line of the picture that link previews show, where the page has one of its own."""
    updated: date


class FixedRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A house rule that tables differ on elsewhere and no host can change here."""

    name: str
    meaning: str
    default: str


class RulesMatter(Matter, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a rules page says about itself besides."""

    slug: str
    kind: str
    """“Guessing game”, above the heading."""
    other_names: tuple[str, ...]
    source: str
    checked: date
    checked_by: str
    fixed: tuple[FixedRule, ...] = ()


class Document(msgspec.Struct, frozen=True):
    """A page's text in one language, ready to be set into a template."""

    matter: Matter
    body: Body


class RulesDocument(msgspec.Struct, frozen=True):
    """A game's rules in one language."""

    matter: RulesMatter
    body: Body


def site_page(name: str, language: str) -> Document:
    """A page of the site. Raises FileNotFoundError for a page or language that does not exist."""
    path = TEXTS_DIR / name / f"{language}.md"
    return _site_page(path, language, _stamp(path))


def game_rules(game: str, language: str) -> RulesDocument:
    """The rules of the game of this slug. Raises KeyError for what is no game."""
    path = rules_path(game, language)
    return _game_rules(game, path, language, _stamp(path))


def rules_path(game: str, language: str) -> Path:
    return registry.folder_of(registry.get(game)) / "rulebook" / f"{language}.md"


@cache
def slugs() -> Mapping[str, Mapping[str, str]]:
    """By language: each game's slug in that language."""
    return {
        code: {game.slug: _rules_matter(rules_path(game.slug, code)).slug for game in registry.all_games()}
        for code, _ in settings.LANGUAGES
    }


def split(text: str) -> tuple[str, str]:
    """The matter and the text of a file. Raises ValueError without matter."""
    before, matter, body = text.split(FENCE, 2)
    if before:
        raise ValueError("no matter at the top")
    return matter, body


@lru_cache(maxsize=256)
def _site_page(path: Path, language: str, stamp: int) -> Document:
    matter, text = split(path.read_text("utf-8"))
    setting = Setting(language=language, facts=facts.site_facts(), link=_link)
    return Document(matter=msgspec.toml.decode(matter, type=Matter), body=_rendered(text, setting))


@lru_cache(maxsize=256)
def _game_rules(game: str, path: Path, language: str, stamp: int) -> RulesDocument:
    _, text = split(path.read_text("utf-8"))
    setting = Setting(language=language, facts=facts.game_facts(game), link=_link)
    return RulesDocument(matter=_rules_matter(path), body=_rendered(text, setting))


def _rules_matter(path: Path) -> RulesMatter:
    matter, _ = split(path.read_text("utf-8"))
    return msgspec.toml.decode(matter, type=RulesMatter)


def _rendered(text: str, setting: Setting) -> Body:
    with translation.override(setting.language):
        return render(text, setting)


def _link(page: str) -> str:
    return reverse(f"rulebook:{page}")


def _stamp(path: Path) -> int:
    """Changes with the file, so that an edit shows at once while developing."""
    return path.stat().st_mtime_ns if settings.DEBUG else 0
