"""Turns a table into the regions of its page: the same template serves the page and the fragments."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.tables import board, compiled
from apps.tables.board import Audience
from apps.tables.live import LiveTable

REGIONS: Final = ("table", "where", "seats", "felt", "dock", "side", "menu")
"""Partials of table.html, each one element with an id; ``table`` comes first in every message."""

PAGE: Final = "tables/table.html"


class Rendering:
    """All regions of one version for one audience, and what there is to say about it."""

    def __init__(self, table: LiveTable, audience: Audience) -> None:
        self.table = table
        self.version = table.version
        self._audience = audience
        self._news: dict[int, str] = {}
        with translation.override(audience.language):
            values = board.context(table, audience)
            self.regions: Mapping[str, str] = {name: _fragment(f"{PAGE}#{name}", values) for name in REGIONS}

    def changes(self, *, shown: Mapping[str, str], since: int) -> str:
        """The fragments that differ from what a viewer was shown, and what happened after version ``since``."""
        changed = [html for name, html in self.regions.items() if name == "table" or shown.get(name) != html]
        return "".join([*changed, self._told(since)])

    def whole(self, *, since: int | None) -> str:
        """Every region, for a viewer that may have missed something; None: it has nothing to be told."""
        regions = "".join(self.regions.values()).replace('id="table"', 'id="table" data-full', 1)
        with translation.override(self._audience.language):
            log = _fragment(f"{PAGE}#log", {"log": board.log(self.table, self._audience)})
            said = [] if since is None else board.announcements(self.table, self._audience, since=since)
        return regions + log + (_announce(said) if said else "")

    def _told(self, since: int) -> str:
        """New lines for the live region and for the top of the log."""
        if since not in self._news:
            with translation.override(self._audience.language):
                lines = board.announcements(self.table, self._audience, since=since)
            self._news[since] = _announce(lines) + _add_to_log(lines) if lines else ""
        return self._news[since]


def render(table: LiveTable, audience: Audience) -> Rendering:
    """Every region of the table, in the audience's language."""
    return Rendering(table, audience)


def _fragment(name: str, values: Mapping[str, Any]) -> str:
    """One region; while templates are being written, from the file as it is now."""
    return render_to_string(name, dict(values)) if settings.DEBUG else compiled.render(name, values)


def render_notice(notice: Mapping[str, Any] | None, language: str) -> str:
    """The ``#notice`` region alone, said too: a refusal, or a word of welcome. None takes it away."""
    with translation.override(language):
        region = _fragment(f"{PAGE}#notice", {"notice": notice})
    return region + (_announce([str(notice["text"])]) if notice else "")


def _add_to_log(lines: list[str]) -> SafeString:
    body = format_html_join("", "<li>{}</li>", ((line,) for line in reversed(lines)))
    return format_html('<ol id="log-news" hx-swap-oob="afterbegin:#log">{}</ol>', body)


def _announce(lines: list[str]) -> SafeString:
    """Lines for the page's one live region."""
    body = format_html_join("", "<p>{}</p>", ((line,) for line in lines))
    return format_html('<div id="announce" hx-swap-oob="beforeend:#live">{}</div>', body)
