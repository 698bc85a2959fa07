"""What a page says to machines: schema.org data as JSON-LD."""

from collections.abc import Sequence
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import get_language, gettext

from apps.rulebook.documents import RulesMatter
from apps.rulebook.pages import Page, preview_picture

SITE_NAME: Final = "Upcard"
CONTEXT: Final = "https://schema.org"


def article(origin: str, page: Page, matter: RulesMatter, publisher_name: str) -> dict[str, Any]:
    """The rules as an Article."""
    publisher = {"@type": "Organization", "name": publisher_name or SITE_NAME, "url": origin + reverse("home")}
    return {
        "@context": CONTEXT,
        "@type": "Article",
        "headline": matter.title,
        "alternativeHeadline": matter.heading,
        "description": matter.description,
        "inLanguage": get_language(),
        "datePublished": matter.checked.isoformat(),
        "dateModified": matter.updated.isoformat(),
        "image": [origin + preview_picture(page.game)],
        "mainEntityOfPage": origin + page.url(),
        "author": publisher,
        "publisher": publisher,
        "isAccessibleForFree": True,
    }


def breadcrumbs(origin: str, trail: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The way to a page as a BreadcrumbList; ``trail`` is names and paths from the home page down."""
    items = [
        {"@type": "ListItem", "position": position, "name": name, "item": origin + path}
        for position, (name, path) in enumerate(trail, start=1)
    ]
    return {"@context": CONTEXT, "@type": "BreadcrumbList", "itemListElement": items}


def trail_of(page: Page) -> list[tuple[str, str]]:
    """Names and paths from the home page to this one."""
    trail = [(SITE_NAME, reverse("home"))]
    if page.game:
        trail.append((gettext("Rules"), Page("hub").url()))
    return [*trail, (page.document().matter.heading, page.url())]
