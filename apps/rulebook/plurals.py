"""Counted words inside a page's own text: ``{{ default.turns | ход | хода | ходов }}``.

Pages are written whole in each language, so their plural forms stand in the text and not in a catalogue.
"""

from typing import Final

FORMS: Final = {"en": 2, "fr": 2, "de": 2, "ru": 3}
"""How many forms a counted word has in each language."""

NBSP: Final = "\u00a0"


def plural_form(language: str, count: int) -> int:
    """Which form ``count`` takes, from 0 (CLDR's classes for whole numbers)."""
    if language == "fr":
        return int(count > 1)
    if language != "ru":
        return int(count != 1)
    if count % 10 == 1 and count % 100 != 11:
        return 0
    return 1 if count % 10 in (2, 3, 4) and count % 100 not in (12, 13, 14) else 2


def counted(language: str, count: int, forms: tuple[str, ...]) -> str:
    """The number and its word, kept on one line. Raises ValueError for a wrong number of forms."""
    if len(forms) != FORMS[language]:
        raise ValueError(f"{language} needs {FORMS[language]} forms, not {forms}")
    return f"{count}{NBSP}{forms[plural_form(language, count)]}"
