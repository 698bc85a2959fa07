"""PURE. What a person may be called: letters of any script, nothing that hides or breaks a line."""

import re
import unicodedata

from apps.games.kernel.errors import Refusal

LONGEST = 24
MARKS_IN_A_ROW = 2

_SPACES = re.compile(r"\s+")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_BLANK = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0xFE00, 0xFE0F)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
"""Letters, marks and symbols that show nothing: two names that differ by one look the same."""
_AS_EMOJI = "\ufe0f"
"""What phones write after a symbol; it shows nothing either, and is dropped."""


class BadName(Refusal):
    """A name that cannot be shown: ``reason`` is ``name-empty``, ``name-long`` or ``name-characters``."""


def clean_name(raw: str) -> str:
    """The name as it is kept: composed, single spaces. Raises BadName."""
    if len(raw) > 10 * LONGEST:
        raise BadName("illegal", reason="name-long")
    name = _SPACES.sub(" ", unicodedata.normalize("NFC", raw.replace(_AS_EMOJI, ""))).strip()
    if not any(character.isalnum() for character in name):
        raise BadName("illegal", reason="name-characters" if name else "name-empty")
    if any(map(_is_hidden, name)) or _is_stacked(name):
        raise BadName("illegal", reason="name-characters")
    if len(name) > LONGEST:
        raise BadName("illegal", reason="name-long")
    return name


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or character in _BLANK


def _is_stacked(name: str) -> bool:
    """Whether marks pile up on one letter, as they do to spill over other lines."""
    run = 0
    for character in name:
        run = run + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if run > MARKS_IN_A_ROW:
            return True
    return False
