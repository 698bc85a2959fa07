"""The real site in a process of its own, for tests that look at it from outside."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"http://\S+:(\d+)/")
READY_SECONDS = 120


def clean_environment(**values: str) -> dict[str, str]:
    """The environment without settings of the person who runs the tests, and with these."""
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "PYENV_VERSION") if name in os.environ
    }
    return kept | values


class Site:
    """``manage.py up`` with a directory of its own; may be stopped, killed and started again on the same port."""

    def __init__(self, data_dir: Path, *arguments: str, **env: str) -> None:
        self.data_dir = data_dir
        self.arguments = arguments
        self.port = 0
        self.env = clean_environment(DATA_DIR=str(data_dir), **env)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log_file(self) -> Path:
        return self.data_dir / "up.log"

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def start(self) -> "Site":
        """Start and wait until the site answers. Raises AssertionError with what it printed when it does not."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port), *self.arguments],
                cwd=BASE_DIR,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.port = self._announced_port()
        return self

    def stop(self) -> int:
        """End as Ctrl+C would, and give the exit code."""
        return self._end(signal.SIGINT)

    def kill(self) -> int:
        """End as a power cut would."""
        return self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def _announced_port(self) -> int:
        assert self.process is not None
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := ADDRESS.search(self.log):
                return int(found[1])
            time.sleep(0.05)
        self.process.kill()
        raise AssertionError(f"The site did not start:\n{self.log}")
