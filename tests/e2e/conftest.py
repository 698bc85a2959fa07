"""A real site and a real browser.

Playwright keeps its event loop running in the thread of the tests, where no other test could start one. Its fixtures
therefore live as long as this package and not, as the plugin has them, as long as the whole run.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.site import Site

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_BROWSER = (
    "Browser tests need Chromium: install it (`apt install chromium`) or get Playwright's own "
    "(`uv run playwright install chromium`)."
)
# CPUs that take a human second to think would make every test wait for them.
QUICK = {"CPU_PACE_SECONDS": "0.05", "CLOCK_TICK_SECONDS": "0.05"}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A running site, shared by the browser tests of one worker."""
    running = Site(tmp_path_factory.mktemp("site"), **QUICK).start()
    yield running
    running.stop()


@pytest.fixture
def new_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Starts a site of the test's own, which it may kill and start again: ``new_site(CPU_PACE_SECONDS="1")``."""
    started: list[Site] = []

    def start(**env: str) -> Site:
        started.append(Site(tmp_path / f"site-{len(started)}", **QUICK | env).start())
        return started[-1]

    yield start
    for running in started:
        running.kill()


@pytest.fixture(scope="session")
def base_url(site: Site) -> str:
    """Pages are opened by path: ``page.goto("/en/")``."""
    return site.url


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def browser_path(playwright: Playwright) -> str:
    """Chromium of this machine. Without one the tests are skipped, or fail where CI asks for them."""
    own = playwright.chromium.executable_path
    for path in (*map(shutil.which, BROWSERS), own):
        if path and Path(path).exists():
            return path
    if os.environ.get("CI") == "true":
        pytest.fail(NO_BROWSER, pytrace=False)
    pytest.skip(NO_BROWSER)


@pytest.fixture(scope="package")
def browser(playwright: Playwright, browser_path: str, pytestconfig: pytest.Config) -> Iterator[Browser]:
    running = playwright.chromium.launch(
        executable_path=browser_path,
        headless=not pytestconfig.getoption("--headed"),
        # Root, which CI often is, has no sandbox; containers have little shared memory.
        args=["--no-sandbox", "--disable-dev-shm-usage"],
    )
    yield running
    running.close()


@pytest.fixture(scope="package")
def browser_context_args(base_url: str) -> dict[str, Any]:
    return {"base_url": base_url, "locale": "en"}


@pytest.fixture(autouse=True)
def quiet_console(request: pytest.FixtureRequest) -> Iterator[None]:
    """No page of any test may leave an error in the console, except where the test expects one."""
    if "new_context" not in request.fixturenames or request.node.get_closest_marker("console_errors"):
        yield
        return
    errors: list[str] = []
    browser = request.getfixturevalue("browser")

    def watch(context: Any) -> None:
        context.on("weberror", lambda error: errors.append(str(error.error)))
        context.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)

    browser.on("context", watch)
    yield
    browser.remove_listener("context", watch)
    assert not errors, errors
