import os

import polib
import pytest
from django.core.management import CommandError, call_command

from config import catalogues, extraction
from config.extraction import Message, extract_file, extract_source, updated


def said(source):
    return [(message.context, message.text, message.plural) for message in extract_source(source)]


@pytest.fixture
def template(tmp_path, settings):
    """What a template says: ``template("{% translate 'Play' %}")``."""
    settings.BASE_DIR = tmp_path

    def extract(text):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        return [(message.context, message.text, message.plural) for message in extract_file(path)]

    return extract


@pytest.mark.parametrize("call", ["_", "gettext", "gettext_lazy", "gettext_noop"])
def test_plain_message(call):
    assert said(f'x = {call}("Play")') == [(None, "Play", None)]


@pytest.mark.parametrize("suffix", ["", "_lazy"])
def test_counted_and_contextual_messages(suffix):
    assert said(f'ngettext{suffix}("%d card", "%d cards", n)') == [(None, "%d card", "%d cards")]
    assert said(f'pgettext{suffix}("cards", "Deal")') == [("cards", "Deal", None)]
    assert said(f'npgettext{suffix}("c", "%d deal", "%d deals", n)') == [("c", "%d deal", "%d deals")]


def test_message_over_several_lines():
    assert said('gettext(\n    "One "\n    "sentence."\n)') == [(None, "One sentence.", None)]


def test_call_of_something_else_says_nothing():
    assert said('label("Play")\nfor _ in ("a", "b"):\n    print("c")\n') == []


def test_template_tags(template):
    assert template('<p>{% translate "Play" %}</p>') == [(None, "Play", None)]
    assert template('{% translate "Deal" context "cards" %}') == [("cards", "Deal", None)]
    assert template('{% include "x.html" with label=_("Rules") %}') == [(None, "Rules", None)]
    assert template('{{ title|default:_("Untitled") }}') == [(None, "Untitled", None)]


def test_template_blocks(template):
    assert template("{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}") == [(None, "Hello %(name)s", None)]
    counted = "{% blocktranslate count n=n %}{{ n }} card{% plural %}{{ n }} cards{% endblocktranslate %}"
    assert template(counted) == [(None, "%(n)s card", "%(n)s cards")]
    trimmed = "{% blocktranslate trimmed context 'c' %}\n  One\n  line\n{% endblocktranslate %}"
    assert template(trimmed) == [("c", "One line", None)]


def test_indentation_of_a_template_means_nothing(template):
    text = "<ul>\n      <li>{% translate 'A' %}</li>\n   {% if x %}\n  {% translate 'B' %}\n{% endif %}</ul>"
    assert [message[1] for message in template(text)] == ["A", "B"]


def messages(*items):
    return {message.key: message for message in items}


def test_translations_are_kept_and_dead_ones_dropped():
    old = updated(None, messages(Message(None, "Play", files={"a.py"}), Message(None, "Old", files={"a.py"})), "fr")
    for entry in old:
        entry.msgstr = f"fr {entry.msgid}"
    new = updated(old, messages(Message(None, "Play", files={"b.py"}), Message(None, "New", files={"b.py"})), "fr")
    assert {entry.msgid: entry.msgstr for entry in new} == {"Play": "fr Play", "New": ""}


def test_updating_twice_changes_nothing(tmp_path):
    wanted = messages(Message(None, "Long " * 60, files={"a.py"}), Message(None, "%(n)s a", "%(n)s b", files={"a.py"}))
    path = tmp_path / "django.po"
    first = updated(None, wanted, "ru")
    first.save(str(path))
    assert str(updated(polib.pofile(str(path), wrapwidth=0), wanted, "ru")) == str(first)


def test_message_that_becomes_counted_waits_for_its_forms():
    old = updated(None, messages(Message(None, "%(n)s card", files={"a.py"})), "ru")
    old[0].msgstr = "%(n)s карта"
    new = updated(old, messages(Message(None, "%(n)s card", "%(n)s cards", files={"a.py"})), "ru")
    assert new[0].msgstr_plural == {0: "", 1: "", 2: "", 3: ""}
    assert new[0].flags == ["python-format"]


@pytest.mark.parametrize(("language", "forms"), [("fr", 3), ("de", 2), ("ru", 4)])
def test_forms_are_those_that_django_has(language, forms):
    assert extraction.plural_count(language) == forms


def test_game_folder_holds_what_only_its_files_say():
    found = extraction.extract_all()
    site, *games = found.values()
    assert games
    for game in games:
        assert not game.keys() & site.keys()


def test_missing_babel_is_said_clearly(monkeypatch):
    monkeypatch.setattr("config.management.commands.update_catalogues.find_spec", lambda name: None)
    with pytest.raises(CommandError, match="babel is missing"):
        call_command("update_catalogues")


def test_catalogue_is_compiled_only_when_older(tmp_path, settings):
    settings.LOCALE_PATHS = [tmp_path]
    path = tmp_path / "fr/LC_MESSAGES/django.po"
    path.parent.mkdir(parents=True)
    path.write_text('msgid "Play"\nmsgstr "Jouer"\n', encoding="utf-8")
    assert catalogues.compile_stale() == 1
    assert polib.mofile(str(path.with_suffix(".mo")))[0].msgstr == "Jouer"
    assert catalogues.compile_stale() == 0
    os.utime(path, (2e9, 2e9))
    assert catalogues.stale_files() == [path]
    assert sorted(file.name for file in path.parent.iterdir()) == ["django.mo", "django.po"]


def test_broken_catalogue_leaves_the_old_one(tmp_path, settings):
    settings.LOCALE_PATHS = [tmp_path]
    path = tmp_path / "fr/LC_MESSAGES/django.po"
    path.parent.mkdir(parents=True)
    path.write_text("nothing like a catalogue\n", encoding="utf-8")
    with pytest.raises(OSError, match=r"django\.po"):
        catalogues.compile_stale()
    assert [file.name for file in path.parent.iterdir()] == ["django.po"]
