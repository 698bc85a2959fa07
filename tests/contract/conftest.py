"""Every test that asks for ``game`` runs for each registered game."""

import pytest

from apps.games import registry


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "game" in metafunc.fixturenames:
        games = registry.all_games()
        metafunc.parametrize("game", games, ids=[game.slug for game in games])
