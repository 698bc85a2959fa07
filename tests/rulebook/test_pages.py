"""Every page in every language, as a reader, a cache and a search engine get it."""

import json
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.http import http_date

from apps.games import registry
from apps.rulebook.addresses import SEGMENTS
from apps.rulebook.pages import Page, all_pages
from tests.rulebook.conftest import LANGUAGES, Html, address, every_language, every_page

ORIGIN = "http://testserver"


def fetch(client, language, page, **headers):
    return client.get(address(language, page), headers=headers)


@every_page
def test_page_is_whole(client, language, leaf):
    response = fetch(client, language, leaf)
    html = Html(response.content.decode())
    assert response.status_code == 200
    assert html.all("html")[0]["lang"] == language
    assert len(html.all("h1")) == len(html.all("main")) == 1
    assert html.all("meta", name="description")[0]["content"]
    assert "{{" not in html.text
    assert "{%" not in html.text


@every_page
def test_reading_sets_no_cookie_asks_no_database_and_is_the_same_for_everyone(client, db, language, leaf):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        first = fetch(client, language, leaf)
        other = fetch(client, language, leaf, accept_language="de", cookie="sessionid=x; csrftoken=y", user_agent="z")
    assert first.content == other.content
    assert not first.cookies
    assert not other.cookies
    assert not first.headers.get("Vary")
    assert first.headers["Cache-Control"].startswith("public")
    assert len(queries) == 0


@every_page
def test_who_has_the_page_is_told_so(client, language, leaf):
    first = fetch(client, language, leaf)
    assert fetch(client, language, leaf, if_none_match=first.headers["ETag"]).status_code == 304
    assert fetch(client, language, leaf, if_modified_since=first.headers["Last-Modified"]).status_code == 304
    assert fetch(client, language, leaf, if_none_match='"another"').status_code == 200
    assert fetch(client, language, leaf, if_modified_since=http_date(0)).status_code == 200


def test_head_is_answered_and_post_is_not(client, db):
    path = address("en", Page("hub"))
    assert client.head(path).status_code == 200
    assert client.post(path).status_code == 405


@every_page
def test_canonical_and_alternates_are_reciprocal(client, language, leaf):
    html = Html(fetch(client, language, leaf).content.decode())
    links = {link["hreflang"]: link["href"] for link in html.all("link", rel="alternate")}
    assert html.all("link", rel="canonical")[0]["href"] == ORIGIN + address(language, leaf)
    assert links == {code: ORIGIN + address(code, leaf) for code in LANGUAGES} | {
        "x-default": ORIGIN + address("en", leaf)
    }
    for code in LANGUAGES:
        other = Html(client.get(urlsplit(links[code]).path).content.decode())
        assert {link["hreflang"]: link["href"] for link in other.all("link", rel="alternate")} == links


@every_page
def test_language_menu_leads_to_the_same_page(client, language, leaf):
    html = Html(fetch(client, language, leaf).content.decode())
    menu = {link["hreflang"]: link["href"] for link in html.all("a") if "hreflang" in link}
    assert menu == {code: address(code, leaf) for code in LANGUAGES}


@every_page
def test_public_address_goes_before_the_host_asked_for(client, settings, language, leaf):
    settings.PUBLIC_URL = "https://cards.example"
    html = Html(fetch(client, language, leaf).content.decode())
    assert html.all("link", rel="canonical")[0]["href"] == "https://cards.example" + address(language, leaf)


@every_page
def test_link_preview(client, language, leaf):
    html = Html(fetch(client, language, leaf).content.decode())
    told = {meta["property"]: meta["content"] for meta in html.all("meta") if "property" in meta}
    assert told["og:title"]
    assert told["og:description"]
    assert told["og:url"] == ORIGIN + address(language, leaf)
    assert told["og:image"].startswith(ORIGIN)
    assert told["og:image"].endswith(f"preview-{language}.png")
    assert (told["og:image:width"], told["og:image:height"]) == ("1200", "630")


