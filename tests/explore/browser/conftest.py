"""The explorer as people start it, in a real browser: a server, and pages that report what goes wrong."""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import standout as so
from standout.sanitizing.files import write_sanitized

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
COMPILING = 120_000
"""Milliseconds for the first answers: kernels may have to be compiled."""
PATIENCE = 30_000
PEOPLE, ITEMS = 200, 60
HOSTILE = {
    "7": "<img src=x onerror=alert(1)>",
    "8": '"><script>alert(2)</script>',
    "9": "{{ 7 * 7 }} ${7 * 7}",
    "10": "\u202eevil\u202c <b>bold</b> \u2066",
    "11": "=HYPERLINK(\"http://example.org\") & 'quoted', --top 3",
}


def pytest_collection_modifyitems(items):
    """All of these tests need a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def titles():
    """Titles of all items by id; some try to be something else than text."""
    return {str(item): HOSTILE.get(str(item), f"Film {item}") for item in range(1, ITEMS + 1)}


@pytest.fixture(scope="session")
def ratings(tmp_path_factory):
    """A folder like MovieLens, and an index of the same people with dates rounded to months."""
    folder = tmp_path_factory.mktemp("explorer") / "films"
    folder.mkdir()
    rng = np.random.default_rng(7)
    rows = ["userId,movieId,rating,timestamp"]
    for person in range(1, PEOPLE + 1):
        for item in 1 + rng.choice(ITEMS, size=rng.integers(12, 25), replace=False):
            rows.append(f"{person},{item},{rng.integers(1, 6)},{1_100_000_000 + 86_400 * rng.integers(0, 400)}")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    quoted = [f'{item},"{title.replace(chr(34), 2 * chr(34))}",none' for item, title in titles().items()]
    (folder / "movies.csv").write_text("\n".join(["movieId,title,genres", *quoted]) + "\n", encoding="utf-8")
    safer = folder.with_name("safer.index")
    write_sanitized(so.sanitize(so.read(folder), so.steps.RoundTime("month")), safer)
    return folder, safer


@dataclass
class Server:
    """A running `standout explore`."""

    process: subprocess.Popen
    address: str

    @property
    def base(self):
        """Its address without the token."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}/"

    def stop(self):
        """Stop it as Ctrl-C does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


@pytest.fixture(scope="session")
def start(ratings):
    """start(): a server of its own; those still running are stopped at the end."""
    pytest.importorskip("uvicorn", reason="the extra `explore` is not installed")
    _chromium()
    folder, safer = ratings
    command = [sys.executable, "-m", "standout", "explore", str(folder), "--what-if", str(safer)]
    started = []

    def run():
        process = subprocess.Popen(
            [*command, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        started.append(process)
        printed = []
        for line in process.stdout:
            printed.append(line)
            if address := re.search(r"http://\S+token=\S+", line):
                return Server(process, address[0])
        raise AssertionError("".join(printed))

    yield run
    for process in started:
        Server(process, "").stop()
        process.stdout.close()


@pytest.fixture(scope="session")
def server(start):
    """The server that most tests share: it stores nothing, so they cannot disturb each other."""
    return start()


def _chromium():
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it")
    return path


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; tests are skipped where there is none."""
    path = _chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@dataclass
class Visit:
    """A page, and what the browser reported about it."""

    page: object
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def answers(self):
        """How many answers the page has shown."""
        return int(self.page.locator("#panels").get_attribute("data-answers") or 0)

    def after(self, act):
        """Act, and wait until the page shows another answer."""
        from playwright.sync_api import expect

        before = self.answers()
        result = act()
        panels = self.page.locator("#panels")
        expect(panels).not_to_have_attribute("data-answers", str(before), timeout=COMPILING)
        return result

    def add(self, text):
        """Search for an item and add the first suggestion: Enter waits for it."""
        self.page.fill("#search", text)
        self.after(lambda: self.page.press("#search", "Enter"))

    def set_precision(self, attribute, title, choice):
        """Say how precisely the value or date of a fact is known."""
        group = self.page.get_by_role("group", name=f"{attribute} of {title}", exact=True)
        self.after(group.get_by_role("radio", name=choice).check)

    def text(self, selector):
        """The text of an element."""
        return self.page.inner_text(selector)


@pytest.fixture
def visit(browser, server):
    """visit(fragment, width, scheme): the page, opened with the address that the command printed."""
    contexts = []

    def open_page(fragment="", width=1280, scheme="light", at=None):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce", locale="en-GB"
        )
        contexts.append(context)
        where = at or server
        shown = Visit(context.new_page())
        shown.page.set_default_timeout(PATIENCE)
        shown.page.on("console", lambda message: shown.complaints.append(message.text))
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.on("dialog", lambda dialog: shown.complaints.append(dialog.message))
        shown.page.on("request", lambda request: shown.requests.append(request.url))
        shown.page.goto(f"{where.address}#{fragment}")
        shown.page.wait_for_selector("html[data-ready]", timeout=COMPILING)
        return shown

    yield open_page
    for context in contexts:
        context.close()
