"""The audit of a history on the command line: what is printed."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from standout.cli.console import borderless_table, console, number_columns, print_json, print_text
from standout.core.formatting import NO_NUMBER, estimate_text, interval_text

if TYPE_CHECKING:
    from rich.table import Table

    from standout.auditing.audit_result import Audit
    from standout.findings.adversaries import AdversaryFindings
    from standout.findings.audit import AuditFindings

__all__ = ["show_audit"]

COLUMNS = ("correct_claims_at_budget", "bits_gained")
TITLE_WIDTH = 10


def show_audit(result: "Audit", folder: Path, as_json: bool) -> None:
    """Print the findings as JSON, or a small table and the answer in sentences."""
    if as_json:
        print_json(result.to_dict())
        return
    console().print(_table(result.findings))
    print_text("", *_sentences(result), f"Report: {folder / 'report.html'}")


def _sentences(result: "Audit") -> list[str]:
    findings = result.findings
    checks = findings.trust.checks
    lines = []
    if not result.trusted:
        failed = ", ".join(check.title for check in checks if not check.passed)
        lines.append(f"DO NOT TRUST THIS: the audit failed its own checks ({failed}).")
    lines += [findings.answer.sentence, findings.verdict.summary]
    names = {attack.name for adversary in findings.adversaries for attack in adversary.attacks}
    if len(names) == 1:
        lines.append(f"Only one attack was tried ({names.pop()}): another may identify more people.")
    if findings.original is not None:
        lines.append(findings.original.explanation)
    if findings.before_after is not None:
        lines.append(findings.before_after.summary)
    if findings.threshold.fail_above is not None:
        lines.append(findings.threshold.explanation)
    if findings.advice is not None:
        settling = findings.advice.unproven.command if findings.advice.unproven else ""
        lines.append(f"{findings.advice.summary} {findings.advice.command or settling}".rstrip())
    if result.trusted:
        lines.append(f"The audit passed all {len(checks)} of its self-checks.")
    if not result.complete:
        lines.append("Interrupted: run the same command again to resume.")
    return lines


def _table(findings: "AuditFindings") -> "Table":
    """Return one row per adversary, with the titles and numbers that the report shows."""
    from standout.findings.measure_titles import measure_titles
    from standout.report.attack_table import common_threshold

    titles = measure_titles(common_threshold(findings), budget=findings.settings.budget)
    table = borderless_table()
    table.add_column("Adversary", no_wrap=True)
    several = any(len(adversary.attacks) > 1 for adversary in findings.adversaries)
    number_columns(
        table,
        f"{titles['identified']}\n(95 % interval)",
        *(["by the\npaper's attack"] if several else []),
        *(_wrap(titles[key]) for key in COLUMNS),
    )
    for adversary in findings.adversaries:
        identified = adversary.as_named.identified
        table.add_row(
            adversary.name,
            f"{estimate_text(identified)} ({interval_text(identified)})",
            *([_by_the_paper(adversary)] if several else []),
            *(estimate_text(getattr(adversary.as_named, key), _unit(key)) for key in COLUMNS),
        )
    return table


def _by_the_paper(adversary: "AdversaryFindings") -> str:
    """Return the share that the paper's attack identifies, or a dash if it was not run."""
    shares = (each.as_named.identified for each in adversary.attacks if each.name == "paper")
    return next(map(estimate_text, shares), NO_NUMBER)


def _wrap(title: str) -> str:
    return textwrap.fill(title, TITLE_WIDTH, break_long_words=False)


def _unit(key: str) -> str:
    return "number" if key == "bits_gained" else "share"
