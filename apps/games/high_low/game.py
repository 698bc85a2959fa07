"""High-Low as the site knows it: GAME."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, ClassVar, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.games.high_low import board, bots, rules
from apps.games.high_low import view as views
from apps.games.kernel.game import AnyGame, BoardFacts, Bot, LadderDefaults, Mode, OptionField, Outcome, SeatFacts


class HighLow:
    """The contract's object: metadata as data, everything else handed on to the game's modules."""

    slug: ClassVar[str] = "high-low"
    name: ClassVar[str | Promise] = _("High-Low")
    tagline: ClassVar[str | Promise] = _("Higher or lower? Keep your nerve, or bank the streak before it breaks.")
    motif: ClassVar[tuple[str, ...]] = ("", "7D")
    minutes: ClassVar[int] = 5
    seats: ClassVar[range] = rules.SEATS
    version: ClassVar[int] = 1
    modes: ClassVar[frozenset[Mode]] = frozenset({Mode.LINK, Mode.COMPUTER, Mode.SAME_DEVICE, Mode.RANKED})
    hidden: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    consent: ClassVar[bool] = False
    ladder: ClassVar[LadderDefaults | None] = LadderDefaults(
        seats=range(2, 5), options={"turns": 3, "ace_high": False}, seconds=30
    )
    Options: type[rules.Options] = rules.Options
    option_fields: ClassVar[tuple[OptionField, ...]] = (
        OptionField(
            name="turns",
            label=_("Number of turns"),
            meaning=_("How many turns each player has."),
            choices=tuple((turns, str(turns)) for turns in rules.TURNS),
        ),
        OptionField(
            name="ace_high",
            label=_("Ace value"),
            meaning=_("Whether the ace is the lowest card or stands above the king."),
            choices=((False, _("Ace low")), (True, _("Ace high"))),
        ),
    )

    def first(self, *, seats: int, host: int | None, previous: int | None, draw: Callable[[int], int]) -> int:
        """By lot, every time (G-2)."""
        return draw(seats)

    def deal(self, options: rules.Options, *, seats: int, seed: bytes, first: int) -> rules.State:
        return rules.deal(options, seats=seats, seed=seed, first=first)

    def to_act(self, state: rules.State) -> frozenset[int]:
        return rules.to_act(state)

    def legal_moves(self, state: rules.State, seat: int) -> tuple[rules.Move, ...]:
        return rules.legal_moves(state, seat)

    def play(self, state: rules.State, seat: int, move: rules.Move) -> rules.State:
        return rules.play(state, seat, move)

    def timeout_move(self, state: rules.State, seat: int, rng: Random) -> rules.Move:
        return rules.timeout_move(state, seat, rng)

    def view(self, state: rules.State, seat: int | None) -> views.View:
        return views.view(state, seat)

    def sample(self, view: views.View, rng: Random) -> rules.State:
        return views.sample(view, rng)

    def outcome(self, state: rules.State) -> Outcome | None:
        return rules.outcome(state)

    def bot(self, level: str) -> Bot:
        return bots.bot(level)

    def events(
        self, before: rules.State, seat: int, move: rules.Move, after: rules.State, viewer: int | None
    ) -> tuple[rules.Event, ...]:
        return rules.events(before, seat, move, after)

    def board(self, view: views.View, facts: BoardFacts) -> Mapping[str, Any]:
        return board.board(view, facts)

    def sentence(self, event: rules.Event, seats: tuple[SeatFacts, ...]) -> str:
        return board.sentence(event, seats)

    def summary(self, options: rules.Options) -> str:
        return board.summary(options)

    def progress(self, view: views.View) -> str:
        return board.progress(view)

    def dump_state(self, state: rules.State) -> bytes:
        return rules.dump_state(state)

    def load_state(self, data: bytes) -> rules.State:
        return rules.load_state(data)

    def dump_move(self, move: rules.Move) -> bytes:
        return rules.dump_move(move)

    def load_move(self, data: bytes | str) -> rules.Move:
        return rules.load_move(data)

    def dump_events(self, events: tuple[rules.Event, ...]) -> bytes:
        return rules.dump_events(events)

    def load_events(self, data: bytes) -> tuple[rules.Event, ...]:
        return rules.load_events(data)


GAME: Final[AnyGame] = HighLow()
