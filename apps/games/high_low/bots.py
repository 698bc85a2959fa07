"""The CPUs of High-Low. Each is handed a view and reads nothing else (G-13)."""

from functools import cache, lru_cache
from math import prod, sumprod
from random import Random
from typing import Final

from apps.games.high_low.rules import BANK, HIGHER, LOWER, Guess, Move, guess_by_rank, offered, strength
from apps.games.high_low.view import View
from apps.games.kernel.cards import RANKS, SUITS
from apps.games.kernel.errors import OptionError
from apps.games.kernel.game import Bot, Level

BANK_AT: Final = 3
"""The streak that Medium banks: the best fixed number."""

PLIES: Final = 3
"""How many cards ahead Hard counts the stock; beyond them it takes all ranks as equally likely."""

FAR: Final = 24
"""The longest streak Hard tells from longer ones; it banks there."""

type Worth = tuple[float, ...]
"""What a turn that ends with a streak of 0, 1 … FAR is worth."""

POINTS: Final[Worth] = tuple(float(streak) for streak in range(FAR + 1))


class Easy:
    """Any legal move."""

    def choose(self, view: View, rng: Random, effort: int) -> Move:
        return rng.choice(offered(view.current, view.streak, view.options.ace_high))


class Medium:
    """Guesses by the rank alone and banks at a streak of 3."""

    def choose(self, view: View, rng: Random, effort: int) -> Move:
        if view.streak >= BANK_AT:
            return BANK
        return guess_by_rank(view.current, view.options.ace_high)


class Hard:
    """Counts the stock from what was revealed and looks three cards ahead.

    It plays for points, and on its last turn against others for the chance to win.
    """

    def choose(self, view: View, rng: Random, effort: int) -> Move:
        lookout = _Lookout(_worth(view), _unseen(view))
        height = strength(view.current, view.options.ace_high)

        def value(move: Move) -> float:
            if isinstance(move, Guess):
                return lookout.guessed(move, height, view.streak, PLIES)
            return lookout.banked(view.streak)

        # The first of equals is taken: reversed, so that a turn which can only stay as good is banked.
        return max(reversed(offered(view.current, view.streak, view.options.ace_high)), key=value)


class _Lookout:
    """Looks ahead over the stock: ``unseen`` counts its cards by strength."""

    def __init__(self, worth: Worth, unseen: list[int]) -> None:
        self.worth = worth
        self.unseen = unseen
        self.left = sum(unseen)
        self.outlook = _outlook(worth)

    def banked(self, streak: int) -> float:
        return self.worth[min(streak, FAR)]

    def guessed(self, guess: Guess, height: int, streak: int, plies: int) -> float:
        """The expected worth of a guess, over all cards that answer it and all that miss it."""
        winners = range(height + 1, len(RANKS)) if guess.higher else range(height)
        cards = self.unseen[winners.start : winners.stop]
        misses = self.left - sum(cards)
        hits = sumprod(cards, self._after_hits(winners, streak + 1, plies - 1))
        return (hits + misses * self.worth[0]) / self.left

    def _after_hits(self, winners: range, streak: int, plies: int) -> list[float]:
        """The best to be had after each of these hits; a stock just spent comes back whole (HL-11)."""
        if plies == 0 or self.left == 1:
            return list(self.outlook[min(streak, FAR)][winners.start : winners.stop])
        return [self._after_hit(height, streak, plies) if self.unseen[height] else 0.0 for height in winners]

    def _after_hit(self, height: int, streak: int, plies: int) -> float:
        self.unseen[height] -= 1
        self.left -= 1
        best = max(
            self.banked(streak),
            self.guessed(HIGHER, height, streak, plies),
            self.guessed(LOWER, height, streak, plies),
        )
        self.unseen[height] += 1
        self.left += 1
        return best


def _unseen(view: View) -> list[int]:
    """How many cards of each strength are in the stock."""
    unseen = [len(SUITS)] * len(RANKS)
    for card in view.revealed:
        unseen[strength(card, view.options.ace_high)] -= 1
    return unseen


@lru_cache(maxsize=1024)
def _outlook(worth: Worth) -> tuple[Worth, ...]:
    """By streak, then strength: the best to be had when every rank is equally likely to come."""
    rows = [(worth[FAR],) * len(RANKS)]
    for streak in reversed(range(FAR)):
        after = rows[-1]
        rows.append(tuple(max(worth[streak], _even_guess(after, height, worth[0])) for height in range(len(RANKS))))
    return tuple(reversed(rows))


def _even_guess(after: Worth, height: int, missed: float) -> float:
    higher = sum(after[height + 1 :]) + missed * (height + 1)
    lower = sum(after[:height]) + missed * (len(RANKS) - height)
    return max(higher, lower) / len(RANKS)


def _worth(view: View) -> Worth:
    """The chance to win on the last turn against others, points otherwise and once the chance is fixed."""
    seat = view.to_act[0]
    if view.turns_taken[seat] < view.options.turns - 1:
        return POINTS
    rivals = [rival for rival in range(len(view.scores)) if rival != seat]
    done = [view.scores[seat] - view.scores[rival] for rival in rivals if _is_done(view, rival)]
    to_come = [view.scores[seat] - view.scores[rival] for rival in rivals if not _is_done(view, rival)]
    worth = tuple(_win_chance(streak, done, to_come) for streak in range(FAR + 1))
    return POINTS if worth[0] == worth[FAR] else worth


def _is_done(view: View, seat: int) -> bool:
    return view.turns_taken[seat] == view.options.turns


def _win_chance(streak: int, done: list[int], to_come: list[int]) -> float:
    """Against the best rival who is done, and then against each who has a turn to come."""
    settled = min((_share(lead + streak) for lead in done), default=1.0)
    return settled * prod(_share_held(lead + streak) for lead in to_come)


def _share(lead: int) -> float:
    """What a final lead is worth: a win 1, a tie ½, a loss 0."""
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


@cache
def _share_held(lead: int) -> float:
    """What is left of a lead once its pursuer, to whom all ranks are equally likely, did their best."""
    pursuit = tuple(_share(streak - lead) for streak in range(FAR + 1))
    return 1.0 - sum(_outlook(pursuit)[0]) / len(RANKS)


BOTS: Final[dict[str, Bot]] = {Level.EASY: Easy(), Level.MEDIUM: Medium(), Level.HARD: Hard()}


def bot(level: str) -> Bot:
    """The CPU of this level. Raises OptionError."""
    if level not in BOTS:
        raise OptionError("bad-option", field="level")
    return BOTS[level]
