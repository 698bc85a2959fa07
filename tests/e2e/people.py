"""People with browsers of their own, as the tests see them: what they open, see, click and post."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from random import Random
from typing import Any

from playwright.sync_api import APIResponse, BrowserContext, Locator, Page, WebSocket

OVER = "#table[data-status=finished]"
LANGUAGES = ("en", "fr", "de", "ru")

# What a test wants to know of a page and the page has no use for: whether its socket has spoken, and every sentence
# that ever came into the live region.
EARS = """
    window.heard = [];
    window.lines = [];
    document.addEventListener("htmx:wsOpen", () => window.lines.push({ opened: performance.now() }));
    document.addEventListener("htmx:wsAfterMessage", () => {
        document.documentElement.setAttribute("data-heard", "");
        const line = window.lines.at(-1);
        line.shown ??= performance.now();
        line.version ??= Number(document.getElementById("table").dataset.version);
    });
    new MutationObserver((changes) => {
        for (const change of changes.filter(({ target }) => target.id === "live"))
            for (const line of change.addedNodes) if (line.nodeType === 1) window.heard.push(line.textContent);
    }).observe(document, { childList: true, subtree: true });
"""

SEEN = """() => {
    const all = (selector, read) => [...document.querySelectorAll(selector)].map(read);
    return {
        version: document.getElementById("table").dataset.version,
        cards: all("#felt [data-card]", (card) => card.dataset.card),
        scores: all("[data-score]", (total) => total.textContent.trim()),
        asked: all("[data-seat][data-to-act]", (seat) => seat.dataset.seat),
    };
}"""


class Person:
    """Somebody with a browser, an own session and a language."""

    def __init__(self, context: BrowserContext, name: str, language: str, *, script: bool = True) -> None:
        self.context = context
        self.name = name
        self.language = language
        self.script = script

    @cached_property
    def page(self) -> Page:
        """The tab they look at."""
        self.context.add_init_script(EARS)
        return self.context.new_page()

    # ── without looking: what the site's forms post ──

    def post(self, path: str, **fields: Any) -> APIResponse:
        """Post as a form of the site would, with this person's cookies; the last answer of its redirects."""
        if self._token() is None:
            self.context.request.get(f"/{self.language}/settings/")
        form = {"csrfmiddlewaretoken": self._token() or "", **{name: str(value) for name, value in fields.items()}}
        answer = self.context.request.post(f"/{self.language}/{path}", form=form)
        assert answer.status < 500, answer.text()
        return answer

    def _token(self) -> str | None:
        return next((cookie["value"] for cookie in self.context.cookies() if cookie["name"] == "csrftoken"), None)

    def open_table(self, game: str, **fields: Any) -> str:
        """Open a table; its code."""
        answer = self.post("tables/new/", **{"game": game, "mode": "link", "name": self.name, "turns": 1} | fields)
        assert answer.ok, answer.text()
        return code_of(answer.url)

    def do(self, code: str, deed: str, **fields: Any) -> APIResponse:
        return self.post(f"tables/{code}/{deed}/", **fields)

    def sit(self, code: str) -> "Person":
        assert self.do(code, "sit", name=self.name).ok
        return self

    # ── the page ──

    def visit(self, code: str) -> "Person":
        """Open the table's page, and wait until its socket has spoken."""
        self.page.goto(f"/{self.language}/tables/{code}/")
        return self.connected()

    def connected(self) -> "Person":
        if self.script:
            self.page.locator("html[data-heard]").wait_for(state="attached")
        return self

    def deafen(self) -> None:
        """Forget that the socket has spoken, so that ``connected`` waits until it does again."""
        self.page.evaluate("document.documentElement.removeAttribute('data-heard')")

    def lines(self) -> list[dict[str, float]]:
        """The sockets of the page that is open: when each opened and first changed the page (ms), to which version."""
        return list(self.page.evaluate("window.lines"))

    def heard(self) -> list[str]:
        """All that ever came into the live region of the page that is open."""
        return list(self.page.evaluate("window.heard"))

    @property
    def table(self) -> Locator:
        return self.page.locator("#table")

    @property
    def version(self) -> int:
        return int(self.table.get_attribute("data-version") or 0)

    @property
    def over(self) -> bool:
        return self.table.get_attribute("data-status") == "finished"

    @property
    def asked(self) -> bool:
        """Whether this page says that it is the viewer's turn."""
        return self.table.get_attribute("data-turn") is not None

    @property
    def choices(self) -> Locator:
        return self.page.locator("form[data-move] button")

    @property
    def seat(self) -> str | None:
        """The seat that this page is the view of; None for somebody who watches."""
        mine = self.page.locator("[data-you]")
        return mine.get_attribute("data-seat") if mine.count() else None

    def seen(self) -> dict[str, Any]:
        """What everybody must see alike: version, cards, totals, whose turn."""
        return dict(self.page.evaluate(SEEN))

    def board(self) -> dict[str, Any]:
        """The same without the version."""
        return {name: value for name, value in self.seen().items() if name != "version"}

    # ── acting ──

    def past(self, version: int) -> "Person":
        """Wait until the page shows something newer than this version."""
        if self.script:
            self.page.locator(f"#table:not([data-version='{version}'])").wait_for(state="attached")
        else:
            self.page.reload()
            assert self.version > version
        return self

    def at(self, version: int, *, timeout: float | None = None) -> "Person":
        self.page.locator(f"#table[data-version='{version}']").wait_for(state="attached", timeout=timeout)
        return self

    def choose(self, rng: Random | None = None) -> int:
        """Click one of the moves on offer, any or else the last; wait for what comes of it. The version before."""
        before = self.version
        number = rng.randrange(self.choices.count()) if rng else -1
        self.choices.nth(number).click()
        if self.script:
            self.past(before)
        else:
            self.page.locator(f"#table:not([data-version='{before}'])").wait_for(state="attached")
        return before

    def title_tells(self) -> bool:
        """Whether the page's title is that of a turn: it begins with more than the game's name."""
        return not self.page.title().startswith(self.page.locator("#where h1").inner_text())


def code_of(address: str) -> str:
    found = re.search(r"/tables/([a-z0-9]+)/", address)
    assert found, address
    return found[1]


def play_out(
    people: Iterable[Person],
    rng: Random | None = None,
    *,
    watchers: Iterable[Person] = (),
    check: Callable[[list[Person]], None] = lambda everybody: None,
) -> None:
    """Whoever is asked clicks, until the match is over; after each move ``check`` is given everybody."""
    players, everybody = list(people), [*people, *watchers]
    while not players[0].over:
        acting = next(person for person in players if person.asked)
        before = acting.choose(rng)
        for person in everybody:
            if person is not acting:
                person.past(before)
        check(everybody)


def turn_of(*people: Person) -> tuple[Person, Person]:
    """Of two people, the one who is asked and the other; who begins is drawn by lot."""
    first, second = people
    return (first, second) if first.asked else (second, first)


def pass_turn(acting: Person, other: Person) -> None:
    """``acting``, if asked, moves until it is ``other`` who is."""
    other.at(acting.version)
    while acting.asked:
        other.past(acting.choose())
    assert other.asked


class Frames:
    """Everything that a page's sockets ever received, in order."""

    def __init__(self, page: Page) -> None:
        self.received: list[str] = []
        self.sockets: list[WebSocket] = []
        page.on("websocket", self._opened)

    def _opened(self, socket: WebSocket) -> None:
        self.sockets.append(socket)
        socket.on("framereceived", lambda frame: self.received.append(str(frame)))
