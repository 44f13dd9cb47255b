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
    made = {}
    for kind in ("full", "hostile", "untrusted"):
        made[kind] = folder / f"{kind}.html"
        made[kind].write_text(audit_page(getattr(sample_findings, kind)()), encoding="utf-8")
    return made


@pytest.fixture
def opened(browser, files):
    """opened(kind, screen, scheme): a page, and what the browser complained about or asked for."""
    contexts = []

    def show(kind, screen="desk", scheme="light"):
        width, height = SCREENS[screen]
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        shown, told = context.new_page(), []
        shown.on("console", lambda message: told.append(message.text))
        shown.on("pageerror", lambda error: told.append(str(error)))
        shown.on("request", lambda request: told.append(request.url))
        shown.on("dialog", lambda dialog: told.append(dialog.message))
        shown.goto(files[kind].as_uri())
        return shown, told

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("kind", ["full", "hostile", "untrusted"])
def test_nothing_is_asked_for_and_nothing_complains(opened, files, kind):
    shown, told = opened(kind)
    assert told == [files[kind].as_uri()]
    assert shown.locator("script, img, iframe, object, embed, link").count() == 0


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", ["full", "hostile", "untrusted"])
def test_nothing_is_wider_than_the_screen(opened, kind, screen):
    shown, _ = opened(kind, screen)
    assert shown.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][0]
    for summary in shown.locator("summary").all():
        summary.click()
    assert shown.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][0]


def test_the_answer_and_the_picture_are_seen_at_once(opened):
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
    assert every == shown.locator(f"{seen} svg").count() == 5


def test_the_style_is_let_in(opened):
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
  const one = light(element instanceof SVGElement ? style.fill : style.color), other = light(back);
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["full", "untrusted"])
def test_texts_stand_out_from_what_is_behind_them(opened, kind, scheme):
    shown, _ = opened(kind, scheme=scheme)
    words = shown.locator(
        "p, h1, h2, h3, li, a, th, td, dt, dd, summary, figcaption, .cry, .said, .ends, strong"
    )
    drawn = shown.locator('svg:visible text:not([stroke="white"])')
    for found in (words, drawn) if kind == "full" else (words,):
        least = found.evaluate_all(f"elements => Math.min(...elements.map({CONTRAST.strip()}))")
        assert least >= 4.5


def test_the_tables_behind_charts_can_be_opened(opened):
    shown, _ = opened("full")
    first = shown.locator("header details").first
    assert not first.locator("table").is_visible()
    first.locator("summary").click()
    assert first.locator("table").is_visible()


def test_hostile_texts_are_seen_as_texts(opened):
    shown, told = opened("hostile")
    text = shown.inner_text("body")
    assert "</script><script>alert(1)</script>" in text and '=HYPERLINK("https://example.org' in text
    assert "</style><style>*{display:none}" in text and len(told) == 1


@pytest.mark.parametrize("kind", ["full", "hostile"])
def test_it_can_be_printed_with_its_tables_open(opened, kind):
    shown, told = opened(kind)
    assert shown.pdf(format="A4").startswith(b"%PDF")
    shown.emulate_media(media="print")
    assert shown.locator("header details table").first.is_visible()
    assert shown.locator(".at-desk svg:visible").count() == shown.locator("svg:visible").count()
    assert len(told) == 1
