"""Turns a table into the regions of its page: the same template serves the page and the fragments."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.tables import board, compiled
from apps.tables.board import Audience
from apps.tables.live import LiveTable

REGIONS: Final = ("table", "where", "seats", "felt", "dock", "side", "log", "menu")
"""Partials of table.html, each one element whose id is the name; ``table`` comes first in every message."""

PAGE: Final = "tables/table.html"


class Rendering(msgspec.Struct, frozen=True):
    """All regions of one version for one audience, and what to say about it."""

    version: int
    regions: Mapping[str, str]
    table: LiveTable
    audience: Audience

    def message(self, *, shown: Mapping[str, str], since: int | None, full: bool = False) -> str:
        """The fragments for a viewer who has ``shown`` and heard everything up to version ``since``."""
        changed = [html for name, html in self.regions.items() if full or name == "table" or shown.get(name) != html]
        said = [] if since is None else self._said(since)
        text = "".join([*changed, *said])
        return text.replace('id="table"', 'id="table" data-full', 1) if full else text

    def _said(self, since: int) -> list[str]:
        with translation.override(self.audience.language):
            lines = board.announcements(self.table, self.audience, since=since)
        return [_announce(lines)] if lines else []


def render(table: LiveTable, audience: Audience) -> Rendering:
    """Every region of the table, in the audience's language."""
    with translation.override(audience.language):
        values = board.context(table, audience)
        regions = {name: _fragment(f"{PAGE}#{name}", values) for name in REGIONS}
    return Rendering(version=table.version, regions=regions, table=table, audience=audience)


def _fragment(name: str, values: Mapping[str, Any]) -> str:
    """One region; while templates are being written, from the file as it is now."""
    return render_to_string(name, dict(values)) if settings.DEBUG else compiled.render(name, values)


def render_notice(notice: Mapping[str, Any] | None, language: str) -> str:
    """The ``#notice`` region alone, said too: a refusal, or a word of welcome. None takes it away."""
    with translation.override(language):
        region = _fragment(f"{PAGE}#notice", {"notice": notice})
    return region + (_announce([str(notice["text"])]) if notice else "")


def _announce(lines: list[str]) -> SafeString:
    """Lines for the page's one live region."""
    body = format_html_join("", "<p>{}</p>", ((line,) for line in lines))
    return format_html('<div id="announce" hx-swap-oob="beforeend:#live">{}</div>', body)
