"""Finds the games: one folder with a ``game.py`` under ``apps/games`` is one game."""

from functools import cache
from importlib import import_module
from pathlib import Path

from apps.games.kernel.game import AnyGame

GAMES_DIR = Path(__file__).parent


@cache
def _games() -> dict[str, AnyGame]:
    folders = sorted(path.parent for path in GAMES_DIR.glob("*/game.py") if path.parent.name != "kernel")
    games = (import_module(f"apps.games.{folder.name}.game").GAME for folder in folders)
    return {game.slug: game for game in sorted(games, key=lambda game: (game.minutes, game.slug))}


def all_games() -> tuple[AnyGame, ...]:
    """Every game, shortest first."""
    return tuple(_games().values())


def get(slug: str) -> AnyGame:
    """The game of this slug. Raises KeyError."""
    return _games()[slug]


def folder_of(game: AnyGame) -> Path:
    """Where this game's templates, texts and pictures live."""
    return GAMES_DIR / game.slug.replace("-", "_")
