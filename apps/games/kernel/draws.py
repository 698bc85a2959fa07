"""One stream of random draws made from a match's seed, the same on every machine.

Draw *k* below *n* is the integer of SHA-256(seed ‖ k as 8 bytes, big-endian) mod n. The bias of
the modulus is below 2⁻²⁵⁰. Draw 0 is the lot that says who begins, used or not; a deal starts
at draw 1 (design: the Game contract).
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

SEED_BYTES = 32


def draw(seed: bytes, k: int, n: int) -> int:
    """Draw number ``k`` of this seed, uniform in ``range(n)``."""
    return int.from_bytes(sha256(seed + k.to_bytes(8, "big")).digest()) % n


def lot(seed: bytes) -> Callable[[int], int]:
    """Draw 0 as the function that ``Game.first`` takes."""
    return lambda n: draw(seed, 0, n)


def seed_hash(seed: bytes) -> str:
    """What is shown from the start, so that the seed shown at the end can be checked."""
    return sha256(seed).hexdigest()


class Draws:
    """A cursor over the stream: a state stores ``position`` and goes on from it."""

    def __init__(self, seed: bytes, position: int) -> None:
        self.seed = seed
        self.position = position

    def below(self, n: int) -> int:
        """The next draw, uniform in ``range(n)``."""
        value = draw(self.seed, self.position, n)
        self.position += 1
        return value

    def shuffled[T](self, items: Sequence[T]) -> tuple[T, ...]:
        """A Fisher–Yates shuffle: from the last index down to 1, swap item i with item draw(i + 1)."""
        cards = list(items)
        for i in range(len(cards) - 1, 0, -1):
            j = self.below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return tuple(cards)
