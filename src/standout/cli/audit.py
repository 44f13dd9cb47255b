"""What `standout audit` writes and prints: the report, the findings, and the answer in a few lines."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from standout.cli import show
from standout.core.atomic_files import make_folder

if TYPE_CHECKING:
    from standout.auditing.audit import Audit
    from standout.cli.sources import Settings
    from standout.core.progress import Progress

__all__ = [
    "CUT_SHORT", "EXCEEDED", "NOT_TRUSTED", "WORK", "code_of", "folder_for", "show_audit", "with_advice",
    "write",
]  # fmt: skip

CUT_SHORT, EXCEEDED, NOT_TRUSTED = 3, 4, 5
"""Exit codes: there is more to do, the threshold may be exceeded, the audit failed its own checks."""
WORK = "work"
USUAL, LEAST = 0.05, 1e-6
"""The limit of an advice where no threshold is set; it lies above nothing, and below all."""


def folder_for(data: str, output: Path | None) -> Path:
    """Where an audit goes: beside nothing of the user's, by the name of the data unless it is said."""
    folder = output or Path(f"{Path(data.rstrip('/')).name.split('.')[0] or 'data'}-audit")
    return make_folder(folder)


def write(done: "Audit", folder: Path) -> None:
    """report.html, findings.json, tables, charts. What was kept for going on is removed once all is done."""
    from standout.report.audit_page import write as write_report

    done.findings["made"]["at"] = _now()
    done.to_json(folder / "findings.json")
    done.to_csv(folder / "tables")
    write_report(done.findings, folder)
    if done.complete:
        shutil.rmtree(folder / WORK, ignore_errors=True)


def with_advice(
    done: "Audit", data: str, settings: "Settings", work: Path, targets: int, progress: "Progress"
) -> "Audit":
    """The audit, and what would help against the headline adversary as a part of its findings."""
    from standout.advising.advise import advise
    from standout.cli.advise import command_of

    asked = done.findings["settings"]
    limit = min(max(asked["fail_above"] or USUAL, LEAST), 1 - LEAST)
    found = advise(
        done.release, done.adversaries[asked["headline"]], limit, targets=targets, name=Path(data).name,
        seed=done.seed, threads=done.threads, progress=progress, work=work,
    )  # fmt: skip
    told = found.to_dict() | {"command": command_of(found, Path(data).name, settings)}
    findings = done.findings | {"advice": told, "complete": found.complete}
    return replace(done, findings=findings, complete=found.complete)


def _now() -> str:
    """The time, to the second; SOURCE_DATE_EPOCH says another, for those who compare bytes."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(said), UTC) if said.isdecimal() else datetime.now(UTC)
    return moment.isoformat(timespec="seconds")


def code_of(done: "Audit") -> int:
    """The exit code: what makes the number doubtful comes before what it says."""
    if not done.trusted:
        return NOT_TRUSTED
    return EXCEEDED if done.exceeded else 0 if done.complete else CUT_SHORT


def show_audit(done: "Audit", folder: Path, as_json: bool) -> None:
    """The findings for machines; for people a small table and the answer."""
    if as_json:
        show.print_json(done.findings)
        return
    screen, found = show.console(), done.findings
    screen.print(_table(found))
    screen.print()
    if not done.trusted:
        failed = ", ".join(check["title"] for check in found["trust"]["checks"] if not check["passed"])
        screen.print(f"DO NOT TRUST THIS: the audit failed its own checks ({failed}).", soft_wrap=True)
    screen.print(found["answer"]["sentence"], soft_wrap=True)
    screen.print(found["verdict"]["summary"], soft_wrap=True)
    if found["original"] is not None:
        screen.print(found["original"]["words"], soft_wrap=True)
    if found["threshold"]["fail_above"] is not None:
        screen.print(found["threshold"]["words"], soft_wrap=True)
    if "advice" in found:
        screen.print(found["advice"]["summary"], found["advice"]["command"], soft_wrap=True)
    if done.trusted:
        checks = len(found["trust"]["checks"])
        screen.print(f"The audit passed its {checks} checks of itself.", soft_wrap=True)
    if not done.complete:
        screen.print("Cut short: the same command goes on from there.", soft_wrap=True)
    screen.print(f"Report: {folder / 'report.html'}", soft_wrap=True)


def _table(found: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("adversary", no_wrap=True)
    for name in ("right", "95 %", "claimed right", "false claims", "bits gained"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found["adversaries"]:
        at = one["at"]
        low, high = (f"{100 * at['identified'][end]:.0f}" for end in ("low", "high"))
        table.add_row(
            one["name"], _percent(at["identified"]), f"{low}–{high}", _percent(at["correct_claims"]),
            _percent(at["absent_claims"]), f"{at['bits_gained']['value']:.1f}",
        )  # fmt: skip
    return table


def _percent(estimate: dict[str, Any] | None) -> str:
    return "" if estimate is None else f"{100 * estimate['value']:.1f} %"
