"""`standout audit`: how many people can be identified in a release, and by whom."""

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli.attack_options import BOTH
from standout.cli.audit_screen import TableAuditOptions, only_for_histories, show_audit, table_audit_options
from standout.cli.error_lines import INTERRUPTED, LIMIT_EXCEEDED, NOT_TRUSTED
from standout.cli.option_groups import ADVERSARY, ATTACK, GATE, command, option
from standout.cli.options import (
    data_stem,
    json_option,
    ladder_option,
    output_file,
    output_folder,
    path_argument,
    seed_option,
)
from standout.cli.reading import Original, Source, original_options, reading_options
from standout.cli.worker_options import GateFiles, gate_options, worker_options
from standout.core.errors import ParameterError
from standout.core.json_files import CHECKPOINTS
from standout.core.progress import progress_bar as progress
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from standout.auditing.audit import Audit
    from standout.core.progress import Progress

__all__ = ["audit", "exit_code", "write_audit"]

REPORT_FILES = ("report.html", "findings.json", "tables/adversaries.csv", "charts/adversaries.svg")
DEFAULT_LIMIT, SMALLEST_LIMIT = 0.05, 1e-6
"""Limit of --advise where --fail-above is not given; the limit is strictly between 0 and 1."""
ATTACK_HELP = "likelihood (Bayesian), paper (Algorithm 1B), or both: the stronger one counts."


@command()
@path_argument("data")
@option(
    "-o --output",
    "FOLDER",
    "Folder to write; NAME is the name of DATA.",
    type=click.Path(path_type=Path),
    show_default="NAME-audit",
)
@option("--quick", "", "Fewer targets and shorter curves; wider intervals.", is_flag=True)
@ladder_option
@option("--headline", "NAME", "Adversary of the ladder that the answer is about.", group=ADVERSARY)
@option("--targets", "N", "Number of targets for each adversary.", type=click.IntRange(1), default=1000)
@option(
    "--fail-above",
    "SHARE",
    "Exit with code 4 if more than this share of people may be identified.",
    group=GATE,
    type=click.FloatRange(0, 1),
)
@gate_options
@option(
    "--sensitive",
    "FILE",
    "List of sensitive items, one per line. The report shows how many people would have one revealed.",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@option(
    "--risk-table risk_path",
    "FILE",
    "Also write the risk of each person, with ids, to NAME.csv or NAME.parquet. Keep it private.",
    type=click.Path(path_type=Path),
)
@option(
    "--advise with_advice",
    "",
    "Also search for steps that reduce the risk, as `standout advise` does. The limit is 0.05, or "
    "--fail-above if given.",
    is_flag=True,
)
@option("--attack", "", ATTACK_HELP, group=ATTACK, type=click.Choice((BOTH, "likelihood", "paper")), default=BOTH)
@option(
    "--budget",
    "SHARE",
    "False claim budget: the largest share of absent people that may be claimed.",
    group=ATTACK,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
)
@seed_option
@worker_options
@original_options
@table_audit_options
@reading_options
@json_option
def audit(
    data: str,
    source: Source,
    of_table: TableAuditOptions,
    original: Original,
    output: Path | None,
    quick: bool,
    ladder: Path | None,
    headline: str | None,
    targets: int,
    fail_above: float | None,
    gate_files: GateFiles,
    sensitive: Path | None,
    risk_path: Path | None,
    with_advice: bool,
    attack: str,
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
    the original people. --original-read says how to read the original.

    DATA can also be a table with one row per person (--table, or recognised). Its
    adversaries know some columns, partly wrongly, and try three attacks. The report
    also has k, unique rows, and prosecutor, journalist and marketer risk.

    \b
    Example:
      standout audit ratings.csv --quick
      standout audit ratings.csv -o report --fail-above 0.05 --junit gate.xml
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
    output = output or Path(f"{data_stem(data)}-audit")
    gate_files.start(
        "standout audit",
        data,
        fail_above,
        "--fail-above SHARE, the limit to check",
        output,
        [original.data, original.key, ladder, sensitive],
    )
    from standout.auditing.audit import audit as run_audit

    _check_options(original, with_advice, risk_path)
    folder = output_folder(output, *REPORT_FILES)
    if risk_path is not None:
        output_file(risk_path, "--risk-table", [data, original.data, original.key])
    common: dict[str, Any] = {
        "ladder": ladder,
        "headline": headline,
        "targets": targets,
        "budget": budget,
        "fail_above": fail_above,
        "quick": quick,
        "name": Path(public_url(data)).name,
        "seed": seed,
        "threads": threads,
    }
    with progress() as report:
        release = original.read(data, source, report, strict=fail_above is not None)
    if release.columns:
        only_for_histories({"--sensitive": sensitive})
    elif of_table.given:
        raise ParameterError(f"{of_table.given[0]} is for tables with one row per person: add --table")
    of_entries: dict[str, Any] = {"sensitive": sensitive, "work": folder / CHECKPOINTS}
    with progress() as report:
        result = run_audit(
            release,
            attack=None if attack == BOTH else attack,
            progress=report,
            **(of_table.parameters if release.columns else of_entries),
            **common,
        )
        if with_advice and result.complete:
            named = None if ladder is None else ladder.name, headline
            result = _add_advice(result, data, source, named, folder / CHECKPOINTS, targets, report)
        result = write_audit(result, folder)
        if risk_path is not None:
            result.risk_table(risk_path, progress=report)
        _write_gate(gate_files, result, data)
    show_audit(result, folder, as_json)
    sys.exit(exit_code(result))


def _check_options(original: Original, with_advice: bool, risk_path: Path | None) -> None:
    """Reject combinations of options that have no meaning, before any work is done."""
    if with_advice and original.data is not None:
        raise ParameterError(
            "--advise cannot be used with --original: give the original itself as DATA, without --original"
        )
    if risk_path is not None:
        from standout.report.page import table_form

        table_form(risk_path)


def _add_advice(
    result: "Audit",
    data: str,
    source: Source,
    named: tuple[str | None, str | None],
    work: Path,
    targets: int,
    report: "Progress",
) -> "Audit":
    """Add the advice about the headline adversary to the findings; `named` are its ladder and name."""
    from standout.advising.advise import advise
    from standout.cli.commands.advise import named_adversary, with_commands

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
    repeated = ["--limit", str(limit), *named_adversary(*named)]
    return result.with_advice(with_commands(advice, Path(public_url(data)).name, source.arguments(), repeated))


def write_audit(result: Any, folder: Path) -> Any:
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


def _write_gate(files: GateFiles, result: "Audit", data: str) -> None:
    """Write what --junit, --sarif and --markdown ask for."""
    from standout.findings.gate import audit_gate

    if result.findings.threshold.fail_above is not None:
        files.write(audit_gate(result.findings), data)


def exit_code(result: "Audit") -> int:
    """Return the exit code; a failed self-check outweighs everything else."""
    if not result.trusted:
        return NOT_TRUSTED
    if result.exceeded:
        return LIMIT_EXCEEDED
    return 0 if result.complete else INTERRUPTED
