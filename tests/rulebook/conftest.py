"""Pages as data: every page of the rulebook in every language, and what can be read from its HTML."""

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.utils import translation

from apps.rulebook.pages import Page, all_pages

LANGUAGES = [code for code, _ in settings.LANGUAGES]
CASES = [(language, page) for page in all_pages() for language in LANGUAGES]


def address(language: str, page: Page) -> str:
    with translation.override(language):
        return page.url()


class Html(HTMLParser):
    """Tags with their attributes in order, the text, and the contents of data blocks."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.words = []
        self.blocks = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        (self.blocks if self._in_script else self.words).append(data)

    def all(self, kind, /, **wanted):
        return [
            attrs
            for tag, attrs in self.tags
            if tag == kind and all(attrs.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]

    @property
    def text(self):
        # As a browser shows it: white space folded, no-break spaces kept.
        return re.sub(r"[ \t\n]+", " ", " ".join(self.words)).strip()


every_page = pytest.mark.parametrize(
    ("language", "leaf"), CASES, ids=[f"{language}-{page.game or page.name}" for language, page in CASES]
)
every_language = pytest.mark.parametrize("language", LANGUAGES)
