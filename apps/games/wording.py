"""Cards in words and letters, in the language that is active when the function is called."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final

from django.utils.translation import get_language, gettext, pgettext

from apps.games.kernel.cards import Card, is_joker, rank_of, suit_of
from apps.games.kernel.game import Level, SeatFacts

COURTS: Final = "AKQJ"
REMEMBERED: Final = 4096


def worded[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Remember what a function says in each language: its words depend on its arguments alone."""

    def say(_language: str | None, *args: Any, **kwargs: Any) -> T:
        return function(*args, **kwargs)

    known: Any = lru_cache(maxsize=REMEMBERED)(say)

    @wraps(function)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> T:
        said: T = known(get_language(), *args, **kwargs)
        return said

    return remembered


@worded
def card_name(card: Card) -> str:
    """The card as it is read aloud: “queen of spades”, „Pik-Dame“, «дама пик».

    Courts and numbers follow two patterns, since German joins the one and not the other.
    """
    if is_joker(card):
        return gettext("red joker") if suit_of(card) == "R" else gettext("black joker")
    words = {"rank": _rank_in_card_name(rank_of(card)), "suit": _suit_in_card_name(suit_of(card))}
    if rank_of(card) in COURTS:
        return pgettext("name of an ace or court card", "%(rank)s of %(suit)s") % words
    return pgettext("name of a number card", "%(rank)s of %(suit)s") % words


@worded
def rank_name(rank: str) -> str:
    """The rank alone, as a noun: “queen”, “nine”."""
    return _rank_names()[rank]


@worded
def suit_name(suit: str) -> str:
    """The suit alone, as a plural noun: “spades”."""
    return _suit_names()[suit]


@worded
def rank_letter(rank: str, letters: str = "own") -> str:
    """What is printed in the corner of the card.

    ``letters`` is ``own`` for the alphabet of the active language, ``latin`` for A K Q J.
    """
    if rank == "T":
        return "10"
    if letters == "latin" or rank not in COURTS:
        return rank
    return _court_letters()[rank]


@worded
def level_name(level: str) -> str:
    """How well a CPU plays, in a word (G-13)."""
    return {
        Level.EASY: pgettext("difficulty", "easy"),
        Level.MEDIUM: pgettext("difficulty", "medium"),
        Level.HARD: pgettext("difficulty", "hard"),
    }[Level(level)]


@worded
def seat_tags(seat: SeatFacts) -> tuple[str, ...]:
    """The few words under a name at the table: whose seat it is and who plays it; often none."""
    tags = []
    if seat.you:
        tags.append(pgettext("tag of one's own seat", "you"))
    if seat.stand_in:
        tags.append(pgettext("tag of a seat", "CPU plays"))
    elif seat.away:
        tags.append(pgettext("tag of a seat", "away"))
    if seat.cpu:
        tags.append(level_name(seat.cpu))
    return tuple(tags)


def _rank_names() -> dict[str, str]:
    return {
        "A": pgettext("rank", "ace"),
        "2": pgettext("rank", "two"),
        "3": pgettext("rank", "three"),
        "4": pgettext("rank", "four"),
        "5": pgettext("rank", "five"),
        "6": pgettext("rank", "six"),
        "7": pgettext("rank", "seven"),
        "8": pgettext("rank", "eight"),
        "9": pgettext("rank", "nine"),
        "T": pgettext("rank", "ten"),
        "J": pgettext("rank", "jack"),
        "Q": pgettext("rank", "queen"),
        "K": pgettext("rank", "king"),
    }


def _suit_names() -> dict[str, str]:
    return {
        "S": pgettext("suit", "spades"),
        "H": pgettext("suit", "hearts"),
        "D": pgettext("suit", "diamonds"),
        "C": pgettext("suit", "clubs"),
    }


def _suit_in_card_name(suit: str) -> str:
    """The suit in the case that a card's name needs: Russian has the genitive, «дама пик»."""
    return {
        "S": pgettext("suit in the name of a card", "spades"),
        "H": pgettext("suit in the name of a card", "hearts"),
        "D": pgettext("suit in the name of a card", "diamonds"),
        "C": pgettext("suit in the name of a card", "clubs"),
    }[suit]


def _rank_in_card_name(rank: str) -> str:
    """A word for aces and courts, a figure for numbers, as screen readers read them best."""
    return rank_name(rank) if rank in COURTS else rank_letter(rank)


def _court_letters() -> dict[str, str]:
    return {
        "A": pgettext("letter printed on an ace", "A"),
        "K": pgettext("letter printed on a king", "K"),
        "Q": pgettext("letter printed on a queen", "Q"),
        "J": pgettext("letter printed on a jack", "J"),
    }
