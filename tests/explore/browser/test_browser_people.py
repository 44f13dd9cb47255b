"""The page for everybody: keyboard alone, screen readers, phones, dark screens; and a round of the game."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

AXE = "4.14.0"
ROOT = Path(__file__).parents[3]
PLACES = (ROOT / "build/node_modules/axe-core/axe.min.js", ROOT / "node_modules/axe-core/axe.min.js")
FACTS = 'fact=["20",4,1,"2005-03-01",14,false]&fact=["21",null,0,null,0,true]'
STATES = {
    "first screen": "",
    "facts": FACTS,
    "both attacks, what if": f"{FACTS}&attack=both&what_if=1",
    "game": "play=acquaintance&seed=7&dealt=3",
}


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core, at the version that the results are stated for."""
    given = os.environ.get("STANDOUT_AXE")
    path = next((place for place in ([Path(given)] if given else PLACES) if place.is_file()), None)
    if path is None:
        pytest.skip("no axe-core: `make browser` fetches it, or STANDOUT_AXE names axe.min.js")
    source = path.read_text(encoding="utf-8")
    if not source.startswith(f"/*! axe v{AXE}"):
        pytest.skip(f"axe-core is not version {AXE}: `make browser` fetches it")
    return source


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_serious(visit, axe, state):
    seen = visit(STATES[state])
    if state == "facts":
        seen.page.fill("#search", "Film")
        seen.page.wait_for_selector("#suggestions [role=option]")
    assert not serious_findings(seen.page, axe)
    seen.page.emulate_media(color_scheme="dark")
    assert not serious_findings(seen.page, axe)


def test_axe_finds_nothing_serious_on_the_page_of_the_audit(visit, axe):
    seen = visit()
    seen.page.get_by_role("link", name="Audit").click()
    expect(seen.page.get_by_role("button", name="Run a quick audit")).to_be_visible()
    assert not serious_findings(seen.page, axe)
    assert not seen.complaints


def serious_findings(page, axe):
    """Findings of axe-core that keep people from using the page, with the first places of each."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    return [
        (finding["id"], [node["target"] for node in finding["nodes"]][:3])
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_wider_than_a_phone(visit, state):
    seen = visit(STATES[state], width=390)
    for width in (390, 320):
        seen.page.set_viewport_size({"width": width, "height": 800})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert not seen.complaints


def test_a_phone_shows_the_answer_while_facts_are_changed(visit):
    seen = visit(FACTS, width=390)
    expect(seen.page.locator("#glance")).to_be_visible()
    assert "bits left" in seen.text("#glance")
    seen.page.click("#glance")
    expect(seen.page.locator("#glance")).to_be_hidden()
    assert visit(width=390).page.locator("#glance").is_hidden()


def focused(seen):
    """Id, label or text of the focused element."""
    return seen.page.evaluate(
        """() => { const at = document.activeElement;
                   return at.id || at.getAttribute("aria-label") || at.value || at.textContent; }"""
    )


def test_the_keyboard_alone_is_enough(visit):
    seen = visit()
    press = seen.page.keyboard.press
    for expected in ("skip", "Explore", "Audit", "search"):
        press("Tab")
        assert focused(seen) == expected
    seen.page.keyboard.type("film 2")
    seen.page.wait_for_selector("#suggestions [aria-selected=true]")
    active = seen.page.locator("#search").get_attribute("aria-activedescendant")
    press("ArrowDown")
    assert seen.page.locator("#search").get_attribute("aria-activedescendant") != active
    press("ArrowUp")
    assert seen.page.locator("#search").get_attribute("aria-activedescendant") == active
    press("Escape")
    expect(seen.page.locator("#search")).to_have_attribute("aria-expanded", "false")
    press("Escape")
    expect(seen.page.locator("#search")).to_have_value("")
    seen.page.keyboard.type("film 20")
    seen.page.wait_for_selector("#suggestions [aria-selected=true]")
    seen.after(lambda: press("Enter"))
    assert focused(seen) == "search"
    press("Tab")
    assert focused(seen) == "Remove Film 20"
    press("Tab")
    assert focused(seen) == "unknown"
    seen.after(lambda: press("ArrowRight"))
    assert focused(seen) == "exact"
    press("Tab")
    assert focused(seen) == "Value of Film 20"
    seen.after(lambda: press("ArrowDown"))
    seen.page.locator("[data-panel=likelihood] [aria-checked=true]").focus()
    seen.after(lambda: press("ArrowDown"))
    chosen = seen.page.locator("[data-panel=likelihood] [aria-checked=true]")
    expect(chosen).to_contain_text("candidate 2")
    expect(chosen).to_be_focused()
    expect(seen.page.locator(".why-head .chosen")).to_have_text("candidate 2")


def test_screen_readers_hear_the_verdict(visit):
    seen = visit()
    seen.add("Film 20")
    sentence = seen.text("[data-panel=likelihood] .verdict")
    expect(seen.page.locator("#spoken")).to_contain_text(sentence)
    meter = seen.page.get_by_role("meter", name="Bits left")
    assert "bits left" in meter.get_attribute("aria-valuetext")
    assert seen.page.get_by_role("radiogroup", name="Candidates: choose one to see why").count() == 1
    assert seen.page.get_by_role("table", name="What each fact adds").get_by_role("row").count() == 3


def test_a_round_is_played_to_its_end(visit):
    seen = visit()
    seen.after(lambda: seen.page.click("#random"))
    deal = seen.page.get_by_role("button", name="Deal the next fact")
    expect(deal).to_be_focused()
    dealt = 1
    while deal.is_visible():
        seen.after(lambda: seen.page.keyboard.press("Enter"))
        dealt += 1
        assert seen.page.locator(".fact").count() == dealt
    assert f"{dealt} of {dealt} facts dealt" in seen.text(".progress")
    assert seen.page.locator(".bits-curve .dot").count() == dealt + 1
    assert seen.page.locator(".fact input, .fact select").count() == 0
    reveal = seen.page.get_by_role("button", name="Guess candidate 1 and reveal")
    expect(reveal).to_be_focused()
    reveal.press("Enter")
    expect(seen.page.locator(".result")).to_contain_text(re.compile("learns [0-9]+ more entr"))
    assert seen.text(".result").startswith(("Right.", "Wrong."))
    assert seen.page.locator(".entries").count() == 0
    seen.page.locator(".result button").click()
    expect(seen.page.locator(".entries tbody tr").first).to_be_visible()
    again = visit(seen.page.url.partition("#")[2])
    expect(again.page.locator(".bits-curve .dot")).to_have_count(dealt + 1)
    assert again.text("#facts") == seen.text("#facts")
    seen.after(lambda: seen.page.get_by_role("button", name="Edit these facts").click())
    assert seen.page.locator(".fact select").count() == dealt
    assert not seen.complaints and not again.complaints
