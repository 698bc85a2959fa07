"""Pages that are the same bytes for everyone: rendered without the request, so that nobody's data can be in them."""

from collections.abc import Callable
from datetime import UTC, datetime, time
from functools import lru_cache, wraps
from hashlib import sha256
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponsePermanentRedirect
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from apps.rulebook.addresses import SMALL_PRINT
from apps.rulebook.contexts import page_context
from apps.rulebook.operator import Operator, operator
from apps.rulebook.pages import Page

KEPT: Final = 512
"""Rendered pages that each process keeps."""

MAX_AGE: Final = 600
"""Seconds for which a browser or proxy may show a page without asking again."""


type View = Callable[..., HttpResponseBase]


def cookieless(view: View) -> View:
    """Reads no cookie and sets none, not even in answer to a broken one, which middleware would replace."""

    @wraps(view)
    def without_cookies(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.COOKIES = {}
        request.META.pop("CSRF_COOKIE_NEEDS_UPDATE", None)
        return view(request, *args, **kwargs)

    return without_cookies


@cookieless
@require_safe
def show(request: HttpRequest, name: str, game: str = "") -> HttpResponseBase:
    """A page of the rulebook; from the address of another language on to the right one."""
    page = Page(name, game)
    if request.path != page.url():
        query = request.META.get("QUERY_STRING", "")
        return HttpResponsePermanentRedirect(f"{page.url()}?{query}" if query else page.url())
    return _conditional(request, page, _body(page, origin_of(request)))


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """What search engines are to leave alone, and where the sitemap is."""
    context = {"languages": [code for code, _ in settings.LANGUAGES], "origin": origin_of(request)}
    return HttpResponse(render_to_string("rulebook/robots.txt", context), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """For programs that ask at the old place without reading the page."""
    return HttpResponsePermanentRedirect(static("img/favicon.ico"))


def origin_of(request: HttpRequest) -> str:
    """Scheme and host that links from outside should use, as in ``https://example.org``."""
    return settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def _conditional(request: HttpRequest, page: Page, body: bytes) -> HttpResponseBase:
    """The page, or 304 for somebody who has it already."""
    etag = f'"{sha256(body).hexdigest()[:32]}"'
    modified = int(datetime.combine(page.updated(), time(), UTC).timestamp())
    headers = {
        "ETag": etag,
        "Last-Modified": http_date(modified),
        "Cache-Control": "public, no-cache" if settings.DEBUG else f"public, max-age={MAX_AGE}",
    }
    response = HttpResponse(body, headers=headers)
    return get_conditional_response(request, etag=etag, last_modified=modified, response=response) or response


def _body(page: Page, origin: str) -> bytes:
    """Kept once rendered, except while developing."""
    render = _rendered.__wrapped__ if settings.DEBUG else _rendered
    return render(page, page.language, origin, operator())


@lru_cache(maxsize=KEPT)
def _rendered(page: Page, language: str, origin: str, who: Operator) -> bytes:
    """The whole page. It depends on its arguments alone, the active language being ``language``."""
    template = "small_print" if page.name in SMALL_PRINT else page.name
    return render_to_string(f"rulebook/{template}.html", page_context(page, origin, who)).encode()
