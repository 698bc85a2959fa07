"""CommonMark with the few things a rules page needs besides, rendered to sections of HTML.

- ``## Heading {#anchor}`` begins a section; the anchor is the same in every language.
- ``{{ default.turns }}`` is a fact of the game or the site, ``{{ default.turns | turn | turns }}`` counts it.
- ``::: question Is it? … :::`` is a question that opens.
- A fence ``cards`` is a drawn example: a line a group, ``Label: 9C KD``; ``-JC`` is drawn dimmed.
- ``Term`` and ``: meaning`` below it make a glossary entry.
- ``[text](page:privacy)`` links to another page of the rulebook in the same language.

Text that is not markup is escaped; a page cannot carry HTML of its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin

from apps.rulebook.plurals import counted

type Facts = Mapping[str, int | str]

FACT: Final = re.compile(r"\{\{ *([a-z0-9_.]+) *((?:\|[^{}|]+)*)\}\}")
ANCHOR: Final = re.compile(r"(.+?) *\{#([a-z-]+)\}\Z")
EXAMPLE: Final = "cards"
QUESTION: Final = "question"


class Setting(msgspec.Struct, frozen=True):
    """What the text of a page is filled with."""

    language: str
    facts: Facts
    link: Callable[[str], str]
    """The address of a page by its name."""


class Section(msgspec.Struct, frozen=True):
    """A heading of the second level and what follows it."""

    anchor: str
    heading: str
    html: SafeString


class Body(msgspec.Struct, frozen=True):
    """A page's text: what stands before the first heading, and its sections."""

    opening: SafeString
    sections: tuple[Section, ...]


def render(text: str, setting: Setting) -> Body:
    """Raises KeyError for a fact that does not exist, ValueError for a heading without an anchor."""
    env = {"setting": setting}
    opening, *chunks = _chunks(_PARSER.parse(text, env))
    return Body(opening=_html(opening, env), sections=tuple(_section(chunk, env) for chunk in chunks))


def fill(text: str, setting: Setting) -> str:
    """The text with its facts put in, not yet escaped."""
    return FACT.sub(lambda match: _fact(match, setting), text)


def facts_used(text: str) -> list[str]:
    """The names of the facts in a text, in order."""
    return [match[1] for match in FACT.finditer(text)]


def _fact(match: re.Match[str], setting: Setting) -> str:
    value = setting.facts[match[1]]
    forms = tuple(form.strip() for form in match[2].split("|")[1:])
    if not forms:
        return str(value)
    if not isinstance(value, int):
        raise ValueError(f"{match[1]} cannot be counted")
    return counted(setting.language, value, forms)


def _chunks(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens before the first second-level heading, then each section's."""
    chunks: list[list[Token]] = [[]]
    for token in tokens:
        if token.type == "heading_open" and token.tag == "h2":
            chunks.append([])
        chunks[-1].append(token)
    return chunks


def _section(tokens: list[Token], env: dict[str, Setting]) -> Section:
    _, title, _, *rest = tokens
    match = ANCHOR.match(title.content)
    if match is None:
        raise ValueError(f"no anchor: {title.content}")
    return Section(anchor=match[2], heading=fill(match[1], env["setting"]), html=_html(rest, env))


def _html(tokens: Sequence[Token], env: dict[str, Setting]) -> SafeString:
    return mark_safe(_PARSER.renderer.render(tokens, _PARSER.options, env))  # noqa: S308 - the parser escapes


def _fact_rule(state: StateInline, silent: bool) -> bool:
    """An inline rule, so that no value of a fact is ever read as markup."""
    match = FACT.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("text", "", 0).content = _fact(match, state.env["setting"])
    state.pos = match.end()
    return True


def _fence(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: dict[str, Setting]) -> str:
    kind, _, title = tokens[index].info.partition(" ")
    if kind != EXAMPLE:
        raise ValueError(f"unknown block: {kind}")
    groups = [_group(line) for line in fill(tokens[index].content, env["setting"]).splitlines()]
    return render_to_string("rulebook/example.html", {"title": title, "groups": groups})


def _group(line: str) -> tuple[str, list[tuple[str, bool]]]:
    """A line of an example: its label and its cards, each with whether it is dimmed."""
    label, _, cards = line.rpartition(":")
    return label.strip(), [(card.removeprefix("-"), card.startswith("-")) for card in cards.split()]


def _code(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: dict[str, Setting]) -> str:
    return f"<code>{escape(fill(tokens[index].content, env['setting']))}</code>"


def _question(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: dict[str, Setting]) -> str:
    token = tokens[index]
    if token.nesting < 0:
        return "</details>\n"
    title = fill(token.info.strip().removeprefix(QUESTION).strip(), env["setting"])
    return f'<details class="q"><summary>{escape(title)}</summary>\n'


def _link(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: dict[str, Setting]) -> str:
    token = tokens[index]
    scheme, _, page = str(token.attrs["href"]).partition(":")
    if scheme == "page":
        token.attrs["href"] = env["setting"].link(page)
    return str(renderer.renderToken(tokens, index, options, env))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.use(deflist_plugin).use(container_plugin, QUESTION, render=_question)
    parser.inline.ruler.before("escape", "fact", _fact_rule)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_inline", _code)
    parser.add_render_rule("link_open", _link)
    return parser


_PARSER: Final = _parser()
