"""Every page of the site in every state worth looking at."""

from collections.abc import Callable
from typing import Any

from apps.games import registry
from apps.games.kernel.game import Mode
from tests.e2e.people import Person, pass_turn, turn_of

LONG = "Wolfeschlegelsteinhausen"
"""As long as a name may be, and nowhere to break it."""

type Show = Callable[[str], None]
type Scene = Callable[..., tuple[Person, Show]]

SCENES: dict[str, Scene] = {}


def scene(build: Scene) -> Scene:
    """``build(come, slug)`` gives somebody, and what shows them the page in a language."""
    SCENES[build.__name__] = build
    return build


def at(person: Person, path: str) -> Show:
    """A page that is opened by its address."""

    def show(language: str) -> None:
        person.page.goto(f"/{language}/{path}")

    return show


def at_table(person: Person, code: str, *then: Callable[[Person], Any]) -> Show:
    """The table's page, its socket open, and what is done there."""

    def show(language: str) -> None:
        person.language = language
        person.visit(code)
        for deed in then:
            deed(person)

    return show


def most_seats(slug: str) -> int:
    return registry.get(slug).seats.stop - 1


# ── before a table ─────────────────────────────────────────────────────────────


@scene
def home(come, slug):
    """With open tables, and own ones to continue."""
    ada, bo = come("Ada"), come(LONG)
    code = bo.open_table(slug, public="on")
    bo.visit(code)
    ada.open_table(slug)
    return ada, at(ada, "")


@scene
def home_of_an_empty_site(come, slug, new_site):
    ada = come(base_url=new_site().url)
    return ada, at(ada, "")


@scene
def new_table(come, slug):
    ada = come()
    return ada, at(ada, f"tables/new/?game={slug}")


@scene
def new_table_against_the_computer(come, slug):
    ada = come()
    return ada, at(ada, f"tables/new/?game={slug}&mode=computer")


@scene
def new_table_on_one_screen(come, slug):
    ada = come()
    return ada, at(ada, f"tables/new/?game={slug}&mode=same_device")


@scene
def new_table_refused(come, slug):
    ada = come()

    def show(language):
        ada.page.goto(f"/{language}/tables/new/?game={slug}")
        ada.page.locator("#name").fill("!!!")
        ada.page.locator("form#new .stick button").click()
        ada.page.locator(".notice.bad").wait_for()

    return ada, show


@scene
def settings(come, slug):
    ada = come()
    return ada, at(ada, "settings/?saved")


@scene
def nowhere(come, slug):
    ada = come()
    return ada, at(ada, "no/such/page/")


@scene
def forged_post(come, slug):
    ada = come()

    def show(language):
        ada.page.goto(f"/{language}/settings/")
        ada.page.locator("main form [name=csrfmiddlewaretoken]").evaluate("field => field.value = 'forged'")
        ada.page.locator("main form button").click()
        ada.page.wait_for_load_state()

    return ada, show


# ── before a match ─────────────────────────────────────────────────────────────


def lobby(come, slug):
    host, guest = come(LONG), come("Bo")
    code = host.open_table(slug, seconds=30)
    guest.sit(code)
    if most_seats(slug) > 2:
        host.do(code, "cpu", level="hard")
    return code, host, guest


@scene
def lobby_of_the_host(come, slug):
    code, host, _guest = lobby(come, slug)
    return host, at_table(host, code)


@scene
def lobby_of_a_guest(come, slug):
    code, _host, guest = lobby(come, slug)
    return guest, at_table(guest, code)


@scene
def lobby_of_a_visitor(come, slug):
    code, _host, _guest = lobby(come, slug)
    eve = come("Eve")
    return eve, at_table(eve, code)


@scene
def lobby_full(come, slug):
    ada, eve = come("Ada"), come("Eve")
    code = ada.open_table(slug)
    for _ in range(most_seats(slug) - 1):
        ada.do(code, "cpu", level="easy")
    return eve, at_table(eve, code)


# ── a match ────────────────────────────────────────────────────────────────────


def started(come, slug, **fields):
    ada, bo = come(LONG), come("Bo")
    code = ada.open_table(slug, **{"turns": 10, "seconds": 60} | fields)
    bo.sit(code)
    ada.do(code, "start")
    return code, ada.visit(code), bo.visit(code)


@scene
def deciding(come, slug):
    code, ada, bo = started(come, slug)
    pass_turn(bo, ada)
    return ada, at_table(ada, code)


@scene
def waiting(come, slug):
    code, ada, bo = started(come, slug)
    pass_turn(ada, bo)
    return ada, at_table(ada, code)


