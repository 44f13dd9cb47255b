"""`standout audit`: how many people can be identified in a release, and by whom."""

import os
import shutil
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.attack_options import BOTH, AttackOptions, attack_options
from standout.cli.common_options import (
    data_stem,
    json_option,
    ladder_option,
    seed_option,
    threads_option,
)
from standout.cli.console import (
    borderless_table,
    console,
    number_columns,
    print_json,
    print_text,
    progress,
)
from standout.cli.exit_codes import INTERRUPTED, LIMIT_EXCEEDED, NOT_TRUSTED
from standout.cli.option_groups import ADVERSARY, ATTACK, command, grouped_option
from standout.cli.original_options import OriginalOptions, original_options
from standout.cli.output_folders import output_file, output_folder
from standout.cli.source_options import SourceOptions, source_options
from standout.cli.table_audit_screen import (
    TableAuditOptions,
    only_for_histories,
    read_audited_table,
    show_table_audit,
    table_audit_options,
    write_table_audit,
)
from standout.cli.table_options import TableOptions, table_options
from standout.core.checkpoint_files import CHECKPOINTS
from standout.core.errors import ParameterError
from standout.core.formatting import NO_NUMBER, estimate_text, interval_text
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from rich.table import Table

    from standout.auditing.audit_result import Audit
    from standout.core.progress import Progress
    from standout.findings.adversaries import AdversaryFindings
    from standout.findings.audit import AuditFindings
    from standout.table_audit.audit_table import TableAudit

__all__ = ["audit", "exit_code", "show_audit", "write_audit"]

REPORT_FILES = ("report.html", "findings.json", "tables/adversaries.csv", "charts/adversaries.svg")
DEFAULT_LIMIT, SMALLEST_LIMIT = 0.05, 1e-6
"""Limit of --advise where --fail-above is not given; the limit is strictly between 0 and 1."""
COLUMNS = ("correct_claims_at_budget", "bits_gained")
TITLE_WIDTH = 10
ATTACK_HELP = "likelihood (Bayesian), paper (Algorithm 1B), or both: the stronger one counts."


