"""The rules know nothing of the site, and the site names no game."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.games import registry

ROOT = Path(__file__).parents[2]
PURE = ("rules.py", "view.py", "bots.py")
SITE = ("apps", "config", "templates", "static")
TEXT = {".py", ".html", ".css", ".js", ".txt", ".xml"}


def imported(path: Path) -> Iterator[str]:
    """The full names of the modules that a file imports anywhere, functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_pure(name: str, *packages: str) -> bool:
    outside = name.split(".")[0]
    return (
        outside in sys.stdlib_module_names
        or outside == "msgspec"
        or any(name == package or name.startswith(f"{package}.") for package in packages)
    )


def test_the_kernel_stands_on_nothing_but_the_language():
    for path in (ROOT / "apps/games/kernel").glob("*.py"):
        assert all(is_pure(name, "apps.games.kernel") for name in imported(path)), path


def test_rules_views_and_cpus_stand_on_the_kernel_and_their_siblings(game):
    folder = registry.folder_of(game)
    siblings = [f"apps.games.{folder.name}.{Path(name).stem}" for name in PURE]
    for name in PURE:
        assert all(is_pure(module, "apps.games.kernel", *siblings) for module in imported(folder / name)), name


def test_games_never_import_each_other(game):
    own = registry.folder_of(game)
    others = [f"apps.games.{registry.folder_of(other).name}" for other in registry.all_games() if other is not game]
    for path in own.rglob("*.py"):
        assert not any(is_pure(name, *others) for name in imported(path) if name.startswith("apps.")), path


@pytest.mark.parametrize("where", SITE)
def test_no_code_outside_its_folder_names_a_game(game, where):
    own = registry.folder_of(game)
    names = (game.slug, own.name, type(game).__name__)
    for path in (ROOT / where).rglob("*"):
        if path.suffix in TEXT and own not in path.parents and "migrations" not in path.parts:
            text = path.read_text()
            assert not any(name in text for name in names), path
