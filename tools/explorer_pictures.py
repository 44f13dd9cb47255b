"""Pictures of the explorer for the README: python -m tools.explorer_pictures.

They show the built-in stand-in for the Netflix Prize data, whose people do not exist. Needs Chromium and the
extra `explore`. A picture is a PNG of docs/images/; look at it before you commit it.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs/images"
RECORDS, SEED = 40_000, 7
DESK, PHONE = (1280, 960), (390, 844)
FIELDS = ("item", "value", "value_error", "time", "time_error", "doubtful")
DEAL = """
seed => fetch("/api/play", {method: "POST", headers: {"Content-Type": "application/json"},
  body: JSON.stringify({adversary: "acquaintance", seed, facts: 4})}).then(answer => answer.json())
"""

SHOW = "facts => { location.hash = new URLSearchParams(facts.map(fact => ['fact', fact])); }"


def main() -> None:
    """Make the data, serve it, and take the pictures."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    standout = [sys.executable, "-u", "-m", "standout"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        index = Path(folder) / "films.index"
        shape = ["--like", "netflix", "--records", str(RECORDS), "--seed", "1"]
        subprocess.run([*standout, "synthesize", "-o", str(index), *shape], check=True)
        server = subprocess.Popen([*standout, "explore", str(index), "--no-browser"], stdout=subprocess.PIPE, text=True)
        try:
            address = _address(server)
            browser = started.chromium.launch(executable_path=shutil.which("chromium"))
            _desk(browser, address)
            _phone(browser, address)
            browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def _address(server: "subprocess.Popen[str]") -> str:
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"http://\S+token=\S+", line):
            return found[0]
    raise SystemExit("the server did not start")


def _desk(browser: Any, address: str) -> None:
    """Three facts about somebody, each known less precisely than the one before, in light colours."""
    page = _opened(browser, address, DESK, "light")
    dealt = page.evaluate(DEAL, SEED)["dealt"]
    known = [dealt[0], dealt[1] | {"time": None, "time_error": 0}, dealt[2] | {"value": None}]
    facts = [json.dumps([fact[name] for name in FIELDS]) for fact in known]
    page.evaluate(SHOW, facts)
    page.wait_for_selector(".why-row")
    _take(page, "explorer.png")


def _phone(browser: Any, address: str) -> None:
    """A round of the game on a phone, in dark colours."""
    page = _opened(browser, address, PHONE, "dark")
    page.evaluate("seed => { location.hash = `play=acquaintance&seed=${seed}&dealt=5`; }", SEED)
    page.wait_for_selector(".bits-curve .dot:nth-of-type(6)")
    page.get_by_role("button", name="and reveal").click()
    page.wait_for_selector(".result .lead")
    _take(page, "explorer-phone.png")


def _opened(browser: Any, address: str, size: tuple[int, int], scheme: str) -> Any:
    screen = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=screen, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=300_000)
    return page


def _take(page: Any, name: str) -> None:
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / name)
    print(f"{FOLDER / name}: {(FOLDER / name).stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
