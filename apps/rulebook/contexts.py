"""What the templates of the rulebook are filled with, in the active language."""

from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext

from apps.games import registry
from apps.games.kernel.game import AnyGame
from apps.rulebook import facts, structured
from apps.rulebook.documents import FixedRule, RulesMatter, game_rules
from apps.rulebook.operator import NOT_APPLICABLE, Operator
from apps.rulebook.pages import Alternate, Page, preview_picture

LOCALES: Final = {"en": "en_GB", "fr": "fr_FR", "de": "de_DE", "ru": "ru_RU"}
"""How link previews name a language."""


def page_context(page: Page, origin: str, who: Operator) -> dict[str, Any]:
    """Everything a page shows; ``origin`` is scheme and host, for addresses that leave the site."""
    shared = _shared_context(page, origin) | {"operator": who}
    if page.game:
        return shared | _rules_context(page, origin, who, game_rules(page.game, page.language).matter)
    if page.name == "hub":
        return shared | {"games": [_game_line(game) for game in registry.all_games()]}
    if page.name == "imprint":
        return shared | {"missing": who.missing(), "operator_lines": _operator_lines(who)}
    return shared


def listing(origin: str, path: str, alternates: tuple[Alternate, ...], game: str = "") -> dict[str, Any]:
    """What ``listing.html`` says about a page of this path, in the active language."""
    return {
        "origin": origin,
        "canonical": origin + path,
        "alternates": alternates,
        "locale": LOCALES[get_language() or settings.LANGUAGE_CODE],
        "preview": origin + preview_picture(game),
        "type": "article" if game else "website",
    }


def _shared_context(page: Page, origin: str) -> dict[str, Any]:
    document = page.document()
    trail = structured.trail_of(page)
    return listing(origin, page.url(), page.alternates(), page.game) | {
        "cookieless": True,
        "page": page,
        "matter": document.matter,
        "body": document.body,
        "trail": trail,
        "data": [structured.breadcrumbs(origin, trail)],
    }


def _rules_context(page: Page, origin: str, who: Operator, matter: RulesMatter) -> dict[str, Any]:
    game = registry.get(page.game)
    checked = gettext("%(date)s, by %(people)s") % {
        "date": date_format(matter.checked, "DATE_FORMAT"),
        "people": matter.checked_by,
    }
    article = structured.article(origin, page, matter, who.name)
    return {
        "game": _game_line(game),
        "defaults": facts.default_rows(game, source=matter.source, checked=checked),
        "house_rules": (*facts.house_rules(game), *map(_fixed_rule, matter.fixed)),
        "data": [article, structured.breadcrumbs(origin, structured.trail_of(page))],
    }


def _fixed_rule(rule: FixedRule) -> facts.HouseRule:
    return facts.HouseRule(name=rule.name, meaning=rule.meaning, default=rule.default)


def _operator_lines(who: Operator) -> list[tuple[str, str]]:
    """Labels and facts; what does not apply is left out, what is missing is empty."""
    lines = [
        (gettext("Operator"), who.name),
        (gettext("Address"), who.address.replace("\\n", "\n")),
        (gettext("Email"), who.email),
        (gettext("Phone"), who.phone),
        (gettext("Register entry"), who.register),
        (gettext("Responsible for the content"), who.director),
        (gettext("Hosted by"), who.host.replace("\\n", "\n")),
    ]
    return [(label, value) for label, value in lines if value != NOT_APPLICABLE]


def _game_line(game: AnyGame) -> dict[str, Any]:
    """A game as lists and Play buttons show it."""
    page = Page("game", game.slug)
    matter = game_rules(game.slug, page.language).matter
    return {
        "name": matter.heading,
        "kind": matter.kind,
        "tagline": game.tagline,
        "motif": game.motif,
        "players": facts.players_text(game),
        "minutes": facts.minutes_text(game),
        "rules_url": page.url(),
        "play_url": f"{reverse('tables:new')}?{facts.play_query(game)}",
    }
