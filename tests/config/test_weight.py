"""What a first visit weighs over the wire, with everything the page needs, from a site as it runs for real."""

import re

import pytest

from tests.config.test_up import PROXIED, fetch, open_table, production

__all__ = ["production"]

PACKED = {**PROXIED, "Accept-Encoding": "gzip"}
NEEDED = re.compile(r'(?:href|src)="(/static/[^"#?]+\.(?:css|js|svg|woff2|png|ico|webmanifest))')


def weight(site, page):
    """Bytes of what the page needs beside itself, icons included."""
    files = set(NEEDED.findall(page))
    assert files
    return sum(weight_of(site, file) for file in files)


def weight_of(site, path):
    response, body = fetch(site, path, **PACKED)
    assert response.status == 200, path
    return len(body)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_rules_page_is_light(production, language):
    _, hub = fetch(production, {"en": "/en/rules/", "ru": "/ru/pravila/"}[language], **PROXIED)
    path = re.search(rf'href="(/{language}/\w+/[\w-]+/)"', hub.decode())[1]
    _, page = fetch(production, path, **PROXIED)
    response, packed = fetch(production, path, **PACKED)
    assert response.headers["Content-Encoding"] == "gzip"
    total = len(packed) + weight(production, page.decode())
    assert total < 60_000, total


def test_a_table_is_light(production):
    """Its own bytes count as they are: compressing them is the proxy's to do."""
    code, session = open_table(production, origin="https://play.example", **PROXIED)
    _, page = fetch(production, f"/en/tables/{code}/", **PROXIED, Cookie=session)
    assert b'id="table"' in page
    total = len(page) + weight(production, page.decode())
    assert total < 100_000, total
