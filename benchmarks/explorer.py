"""The explorer in a real browser: from a change on the page to the painted answer.

    python -m benchmarks.explorer standin.index

starts `standout explore` on an index, opens it in Chromium and works the page's own controls: values, dates,
errors and doubts of 2 to 8 facts about random people. A time runs from the event that the control sends to
the first frame after the answer is on the page, so it includes the network, the server and the drawing. The
first answers are excluded: they load kernels and read the index from disk.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

PEOPLE = 8
SEARCHES = ("the", "retrun", "broken gard", "brokne", "12", "night of", "sleping", "courier", "zzz", "a", "last har")

MEASURE = """
async ({rounds, pause}) => {
  const panels = document.getElementById("panels");
  const trouble = document.getElementById("trouble");
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const settle = () => new Promise(done => setTimeout(done, pause()));
  const answer = act => new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error("no answer within 20 s: " + trouble.textContent)), 20000);
    const seen = new MutationObserver(() => { seen.disconnect(); clearTimeout(late); done(); });
    seen.observe(panels, {attributes: true, attributeFilter: ["data-answers"]});
    act();
  });
  const send = (control, kind) => control.dispatchEvent(new Event(kind, {bubbles: true}));
  const changes = card => [
    () => { const menu = card.querySelector("select");
            menu.selectedIndex = (menu.selectedIndex + 1) % menu.length; send(menu, "change"); },
    () => { const slider = card.querySelectorAll("input[type=range]")[1];
            slider.value = slider.value === "5" ? "3" : "5"; send(slider, "input"); },
    () => card.querySelector("input[type=checkbox]").click(),
    () => { const day = card.querySelector("input[type=date]");
            day.value = day.value === "2004-06-01" ? "2004-09-01" : "2004-06-01"; send(day, "input"); },
  ];
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const cards = document.querySelectorAll(".fact");
    const options = changes(cards[round % cards.length]);
    await settle();
    const start = performance.now();
    await answer(options[round % options.length]);
    await frame();
    times.push(performance.now() - start);
  }
  return {times, trouble: trouble.hidden ? "" : trouble.textContent};
}
""".replace("pause()", "pause * (0.5 + Math.random())")

SEARCH = """
async texts => {
  const [box, list] = [document.getElementById("search"), document.getElementById("suggestions")];
  const times = [];
  box.focus();
  for (const text of texts) {
    for (let end = 1; end <= text.length; end++) {
      await new Promise(done => setTimeout(done, 60));
      const start = performance.now();
      await new Promise(done => {
        const seen = new MutationObserver(() => { seen.disconnect(); done(); });
        seen.observe(list, {childList: true});
        box.value = text.slice(0, end);
        box.dispatchEvent(new Event("input", {bubbles: true}));
      });
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - start);
    }
    box.value = "";
    box.dispatchEvent(new Event("input", {bubbles: true}));
  }
  return times;
}
"""

DEAL = """
seed => fetch("/api/play", {method: "POST", headers: {"Content-Type": "application/json"},
  body: JSON.stringify({adversary: "acquaintance", seed, facts: 8})}).then(answer => answer.json())
"""


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("index", help="an index, or anything that `standout explore` reads")
    parser.add_argument("--rounds", type=int, default=160, help="changes on one page (default: 160)")
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    with Server(arguments.index) as server:
        rows = measure(server.address, arguments.rounds)
    print("| on the page | times | p50 ms | p95 ms | worst ms |\n|---|---|---|---|---|")
    for name, times in rows:
        p50, p95, worst = np.percentile(times, [50, 95, 100])
        print(f"| {name} | {len(times)} | {p50:.0f} | {p95:.0f} | {worst:.0f} |")
    print(f"\n{os.cpu_count()} cores; load average of the last minute before: {load_before:.1f}")


class Server:
    """A running `standout explore`."""

    def __init__(self, index: str) -> None:
        command = [sys.executable, "-u", "-m", "standout", "explore", index, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        found = (re.search(r"http://\S+token=\S+", line) for line in self.process.stdout)
        self.address = next(filter(None, found))[0]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


def measure(address: str, rounds: int) -> list[tuple[str, Sequence[float]]]:
    """Times in milliseconds of changes, of suggestions, and of changes on several pages at once."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"))
        pages = [opened(browser, address) for _ in range(PEOPLE)]
        rows = []
        for facts in (2, 4, 8):
            load(pages[0], facts, seed=facts)
            pages[0].evaluate(MEASURE, {"rounds": 12, "pause": 20})
            times = pages[0].evaluate(MEASURE, {"rounds": rounds, "pause": 60})
            rows.append((f"a change of one of {facts} facts", checked([times])))
        load(pages[0], 0, seed=1)
        pages[0].evaluate(SEARCH, ["the"])
        rows.append(("suggestions after a keystroke", pages[0].evaluate(SEARCH, SEARCHES)))
        for number, page in enumerate(pages):
            load(page, 2 + number % 7, seed=number)
        work = {"rounds": max(rounds // 4, 1), "pause": 1000}
        for page in pages:
            page.evaluate(f"work => {{ window.measured = ({MEASURE})(work); }}", work)
        results = [page.evaluate("() => window.measured") for page in pages]
        rows.append((f"a change, {PEOPLE} people at once, about one change a second each", checked(results)))
        browser.close()
    return rows


def checked(results: Iterable[dict[str, Any]]) -> list[float]:
    """The times of all pages, if none of them reported trouble."""
    times: list[float] = []
    for result in results:
        assert not result["trouble"], result["trouble"]
        times += result["times"]
    return times


def opened(browser: Any, address: str) -> Any:
    """A new page of somebody else, with its first answer."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.on("pageerror", lambda error: sys.exit(f"error on the page: {error}"))
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=300_000)
    return page


def load(page: Any, facts: int, seed: int) -> None:
    """Show this many facts about a random person."""
    dealt = page.evaluate(DEAL, seed)["dealt"][:facts]
    fields = ("item", "value", "value_error", "time", "time_error", "doubtful")
    shown = [json.dumps([fact[name] for name in fields]) for fact in dealt]
    before = page.locator("#panels").get_attribute("data-answers")
    page.evaluate("facts => { location.hash = new URLSearchParams(facts.map(fact => ['fact', fact])); }", shown)
    page.wait_for_selector(f"#panels:not([data-answers='{before}'])", timeout=300_000)
    page.wait_for_timeout(500)


if __name__ == "__main__":
    main()
