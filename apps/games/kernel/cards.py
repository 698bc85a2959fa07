"""Cards as text: rank + suit (``AS``, ``TH``), jokers ``XR`` and ``XB``."""

from typing import Annotated, Final

import msgspec

type Card = str

type PackCard = Annotated[str, msgspec.Meta(pattern=r"\A[A2-9TJQK][SHDC]\Z")]
"""One of the 52, checked where msgspec decodes it."""

RANKS: Final = "A23456789TJQK"
SUITS: Final = "SHDC"
JOKERS: Final = ("XR", "XB")

STANDARD_PACK: Final[tuple[Card, ...]] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""The 52 cards in the order every draw starts from: S H D C, each A … K."""


def rank_of(card: Card) -> str:
    """The rank letter, ``X`` for a joker."""
    return card[0]


def suit_of(card: Card) -> str:
    """The suit letter; for a joker its colour, ``R`` or ``B``."""
    return card[1]


def is_joker(card: Card) -> bool:
    return card[0] == "X"


def is_card(text: object) -> bool:
    """Whether this names one of the 54 cards."""
    return isinstance(text, str) and (text in STANDARD_PACK or text in JOKERS)