@scene
def watching(come, slug):
    code, ada, bo = started(come, slug)
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())
    eve = come("Eve")
    return eve, at_table(eve, code)


@scene
def menu_open(come, slug):
    code, ada, _bo = started(come, slug)

    def open_menu(person):
        person.page.locator("[popovertarget=menu-panel]").click()
        person.page.locator("#menu-panel .lang summary").click()

    return ada, at_table(ada, code, open_menu)


@scene
def log_open(come, slug):
    code, ada, bo = started(come, slug)
    acting, other = turn_of(ada, bo)
    other.past(acting.choose())

    def open_log(person):
        button = person.page.locator("[popovertarget=side]")
        if button.is_visible():
            button.click()
        person.page.locator("#side details summary").click()

    return ada, at_table(ada, code, open_log)


@scene
def refused(come, slug):
    """What somebody is told whose page was behind."""
    code, ada, bo = started(come, slug)
    pass_turn(bo, ada)

    def move_late(person):
        person.page.locator("form[data-move] [name=version]").first.evaluate("field => field.value = '1'")
        person.page.locator("form[data-move] button").first.click()
        person.page.locator("#notice[data-code=stale]").wait_for()

    return ada, at_table(ada, code, move_late)


@scene
def taken_over(come, slug):
    """The seat has gone to another browser."""
    code, ada, _bo = started(come, slug)

    def lose_the_seat(person):
        person.page.evaluate("""() => {
            const bar = document.getElementById("net");
            bar.querySelector("[data-text]").textContent = bar.dataset.on4401;
            bar.toggleAttribute("data-shown", true);
            bar.toggleAttribute("data-final", true);
        }""")

    return ada, at_table(ada, code, lose_the_seat)


@scene
def as_many_as_there_is_room_for(come, slug):
    ada = come(LONG)
    code = ada.open_table(slug, turns=10)
    for number in range(min(2, most_seats(slug) - 1)):
        come(f"{LONG[:-1]}{number}").sit(code)
    for _ in range(most_seats(slug) - 3):
        ada.do(code, "cpu", level="medium")
    ada.do(code, "start")
    return ada, at_table(ada, code)


@scene
def one_screen(come, slug):
    if Mode.SAME_DEVICE not in registry.get(slug).modes:
        return deciding(come, slug)
    ada = come()
    code = ada.open_table(slug, mode="same_device", names="Ada", turns=10)
    return ada, at_table(ada, code, lambda person: person.choose() and None)


# ── after a match ──────────────────────────────────────────────────────────────


def finished(come, slug, **fields):
    ada, bo = come(LONG), come("Bo")
    code = ada.open_table(slug, turns=1, **fields)
    bo.sit(code)
    ada.do(code, "start")
    for person in (ada, bo):
        person.visit(code)
    while not ada.over:
        acting, other = turn_of(ada, bo)
        other.past(acting.choose())
    return code, ada, bo


@scene
def result(come, slug):
    code, ada, _bo = finished(come, slug)
    return ada, at_table(ada, code)


@scene
def result_for_those_who_watched(come, slug):
    code, _ada, _bo = finished(come, slug)
    eve = come("Eve")
    return eve, at_table(eve, code)


@scene
def result_alone(come, slug):
    if 1 not in registry.get(slug).seats:
        return result(come, slug)
    ada = come()
    code = ada.open_table(slug, mode="computer", cpus=0, turns=1)
    ada.visit(code)
    while not ada.over:
        ada.choose()
    return ada, at_table(ada, code)


@scene
def expired(come, slug):
    ada = come()
    code = ada.open_table(slug)
    ada.do(code, "leave")
    return ada, at(ada, f"tables/{code}/")


# ── a seat in another browser ──────────────────────────────────────────────────


@scene
def seat_link(come, slug):
    ada = come()
    code = ada.open_table(slug)

    def ask(person):
        person.page.locator("[popovertarget=menu-panel]").click()
        person.page.locator("form[data-do=pass] button").click()
        person.page.wait_for_url("**/pass/")

    return ada, at_table(ada, code, ask)


@scene
def seat_link_opened(come, slug):
    ada = come()
    return ada, at(ada, "tables/pass/some-token/")


@scene
def seat_link_used_up(come, slug):
    ada = come()

    def show(language):
        ada.page.goto(f"/{language}/tables/pass/some-token/")
        ada.page.locator("main form button").click()
        ada.page.locator("#notice").wait_for()

    return ada, show
