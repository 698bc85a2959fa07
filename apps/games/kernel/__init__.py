"""The pure core every game stands on: cards, the Game contract, seeded draws, replay, refusals."""
