"""Bring the message catalogues in line with the sources."""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polib
from django.core.management.base import BaseCommand, CommandError

from config import extraction


class Command(BaseCommand):
    help = "Writes new messages into every catalogue and drops those that nothing says any more."
    requires_system_checks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")

    def handle(self, *, dry_run: bool, verbosity: int, **options: Any) -> None:
        """Raises CommandError where babel, a development dependency, is missing."""
        if find_spec("babel") is None:
            raise CommandError("babel is missing: install the development dependencies with `uv sync`.")
        for folder, messages in extraction.extract_all().items():
            for language in extraction.languages():
                path = extraction.catalogue_path(folder, language)
                missing = update(path, messages, language, dry_run=dry_run)
                if verbosity and (messages or path.exists()):
                    self.stdout.write(f"{path}: {len(messages)} messages, {missing} to translate")


def update(path: Path, messages: dict[extraction.Key, extraction.Message], language: str, *, dry_run: bool) -> int:
    """Rewrite one catalogue, where that changes it, and say how many messages wait for a translation."""
    known = polib.pofile(str(path), encoding="utf-8", wrapwidth=0) if path.exists() else None
    fresh = extraction.updated(known, messages, language)
    if not dry_run and (messages or known is not None) and str(fresh) != str(known):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.save(str(path))
    return sum(not entry.translated() for entry in fresh)
