"""What a text may contain, and what it may not."""

import pytest
from django.utils import translation

from apps.rulebook.markdown import Setting, facts_used, render
from apps.rulebook.plurals import counted, plural_form

SETTING = Setting(language="en", facts={"turns": 3, "one": 1, "sign": "<b>&*x*"}, link=lambda page: f"/en/{page}/")


def opening(text, setting=SETTING):
    return str(render(text, setting).opening)


def test_facts_are_put_in_as_text():
    assert opening("{{ turns }} and {{ sign }}") == "<p>3 and &lt;b&gt;&amp;*x*</p>\n"
    assert opening("a {{ turns | turn | turns }}, {{ one | turn | turns }}") == "<p>a 3\u00a0turns, 1\u00a0turn</p>\n"


def test_a_fact_may_stand_in_code_between_stars_and_in_a_link():
    assert opening("**{{ turns }}** [{{ turns }}](page:terms) `{{ sign }}`") == (
        '<p><strong>3</strong> <a href="/en/terms/">3</a> <code>&lt;b&gt;&amp;*x*</code></p>\n'
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{{ nothing }}", KeyError),
        ("{{ turns | turn }}", ValueError),
        ("{{ sign | a | b }}", ValueError),
        ("## No anchor", ValueError),
        ("```python\nx\n```", ValueError),
        ("```cards An example\nUp: 1Z\n```", ValueError),
    ],
)
def test_mistakes_of_an_author_are_errors(text, error):
    with pytest.raises(error):
        render(text, SETTING)


def test_html_of_a_text_is_shown_and_not_obeyed():
    assert opening("<script>alert(1)</script>") == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"
    assert "javascript" not in opening("[x](javascript:alert(1))").split("href")[-1] or "<a" not in opening(
        "[x](javascript:alert(1))"
    )


def test_sections_are_cut_at_second_level_headings():
    body = render("Before.\n\n## One {#one}\n\nFirst.\n\n### Inside\n\n## {{ turns }} more {#two}\n\nSecond.", SETTING)
    assert str(body.opening) == "<p>Before.</p>\n"
    assert [(section.anchor, section.heading) for section in body.sections] == [("one", "One"), ("two", "3 more")]
    assert "<h3>Inside</h3>" in body.sections[0].html


def test_questions_open_and_close():
    html = opening("::: question Is <it> {{ turns }}?\nYes, *it* is.\n:::\n\nAfter.")
    assert '<details class="q"><summary>Is &lt;it&gt; 3?</summary>\n<p>Yes, <em>it</em> is.</p>\n</details>' in html


def test_an_example_draws_its_cards():
    with translation.override("en"):
        html = opening("```cards Seven is up\nUp: 7H\nNo card: -JC TS\n```")
    assert 'aria-label="Seven is up"' in html
    assert html.count("data-card=") == 3
    assert 'class="card dim" data-card="JC"' in html


def test_a_term_and_its_meaning():
    assert opening("Streak\n: Hits in a row.").startswith("<dl>\n<dt>Streak</dt>\n<dd>Hits in a row.</dd>")


def test_facts_used_are_named_in_order():
    assert facts_used("{{ b.c }} {{ a | x | y }} {{b.c}}") == ["b.c", "a", "b.c"]


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", {0: 1, 1: 0, 2: 1, 21: 1}),
        ("de", {0: 1, 1: 0, 2: 1, 101: 1}),
        ("fr", {0: 0, 1: 0, 2: 1, 21: 1}),
        ("ru", {0: 2, 1: 0, 2: 1, 4: 1, 5: 2, 11: 2, 12: 2, 14: 2, 21: 0, 22: 1, 25: 2, 101: 0, 111: 2, 112: 2}),
    ],
)
def test_plural_forms(language, forms):
    assert {count: plural_form(language, count) for count in forms} == forms


def test_a_counted_word_stays_with_its_number():
    assert counted("ru", 3, ("ход", "хода", "ходов")) == "3\u00a0хода"