@every_page
def test_structured_data_can_be_read(client, language, leaf):
    html = Html(fetch(client, language, leaf).content.decode())
    blocks = {block["@type"]: block for block in map(json.loads, html.blocks)}
    trail = blocks["BreadcrumbList"]["itemListElement"]
    assert [item["position"] for item in trail] == list(range(1, len(trail) + 1))
    assert trail[-1]["item"] == ORIGIN + address(language, leaf)
    if leaf.game:
        article = blocks["Article"]
        assert article["inLanguage"] == language
        assert article["mainEntityOfPage"] == ORIGIN + address(language, leaf)
        assert article["dateModified"] >= article["datePublished"]


@every_page
def test_links_inside_the_rulebook_work(client, db, language, leaf):
    html = Html(fetch(client, language, leaf).content.decode())
    own = {address(language, each) for each in all_pages()}
    paths = [link["href"] for link in html.all("a") if link["href"].startswith(f"/{language}/")]
    assert set(paths) >= {address(language, Page(name)) for name in SEGMENTS}
    assert all(client.get(path).status_code == 200 for path in set(paths) & own)
    anchors = [link["href"][1:] for link in html.all("a") if link["href"].startswith("#")]
    identities = [attrs["id"] for _, attrs in html.tags if "id" in attrs]
    assert set(anchors) <= set(identities)
    assert len(identities) == len(set(identities))


@pytest.mark.parametrize("leaf", [page for page in all_pages() if page.game], ids=lambda page: page.game)
@every_language
def test_slug_of_another_language_leads_to_the_right_address(client, language, leaf):
    right = address(language, leaf)
    for segment in SEGMENTS["hub"].values():
        for other in LANGUAGES:
            slug = address(other, leaf).split("/")[-2]
            path = f"/{language}/{segment}/{slug}/"
            response = client.get(f"{path}?from=a%20friend")
            if path == right:
                assert response.status_code == 200
            else:
                assert (response.status_code, response.headers["Location"]) == (301, f"{right}?from=a%20friend")


@pytest.mark.parametrize("name", SEGMENTS)
@every_language
def test_word_of_another_language_leads_to_the_right_address(client, language, name):
    right = address(language, Page(name))
    for segment in SEGMENTS[name].values():
        response = client.get(f"/{language}/{segment}/")
        assert response.status_code == (200 if f"/{language}/{segment}/" == right else 301)
        assert response.headers.get("Location", right) == right


@every_language
def test_no_game_and_no_page_is_404(client, db, language):
    hub = address(language, Page("hub"))
    assert client.get(f"{hub}no-such-game/").status_code == 404
    assert client.get(f"{hub}{registry.all_games()[0].slug}/more/").status_code == 404


def test_no_address_for_what_is_no_game():
    with pytest.raises(NoReverseMatch):
        reverse("rulebook:game", kwargs={"game": "no-such-game"})


def test_addresses_do_not_depend_on_catalogues(monkeypatch):
    """Whatever a catalogue says of the words, or whether there is one."""
    before = {language: [address(language, page) for page in all_pages()] for language in LANGUAGES}
    monkeypatch.setattr("django.utils.translation._trans.gettext", lambda message: "nonsense")
    assert {language: [address(language, page) for page in all_pages()] for language in LANGUAGES} == before


@every_language
def test_hub_lists_every_game(client, language):
    html = Html(fetch(client, language, Page("hub")).content.decode())
    links = [link["href"] for link in html.all("a")]
    for game in registry.all_games():
        assert address(language, Page("game", game.slug)) in links


def test_no_page_of_one_language_is_remembered_for_another(client):
    """Rendered pages are kept: by language, host and operator."""
    for language in (*LANGUAGES, *reversed(LANGUAGES)):
        with translation.override("ru"):
            html = Html(fetch(client, language, Page("hub")).content.decode())
        assert html.all("html")[0]["lang"] == language


@every_language
def test_home_is_listed_like_the_pages_it_leads_to(client, db, language):
    html = Html(client.get(f"/{language}/?from=here").content.decode())
    links = {link["hreflang"]: link["href"] for link in html.all("link", rel="alternate")}
    assert links == {code: f"{ORIGIN}/{code}/" for code in LANGUAGES} | {"x-default": f"{ORIGIN}/en/"}
    assert html.all("link", rel="canonical")[0]["href"] == f"{ORIGIN}/{language}/"
    told = {meta["property"]: meta["content"] for meta in html.all("meta") if "property" in meta}
    assert told["og:image"] == f"{ORIGIN}/static/img/preview-{language}.png"
    assert told["og:title"]
