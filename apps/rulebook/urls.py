"""The rulebook's addresses, each in the words of the active language.

Below them the words of the other languages: the view sends those on to the right address.
"""

from django.urls import URLPattern, path, re_path, register_converter

from apps.rulebook import views
from apps.rulebook.addresses import SEGMENTS, SMALL_PRINT, GameConverter, any_segment, route

app_name = "rulebook"

register_converter(GameConverter, "game")


def _stray(page: str) -> URLPattern:
    return re_path(rf"^(?:{any_segment(page)})/$", views.show, {"name": page})


urlpatterns = [
    path(route("hub"), views.show, {"name": "hub"}, name="hub"),
    path(route("hub", "<game:game>/"), views.show, {"name": "game"}, name="game"),
    *(path(route(page), views.show, {"name": page}, name=page) for page in SMALL_PRINT),
    *(_stray(page) for page in SEGMENTS),
    *(
        path(f"{segment}/<game:game>/", views.show, {"name": "game"})
        for segment in sorted(set(SEGMENTS["hub"].values()))
    ),
]
