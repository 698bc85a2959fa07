"""Pages of tables, and the plain POSTs that do without a socket what the socket does."""

import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import segno
from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.context_processors import in_every_language
from apps.accounts.models import CardLetters, User
from apps.accounts.names import clean_name
from apps.accounts.sessions import as_user, known_user
from apps.games import registry
from apps.games.kernel.errors import Refusal
from apps.games.kernel.game import AnyGame, Mode
from apps.rulebook.contexts import listing
from apps.rulebook.pages import alternates
from apps.rulebook.views import origin_of
from apps.tables import attendance, board, live, metrics, presence, refusals, selectors, services
from apps.tables.board import Audience
from apps.tables.forms import NewTableForm, default_cpus, value_key
from apps.tables.limits import MOVES, TABLES, Buckets
from apps.tables.live import LiveTable
from apps.tables.moves import Wish, make_move

post_or_look = require_http_methods(["GET", "HEAD", "POST"])
"""What is posted here; whoever comes to look, as by the language switch of a refusal, is shown the table."""

_moves = Buckets(MOVES)
_tables = Buckets(TABLES)


@require_safe
def root(request: HttpRequest) -> HttpResponse:
    """``/`` in the reader's language: their account's, the cookie's, the browser's."""
    user = known_user(request)
    language = (user.language if user else "") or get_language() or "en"
    response = redirect(f"/{language}/")
    patch_vary_headers(response, ["Accept-Language", "Cookie"])
    return response


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = known_user(request)
    values = {
        "games": [selectors.game_card(game) for game in registry.all_games()],
        "solo": selectors.solo_game(),
        "letters": user.card_letters if user else CardLetters.OWN,
        "your_tables": selectors.tables_of(user) if user else [],
        "open_tables": selectors.open_tables(),
        **listing(origin_of(request), request.path, alternates("home")),
    }
    return render(request, "home.html", values)


