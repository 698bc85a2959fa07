"""Every string that people see is there in every language, whole and counted rightly."""

import re
from collections import Counter
from functools import cache

import polib
import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation import ngettext, npgettext

from config import catalogues, extraction

LANGUAGES = extraction.languages()
COUNTS = (0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 101, 111, 112)
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|%[sd]|(?<!\{)\{[a-z_]*\}")
TAG = re.compile(r"</?[a-z]+")


@cache
def extracted():
    return extraction.extract_all()


@cache
def catalogue(path):
    return polib.pofile(str(path), encoding="utf-8", wrapwidth=0)


def cases():
    """(language, folder of the catalogues) for each catalogue that has anything to say."""
    return [(language, folder) for folder, messages in extracted().items() if messages for language in LANGUAGES]


def name_of(value):
    return str(value.relative_to(settings.BASE_DIR)) if hasattr(value, "relative_to") else value


every_catalogue = pytest.mark.parametrize(("language", "folder"), cases(), ids=name_of)


def entries(language, folder):
    path = extraction.catalogue_path(folder, language)
    assert path.exists(), f"{name_of(path)} is missing: run `manage.py update_catalogues`"
    return list(catalogue(path))


def forms_of(entry):
    return entry.msgstr_plural if entry.msgid_plural else {0: entry.msgstr}


def russian_form(number):
    """The form that a whole number takes in Russian, from the grammar: 1 очко, 2 очка, 5 очков."""
    if 11 <= number % 100 <= 14:
        return 2
    return {1: 0, 2: 1, 3: 1, 4: 1}.get(number % 10, 2)


@every_catalogue
def test_messages_are_those_of_the_sources(language, folder):
    known = Counter((entry.msgctxt, entry.msgid, entry.msgid_plural or None) for entry in entries(language, folder))
    wanted = Counter((*key, message.plural) for key, message in extracted()[folder].items())
    assert known == wanted, "run `manage.py update_catalogues`"


@every_catalogue
def test_nothing_is_left_to_translate(language, folder):
    waiting = [entry.msgid for entry in entries(language, folder) if entry.obsolete or not entry.translated()]
    assert not waiting


@every_catalogue
def test_plural_rule_is_the_one_django_counts_by(language, folder):
    metadata = catalogue(extraction.catalogue_path(folder, language)).metadata
    assert metadata["Plural-Forms"] == extraction.plural_forms(language)
    assert metadata["Content-Type"] == "text/plain; charset=UTF-8"


@every_catalogue
def test_placeholders_are_those_of_the_english(language, folder):
    for entry in entries(language, folder):
        for index, text in forms_of(entry).items():
            assert placeholders_fit(entry, index, text, language), (entry.msgid, index, text)


def placeholders_fit(entry, index, text, language):
    """A form said of the number 1 alone may leave the number out, as in “one card”."""
    found = set(PLACEHOLDER.findall(text))
    wanted = set(PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    if entry.msgid_plural and stands_for(language, index) == {1}:
        return found <= wanted and len(wanted - found) <= 1
    return found == wanted


def stands_for(language, index):
    return {number for number in range(200) if extraction.plural_index(language, number) == index}


@every_catalogue
def test_markup_and_margins_are_those_of_the_english(language, folder):
    for entry in entries(language, folder):
        english = entry.msgid_plural or entry.msgid
        for text in forms_of(entry).values():
            assert Counter(TAG.findall(text)) == Counter(TAG.findall(english)), entry.msgid
            assert margins(text) == margins(english), entry.msgid


def margins(text):
    """The blanks around a text; a no-break space before a French colon is part of the text."""
    return re.match(r"[ \t\n]*", text)[0], re.search(r"[ \t\n]*\Z", text)[0]


@every_catalogue
def test_counted_messages_take_the_form_of_their_number(language, folder):
    with translation.override(language):
        for entry in entries(language, folder):
            for number in COUNTS if entry.msgid_plural else ():
                said = counted(entry, number)
                assert said == entry.msgstr_plural[extraction.plural_index(language, number)], (entry.msgid, number)


def counted(entry, number):
    if entry.msgctxt:
        return npgettext(entry.msgctxt, entry.msgid, entry.msgid_plural, number)
    return ngettext(entry.msgid, entry.msgid_plural, number)


def test_russian_counts_by_the_grammar():
    assert {n: extraction.plural_index("ru", n) for n in range(200)} == {n: russian_form(n) for n in range(200)}


def test_french_counts_nothing_in_the_singular():
    assert [extraction.plural_index("fr", number) for number in (0, 1, 2, 100)] == [0, 0, 2, 2]


def test_a_message_has_one_translation_wherever_it_is_said():
    """All catalogues of a language are one to Django: of two translations one would be lost."""
    for language in LANGUAGES:
        seen = {}
        for folder in extracted():
            path = extraction.catalogue_path(folder, language)
            for entry in catalogue(path) if path.exists() else ():
                assert seen.setdefault((entry.msgctxt, entry.msgid), forms_of(entry)) == forms_of(entry), entry.msgid


def test_no_catalogue_lies_where_nobody_reads_it():
    wanted = {extraction.catalogue_path(folder, language) for language, folder in cases()}
    assert set(catalogues.catalogue_files()) == wanted


TYPOGRAPHY = {
    "fr": [
        (r"'", "an apostrophe is ’"),
        (r'"', "quotation marks are « »"),
        (r"[^\s\u202f?!;][;!?]", "U+202F before ; ! ?"),
        (r"[ \u00a0][;!?]", "U+202F before ; ! ?"),
        (r"[^\u00a0\d]:(?!//)", "U+00A0 before :"),
        (r"«(?!\u00a0)|(?<!\u00a0)»", "U+00A0 inside « »"),
    ],
    "de": [(r'"', "quotation marks are „ “"), (r"\bSie haben\b|\bIhr(e|en|em|er)? ", "du, not Sie")],
    "ru": [
        (r'"', "quotation marks are « »"),
        (r"(?<=[\w,:;—»] )(Вы\b|Вас\b|Вам|Ваш)", "вы in lower case inside a sentence"),
    ],
}


@every_catalogue
def test_typography_is_that_of_the_language(language, folder):
    markup = re.compile(r"<[^>]*>|%\([a-z_]+\)[sd]|&[a-z]+;")
    for entry in entries(language, folder):
        for text in forms_of(entry).values():
            for pattern, rule in TYPOGRAPHY[language]:
                assert not re.search(pattern, markup.sub("x", text)), (rule, text)
