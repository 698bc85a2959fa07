"""Draws the pictures that link previews show, for every game and the site, in every language.

Run after a game, a text or the look of cards has changed, and commit the pictures: a running site only
serves them. Needs an installed Chromium.
"""

import shutil
import subprocess
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management.base import BaseCommand, CommandError
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe

from apps.games import registry
from apps.rulebook import documents

SIZE: Final = (1200, 630)
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
STYLES: Final = ("css/tokens.css", "css/base.css", "css/cards.css", "css/chrome.css", "rulebook/preview.css")
SITE_CARDS: Final = ("", "8H", "7S")
SITE_PICTURES: Final = Path(settings.BASE_DIR) / "static/img"
SECONDS: Final = 60


class Command(BaseCommand):
    help = "Draws the preview pictures of every game and of the site, in every language, with Chromium."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--browser", help="the Chromium to use, if it is not found by itself")

    def handle(self, *args: Any, **options: Any) -> None:
        browser = options["browser"] or next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            raise CommandError("No Chromium found. Install one (apt-get install chromium) or name it with --browser.")
        for language, _ in settings.LANGUAGES:
            with translation.override(language):
                self._draw_all(browser, language)

    def _draw_all(self, browser: str, language: str) -> None:
        site = documents.site_page("hub", language).matter.preview
        self._draw(browser, SITE_PICTURES / f"preview-{language}.png", _page(site, SITE_CARDS, language))
        for game in registry.all_games():
            words = documents.game_rules(game.slug, language).matter.preview
            folder = registry.folder_of(game) / "static/games" / game.slug
            self._draw(browser, folder / f"preview-{language}.png", _page(words, game.motif, language))

    def _draw(self, browser: str, picture: Path, page: str) -> None:
        """Have the browser draw one page. Raises CommandError with its last words."""
        with TemporaryDirectory() as folder:
            source = Path(folder) / "preview.html"
            source.write_text(page, "utf-8")
            picture.parent.mkdir(parents=True, exist_ok=True)
            command = [*_command(browser, folder), f"--screenshot={picture}", source.as_uri()]
            answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
        if answer.returncode or not picture.exists():
            raise CommandError(f"{browser} could not draw {picture.name}: {answer.stderr[-300:]}")
        self.stdout.write(f"{picture} ({picture.stat().st_size // 1024} KiB)")


def _command(browser: str, folder: str) -> list[str]:
    return [
        browser,
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
        f"--user-data-dir={folder}/profile",
        f"--window-size={SIZE[0]},{SIZE[1]}",
    ]


def _page(words: tuple[str, str], cards: tuple[str, ...], language: str) -> str:
    headline, line = words
    context = {"headline": headline, "line": line, "cards": cards, "language": language, "css": _css()}
    return render_to_string("rulebook/preview.html", context)


def _css() -> SafeString:
    paths = [finders.find(name) for name in STYLES]
    return mark_safe("\n".join(Path(path).read_text("utf-8") for path in paths if path))  # noqa: S308 - our own files
