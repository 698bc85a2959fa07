"""Make everything that is made from the sources: catalogues, tables of the database, static files."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from config import catalogues


class Command(BaseCommand):
    help = "Compiles translations, migrates the database and, in production, collects static files."
    requires_system_checks = []  # made below: some of them ask the database, which may not be there

    def handle(self, **options: Any) -> None:
        """Doing it again changes nothing. Raises CommandError with one line for whatever stands in the way."""
        self.step("Preparing translations", compile_catalogues)
        self.step("Preparing the database", self.prepare_database)
        if settings.PRODUCTION:
            self.step("Collecting static files", lambda: call_command("collectstatic", interactive=False, verbosity=0))

    def prepare_database(self) -> None:
        try:
            self.check()
            call_command("migrate", interactive=False, verbosity=0)
        except DatabaseError as error:
            reason = " ".join(str(error).split())
            raise CommandError(f"The database {database_name()} cannot be used: {reason}.") from None

    def step(self, title: str, work: Callable[[], object]) -> None:
        self.say(f"{title} …")
        began = time.monotonic()
        work()
        if (seconds := time.monotonic() - began) > 1:
            self.say(f"  done in {seconds:.0f} s")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def compile_catalogues() -> None:
    try:
        catalogues.compile_stale()
    except OSError as error:
        raise CommandError(f"Translations cannot be prepared: {error}.") from None


def database_name() -> str:
    return str(settings.DATABASES["default"]["NAME"])
