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
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from apps.games import registry
from tests.e2e.people import Person
from tests.e2e.wire import Wire
from tests.site import Site

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_BROWSER = (
    "Browser tests need Chromium: install it (`apt install chromium`) or get Playwright's own "
    "(`uv run playwright install chromium`)."
)
# CPUs that take a human second to think would make every test wait for them.
QUICK = {"CPU_PACE_SECONDS": "0.05", "CLOCK_TICK_SECONDS": "0.05"}
PATIENCE = 15_000
"""Milliseconds until something that has to come is given up."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A running site, shared by the browser tests of one worker."""
    running = Site(tmp_path_factory.mktemp("site"), **QUICK).start()
    yield running
    running.stop()
    check_log(running)


def check_log(site: Site) -> None:
    """Whatever visitors did, nothing failed."""
    assert "Traceback" not in site.log, site.log
    assert " ERROR " not in site.log, site.log


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
        check_log(running)


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


@pytest.fixture
def come(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Callable[..., Person]]:
    """``come("Ada", "fr")``: somebody with a browser of their own. Options are those of a browser context."""
    contexts: list[BrowserContext] = []

    def arrive(name: str = "Ada", language: str = "en", *, script: bool = True, **options: Any) -> Person:
        arguments = browser_context_args | {"locale": language, "java_script_enabled": script} | options
        contexts.append(browser.new_context(**arguments))
        contexts[-1].set_default_timeout(PATIENCE)
        return Person(contexts[-1], name, language, script=script)

    yield arrive
    for context in contexts:
        context.close()


@pytest.fixture
def wire(site: Site) -> Iterator[Wire]:
    """A way to the site that can be cut: ``come(base_url=wire.url)``."""
    between = Wire(site.port)
    yield between
    between.close()


@pytest.fixture(params=[game.slug for game in registry.all_games()])
def slug(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def quiet_console(request: pytest.FixtureRequest) -> Iterator[None]:
    """No page of any test may leave an error in the console or get a 5xx.

    ``@pytest.mark.console_errors("status of 4")`` allows the errors that a test provokes.
    """
    if "browser" not in request.fixturenames:
        yield
        return
    marker = request.node.get_closest_marker("console_errors")
    faults = Faults(marker.args if marker else ())
    browser = request.getfixturevalue("browser")
    browser.on("context", faults.watch)
    yield
    browser.remove_listener("context", faults.watch)
    assert not faults.found, faults.found


class Faults:
    """What went wrong on the pages of a test."""

    def __init__(self, expected: tuple[str, ...]) -> None:
        self.expected = expected
        self.found: list[str] = []

    def watch(self, context: BrowserContext) -> None:
        context.on("weberror", lambda error: self._note(str(error.error)))
        context.on("console", lambda line: self._note(f"{line.text} {line.location}") if line.type == "error" else None)
        context.on(
            "response", lambda answer: self._note(f"{answer.status} {answer.url}") if answer.status >= 500 else None
        )

    def _note(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.found.append(text)


expect.set_options(timeout=PATIENCE)
