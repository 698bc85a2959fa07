"""The rules of High-Low, each cited by its number (HL-1 to HL-17)."""

from random import Random
from typing import Annotated

import msgspec
from msgspec.structs import replace

from apps.games.kernel.cards import RANKS, STANDARD_PACK, Card, PackCard, rank_of
from apps.games.kernel.draws import SEED_BYTES, Draws
from apps.games.kernel.errors import BadMove, IllegalMove, OptionError, Refusal
from apps.games.kernel.game import Outcome, places_of

SEATS = range(1, 9)
TURNS = range(1, 11)

type Count = Annotated[int, msgspec.Meta(ge=0)]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the host may set: turns for each player (HL-12) and where the ace stands (HL-13)."""

    turns: int = 3
    ace_high: bool = False

    def __post_init__(self) -> None:
        if type(self.turns) is not int or self.turns not in TURNS:
            raise OptionError("bad-option", field="turns")
        if type(self.ace_high) is not bool:
            raise OptionError("bad-option", field="ace_high")


class Guess(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="guess"):
    """The next card will be higher, or lower, than the current one (HL-4)."""

    higher: bool


class Bank(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="bank"):
    """Add the streak to the total and end the turn (HL-9)."""


type Move = Guess | Bank

HIGHER = Guess(higher=True)
LOWER = Guess(higher=False)
BANK = Bank()


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match of High-Low, always at a decision or at the end.

    ``stock`` is drawn from its end. ``revealed`` are the cards since the last shuffle in the order
    they were turned, the current card last. ``position`` is the next draw of the seed's stream.
    ``scores`` and ``turns_taken`` go by seat, ``turn`` is the seat whose turn it is.
    """

    options: Options
    seed: Annotated[bytes, msgspec.Meta(min_length=SEED_BYTES, max_length=SEED_BYTES)]
    position: Annotated[int, msgspec.Meta(ge=1)]
    stock: Annotated[tuple[PackCard, ...], msgspec.Meta(min_length=1)]
    revealed: Annotated[tuple[PackCard, ...], msgspec.Meta(min_length=1)]
    turn: Count
    streak: Count
    scores: tuple[Count, ...]
    turns_taken: tuple[Count, ...]

    @property
    def current(self) -> Card:
        """The card to guess against (HL-3)."""
        return self.revealed[-1]

    @property
    def over(self) -> bool:
        """Everybody has had their turns (HL-12); nothing ends a match sooner (HL-14)."""
        return min(self.turns_taken) >= self.options.turns


class Turned(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="turned"):
    """A guess and the card that answered it.

    ``streak`` is the new streak after a hit, and the streak that was lost after a miss.
    """

    seat: int
    previous: Card
    card: Card
    higher: bool
    hit: bool
    streak: int


class Banked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="banked"):
    """A streak became points; ``total`` includes them."""

    seat: int
    points: int
    total: int


class Reshuffled(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="reshuffled"):
    """The stock was empty and is full again: ``stock`` cards (HL-11)."""

    stock: int


class TurnOver(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="turn-over"):
    """A turn ended, the seat's ``number``-th. ``next_seat`` goes on, None after the last turn of all."""

    seat: int
    number: int
    next_seat: int | None


type Event = Turned | Banked | Reshuffled | TurnOver


def strength(card: Card, ace_high: bool) -> int:
    """How high a card is, 0 to 12; suits never matter (HL-2, HL-13)."""
    place = RANKS.index(rank_of(card))
    return (place - 1) % len(RANKS) if ace_high else place


def deal(options: Options, *, seats: int, seed: bytes, first: int) -> State:
    """Shuffle the pack and turn one card up (HL-3). Raises OptionError for wrong seats (HL-1)."""
    if type(seats) is not int or seats not in SEATS:
        raise OptionError("bad-option", field="seats")
    if first not in range(seats):
        raise OptionError("bad-option", field="first")
    draws = Draws(seed, 1)
    *stock, current = draws.shuffled(STANDARD_PACK)
    return State(
        options=options,
        seed=seed,
        position=draws.position,
        stock=tuple(stock),
        revealed=(current,),
        turn=first,
        streak=0,
        scores=(0,) * seats,
        turns_taken=(0,) * seats,
    )


