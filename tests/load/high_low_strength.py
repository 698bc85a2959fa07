"""How much stronger each CPU of High-Low is than the one below it.

    uv run python -m tests.load.high_low_strength --matches 20000 --processes 2

Two seats, rotated with whoever begins, ties count half; and Hard alone over three turns. Every figure
comes with its 95 % bounds; the exit code is 1 when a bound or mean misses its target.
"""

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from math import sqrt
from random import Random
from statistics import fmean, pstdev

from apps.games.high_low.bots import bot
from apps.games.high_low.rules import Options, deal, play
from apps.games.high_low.view import view
from apps.games.kernel.draws import SEED_BYTES

CHUNK = 250
DUELS = (("hard", "medium", 0.55), ("medium", "easy", 0.69))
SOLO_TARGET = 3.40


def scores_of(levels: tuple[str, ...], first: int, rng: Random) -> tuple[int, ...]:
    """The totals of one match with the site's default settings between CPUs of these levels."""
    state = deal(Options(), seats=len(levels), seed=rng.randbytes(SEED_BYTES), first=first)
    while not state.over:
        move = bot(levels[state.turn]).choose(view(state, state.turn), rng, 1)
        state = play(state, state.turn, move)
    return state.scores


def duel(stronger: str, weaker: str, number: int, seed: int) -> float:
    """Match ``number``: 1, ½ or 0 for the stronger. Seat and first turn change in a cycle of four."""
    seat, first = number % 2, number // 2 % 2
    levels = (stronger, weaker) if seat == 0 else (weaker, stronger)
    scores = scores_of(levels, first, Random(f"{seed} {stronger} {weaker} {number}"))
    own, other = scores[seat], scores[1 - seat]
    return 1.0 if own > other else 0.5 if own == other else 0.0


def duels(pair: tuple[str, str], start: int, stop: int, seed: int) -> list[float]:
    return [duel(*pair, number, seed) for number in range(start, stop)]


def solos(level: str, start: int, stop: int, seed: int) -> list[float]:
    return [float(scores_of((level,), 0, Random(f"{seed} {level} {number}"))[0]) for number in range(start, stop)]


def bounds(results: list[float]) -> tuple[float, float, float]:
    """Mean, lower and upper 95 % bound."""
    mean = fmean(results)
    margin = 1.96 * pstdev(results) / sqrt(len(results))
    return mean, mean - margin, mean + margin


def gathered(pool: ProcessPoolExecutor, work, who: tuple[str, str] | str, matches: int, seed: int) -> list[float]:
    starts = range(0, matches, CHUNK)
    stops = [min(start + CHUNK, matches) for start in starts]
    parts: Iterable[list[float]] = pool.map(work, repeat(who), starts, stops, repeat(seed))
    return [result for part in parts for result in part]


def main() -> int:
    arguments = parsed()
    missed = 0
    with ProcessPoolExecutor(arguments.processes) as pool:
        for stronger, weaker, target in DUELS:
            results = gathered(pool, duels, (stronger, weaker), arguments.matches, arguments.seed)
            mean, lower, upper = bounds(results)
            missed += lower <= target
            print(f"{stronger} beats {weaker}: {mean:.2%} ({lower:.2%} to {upper:.2%}), target above {target:.0%}")
        for level in ("hard", "medium", "easy"):
            mean, lower, upper = bounds(gathered(pool, solos, level, arguments.matches, arguments.seed))
            print(f"{level} alone, three turns: {mean:.3f} points ({lower:.3f} to {upper:.3f})")
            missed += level == "hard" and mean <= SOLO_TARGET
    return 1 if missed else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the CPUs of High-Low against each other.")
    parser.add_argument("--matches", type=int, default=20_000, help="matches for each figure")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