@command()
@click.argument("data")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder to write; NAME is the name of DATA.",
    show_default="NAME-audit",
)
@click.option("--quick", is_flag=True, help="Fewer targets and shorter curves; wider intervals.")
@ladder_option
@grouped_option(
    ADVERSARY, "--headline", metavar="NAME", help="Adversary of the ladder that the answer is about."
)
@click.option(
    "--targets",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Number of targets for each adversary.",
)
@click.option(
    "--fail-above",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with code 4 if more than this share of people may be identified.",
)
@click.option(
    "--sensitive",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="List of sensitive items, one per line. The report shows how many people would have one revealed.",
)
@click.option(
    "--risk-table",
    "risk_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the risk of each person, with ids, to NAME.csv or NAME.parquet. Keep it private.",
)
@click.option(
    "--risk-sample",
    type=click.IntRange(1),
    metavar="N",
    help="Number of people in the risk table.",
    show_default="all",
)
@click.option(
    "--advise",
    "with_advice",
    is_flag=True,
    help="Also search for steps that reduce the risk, as `standout advise` does. The limit is 0.05, or "
    "--fail-above if given.",
)
@attack_options((BOTH, "likelihood", "paper"), BOTH, ATTACK_HELP)
@grouped_option(
    ATTACK,
    "--budget",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="False claim budget: the largest share of absent people that may be claimed.",
)
@seed_option
@threads_option
@original_options
@table_audit_options
@table_options
@source_options
@json_option
def audit(
    data: str,
    source: SourceOptions,
    table: TableOptions,
    of_table: TableAuditOptions,
    original: OriginalOptions,
    output: Path | None,
    quick: bool,
    ladder: Path | None,
    headline: str | None,
    targets: int,
    fail_above: float | None,
    sensitive: Path | None,
    risk_path: Path | None,
    risk_sample: int | None,
    with_advice: bool,
    attack: AttackOptions,
    budget: float,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure how many people can be identified, and by whom.

    DATA is an index, or any source that `standout index` reads. The output folder
    gets report.html (a single file to share), findings.json (described by
    docs/findings.schema.json), tables and charts. If the audit is interrupted, the
    same command resumes it.

    Each adversary attacks with a Bayesian attack and with that of the paper, and the
    stronger one counts: it is chosen on other targets than those reported. With
    --attack the audit tries one of them only, and its report says so.

    Audit a sanitized release with --original, so that adversaries know facts about
    the original people. The --original-… options say how to read the original.

    DATA can also be a table with one row per person (--table, or recognised). Its
    adversaries know some columns, partly wrongly, and try three attacks. The report
    also has k, unique rows, and prosecutor, journalist and marketer risk.
    docs/table-findings.schema.json describes its findings.json.

    \b
    Example:
      standout audit ratings.csv --quick
      standout audit ratings.csv -o report --fail-above 0.05
      standout audit safer.csv --original ratings.csv --key key.csv
      standout audit survey.csv --table --quasi-identifiers zip,age,sex

    \b
    Exit codes:
      0  the audit is complete
      1  an error
      3  the audit was interrupted
      4  the share of --fail-above may be exceeded
      5  the audit failed its own checks; do not trust its numbers
    """
    _now()  # an impossible SOURCE_DATE_EPOCH is refused first: libraries fail over it while they are imported
    from standout.auditing.audit import audit as run_audit

    _check_options(original, with_advice, risk_path, risk_sample)
    folder = output_folder(output or Path(f"{data_stem(data)}-audit"), *REPORT_FILES)
    if risk_path is not None:
        output_file(risk_path, "--risk-table", [data, original.data, original.key])
    common: dict[str, Any] = {
        "ladder": ladder,
        "headline": headline,
        "targets": targets,
        "phi": attack.least_phi,
        "posterior": attack.least_posterior,
        "budget": budget,
        "fail_above": fail_above,
        "quick": quick,
        "name": Path(public_url(data)).name,
        "seed": seed,
        "threads": threads,
    }
    if table.is_for([data], source):
        only_for_histories(
            {
                "--advise": with_advice,
                "--risk-table": risk_path,
                "--sensitive": sensitive,
                "--attack": attack.attack != BOTH,
                "--attack ": any(attack.is_changed(name) for name in attack.names),
            }
        )
        with progress() as report:
            people = read_audited_table(data, source, table, original, report, fail_above is not None)
            audited = run_audit(people, table=True, **of_table.parameters, **common, progress=report)
            audited = write_table_audit(audited, folder, _now())
        show_table_audit(audited, folder, as_json)
        sys.exit(exit_code(audited))
    if of_table.given:
        raise ParameterError(f"{of_table.given[0]} is for tables with one row per person: add --table")
    with progress() as report:
        release = original.read(data, source, report, strict=fail_above is not None)
        result = run_audit(
            release,
            attacks={name: attack.built(name) for name in attack.names if attack.is_changed(name)} or None,
            attack=None if attack.attack == BOTH else attack.attack,
            sensitive=sensitive,
            progress=report,
            work=folder / CHECKPOINTS,
            **common,
        )
        if with_advice and result.complete:
            result = _add_advice(result, data, source, folder / CHECKPOINTS, targets, report)
        result = write_audit(result, folder)
        if risk_path is not None:
            result.risk_table(risk_path, records=risk_sample or "all", progress=report)
    show_audit(result, folder, as_json)
    sys.exit(exit_code(result))


def _check_options(
    original: OriginalOptions, with_advice: bool, risk_path: Path | None, risk_sample: int | None
) -> None:
    """Reject combinations of options that have no meaning, before any work is done."""
    if with_advice and original.data is not None:
        raise ParameterError(
            "--advise cannot be used with --original: give the original itself as DATA, without --original"
        )
    if risk_path is not None:
        from standout.report.safe_tables import table_form

        table_form(risk_path)
    elif risk_sample is not None:
        raise ParameterError("--risk-sample needs --risk-table, the file to write")


def _add_advice(
    result: "Audit", data: str, source: SourceOptions, work: Path, targets: int, report: "Progress"
) -> "Audit":
    """Add the advice about the headline adversary to the findings."""
    from standout.advising.advise import advise
    from standout.cli.commands.advise import sanitize_command

    settings = result.findings.settings
    limit = min(max(settings.fail_above or DEFAULT_LIMIT, SMALLEST_LIMIT), 1 - SMALLEST_LIMIT)
    advice = advise(
        result.release,
        result.adversaries[settings.headline],
        limit,
        targets=targets,
        name=Path(public_url(data)).name,
        seed=result.seed,
        threads=result.threads,
        progress=report,
        work=work,
    )
    command = sanitize_command(advice, Path(public_url(data)).name, source)
    return result.with_advice(replace(advice.findings, command=command))


def write_audit(result: "Audit", folder: Path) -> "Audit":
    """Write report, findings, tables and charts; return the audit with the time of writing."""
    from standout.report.audit_page import write_report

    result = result.finished_at(_now())
    result.to_json(folder / "findings.json")
    result.to_csv(folder / "tables")
    write_report(result.findings, folder)
    if result.complete:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    return result


def _now() -> str:
    """Return the time to the second, or SOURCE_DATE_EPOCH for reproducible output."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise ParameterError(
            "the environment variable SOURCE_DATE_EPOCH must be a whole number of seconds since 1970, "
            "before the year 10000"
        ) from None
    return moment.isoformat(timespec="seconds")


def exit_code(result: "Audit | TableAudit") -> int:
    """Return the exit code; a failed self-check outweighs everything else."""
    if not result.trusted:
        return NOT_TRUSTED
    if result.exceeded:
        return LIMIT_EXCEEDED
    return 0 if result.complete else INTERRUPTED


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
    if findings.threshold.fail_above is not None:
        lines.append(findings.threshold.explanation)
    if findings.advice is not None:
        lines.append(f"{findings.advice.summary} {findings.advice.command}".rstrip())
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
