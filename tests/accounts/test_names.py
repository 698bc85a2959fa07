"""What a person may be called."""

import pytest

from apps.accounts.names import LONGEST, BadName, clean_name

GOOD = {
    "Ada": "Ada",
    "  Ada   Lovelace ": "Ada Lovelace",
    "Zoë": "Zoë",
    "Zoe\u0308": "Zoë",
    "Ёжик": "Ёжик",
    "Мария-Луиза": "Мария-Луиза",
    "Ægir": "Ægir",
    "Nguyễn Thị": "Nguyễn Thị",
    "O’Brien": "O’Brien",
    "小明": "小明",
    "שָׁלוֹם": "שָׁלוֹם",
    "กิ่ง": "กิ่ง",
    "हिन्दी": "हिन्दी",
    "7": "7",
    "Ada\tBo": "Ada Bo",
    "Ada\u2028Bo": "Ada Bo",
    "Ada\u00a0Bo": "Ada Bo",
    "Ada ❤\ufe0f": "Ada ❤",
    "Ada\ufe0f": "Ada",
    "<b>Ada</b>": "<b>Ada</b>",
    "'; DROP TABLE": "'; DROP TABLE",
    "A" * LONGEST: "A" * LONGEST,
}

BAD = {
    "": "name-empty",
    "   ": "name-empty",
    "\u2003\u00a0": "name-empty",
    "...": "name-characters",
    "❤": "name-characters",
    "A" * (LONGEST + 1): "name-long",
    "A" * 10_000: "name-long",
    " " * 10_000: "name-long",
    "Ad\u200ba": "name-characters",
    "Ad\u200da": "name-characters",
    "\u202eadA": "name-characters",
    "\u2066Ada": "name-characters",
    "Ada\u00ad": "name-characters",
    "Ada\ufeff": "name-characters",
    "Ada\x00": "name-characters",
    "Ada\x1b[31m": "name-characters",
    "Ada\x7f": "name-characters",
    "Ada\ud800": "name-characters",
    "Ada\ue000": "name-characters",
    "Ada\uffff": "name-characters",
    "Ada\U000e0041": "name-characters",
    "\u3164": "name-characters",
    "Ada\u3164": "name-characters",
    "\uffa0\u115f": "name-characters",
    "Ada\u2800": "name-characters",
    "Ada\u034f": "name-characters",
    "Ada\ufe00": "name-characters",
    "Ada\U000e0100": "name-characters",
    "Z\u0300\u0301\u0302algo": "name-characters",
    "Ada\u20dd\u20dd\u20dd": "name-characters",
}


@pytest.mark.parametrize(("raw", "name"), GOOD.items())
def test_names_are_kept_as_they_are_read(raw, name):
    assert clean_name(raw) == name
    assert clean_name(name) == name, "a kept name is kept again"


@pytest.mark.parametrize(("raw", "reason"), BAD.items(), ids=lambda value: ascii(value)[:30])
def test_names_that_hide_break_or_say_nothing_are_refused(raw, reason):
    with pytest.raises(BadName) as refused:
        clean_name(raw)
    assert (refused.value.code, refused.value.params) == ("illegal", {"reason": reason})


def test_two_names_that_look_alike_are_written_alike():
    """Composed and decomposed, with spaces of any kind."""
    assert clean_name("Zoe\u0308  Bo") == clean_name("Zoë\u2002Bo")
