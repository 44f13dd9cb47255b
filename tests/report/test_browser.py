"""The report in a real browser: nothing is asked for, nothing complains, nothing is wider than the screen."""

import shutil

import pytest

from report import sample_findings
from standout.report.audit_page import audit_page

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
SCREENS = {"desk": (1280, 900), "phone": (390, 844), "small": (320, 640)}


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; tests are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The examples as files."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {}
    for kind in ("full", "hostile", "untrusted"):
        paths[kind] = folder / f"{kind}.html"
        paths[kind].write_text(audit_page(getattr(sample_findings, kind)()), encoding="utf-8")
    return paths


@pytest.fixture
def opened(browser, files):
    """opened(kind, screen, scheme): a page, and the errors and requests that the browser reported."""
    contexts = []

    def show(kind, screen="desk", scheme="light"):
        width, height = SCREENS[screen]
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        shown, events = context.new_page(), []
        shown.on("console", lambda message: events.append(message.text))
        shown.on("pageerror", lambda error: events.append(str(error)))
        shown.on("request", lambda request: events.append(request.url))
        shown.on("dialog", lambda dialog: events.append(dialog.message))
        shown.goto(files[kind].as_uri())
        return shown, events

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("kind", ["full", "hostile", "untrusted"])
def test_the_page_requests_nothing_and_causes_no_errors(opened, files, kind):
    shown, events = opened(kind)
    assert events == [files[kind].as_uri()]
    assert shown.locator("script, img, iframe, object, embed, link").count() == 0


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", ["full", "hostile", "untrusted"])
def test_nothing_is_wider_than_the_screen(opened, kind, screen):
    shown, _ = opened(kind, screen)
    assert shown.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][0]
    for summary in shown.locator("summary").all():
        summary.click()
    assert shown.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][0]


def test_the_answer_and_the_picture_are_visible_without_scrolling(opened):
    shown, _ = opened("full")
    assert sample_findings.full().answer.sentence in shown.inner_text(".answer").replace("\xa0", " ")
    assert shown.locator("header svg:visible").count() == 1
    box = shown.locator("header svg:visible").bounding_box()
    assert box["width"] > 600 and box["y"] < 600
    assert shown.locator("nav").is_visible()


@pytest.mark.parametrize(("screen", "seen"), [("desk", ".at-desk"), ("phone", ".on-phone")])
def test_each_screen_has_its_drawings(opened, screen, seen):
    shown, _ = opened("full", screen)
    every = shown.locator("svg:visible").count()
    assert every == shown.locator(f"{seen} svg").count() == 9


def test_the_policy_admits_the_style(opened):
    shown, _ = opened("untrusted")
    assert shown.evaluate("getComputedStyle(document.querySelector('.warning')).borderTopStyle") == "solid"
    assert "Do not trust this report" in shown.inner_text("body")[:40]


CONTRAST = """
element => {
  const light = colour => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3)
      .map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(element);
  const clear = 'rgba(0, 0, 0, 0)';
  let below = element, back = clear;
  for (; below && back === clear; below = below.parentElement) back = getComputedStyle(below).backgroundColor;
  const front = light(element instanceof SVGElement ? style.fill : style.color), behind = light(back);
  return (Math.max(front, behind) + 0.05) / (Math.min(front, behind) + 0.05);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["full", "untrusted"])
def test_texts_have_enough_contrast(opened, kind, scheme):
    shown, _ = opened(kind, scheme=scheme)
    words = shown.locator("p, h1, h2, h3, li, a, th, td, dt, dd, summary, figcaption, .cry, .said, .ends, strong")
    # white text stands on cells of the accent colour, not on the page
    drawn = shown.locator('svg:visible text:not([stroke="white"], [fill="white"])')
    for elements in (words, drawn) if kind == "full" else (words,):
        least = elements.evaluate_all(f"elements => Math.min(...elements.map({CONTRAST.strip()}))")
        assert least >= 4.5


def test_the_tables_behind_charts_can_be_opened(opened):
    shown, _ = opened("full")
    first = shown.locator("main details").first
    assert not first.locator("table").is_visible()
    first.locator("summary").click()
    assert first.locator("table").is_visible()


def test_hostile_texts_are_shown_as_text(opened):
    shown, events = opened("hostile")
    text = shown.inner_text("body")
    assert "</script><script>alert(1)</script>" in text and '=HYPERLINK("https://example.org' in text
    assert "</style><style>*{display:none}" in text and len(events) == 1


@pytest.mark.parametrize("kind", ["full", "hostile"])
def test_the_page_can_be_printed_with_its_tables_open(opened, kind):
    shown, events = opened(kind)
    assert shown.pdf(format="A4").startswith(b"%PDF")
    shown.emulate_media(media="print")
    assert shown.locator("main details table").first.is_visible()
    assert shown.locator(".at-desk svg:visible").count() == shown.locator("svg:visible").count()
    assert len(events) == 1


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_first_page_with_its_signature_fits_on_one_sheet(opened, paper):
    shown, _ = opened("full")
    shown.emulate_media(media="print")
    width, height = {"A4": (210, 297), "Letter": (215.9, 279.4)}[paper]
    pixels = 96 / 25.4
    shown.set_viewport_size({"width": round((width - 28) * pixels), "height": 900})
    assert shown.locator("header").bounding_box()["height"] <= (height - 20) * pixels
    assert shown.locator(".sign").is_visible() and not shown.locator("nav").is_visible()
