"""What `standout advise` writes and prints: the frontier, what is recommended, and the command for it."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from standout.cli import show
from standout.cli.sources import Settings
from standout.core.atomic_files import make_folder, write_content

if TYPE_CHECKING:
    from standout.advising.advise import Advice
    from standout.release.model import Release

__all__ = [
    "CUT_SHORT", "NOT_REACHED", "WORK", "adversary_for", "candidates_of", "command_of", "folder_for",
    "show_advice", "write",
]  # fmt: skip

CUT_SHORT, NOT_REACHED = 3, 4
"""Exit codes: there is more to do; with --fail, nothing that was tried reaches the limit."""
WORK = "work"


def folder_for(data: str, output: Path | None) -> Path:
    """Where an advice goes: by the name of the data unless it is said."""
    return make_folder(output or Path(f"{_stem(data)}-advice"))


def _stem(data: str) -> str:
    return Path(data.rstrip("/")).name.split(".")[0] or "data"


def candidates_of(said: tuple[str, ...]) -> list[list[str]] | None:
    """Ways as they are typed: steps, one after the other, with a + between."""
    return [[step.strip() for step in one.split("+")] for one in said] or None


def adversary_for(release: "Release", ladder: Path | None, headline: str | None) -> Any:
    """The adversary of a ladder whom the advice is about, fitted to the release."""
    from standout.auditing.ladder import fitted, ladder_of

    fit = fitted(ladder_of(ladder, headline), release)
    return next(rung.adversary for rung in fit.rungs if rung.name == fit.headline)


def _spoken(settings: Settings) -> list[str]:
    """The options for reading a source, as they are typed."""
    words: list[str] = []
    given = dict(settings.options) | ({"titles": settings.titles} if settings.titles else {})
    for name, value in given.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words += [f"--{option}", str(one).replace("\t", "\\t")]
    return words


def write(done: "Advice", data: str, settings: Settings, folder: Path) -> dict[str, Any]:
    """report.html, advice.json and frontier.csv; what they tell. What was kept for going on is removed once
    all is done. The report names the data, but not where it lies."""
    from standout.report.advice_page import page
    from standout.report.safe_tables import inert

    told = done.to_dict() | {"command": command_of(done, Path(data).name, settings)}
    text = json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_content(folder / "advice.json", text)
    write_content(folder / "frontier.csv", inert(done.table).write_csv())
    write_content(folder / "report.html", page(told))
    if done.complete:
        shutil.rmtree(folder / WORK, ignore_errors=True)
    return told


def show_advice(done: "Advice", told: dict[str, Any], command: str, folder: Path, as_json: bool) -> None:
    """Everything for machines; for people the frontier, the answer, and the command."""
    if as_json:
        show.print_json(told)
        return
    screen = show.console()
    screen.print(_table(done))
    screen.print()
    screen.print(done.summary, soft_wrap=True)
    if command:
        screen.print(f"\n  {command}\n", soft_wrap=True)
    if told["composition"] is not None:
        screen.print(told["composition"]["words"], soft_wrap=True)
    if not done.complete:
        screen.print("Cut short: the same command goes on from there.", soft_wrap=True)
    screen.print(f"Report: {folder / 'report.html'}", soft_wrap=True)


def command_of(done: "Advice", data: str, settings: Settings) -> str:
    """The command for what is recommended; empty where nothing is."""
    return done.command([data, *_spoken(settings)], f"{_stem(data)}-safer")


def _table(done: "Advice") -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("frontier", overflow="fold")
    for name in ("found", "95 %", "use left", "95 %", "hit rate", "RMSE"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in done.frontier:
        used = point.utility
        kept = ("", "") if used.kept is None else _share(used.kept)
        rmse = "" if used.rmse is None else f"{used.rmse.value:.3f}"
        table.add_row(point.name, *_share(point.share), *kept, f"{used.hit_rate.value:.3f}", rmse)
    return table


def _share(found: Any) -> tuple[str, str]:
    value, low, high = (100 * min(max(end, 0.0), 1.0) for end in (found.value, found.low, found.high))
    return f"{value:.1f} %", f"{low:.0f}–{high:.0f}"
