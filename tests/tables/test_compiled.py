"""Compiled templates give Django's own bytes, for every region, audience and stage of a match."""

from collections.abc import Iterator

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from apps.tables import board, compiled, live
from apps.tables.board import Audience
from apps.tables.live import LiveTable
from apps.tables.render import PAGE, REGIONS
from tests.tables.conftest import code_of, forms, open_table

SOURCES = [
    "{{ text }} {{ number }} {{ missing }} {{ missing.deeper }} {{ safe|safe }}",
    "{% if number > 2 and text %}a{% elif not missing %}b{% else %}c{% endif %}",
    "{% if missing is None %}none{% endif %}{% if number in numbers %}in{% endif %}",
    "{% for each in numbers %}{{ each }}{% if not forloop.last %}, {% endif %}{% empty %}none{% endfor %}{{ each }}",
    "{% for each in nothing %}{{ each }}{% empty %}none{% endfor %}",
    "{% for key, value in pairs reversed %}{{ key }}={{ value.name }};{% endfor %}",
    "{% load i18n %}{% translate 'Home' %} {% blocktranslate with name=text %}Remove {{ name }}{% endblocktranslate %}",
    "{% load i18n %}{% blocktranslate count n=number %}{{ n }} of {{ text }}{% plural %}{{ n }}{% endblocktranslate %}",
    "{{ text|upper|default:'x' }} {{ missing|default:text }} {{ numbers|length }} {{ big }}",
    "{% with number as n %}{{ n }}{% endwith %}{% widthratio number 3 100 %}",
]

VALUES = {
    "text": "<b>Ä & Ü</b>",
    "safe": "<i>ok</i>",
    "number": 3,
    "numbers": [1, 2, 3],
    "nothing": (),
    "pairs": [("a", {"name": "Ada"}), ("b", {"name": "<Bo>"})],
    "big": 1234567,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_construct_gives_the_same(source: str, language: str) -> None:
    template = Template(source)
    with translation.override(language):
        fragment = compiled._Compiler(template).function(template.nodelist)
        assert fragment(dict(VALUES)) == template.render(Context(dict(VALUES)))


def stages(client: Client, slug: str) -> Iterator[LiveTable]:
    """A table being seated, and a match from its deal to its end."""
    lobby = live.load(code_of(open_table(client, slug, mode="link", public="on")))
    address = open_table(client, slug, mode="same_device", names=["Ada", "Bo <b>"])
    code = code_of(address)
    assert lobby is not None
    yield lobby
    for number in range(400):
        table = live.load(code)
        assert table is not None
        if number % 3 == 0 or not table.playing:
            yield table
        if not table.playing:
            return
        form = forms(client.get(address).content).moves[number % 2 - 1]
        client.post(form["action"], {"move": form["move"], "version": form["version"]})


@pytest.mark.django_db(transaction=True)
def test_every_region_gives_the_same(client: Client, slug: str) -> None:
    compared = 0
    for table in stages(client, slug):
        held = table.seats_of(table.host_id)
        for audience in (Audience("en", held=held, host=True), Audience("de"), Audience("ru", "latin", held)):
            with translation.override(audience.language):
                values = board.context(table, audience)
                for region in REGIONS:
                    name = f"{PAGE}#{region}"
                    assert compiled.render(name, values) == render_to_string(name, values), region
                    compared += 1
    assert compared > 100
