"""Refusals: an error of the player's, never of the program's, as a code with its facts.

The words belong to whoever shows them; a code never carries hidden information.
"""


class Refusal(Exception):
    """Something asked for that the rules do not allow.

    ``code`` is one of the codes of the page protocol (``illegal``, ``bad-message``, …);
    ``params`` are public facts that help to explain it, such as ``reason="must-follow"``.
    """

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


class IllegalMove(Refusal):
    """A well-formed move that the rules do not allow now (``illegal``, ``not-your-turn``, ``finished``)."""


class BadMove(Refusal):
    """Bytes that are no move or no state of this game (``bad-message``)."""


class OptionError(Refusal):
    """A setting out of its range, or settings that do not fit the number of seats (``bad-option``)."""
