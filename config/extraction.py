"""Finds what the site says in Python and templates, and brings the message catalogues in line with it.

For developers: it needs babel, which a running site does not.
"""

import gettext
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import django
import polib
from django.conf import settings
from django.utils.translation.template import templatize

CODE = (".py",)
TEMPLATES = (".html", ".txt", ".xml", ".svg")
SOURCES = ("apps", "config", "templates")
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
PERCENT_FORMAT = re.compile(r"%(?:\([^)]+\))?[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")

type Key = tuple[str | None, str]
"""Context and English text: what a catalogue knows a message by."""


@dataclass
class Message:
    """One text to translate, and the files that say it."""

    context: str | None
    text: str
    plural: str | None = None
    files: set[str] = field(default_factory=set)
    comments: list[str] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.context, self.text


type Messages = dict[Key, Message]


def languages() -> list[str]:
    """The languages that need a catalogue: all but the one the sources are written in."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def catalogue_path(folder: Path, language: str) -> Path:
    return folder / language / "LC_MESSAGES" / "django.po"


def extract_all() -> dict[Path, Messages]:
    """The messages of each folder of catalogues. A game's holds what only its own files say."""
    site = Path(settings.LOCALE_PATHS[0])
    found: dict[Path, Messages] = {Path(folder): {} for folder in settings.LOCALE_PATHS}
    for path in source_files():
        for message in extract_file(path):
            _merge(found[_home_of(path)], message)
    for folder, messages in found.items():
        if folder != site:
            found[folder] = {key: message for key, message in messages.items() if key not in found[site]}
    return found


def source_files() -> list[Path]:
    """Everything that may speak to people, in a stable order."""
    paths = (path for name in SOURCES for path in (settings.BASE_DIR / name).rglob("*"))
    return sorted(path for path in paths if path.suffix in CODE + TEMPLATES and "migrations" not in path.parts)


def extract_file(path: Path) -> Iterator[Message]:
    """The messages of one file. Raises SyntaxError for a template that cannot be read."""
    source = path.read_text(encoding="utf-8")
    name = path.relative_to(settings.BASE_DIR).as_posix()
    if path.suffix in TEMPLATES:
        source = _code_of_template(source, name)
    for message in extract_source(source):
        message.files.add(name)
        yield message


def extract_source(source: str) -> Iterator[Message]:
    """The messages of Python code."""
    from babel.messages.extract import extract  # here, since only developers have it

    found = extract("python", io.BytesIO(source.encode()), KEYWORDS, ["Translators:"], {"encoding": "utf-8"})
    for _line, text, comments, context in found:
        texts = text if isinstance(text, tuple) else (text,)
        yield Message(context, texts[0], texts[1] if len(texts) > 1 else None, comments=list(comments))


def _code_of_template(source: str, name: str) -> str:
    """Python calls in place of the template's tags, without the indentation that would mean something to Python."""
    return "\n".join(line.strip() for line in templatize(source, origin=name).splitlines())


def _home_of(path: Path) -> Path:
    for folder in settings.GAME_DIRS:
        if path.is_relative_to(folder):
            return Path(folder / "locale")
    return Path(settings.LOCALE_PATHS[0])


def _merge(messages: Messages, message: Message) -> None:
    known = messages.setdefault(message.key, message)
    known.files |= message.files
    known.plural = known.plural or message.plural
    known.comments += [comment for comment in message.comments if comment not in known.comments]


def updated(catalogue: polib.POFile | None, messages: Messages, language: str) -> polib.POFile:
    """A catalogue of exactly these messages, with the translations that ``catalogue`` already has."""
    known = {(entry.msgctxt, entry.msgid): entry for entry in catalogue or () if not entry.obsolete}
    fresh = polib.POFile(wrapwidth=0)
    fresh.metadata = {
        "Project-Id-Version": "upcard",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": plural_forms(language),
    }
    fresh.extend(_entry(messages[key], known.get(key), language) for key in sorted(messages, key=_order(messages)))
    return fresh


def _order(messages: Messages) -> Callable[[Key], tuple[str, ...]]:
    """By file, then by text, so that a translator reads what belongs together, and a change moves nothing else."""
    return lambda key: (min(messages[key].files), key[1].casefold(), key[1], key[0] or "")


def _entry(message: Message, known: polib.POEntry | None, language: str) -> polib.POEntry:
    entry = polib.POEntry(
        msgctxt=message.context,
        msgid=message.text,
        occurrences=[(name, "") for name in sorted(message.files)],
        comment="\n".join(message.comments),
        flags=["python-format"] if PERCENT_FORMAT.search(message.text + (message.plural or "")) else [],
    )
    if message.plural is None:
        entry.msgstr = known.msgstr if known and not known.msgid_plural else ""
        return entry
    entry.msgid_plural = message.plural
    forms = known.msgstr_plural if known and known.msgid_plural else {}
    entry.msgstr_plural = {index: forms.get(index, "") for index in range(plural_count(language))}
    return entry


@cache
def _plural_rule(language: str) -> Any:
    # Django adds our catalogues to its own, so that both have to count alike.
    return gettext.translation("django", Path(django.__file__).parent / "conf/locale", [language])


def plural_forms(language: str) -> str:
    """The Plural-Forms header that Django's own catalogue of this language has."""
    return str(_plural_rule(language).info()["plural-forms"])


def plural_count(language: str) -> int:
    """How many forms a counted message has in this language."""
    return int(plural_forms(language).split("nplurals=")[1].split(";")[0])


def plural_index(language: str, number: int) -> int:
    """The form that goes with this number."""
    return int(_plural_rule(language).plural(number))
