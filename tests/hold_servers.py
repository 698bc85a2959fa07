"""Holds PostgreSQL and Valkey for one run of the tests: ``python -m tests.hold_servers DIRECTORY``.

They stop, and the directory goes, when standard input ends: with the run, however it ends.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from config.servers import Postgres, Valkey


def main(directory: Path) -> None:
    postgres = Postgres(directory / "postgresql", durable=False)
    valkey = Valkey(directory / "valkey")
    try:
        postgres.start()
        valkey.start()
        tell(directory, DATABASE_URL=postgres.create("upcard"), REDIS_URL=valkey.url())
        sys.stdin.read()
    finally:
        postgres.stop()
        valkey.stop()
        shutil.rmtree(directory, ignore_errors=True)


def tell(directory: Path, **addresses: str) -> None:
    """Write the addresses in one step: whoever sees the file can use what is in it."""
    draft = directory / "addresses.draft"
    draft.write_text(json.dumps(addresses), encoding="utf-8")
    os.replace(draft, directory / "addresses.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
