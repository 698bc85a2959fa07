"""Every page in every state: nobody is shut out, in light or dark; nothing overflows a small screen in any language."""

import inspect

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.e2e.people import LANGUAGES
from tests.e2e.scenes import SCENES

NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1280, "height": 800}

# What does not fit: the page itself, anything that reaches beyond its edges, text that spills out of its box, and
# whatever is to be touched and smaller than a finger.
FAULTS = """() => {
    const width = document.documentElement.clientWidth;
    const faults = [];
    const note = (kind, element) => faults.push(`${kind}: ${element.outerHTML.slice(0, 120)}`);
    if (document.documentElement.scrollWidth > width) faults.push(`page: ${document.documentElement.scrollWidth}`);
    for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (element.closest("svg, .vh, .skip, .scroll, [aria-hidden=true], [hidden]")) continue;
        const box = element.getBoundingClientRect();
        if (!box.width || !box.height) continue;
        if (box.left < -1 || box.right > width + 1) note("beyond the edge", element);
        const texts = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        const cut = getComputedStyle(element).textOverflow === "ellipsis";
        const spills = element.clientWidth && element.scrollWidth > element.clientWidth + 1;
        if (texts && spills && !cut) note("spills", element);
        const control = element.matches("button, a.btn, summary, select, input:not([type=radio], [type=checkbox])");
        if (control && (box.height < 43.5 || box.width < 43.5)) note("too small", element);
        const next = control && element.nextElementSibling?.matches("button, a.btn") && element.nextElementSibling;
        const gap = next && next.getBoundingClientRect();
        if (gap?.width && gap.top < box.bottom + 3 && gap.left < box.right + 3) note("touches the next", element);
    }
    return faults;
}"""


def seen(scene, come, slug, new_site):
    """Somebody, and what shows them the scene."""
    build = SCENES[scene]
    return build(come, slug, new_site) if "new_site" in inspect.signature(build).parameters else build(come, slug)


@pytest.mark.console_errors("status of 4")
@pytest.mark.parametrize("scene", list(SCENES))
def test_every_page_fits_and_shuts_nobody_out(come, slug, new_site, scene):
    person, show = seen(scene, come, slug, new_site)
    page, faults = person.page, {}
    page.set_viewport_size(NARROW)
    for language in LANGUAGES:
        show(language)
        assert page.locator("html").get_attribute("lang") == language
        faults[language] = page.evaluate(FAULTS)
    faults["small and light"] = reported(page, "light")
    page.set_viewport_size(WIDE)
    faults["wide"] = page.evaluate(FAULTS)
    faults["wide and dark"] = reported(page, "dark")
    assert not {where: what for where, what in faults.items() if what}


def reported(page, theme):
    """What axe has to say. Without motion, which would show it colours on their way."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{each['id']}: {[node['html'][:120] for node in each['nodes']]}" for each in found]


def test_who_wants_no_motion_gets_none(come, slug):
    ada = come(reduced_motion="reduce")
    code = ada.open_table(slug, mode="same_device", names="Ada", turns=5)
    ada.visit(code)
    for _ in range(3):
        ada.choose()
        assert ada.page.evaluate("document.getAnimations().length") == 0


def test_motion_explains_and_ends(come, slug):
    ada = come()
    code = ada.open_table(slug, mode="same_device", names="Ada", turns=5)
    ada.visit(code).choose()
    ada.page.wait_for_function("() => document.getAnimations().length > 0")
    ada.page.wait_for_function("() => document.getAnimations().length === 0")
