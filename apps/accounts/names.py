"""PURE. What a person may be called: letters of any script, nothing that hides or breaks a line."""

import re
import unicodedata

from apps.games.kernel.errors import Refusal

LONGEST = 24
MARKS_IN_A_ROW = 2

_SPACES = re.compile(r"\s+")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class BadName(Refusal):
    """A name that cannot be shown: ``reason`` is ``name-empty``, ``name-long`` or ``name-characters``."""


def clean_name(raw: str) -> str:
    """The name as it is kept: composed, single spaces. Raises BadName."""
    if len(raw) > 10 * LONGEST:
        raise BadName("illegal", reason="name-long")
    name = _SPACES.sub(" ", unicodedata.normalize("NFC", raw)).strip()
    if not any(character.isalnum() for character in name):
        raise BadName("illegal", reason="name-characters" if name else "name-empty")
    if any(unicodedata.category(character) in _HIDDEN for character in name) or _stacked(name):
        raise BadName("illegal", reason="name-characters")
    if len(name) > LONGEST:
        raise BadName("illegal", reason="name-long")
    return name


def _stacked(name: str) -> bool:
    """Whether marks pile up on one letter, as they do to spill over other lines."""
    run = 0
    for character in name:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > MARKS_IN_A_ROW:
            return True
    return False
