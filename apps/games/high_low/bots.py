"""The CPUs of High-Low. Each is handed a view and reads nothing else (G-13)."""

from functools import cache
from random import Random
from typing import Final

from apps.games.high_low.rules import BANK, HIGHER, LOWER, Guess, Move, guess_by_rank, offered, strength
from apps.games.high_low.view import View
from apps.games.kernel.cards import RANKS, SUITS
from apps.games.kernel.errors import OptionError
from apps.games.kernel.game import Bot, Level

BANK_AT: Final = 3
"""The streak that Medium banks; a little below the best fixed number and easy to see through."""

PLIES: Final = 3
"""How many cards ahead Hard counts; more is not worth a hundredth of a point."""

FAR: Final = 24
"""The longest streak Hard looks at; whoever gets there banks."""

type Worth = tuple[float, ...]
"""What ending the turn with a streak of 0, 1, 2 … is worth; the last entry holds for all longer ones."""


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
        ace_high = view.options.ace_high
        height = strength(view.current, ace_high)
        count = _Count(_worth(view), _unseen(view), view.stock)
        chances = {
            move: count.guessed(move, height, view.streak, PLIES)
            if isinstance(move, Guess)
            else count.banked(view.streak)
            for move in offered(view.current, view.streak, ace_high)
        }
        return max(chances, key=lambda move: chances[move])


class _Count:
    """One decision's reckoning over the unseen cards by strength, ``left`` of them."""

    def __init__(self, worth: Worth, unseen: list[int], left: int) -> None:
        self.worth = worth
        self.unseen = unseen
        self.left = left
        self.outlook = _outlook(worth)

    def banked(self, streak: int) -> float:
        return self.worth[min(streak, FAR)]

    def guessed(self, guess: Guess, height: int, streak: int, plies: int) -> float:
        """The expected worth of a guess: of every card that answers it, and of a miss for the rest."""
        winners = range(height + 1, len(RANKS)) if guess.higher else range(height)
        total = 0.0
        misses = self.left
        for winner in winners:
            cards = self.unseen[winner]
            if cards:
                misses -= cards
                total += cards * self._after_hit(winner, streak + 1, plies - 1)
        return (total + misses * self.worth[0]) / self.left

    def _after_hit(self, height: int, streak: int, plies: int) -> float:
        """The best that can be had once this card was turned; a spent stock comes back (HL-11)."""
        if plies == 0 or self.left == 1:
            return self._at_horizon(height, streak)
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

    def _at_horizon(self, height: int, streak: int) -> float:
        return self.outlook[min(streak, FAR)][height]


@cache
def _outlook(worth: Worth) -> tuple[Worth, ...]:
    """By streak and strength: the best worth to be had if every rank stayed equally likely."""
    rows = [(worth[FAR],) * len(RANKS)]
    for streak in range(FAR - 1, -1, -1):
        after = rows[-1]
        rows.append(tuple(max(worth[streak], _even_guess(after, height, worth[0])) for height in range(len(RANKS))))
    return tuple(reversed(rows))


def _even_guess(after: Worth, height: int, missed: float) -> float:
    """The better guess from this strength when the next rank is anybody's guess."""
    ranks = len(RANKS)
    higher = sum(after[height + 1 :]) + missed * (height + 1)
    lower = sum(after[:height]) + missed * (ranks - height)
    return max(higher, lower) / ranks


def _unseen(view: View) -> list[int]:
    """How many cards of each strength are in the stock."""
    unseen = [len(SUITS)] * len(RANKS)
    for card in view.revealed:
        unseen[strength(card, view.options.ace_high)] -= 1
    return unseen


def _worth(view: View) -> Worth:
    seat = view.seat or 0
    rivals = [other for other in range(len(view.scores)) if other != seat]
    if not rivals or view.turns_taken[seat] < view.options.turns - 1:
        return POINTS
    waiting = tuple(view.turns_taken[other] < view.options.turns for other in rivals)
    leads = tuple(view.scores[seat] - view.scores[other] for other in rivals)
    return _chances(leads, waiting)


POINTS: Final[Worth] = tuple(float(streak) for streak in range(FAR + 1))


@cache
def _chances(leads: tuple[int, ...], waiting: tuple[bool, ...]) -> Worth:
    best_rival = min(leads)
    return tuple(_share(best_rival + streak) for streak in range(FAR + 1))


def _share(lead: int) -> float:
    """What a final lead is worth: a win 1, a tie ½, a loss nothing."""
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


BOTS: Final[dict[str, Bot]] = {Level.EASY: Easy(), Level.MEDIUM: Medium(), Level.HARD: Hard()}


def bot(level: str) -> Bot:
    """The CPU of this level. Raises OptionError."""
    if level not in BOTS:
        raise OptionError("bad-option", field="level")
    return BOTS[level]
