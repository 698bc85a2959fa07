"""Message catalogues: compiled without gettext's tools, which few machines have."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import polib
from django.conf import settings


def catalogue_files() -> list[Path]:
    """Every ``.po`` file of the site and of its games."""
    return sorted(path for folder in settings.LOCALE_PATHS for path in Path(folder).glob("*/LC_MESSAGES/*.po"))


def stale_files() -> list[Path]:
    """The ``.po`` files whose compiled twin is missing or older."""
    return [path for path in catalogue_files() if _is_stale(path)]


def compile_stale() -> int:
    """Compile what is stale and say how many files that were. Raises OSError, also for a file with wrong syntax."""
    stale = stale_files()
    for path in stale:
        compile_file(path)
    return len(stale)


def compile_file(path: Path) -> None:
    """Write the ``.mo`` file beside a ``.po`` file in one step, so that nobody ever reads half of one."""
    catalogue = polib.pofile(path, encoding="utf-8")
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    with _removed_on_failure(draft):
        catalogue.save_as_mofile(str(draft))
        draft.replace(path.with_suffix(".mo"))


@contextlib.contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _is_stale(path: Path) -> bool:
    compiled = path.with_suffix(".mo")
    return not compiled.exists() or compiled.stat().st_mtime_ns < path.stat().st_mtime_ns
