"""The contract a game fulfils. Tables, ladders and pages know games through it alone."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from random import Random
from typing import Any, ClassVar, Protocol

import msgspec


class Mode(StrEnum):
    """The ways to sit down at a table."""

    LINK = "link"
    COMPUTER = "computer"
    SAME_DEVICE = "same_device"
    RANKED = "ranked"


class Level(StrEnum):
    """How well a CPU plays (G-13)."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Outcome(msgspec.Struct, frozen=True):
    """How a match ended, by seat. ``places`` decide; equal totals share a place (G-8: 1, 1, 3)."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


class OptionField(msgspec.Struct, frozen=True):
    """One setting the host may change, as the form and the rules page show it.

    ``choices`` are (value, label) in display order; labels and texts are lazily translated.
    """

    name: str
    label: Any
    meaning: Any
    choices: tuple[tuple[bool | int | str, Any], ...]


class LadderDefaults(msgspec.Struct, frozen=True):
    """The ladder that a migration makes for a game: seats from–to, options, seconds a turn."""

    seats: range
    options: Mapping[str, bool | int | str]
    seconds: int


class SeatFacts(msgspec.Struct, frozen=True):
    """What every viewer may know about a seat of the table, for drawing it."""

    index: int
    name: str
    you: bool = False
    """The page is the view of this seat."""
    to_act: bool = False
    away: bool = False
    cpu: str = ""
    """The level of a CPU seat, empty for a person's."""
    stand_in: bool = False
    """A CPU plays for the person who is away (G-5)."""


class BoardFacts(msgspec.Struct, frozen=True):
    """What a table adds to a view so that a game can draw its board for one audience."""

    seats: tuple[SeatFacts, ...]
    you: int | None
    """The seat this page is the view of, None for spectators."""
    moves: tuple[Any, ...] = ()
    """The legal moves offered on this page now, in the order of ``legal_moves``."""
    last: tuple[Any, ...] = ()
    """The events of the last move, as this viewer may know them."""
    casual: bool = True
    """Unrated: helpers such as odds are allowed (HL-17)."""


class Bot(Protocol):
    """A CPU of one level. It is handed a view, never a state (G-13)."""

    def choose(self, view: Any, rng: Random, effort: int) -> Any:
        """A legal move for ``view.seat``; ``effort`` bounds the roll-outs, not the clock."""
        ...


class Game[O, S, M, V, E](Protocol):
    """All that the site knows about a game.

    The parameters are its options, state, move, view and event, all frozen msgspec structs. A state
    is always a decision or the end: the play that ends a trick, a deal or a stock also collects,
    deals or shuffles.
    """

    slug: ClassVar[str]
    name: ClassVar[Any]
    """Translated lazily."""
    tagline: ClassVar[Any]
    """One sentence for the home page and link previews, translated lazily."""
    motif: ClassVar[tuple[str, ...]]
    """Two or three cards that stand for the game in lists; an empty string is a card face down."""
    minutes: ClassVar[int]
    seats: ClassVar[range]
    version: ClassVar[int]
    """Raised when old records would replay differently."""
    modes: ClassVar[frozenset[Mode]]
    hidden: ClassVar[bool]
    """Hands are hidden: same-device play needs a curtain."""
    waits: ClassVar[bool]
    """Casual link tables wait for somebody away instead of a stand-in (G-6)."""
    consent: ClassVar[bool]
    """The next match needs everyone present and accepting (CE-18)."""
    ladder: ClassVar[LadderDefaults | None]
    Options: type[Any]
    """Frozen struct; every field has a default; bad values raise OptionError."""
    option_fields: ClassVar[tuple[OptionField, ...]]

    def first(self, *, seats: int, host: int | None, previous: int | None, draw: Callable[[int], int]) -> int:
        """Who begins (G-2). ``host`` is a seat, None in ranked play; ``previous`` began the match before."""
        ...

    def deal(self, options: O, *, seats: int, seed: bytes, first: int) -> S:
        """The first decision of a match. Raises OptionError when options and seats do not fit."""
        ...

    def to_act(self, state: S) -> frozenset[int]:
        """The seats that may decide now; several in secret bidding; empty once the match is over."""
        ...

    def legal_moves(self, state: S, seat: int) -> tuple[M, ...]:
        """In a stable order; empty for a seat that is not to act."""
        ...

    def play(self, state: S, seat: int, move: M) -> S:
        """A new state. Raises IllegalMove."""
        ...

    def timeout_move(self, state: S, seat: int, rng: Random) -> M:
        """What the clock plays for a seat: Medium's move unless the rules say otherwise."""
        ...

    def view(self, state: S, seat: int | None) -> V:
        """All that a seat, or with None a spectator, may know, encodable by msgspec.json."""
        ...

    def sample(self, view: V, rng: Random) -> S:
        """A full state that looks like this view, with a fresh seed."""
        ...

    def outcome(self, state: S) -> Outcome | None: ...

    def bot(self, level: str) -> Bot:
        """Raises OptionError for a level that does not exist."""
        ...

    def events(self, before: S, seat: int, move: M, after: S, viewer: int | None) -> tuple[E, ...]:
        """What happened by this move, as far as ``viewer`` may know (None: anybody).

        The log, the live region and the board's last line tell these in words.
        """
        ...

    def board(self, view: V, facts: BoardFacts) -> Mapping[str, Any]:
        """The context of ``games/<slug>/board.html`` in the active language; logic stays out of templates."""
        ...

    def sentence(self, event: E, seats: tuple[SeatFacts, ...]) -> str:
        """One event in words, in the active language; empty for an event that needs none."""
        ...

    def summary(self, options: O) -> str:
        """The settings in a few words ("3 turns each · ace low"), in the active language."""
        ...

    def progress(self, view: V) -> str:
        """How far the match is ("Turn 2 of 3"), in the active language."""
        ...

    def dump_state(self, state: S) -> bytes:
        """JSON that names every card of the pack exactly once: wherever it is, it is nowhere else."""
        ...

    def load_state(self, data: bytes) -> S:
        """Raises BadMove."""
        ...

    def dump_move(self, move: M) -> bytes: ...
    def load_move(self, data: bytes | str) -> M:
        """Raises BadMove for anything that is not exactly a move of this game."""
        ...

    def dump_events(self, events: tuple[E, ...]) -> bytes: ...
    def load_events(self, data: bytes) -> tuple[E, ...]: ...


type AnyGame = Game[Any, Any, Any, Any, Any]


def places_of(scores: tuple[int, ...]) -> tuple[int, ...]:
    """Places by score, highest first; equal scores share a place and the next one skips (G-8)."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)