# ── a new table ────────────────────────────────────────────────────────────────


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_table(request: HttpRequest) -> HttpResponse:
    game = _asked_game(request)
    user = known_user(request)
    initial = {**request.GET.dict(), "name": _suggested_name(user)}
    form = NewTableForm(game, request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST":
        if not _tables.take(_address(request)):
            return _new_page(request, form, user, Refusal("too-fast"))
        if form.is_valid():
            return _open(request, form, user)
    return _new_page(request, form, user, None)


def _asked_game(request: HttpRequest) -> AnyGame:
    slug = (request.POST.get("game") if request.method == "POST" else None) or request.GET.get("game")
    try:
        return registry.get(slug) if slug else registry.all_games()[0]
    except KeyError:
        raise Http404 from None


def _suggested_name(user: User | None) -> str:
    if user and user.display_name:
        return user.display_name
    return gettext("Guest %(number)s") % {"number": 1000 + secrets.randbelow(9000)}


def _open(request: HttpRequest, form: NewTableForm, user: User | None) -> HttpResponse:
    cleaned = form.cleaned_data
    try:
        with as_user(request, name=cleaned["name"]) as host:
            table = services.open_table(
                host=host,
                game=form.game,
                options=cleaned["options"],
                mode=cleaned["mode"],
                seconds=cleaned["seconds"] or 0,
                public=cleaned["public"],
                names=cleaned["names"],
                cpu_levels=cleaned["cpu_levels"],
            )
    except Refusal as refusal:
        return _new_page(request, form, user, refusal)
    presence.saw_page((table.code, host.pk))
    return _see_table(table.code)


def _new_page(request: HttpRequest, form: NewTableForm, user: User | None, refusal: Refusal | None) -> HttpResponse:
    game = form.game
    errors = [str(error) for errors in form.errors.values() for error in errors]
    if refusal:
        errors.append(refusals.words(refusal))
    values = {
        "game": game,
        "games": [selectors.game_card(each) for each in registry.all_games()],
        "form": form,
        "modes": form.rows("mode", Mode.LINK.value),
        "fields": list(form.option_rows()),
        "seconds": form.rows("seconds", "0"),
        "cpus": form.rows("cpus", str(default_cpus(game))),
        "levels": form.rows("level", "medium"),
        "public": bool(form["public"].value()),
        "name": form["name"].value() or form.initial.get("name", ""),
        "names": _names_rows(request, form),
        "errors": errors,
    }
    status = refusals.STATUS.get(refusal.code, 400) if refusal else 400 if errors else 200
    return render(request, "tables/new.html", values, status=status)


def _names_rows(request: HttpRequest, form: NewTableForm) -> list[str]:
    """As many name fields as the game has seats, those given filled in."""
    given = request.POST.getlist("names") or [str(form.initial.get("name", ""))]
    return (given + [""] * form.game.seats.stop)[: form.game.seats.stop - 1]


# ── the table ──────────────────────────────────────────────────────────────────


@require_safe
def follow_link(request: HttpRequest, code: str) -> HttpResponse:
    """The friend link, in the reader's language. Opening it never takes a seat."""
    user = known_user(request)
    language = (user.language if user else "") or get_language() or "en"
    response = redirect(f"/{language}/tables/{code}/")
    patch_vary_headers(response, ["Accept-Language", "Cookie"])
    return response


@never_cache
@require_safe
def table_page(request: HttpRequest, code: str) -> HttpResponse:
    return _table_response(request, code)


def _table_response(request: HttpRequest, code: str, refusal: Refusal | None = None) -> HttpResponse:
    """The whole table as the visitor may see it, with a notice if something was refused."""
    user = known_user(request)
    table, moves = _come(code, user)
    if table.expired:
        return _expired(request, table)
    notice = refusals.notice(refusal, get_language() or "en") if refusal else None
    if moves and not refusal:
        notice = refusals.welcome_back(moves, get_language() or "en")
    values = board.page_context(table, _audience(table, user)) | _page_values(request, table, user) | {"notice": notice}
    status = refusals.STATUS.get(refusal.code, 400) if refusal else 200
    response = render(request, "tables/table.html", values, status=status)
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "same-origin"
    return response


def _come(code: str, user: User | None) -> tuple[LiveTable, int]:
    """The table, with the visitor in their seat, and how many moves were made for them."""
    table = live.load(code)
    if table is not None and user and table.seats_of(user.pk) and not table.expired:
        missed = table.misses(user.pk)
        moves = attendance.saw_page(table, user)
        if not missed:
            return table, 0
        table = live.load(code)
    else:
        moves = 0
    if table is None:
        raise Http404
    return table, moves


def _audience(table: LiveTable, user: User | None) -> Audience:
    held = table.seats_of(user.pk) if user else ()
    return Audience(
        language=get_language() or "en",
        letters=user.card_letters if user else "own",
        held=held,
        host=bool(held) and user is not None and table.host_id == user.pk,
    )


def _page_values(request: HttpRequest, table: LiveTable, user: User | None) -> dict[str, Any]:
    link = origin_of(request) + reverse("link", args=[table.code])
    language = get_language() or "en"
    return {
        "alternates": in_every_language(reverse("tables:table", args=[table.code])),
        "link": link,
        "qr": _qr_code(link) if table.mode == Mode.LINK else "",
        "suggested_name": _suggested_name(user),
        "socket": f"/ws/{language}/tables/{table.code}/",
        "preview": origin_of(request) + static(f"games/{table.slug}/preview-{language}.png"),
    }


@lru_cache(maxsize=1000)
def _qr_code(link: str) -> str:
    """Drawn once: it takes longer than the whole page."""
    return segno.make(link, micro=False).svg_data_uri(scale=4, border=2)


def _expired(request: HttpRequest, table: LiveTable) -> HttpResponse:
    query = {name: value_key(value) for name, value in _options(table).items()}
    values = {
        "game": table.game,
        "again": reverse("tables:new", query={"game": table.slug, "mode": table.mode, **query}),
    }
    return render(request, "tables/expired.html", values, status=410)


def _options(table: LiveTable) -> dict[str, Any]:
    return {field.name: getattr(table.options, field.name) for field in table.game.option_fields}


def _see_table(code: str) -> HttpResponseRedirect:
    response = HttpResponseRedirect(reverse("tables:table", args=[code]))
    response.status_code = 303
    return response


# ── moves and everything else ──────────────────────────────────────────────────


@post_or_look
async def move(request: HttpRequest, code: str) -> HttpResponse:
    """A move without a socket: the same path, and the page comes back whole."""
    if request.method != "POST":
        return redirect("tables:table", code)
    user = await request.auser()
    user_id = user.pk if isinstance(user, User) else None
    try:
        if not _moves.take(str(user_id or _address(request))):
            raise Refusal("too-fast")
        wish = Wish(
            code=code,
            move=request.POST.get("move", ""),
            version=request.POST.get("version", ""),
            user_id=user_id,
        )
        await make_move(wish)
    except Refusal as refusal:
        return await database_sync_to_async(_refused)(request, code, refusal)
    except DatabaseError:
        return await database_sync_to_async(_refused)(request, code, Refusal("unavailable"))
    return _see_table(code)


@post_or_look
def do(request: HttpRequest, code: str, action: str) -> HttpResponse:
    """Everything else a person can do to a table."""
    if request.method != "POST":
        return redirect("tables:table", code)
    handler = ACTIONS.get(action)
    if handler is None:
        raise Http404
    try:
        if not _moves.take(str(request.user.pk or _address(request))):
            raise Refusal("too-fast")
        return handler(request, code)
    except Refusal as refusal:
        return _refused(request, code, refusal)


def _refused(request: HttpRequest, code: str, refusal: Refusal) -> HttpResponse:
    metrics.REFUSALS.labels(refusal.code).inc()
    if refusal.code == "no-such-table":
        raise Http404
    return _table_response(request, code, refusal)


def _sit(request: HttpRequest, code: str) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    cleaned = clean_name(name or _suggested_name(known_user(request)))
    with as_user(request, name=cleaned) as user:
        services.take_seat(code=code, user=user, name=cleaned)
    return _see_table(code)


def _cpu(request: HttpRequest, code: str) -> HttpResponse:
    """Add a CPU of ``level``, or with ``seat`` change that one's, or with ``remove`` take it away."""
    user = _somebody(request)
    if "remove" in request.POST:
        services.remove_cpu(code=code, user=user, index=_index(request, "remove"))
    elif "seat" in request.POST:
        services.set_level(code=code, user=user, index=_index(request, "seat"), level=request.POST.get("level", ""))
    else:
        services.add_cpu(code=code, user=user, level=request.POST.get("level", ""))
    return _see_table(code)


def _start(request: HttpRequest, code: str) -> HttpResponse:
    services.start_match(code=code, user=_somebody(request))
    return _see_table(code)


def _leave(request: HttpRequest, code: str) -> HttpResponse:
    services.leave_table(code=code, user=_somebody(request))
    return redirect("home")


def _accept(request: HttpRequest, code: str) -> HttpResponse:
    services.accept_match(code=code, user=_somebody(request))
    return _see_table(code)


def _somebody(request: HttpRequest) -> User:
    user = known_user(request)
    if user is None:
        raise Refusal("not-seated")
    return user


def _index(request: HttpRequest, name: str) -> int:
    raw = request.POST.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 2):
        raise Refusal("illegal", reason="no-such-seat")
    return int(raw)


