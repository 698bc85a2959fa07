"""The site's promises about time, the same for every game: one place for the clock and the rules pages."""

TURN_SECONDS = (0, 30, 60)
"""What a host may set for each decision; 0 is no limit, and the default (G-4)."""

STAND_IN_AFTER_SECONDS = 60
"""Away this long, a seat is played by the computer (G-5)."""

TIMEOUTS_TO_STAND_IN = 2
"""So many time-outs in a row have the same effect as being away (G-5)."""

EXPIRES_AFTER_DAYS = 7
"""A table played by link expires after so many days without a move (G-7)."""

GUEST_KEPT_DAYS = 90
"""A guest who has not come back for so many days is deleted, with their games (G-7)."""

CLAIM_AFTER_SECONDS = 60
"""In a rated match of two the opponent of somebody away this long may claim the win (G-11)."""
