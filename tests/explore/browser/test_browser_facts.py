"""Facts, the lineup and the reasons: what the page shows is what the command line says."""

import json
import shlex
from functools import partial

from playwright.sync_api import expect

BARS = "[data-panel=likelihood] .bars [role=radio]"


def percent(share):
    """A probability as the page writes it."""
    if share <= 0:
        return "0 %"
    if share < 0.0001:
        return "< 0.01 %"
    if share < 0.00995:
        return f"{100 * share:.2f} %"
    return "> 99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"


def close(text, share):
    """Whether a percentage on the page is this probability, to its last digit."""
    if text.startswith(("<", ">")) or share in (0, 1):
        return text == percent(share)
    digits = 2 if share < 0.00995 else 1
    return abs(float(text.removesuffix(" %").replace(",", "")) - 100 * share) <= 0.51 * 10**-digits


def shown_lineup(seen, panel="likelihood"):
    """The bars of a panel: percentages of the candidates, and of the others."""
    bars = seen.page.locator(f"[data-panel={panel}] .bars:not(.rest) .percent").all_inner_texts()
    return bars, seen.page.locator(f"[data-panel={panel}] .rest .percent").all_inner_texts()


def test_the_first_screen_says_what_to_do(visit):
    seen = visit()
    assert "Type one thing that is known about a person" in seen.text("#start")
    assert seen.page.locator("#random").is_visible()
    assert seen.page.locator(BARS).count() == 0
    assert "200 people · 60 items" in seen.text("#counts")


def test_numbers_are_those_of_the_command_that_the_page_gives(visit, run):
    seen = visit()
    seen.add("Film 20")
    first = shown_lineup(seen)
    seen.add("Film 33")
    card = seen.page.locator(".fact").nth(1)
    seen.set_precision("Value", "Film 33", "Exact")
    seen.after(lambda: card.locator("select").select_option("5"))
    bars, rest = shown_lineup(seen)
    assert (bars, rest) != first
    said = run(*shlex.split(seen.text("#command"))[1:])
    answer = json.loads(said.out)
    assert len(bars) == len(answer["lineup"]) == 20
    assert all(close(text, row["probability"]) for text, row in zip(bars, answer["lineup"], strict=True))
    assert close(rest[-1], answer["nobody"])
    assert close(rest[0], answer["outside"] - answer["nobody"])
    assert f"{answer['bits']['left']:.1f}" == seen.text("[data-panel=likelihood] .bits strong")
    assert f"{answer['eccentricity']:.2f}" in seen.text("[data-panel=likelihood] .figures")
    parts = seen.page.locator("[data-why=likelihood] [role=rowgroup]:nth-child(2) .chosen").all_inner_texts()
    expected = [f"{part['part']:.2f}" if part["has"] else "lacks it" for part in answer["explain"]]
    assert parts == expected


def test_a_typing_error_still_finds_the_item(visit):
    seen = visit()
    seen.page.fill("#search", "flim 33")
    expect(seen.page.locator("#suggestions [role=option]").filter(has_text="Film 33")).to_be_visible()


def test_both_attacks_and_both_releases_are_shown_side_by_side(visit):
    seen = visit()
    seen.add("Film 20")
    seen.after(lambda: seen.page.get_by_role("radio", name="Both").check())
    assert seen.page.locator(".panel").count() == 2
    seen.after(lambda: seen.page.check("#what-if"))
    headings = seen.page.locator("#panels .panel-heading").all_inner_texts()
    assert len(headings) == 4 and sum("sanitized" in heading for heading in headings) == 2
    boxes = [panel.bounding_box() for panel in seen.page.locator(".panel").all()]
    assert boxes[0]["y"] == boxes[1]["y"] < boxes[2]["y"] == boxes[3]["y"]


def test_exchanged_ends_are_refused_in_the_words_of_the_page_and_change_no_answer(visit):
    seen = visit()
    seen.add("Film 20")
    seen.page.click("#whole summary")
    seen.after(lambda: seen.page.fill("#length-high", "10"))
    shown, sent = seen.text("#panels"), len(seen.requests)
    seen.page.fill("#length-low", "20")
    expect(seen.page.locator("#trouble")).to_contain_text("“at least” is larger than “at most”")
    assert seen.text("#panels") == shown and len(seen.requests) == sent
    seen.after(lambda: seen.page.fill("#length-low", "5"))
    expect(seen.page.locator("#trouble")).to_be_hidden()


def test_the_page_says_that_a_known_length_counts_only_for_the_original(visit):
    seen = visit()
    seen.add("Film 20")
    seen.after(lambda: seen.page.check("#what-if"))
    assert "Sanitized by round-time month." in seen.text("#what-if-steps")
    assert "count only for the data as it is" not in seen.text("#what-if-steps")
    seen.page.click("#whole summary")
    seen.after(lambda: seen.page.fill("#length-low", "5"))
    assert "count only for the data as it is" in seen.text("#what-if-steps")


