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
        parser.add_argument("--check", action="store_true", help="write nothing; fail where something is to be done")

    def handle(self, *, check: bool, verbosity: int, **options: Any) -> None:
        """Raises CommandError where babel, a development dependency, is missing."""
        if find_spec("babel") is None:
            raise CommandError("babel is missing: install the development dependencies with `uv sync`.")
        to_do = sum(
            self.update(extraction.catalogue_path(folder, language), messages, language, write=not check)
            for folder, messages in extraction.extract_all().items()
            for language in extraction.languages()
        )
        if check and to_do:
            raise CommandError("Catalogues are behind the sources: run `manage.py update_catalogues` and translate.")

    def update(self, path: Path, messages: extraction.Messages, language: str, *, write: bool) -> int:
        """Rewrite one catalogue, where that changes it, and say how much is to be done in it."""
        known = polib.pofile(str(path), encoding="utf-8", wrapwidth=0) if path.exists() else None
        fresh = extraction.updated(known, messages, language)
        changed = (bool(messages) or known is not None) and str(fresh) != str(known)
        if changed and write:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.save(str(path))
        missing = sum(not entry.translated() for entry in fresh)
        if changed or missing:
            self.stdout.write(f"{path}: {len(messages)} messages, {missing} to translate")
        return missing + changed
