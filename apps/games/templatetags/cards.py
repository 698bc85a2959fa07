"""Cards as markup: ``{% load cards %}{% card "8H" big=True %}{% card_back label=_("stock") %}``."""

from functools import lru_cache

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from apps.games import wording
from apps.games.kernel.cards import is_card, is_joker, rank_of, suit_of

register = template.Library()

FRAMES = {"K": "fK", "Q": "fQ", "J": "fJ"}


@register.simple_tag(takes_context=True)
def card(context: Context, code: str, *, big: bool = False, classes: str = "", decor: bool = False) -> SafeString:
    """One card face up, ``data-card`` and named for screen readers; ``decor`` hides it from them.

    Reads ``letters`` from the context (``own`` unless set). Raises ValueError for what is no card.
    """
    letters = str(context.get("letters") or "own")
    name = " ".join(filter(None, ("card", "big" if big else "", classes)))
    return _card(code, letters, name, decor)


@wording.worded
def _card(code: str, letters: str, name: str, decor: bool) -> SafeString:
    if not is_card(code):
        raise ValueError(f"not a card: {code!r}")
    face = card_face(code, letters, get_language() or "")
    if decor:
        return format_html('<span class="{}" data-card="{}" aria-hidden="true">{}</span>', name, code, face)
    return format_html(
        '<span class="{}" data-card="{}" role="img" aria-label="{}">{}</span>',
        name,
        code,
        wording.card_name(code),
        face,
    )


@register.simple_tag
def card_back(*, label: str = "", big: bool = False, classes: str = "") -> SafeString:
    """One card face down; it names nothing. Without ``label`` it is decoration."""
    name = "card down big" if big else "card down"
    if classes:
        name = f"{name} {classes}"
    if not label:
        return format_html('<span class="{}" aria-hidden="true"></span>', name)
    return format_html('<span class="{}" role="img" aria-label="{}"></span>', name, label)


@register.simple_tag(takes_context=True)
def rank_letter(context: Context, rank: str) -> str:
    """The letter printed for this rank, in the reader's alphabet."""
    return wording.rank_letter(rank, str(context.get("letters") or "own"))


@lru_cache(maxsize=1024)
def card_face(code: str, letters: str, language: str) -> SafeString:
    """What is printed on the card: index, court or pip, mirrored index.

    ``language`` is the active one and only keys the cache.
    """
    symbol = "star" if is_joker(code) else suit_of(code)
    letter = "" if is_joker(code) else wording.rank_letter(rank_of(code), letters)
    return mark_safe(_index(letter, symbol) + _court(code, letter) + _pip(symbol) + _index(letter, symbol, flip=True))  # noqa: S308 - parts are escaped


def _index(letter: str, symbol: str, *, flip: bool = False) -> SafeString:
    text = format_html('<b class="ten">{}</b>', letter) if letter == "10" else format_html("<b>{}</b>", letter)
    return format_html(
        '<span class="idx{}" aria-hidden="true">{}<svg aria-hidden="true"><use href="#{}"/></svg></span>',
        " flip" if flip else "",
        text if letter else "",
        symbol,
    )


def _court(code: str, letter: str) -> SafeString:
    frame = FRAMES.get(rank_of(code))
    if frame is None:
        return SafeString()
    return format_html(
        '<span class="court" data-l="{}" aria-hidden="true"><svg aria-hidden="true"><use href="#{}"/></svg></span>',
        letter,
        frame,
    )


def _pip(symbol: str) -> SafeString:
    return format_html('<svg class="pip" aria-hidden="true"><use href="#{}"/></svg>', symbol)