def test_ids_are_hidden_until_they_are_asked_for(visit):
    seen = visit()
    seen.add("Film 20")
    names = seen.page.locator(f"{BARS} .name bdi")
    assert names.first.inner_text() == "candidate 1"
    seen.after(lambda: seen.page.check("#show-ids"))
    assert names.first.inner_text().isdecimal()
    seen.after(lambda: seen.page.uncheck("#show-ids"))
    assert names.first.inner_text() == "candidate 1"


def test_a_value_counts_only_once_it_is_chosen(visit):
    """A value or date that the page proposed would be a fact that nobody knows."""
    seen = visit()
    seen.add("Film 20")
    before = shown_lineup(seen), seen.text("#command")
    seen.set_precision("Value", "Film 20", "Exact")
    seen.set_precision("Date", "Film 20", "About")
    assert (shown_lineup(seen), seen.text("#command")) == before


def test_the_link_reproduces_the_state(visit):
    seen = visit()
    seen.add("Film 20")
    seen.add("Film 21")
    card = seen.page.locator(".fact").first
    seen.set_precision("Date", "Film 20", "About")
    seen.after(lambda: card.locator("input[type=date]").fill("2004-03-01"))
    seen.after(lambda: card.get_by_text("Doubtful").click())
    seen.after(lambda: seen.page.get_by_role("radio", name="Paper").check())
    again = visit(seen.page.url.partition("#")[2])
    for selector in ("#facts", "#panels", "#why", "#command"):
        assert again.text(selector) == seen.text(selector)
    assert again.page.locator(".fact").first.get_by_label("Doubtful").is_checked()
    assert not seen.page.evaluate("document.cookie + localStorage.length + sessionStorage.length").strip("0")


def test_a_damaged_link_opens_the_first_screen(visit):
    seen = visit("fact=[1,2")
    for fragment in ("fact=7&seed=x&length=a~b", "play=&attack=zzz&fact=[]", "%ff&joined=~"):
        assert seen.page.locator(".fact").count() == 0 and not seen.complaints
        assert seen.page.locator("#trouble").is_hidden() and seen.page.locator("#start").is_visible()
        seen.after(partial(seen.page.evaluate, "fragment => { location.hash = fragment; }", fragment))
    assert seen.page.locator("#start").is_visible() and not seen.complaints


def test_focus_stays_where_it_was_when_the_answer_comes(visit):
    seen = visit()
    seen.add("Film 20")
    seen.add("Film 21")
    card = seen.page.locator(".fact").nth(1)
    seen.set_precision("Date", "Film 21", "About")
    slider = card.get_by_label("Largest error of the date of Film 21")
    slider.focus()
    seen.after(lambda: slider.press("ArrowRight"))
    seen.after(lambda: slider.press("ArrowRight"))
    expect(slider).to_be_focused()
    assert slider.get_attribute("aria-valuetext") == "60 days"
    seen.after(lambda: seen.page.get_by_label("Remove Film 20").press("Enter"))
    expect(seen.page.get_by_label("Remove Film 21")).to_be_focused()
    seen.after(lambda: seen.page.get_by_label("Remove Film 21").press("Enter"))
    expect(seen.page.locator("#search")).to_be_focused()


def test_of_many_changes_only_the_last_is_shown_and_few_are_sent(visit):
    seen = visit()
    seen.add("Film 20")
    card = seen.page.locator(".fact").first
    seen.set_precision("Date", "Film 20", "About")
    slider = card.get_by_label("Largest error of the date of Film 20")
    sent = len(seen.requests)
    moves = """slider => { for (let step = 0; step <= 10; step++) {
        slider.value = step; slider.dispatchEvent(new Event("input", {bubbles: true})); } }"""
    seen.after(lambda: slider.evaluate(moves))
    expect(card.locator("output").last).to_have_text("2 years")
    seen.page.wait_for_load_state("networkidle")
    assert len(seen.requests) - sent == 2


def test_files_are_exported(visit):
    seen = visit()
    seen.add("Film 20")
    for label, name, start in [
        ("Facts (CSV)", "facts.csv", "item,"),
        ("Lineup (CSV)", "lineup.csv", ""),
        ("Everything (JSON)", "lineup.json", "{"),
    ]:
        with seen.page.expect_download() as download:
            seen.page.get_by_role("button", name=label).click()
        assert download.value.suggested_filename == name
        content = download.value.path().read_text(encoding="utf-8")
        assert content.startswith(start) and content.strip()
    assert not seen.complaints