def to_act(state: State) -> frozenset[int]:
    """The seat whose turn it is, nobody once the match is over."""
    return frozenset() if state.over else frozenset({state.turn})


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Higher, lower, bank, in this order, as far as they are offered."""
    if seat not in to_act(state):
        return ()
    return offered(state.current, state.streak, state.options.ace_high)


def offered(current: Card, streak: int, ace_high: bool) -> tuple[Move, ...]:
    """What the one to act may choose.

    A guess that no card of the pack can win is left out; only the rank decides, never what is
    still in the stock (HL-6). Banking needs a streak (HL-10).
    """
    height = strength(current, ace_high)
    moves: list[Move] = []
    if height < len(RANKS) - 1:
        moves.append(HIGHER)
    if height > 0:
        moves.append(LOWER)
    if streak:
        moves.append(BANK)
    return tuple(moves)


def play(state: State, seat: int, move: Move) -> State:
    """The state after a move. Raises IllegalMove."""
    _check(state, seat, move)
    if isinstance(move, Guess):
        return _guess(state, move)
    return _end_turn(state, points=state.streak)


def _check(state: State, seat: int, move: Move) -> None:
    if state.over:
        raise IllegalMove("finished")
    if seat != state.turn:
        raise IllegalMove("not-your-turn")
    if move not in legal_moves(state, seat):
        raise IllegalMove("illegal", reason="nothing-to-bank" if move == BANK else "no-card-can-win")


def _guess(state: State, guess: Guess) -> State:
    """Turn the next card: it becomes the current one on a hit and on a miss (HL-5)."""
    card = state.stock[-1]
    hit = is_hit(state, guess)
    turned = _refilled(replace(state, stock=state.stock[:-1], revealed=(*state.revealed, card)))
    if hit:
        return replace(turned, streak=state.streak + 1)
    return _end_turn(turned, points=0)


def is_hit(state: State, guess: Guess) -> bool:
    """Whether the next card answers the guess; an equal rank does not (HL-4)."""
    ace_high = state.options.ace_high
    rise = strength(state.stock[-1], ace_high) - strength(state.current, ace_high)
    return rise > 0 if guess.higher else rise < 0


def _refilled(state: State) -> State:
    """Once the stock is empty all revealed cards but the current one are the new stock (HL-11)."""
    if state.stock:
        return state
    draws = Draws(state.seed, state.position)
    stock = draws.shuffled(state.revealed[:-1])
    return replace(state, position=draws.position, stock=stock, revealed=state.revealed[-1:])


def _end_turn(state: State, *, points: int) -> State:
    """Book the points and pass the turn to the next seat (HL-8, HL-9, HL-12)."""
    return replace(
        state,
        turn=(state.turn + 1) % len(state.scores),
        streak=0,
        scores=_added(state.scores, state.turn, points),
        turns_taken=_added(state.turns_taken, state.turn, 1),
    )


def _added(counts: tuple[int, ...], seat: int, more: int) -> tuple[int, ...]:
    return (*counts[:seat], counts[seat] + more, *counts[seat + 1 :])


def outcome(state: State) -> Outcome | None:
    """Totals and places, the highest total first (HL-15); None while the match goes on."""
    if not state.over:
        return None
    return Outcome(scores=state.scores, places=places_of(state.scores))


def timeout_move(state: State, seat: int, rng: Random) -> Move:
    """Bank a streak; without one, Medium's guess (HL-16)."""
    if state.streak:
        return BANK
    return guess_by_rank(state.current, state.options.ace_high)


def guess_by_rank(current: Card, ace_high: bool) -> Guess:
    """The guess with more winning ranks; in the exact middle, higher."""
    return HIGHER if strength(current, ace_high) <= len(RANKS) // 2 else LOWER


def events(before: State, seat: int, move: Move, after: State) -> tuple[Event, ...]:
    """What a move brought about; everything in High-Low is public."""
    told: list[Event] = [_told(before, seat, move)]
    if isinstance(move, Guess) and len(before.stock) == 1:
        told.append(Reshuffled(stock=len(after.stock)))
    if after.turns_taken != before.turns_taken:
        told.append(TurnOver(seat=seat, number=after.turns_taken[seat], next_seat=None if after.over else after.turn))
    return tuple(told)


def _told(before: State, seat: int, move: Move) -> Event:
    if isinstance(move, Bank):
        return Banked(seat=seat, points=before.streak, total=before.scores[seat] + before.streak)
    hit = is_hit(before, move)
    return Turned(
        seat=seat,
        previous=before.current,
        card=before.stock[-1],
        higher=move.higher,
        hit=hit,
        streak=before.streak + hit,
    )


_encoder = msgspec.json.Encoder()
_state_decoder = msgspec.json.Decoder(State)
_move_decoder: msgspec.json.Decoder[Move] = msgspec.json.Decoder(Move)
_events_decoder: msgspec.json.Decoder[tuple[Event, ...]] = msgspec.json.Decoder(tuple[Event, ...])


def dump_state(state: State) -> bytes:
    """As JSON, cards as rank + suit, the seed in base64."""
    return _encoder.encode(state)


def load_state(data: bytes) -> State:
    """A state from its JSON. Raises BadMove for anything that no match can come to."""
    state = _decoded(_state_decoder, data)
    if not _is_sound(state):
        raise BadMove("bad-message")
    return state


def _is_sound(state: State) -> bool:
    """No card twice, as many counts as seats, nobody with too many turns, a seat whose turn it can be."""
    cards = state.stock + state.revealed
    seats = len(state.scores)
    return (
        len(set(cards)) == len(cards)
        and seats in SEATS
        and len(state.turns_taken) == seats
        and max(state.turns_taken) <= state.options.turns
        and state.turn < seats
        and (state.over or state.turns_taken[state.turn] < state.options.turns)
    )


def dump_move(move: Move) -> bytes:
    """As JSON, ``type`` first."""
    return _encoder.encode(move)


def load_move(data: bytes | str) -> Move:
    """A move from its JSON. Raises BadMove for anything that is not exactly one."""
    return _decoded(_move_decoder, data)


def dump_events(told: tuple[Event, ...]) -> bytes:
    """As a JSON array, ``type`` first in each."""
    return _encoder.encode(told)


def load_events(data: bytes) -> tuple[Event, ...]:
    """Events from their JSON. Raises BadMove."""
    return _decoded(_events_decoder, data)


def _decoded[T](decoder: msgspec.json.Decoder[T], data: bytes | str) -> T:
    """Whatever is wrong with the bytes, be it syntax, shape, text encoding or depth, is one refusal."""
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError, Refusal):
        raise BadMove("bad-message") from None
