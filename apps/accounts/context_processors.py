"""What every page that is made for one visitor shows around its own content."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language_info

from apps.accounts.models import Theme, User


def visitor(request: HttpRequest) -> dict[str, object]:
    """``preferences`` of the visitor and ``alternates``, this same page in each language."""
    return {
        "preferences": SimpleLazyObject(lambda: preferences(getattr(request, "user", None))),
        "alternates": alternates(request),
    }


def alternates(request: HttpRequest) -> list[tuple[str, str, str]]:
    """(code, the language's own name, path), the query kept where there was one to read."""
    query = request.META.get("QUERY_STRING", "") if request.method == "GET" else ""
    return in_every_language(f"{request.path}?{query}" if query else request.path)


def in_every_language(path: str) -> list[tuple[str, str, str]]:
    """(code, the language's own name, path) for a path that is the same but for the language it begins with."""
    _language, _, rest = path.lstrip("/").partition("/")
    return [(code, str(get_language_info(code)["name_local"]), f"/{code}/{rest}") for code, _name in settings.LANGUAGES]


def preferences(user: object) -> dict[str, object]:
    """How this person wants pages to look; empty for somebody unknown, whose browser may know."""
    if not isinstance(user, User):
        return {}
    return {
        "theme": "" if user.theme == Theme.AUTO else user.theme,
        "deck": "four" if user.four_colour else "",
        "sound": user.sound,
    }