ACTIONS: dict[str, Callable[[HttpRequest, str], HttpResponse]] = {
    "sit": _sit,
    "cpu": _cpu,
    "start": _start,
    "leave": _leave,
    "rematch": _accept,
    "accept": _accept,
}


# ── a seat in another browser ──────────────────────────────────────────────────


@never_cache
@post_or_look
def make_pass(request: HttpRequest, code: str) -> HttpResponse:
    """A one-time link, and its QR code, that moves the visitor's seat to another browser."""
    if request.method != "POST":
        return redirect("tables:table", code)
    try:
        token = services.create_pass(code=code, user=_somebody(request))
    except Refusal as refusal:
        return _refused(request, code, refusal)
    link = origin_of(request) + reverse("tables:pass", args=[token])
    values = {
        "link": link,
        "qr": segno.make(link, micro=False).svg_data_uri(scale=5, border=2),
        "minutes": int(services.PASS_LIFE.total_seconds() // 60),
        "back": reverse("tables:table", args=[code]),
    }
    return render(request, "tables/pass.html", values)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def use_pass(request: HttpRequest, token: str) -> HttpResponse:
    """Asks first, so that a messenger's preview does not use the link up."""
    values: dict[str, Any] = {"token": token}
    if request.method != "POST":
        return render(request, "tables/use_pass.html", values)
    try:
        with as_user(request) as user:
            table = services.use_pass(token=token, user=user)
    except Refusal as refusal:
        values["notice"] = refusals.notice(refusal, get_language() or "en")
        return render(request, "tables/use_pass.html", values, status=refusals.STATUS.get(refusal.code, 400))
    return _see_table(table.code)


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))
