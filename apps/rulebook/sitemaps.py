"""What the sitemap lists: the home page and every page of the rulebook, each in every language."""

from datetime import date
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.urls import reverse

from apps.rulebook.pages import Page, all_pages


class TranslatedSitemap(Sitemap):
    """Pages in every language with their alternates, at the public address; the template adds x-default."""

    i18n = True
    alternates = True

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(settings.PUBLIC_URL).scheme or super().get_protocol(protocol)

    def get_domain(self, site: Any = None) -> str:
        return urlsplit(settings.PUBLIC_URL).netloc or super().get_domain(site)


class RulebookSitemap(TranslatedSitemap):
    """Every page of the rulebook."""

    def items(self) -> list[Page]:
        return list(all_pages())

    def location(self, page: Page) -> str:
        return page.url()

    def lastmod(self, page: Page) -> date:
        return page.updated()


class HomeSitemap(TranslatedSitemap):
    """The home page."""

    def items(self) -> list[str]:
        return ["home"]

    def location(self, name: str) -> str:
        return reverse(name)

    def lastmod(self, name: str) -> date:
        return max(page.updated() for page in all_pages())


SITEMAPS = {"home": HomeSitemap, "rulebook": RulebookSitemap}
