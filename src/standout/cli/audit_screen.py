"""The audit of a history on the command line: what is printed."""

import functools
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.console import borderless_table, console, number_columns, print_json, print_text
from standout.cli.option_groups import ADVERSARY, option
from standout.cli.reading import Command
from standout.core.errors import ParameterError
from standout.core.text import estimate_text, interval_text

if TYPE_CHECKING:
    from rich.table import Table as ScreenTable

    from standout.auditing.audit import Audit
    from standout.findings.audit import AuditFindings

__all__ = ["TableAuditOptions", "only_for_histories", "show_audit", "table_audit_options"]

COLUMNS = ("correct_claims_at_budget", "bits_gained")
TITLE_WIDTH = 10
ATTACKS = {"paper": "by the\npaper's attack", "exact match": "by exact\nmatching"}


def show_audit(result: "Audit", folder: Path, as_json: bool) -> None:
    """Print the findings as JSON, or a small table and the answer in sentences."""
    if as_json:
        print_json(result.to_dict())
        return
    console().print(_table(result.findings))
    print_text("", *_sentences(result), f"Report: {folder / 'report.html'}")


def _sentences(result: "Audit") -> list[str]:
    from standout.evaluate.estimates import percent

    findings = result.findings
    checks, classes = findings.trust.checks, findings.classes
    lines = []
    if not result.trusted:
        failed = ", ".join(check.title for check in checks if not check.passed)
        lines.append(f"DO NOT TRUST THIS: the audit failed its own checks ({failed}).")
    lines.append(f"{findings.answer.sentence} {findings.answer.comparison}".rstrip())
    if classes is not None:
        names = ", ".join(classes.columns)
        lines.append(f"Quasi-identifiers ({names}): k = {classes.k:,}, {percent(classes.unique)} of rows are unique.")
    lines += [
        f"The sensitive column {each.column} is guessed for {percent(each.guessed.value)} of people; for "
        f"people who are not in the release it is {percent(each.control.value)}."
        for each in findings.disclosure
        if each.guessed is not None and each.control is not None
    ]
    lines.append(findings.verdict.summary)
    names_of_attacks = {attack.name for adversary in findings.adversaries for attack in adversary.attacks}
    if len(names_of_attacks) == 1:
        lines.append(f"Only one attack was tried ({names_of_attacks.pop()}): another may identify more people.")
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


def _table(findings: "AuditFindings") -> "ScreenTable":
    """Return one row per adversary, with the titles and numbers that the report shows."""
    from standout.findings.gate import measure_titles
    from standout.report.audit_charts import common_threshold

    titles = measure_titles(common_threshold(findings), budget=findings.settings.budget)
    table = borderless_table()
    table.add_column("Adversary", no_wrap=True)
    tried = {attack.name for adversary in findings.adversaries for attack in adversary.attacks}
    others = {name: title for name, title in ATTACKS.items() if name in tried and len(tried) > 1}
    number_columns(
        table, f"{titles['identified']}\n(95 % interval)", *others.values(), *(_wrap(titles[key]) for key in COLUMNS)
    )
    for adversary in findings.adversaries:
        identified = adversary.as_named.identified
        table.add_row(
            adversary.name,
            f"{estimate_text(identified)} ({interval_text(identified)})",
            *(estimate_text(measures.identified if (measures := adversary.by(name)) else None) for name in others),
            *(estimate_text(getattr(adversary.as_named, key), _unit(key)) for key in COLUMNS),
        )
    return table


def _wrap(title: str) -> str:
    return textwrap.fill(title, TITLE_WIDTH, break_long_words=False)


def _unit(key: str) -> str:
    return "number" if key == "bits_gained" else "share"


# The audit of a table on the command line: options, running it, and what is printed.


@dataclass(frozen=True, slots=True)
class TableAuditOptions:
    """What an audit of a table is asked for."""

    quasi_identifiers: tuple[str, ...] | None
    sensitive_columns: tuple[str, ...] | None
    population: int | None

    @property
    def given(self) -> list[str]:
        """The options that were given, as they are typed."""
        typed = {
            "--quasi-identifiers": self.quasi_identifiers,
            "--sensitive-column": self.sensitive_columns,
            "--population": self.population,
        }
        return [name for name, value in typed.items() if value is not None]

    @property
    def parameters(self) -> dict[str, Any]:
        """The same as parameters of so.audit."""
        return {
            "quasi_identifiers": self.quasi_identifiers,
            "sensitive_columns": self.sensitive_columns,
            "population": self.population,
        }


def only_for_histories(options: Mapping[str, object]) -> None:
    """Reject options that an audit of a table does not have."""
    given = [name.strip() for name, value in options.items() if value]
    if given:
        instead = {"--sensitive": ": name a column with --sensitive-column"}
        raise ParameterError(f"{given[0]} is for histories, and the data is a table{instead.get(given[0], '')}")


OPTIONS = [
    option(
        "--quasi-identifiers",
        "NAMES",
        "Quasi-identifiers of a table: columns that others may know, like zip,age,sex.",
        group=ADVERSARY,
        show_default="columns with this role",
    ),
    option(
        "--sensitive-column sensitive_columns",
        "NAME",
        "Sensitive column of a table: nobody should learn its values. Repeat for several.",
        group=ADVERSARY,
        multiple=True,
        show_default="columns with this role",
    ),
    option(
        "--population",
        "N",
        "Size of the population, if a table is a sample. The report then gives two risks: for a target "
        "who is known to be in the table, and for one who may not be.",
        group=ADVERSARY,
        type=click.IntRange(1),
    ),
]


def table_audit_options(command: Command) -> Command:
    """Add the options to a command, which receives them as `of_table`."""

    @functools.wraps(command)
    def run(
        quasi_identifiers: str | None, sensitive_columns: tuple[str, ...], population: int | None, **others: Any
    ) -> None:
        names = None if quasi_identifiers is None else tuple(map(str.strip, quasi_identifiers.split(",")))
        command(of_table=TableAuditOptions(names, sensitive_columns or None, population), **others)

    for add_option in reversed(OPTIONS):
        run = add_option(run)
    return run
