"""When something is missing, not allowed or broken: a page in the language of the address."""

import pytest
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import path
from django.utils import translation

from config.urls import urlpatterns as site
from tests.rulebook.conftest import LANGUAGES, Html, every_language


def broken(request, language):
    raise RuntimeError("state of a table: 7H 8S")


def forbidden(request, language):
    from django.core.exceptions import PermissionDenied

    raise PermissionDenied


def unreadable(request, language):
    from django.core.exceptions import BadRequest

    raise BadRequest


def form(request, language):
    return HttpResponse()


urlpatterns = [
    path("<language>/broken/", broken),
    path("<language>/forbidden/", forbidden),
    path("<language>/unreadable/", unreadable),
    path("<language>/form/", form),
    *site,
]


@pytest.mark.parametrize(
    ("name", "status"), [("missing", 404), ("forbidden", 403), ("unreadable", 400), ("broken", 500)]
)
@every_language
def test_error_speaks_the_language_of_the_address(db, language, name, status):
    client = Client(raise_request_exception=False)
    with override_settings(ROOT_URLCONF=__name__):
        response = client.get(f"/{language}/{name}/", headers={"Accept-Language": "en"})
    html = Html(response.content.decode())
    assert response.status_code == status
    assert html.all("html")[0]["lang"] == language
    assert len(html.all("h1")) == len(html.all("title")) == len(html.all("main")) == 1
    assert html.all("meta", name="robots")[0]["content"] == "noindex"
    assert any(link["href"] == f"/{language}/" for link in html.all("a"))
    assert "7H" not in html.text


@every_language
def test_refused_form_is_told_in_words(db, language):
    client = Client(enforce_csrf_checks=True)
    with override_settings(ROOT_URLCONF=__name__):
        response = client.post(f"/{language}/form/", {"a": "b"})
    assert response.status_code == 403
    assert Html(response.content.decode()).all("html")[0]["lang"] == language


@pytest.mark.parametrize("template", ["500.html", "400.html"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_worst_pages_need_nothing(template, language, monkeypatch):
    """Neither request nor context, database nor addresses."""
    monkeypatch.setattr("django.urls.base.get_resolver", None)
    with translation.override(language):
        html = Html(render_to_string(template))
    assert html.all("html")[0]["lang"] == language
    assert len(html.all("h1")) == 1
