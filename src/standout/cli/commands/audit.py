"""`standout audit`: how many people can be identified in a release, and by whom; `standout demo` on built-in data."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli import options
from standout.cli.attack_options import BOTH
from standout.cli.commands.advise import with_commands
from standout.cli.console import Cell, print_json, print_table, print_text
from standout.cli.error_lines import INTERRUPTED, LIMIT_EXCEEDED, NOT_TRUSTED
from standout.cli.gate import gate_option, start_gate, write_gate
from standout.cli.options import GATE, option
from standout.cli.reading import Original, Source, data_command, original_options
from standout.core.errors import ParameterError
from standout.core.json_files import CHECKPOINTS
from standout.core.progress import progress_bar as progress
from standout.core.text import estimate_text
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from standout.auditing.audit import Audit
    from standout.core.progress import Progress
    from standout.findings.audit import AuditFindings

REPORT_FILES = ("report.html", "findings.json", "tables/adversaries.csv", "charts/adversaries.svg")
DEFAULT_LIMIT, SMALLEST_LIMIT = 0.05, 1e-6
"""Limit of --advise where --fail-above is not given; the limit is strictly between 0 and 1."""
DEMO_SEED = 2008
ATTACKS = {"paper": "by the\npaper's attack", "exact match": "by exact\nmatching"}
MEASURES = {"correct_claims_at_budget": "share", "bits_gained": "number"}


@data_command
@option("-o --output", "FOLDER", "Folder to write; NAME is the name of DATA.", show_default="NAME-audit")
@options.quick_option
@option("--fail-above", "SHARE", "Exit with code 4 if more people may be identified.", GATE, type=options.SHARES)
@gate_option
@option("--targets", "N", "Number of targets for each adversary.", type=options.COUNT, default=1000)
@option("--sensitive", "FILE|COLUMN", "What nobody should learn: a list of items, or a column.", multiple=True)
@option("--risk-table risk_path", "FILE", "Write the risk of each person, with ids, to NAME.csv or NAME.parquet.")
@option("--advise with_advice", "", "Also search for steps that reduce the risk, as `standout advise` does.")
@options.ladder_option
@options.population_option
@option("--attack", "both|likelihood|paper", "Attacks to try; the stronger one counts.", options.ATTACK, default=BOTH)
@options.seed_option
@options.worker_options
@original_options
def audit(
    data: str,
    source: Source,
    original: Original,
    output: Path | None,
    fail_above: float | None,
    gate_files: tuple[Path, ...],
    sensitive: tuple[str, ...],
    risk_path: Path | None,
    with_advice: bool,
    population: int | None,
    attack: str,
    as_json: bool,
    **settings: Any,
) -> int:
    """Measure how many people can be identified, and by whom.

    DATA is an index, or any source that `standout index` reads. The output folder
    gets report.html (a single file to share), findings.json (described by
    docs/findings.schema.json), tables and charts. If the audit is interrupted, the
    same command resumes it.

    Each adversary attacks with a Bayesian attack and with that of the paper, and the
    stronger one counts: it is chosen on other targets than those reported.

    Audit a sanitized release with --original, so that adversaries know facts about
    the original people. The options for reading are then about the original.

    DATA can also be a table with one row per person (--table, or recognised). The
    report then also has k, unique rows, and prosecutor, journalist and marketer
    risk, for the quasi-identifiers that the schema names.

    \b
    Example:
      standout audit ratings.csv --quick
      standout audit ratings.csv -o report --fail-above 0.05 --gate gate.xml
      standout audit safer.csv --original ratings.csv --key key.csv
      standout audit survey.csv --table --schema schema.toml

    \b
    Exit codes:
      3  interrupted
      4  the share of --fail-above may be exceeded
      5  the audit failed its own checks; do not trust its numbers
    """
    _now()  # an impossible SOURCE_DATE_EPOCH is refused first: libraries fail over it while they are imported
    output, ladder = output or Path(f"{options.data_stem(data)}-audit"), settings["ladder"]
    needs = "--fail-above SHARE, the limit to check"
    inputs = [original.data, original.key, ladder, *sensitive]
    start_gate(gate_files, "standout audit", data, fail_above, needs, output, inputs)
    from standout.auditing.audit import audit as run_audit

    if with_advice and original.data is not None:
        raise ParameterError(
            "--advise cannot be used with --original: give the original itself as DATA, without --original"
        )
    if risk_path is not None:
        from standout.report.page import table_form

        table_form(risk_path)
        options.output_file(risk_path, "--risk-table", [data, original.data, original.key])
    folder, name = options.output_folder(output, *REPORT_FILES), Path(public_url(data)).name
    with progress() as report:
        release = original.read(data, source, report, strict=fail_above is not None)
        if release.columns:
            about_data: dict[str, Any] = {"sensitive_columns": sensitive or None, "population": population}
        else:
            if population is not None:
                raise ParameterError("--population is for tables with one row per person: add --table")
            if len(sensitive) > 1 or (sensitive and not Path(sensitive[0]).is_file()):
                raise ParameterError("--sensitive must be one file with a list of items, because the data is a history")
            about_data = {"sensitive": Path(sensitive[0]) if sensitive else None, "work": folder / CHECKPOINTS}
        chosen = None if attack == BOTH else attack
        result = run_audit(
            release, attack=chosen, fail_above=fail_above, name=name, progress=report, **about_data, **settings
        )
        if with_advice and result.complete:
            result = _add_advice(result, data, source, ladder, folder / CHECKPOINTS, settings["targets"], report)
        result = _write(result, folder)
        if risk_path is not None:
            result.risk_table(risk_path, progress=report)
        if gate_files:
            from standout.findings.audit import audit_gate

            write_gate(gate_files, audit_gate(result.findings), data)
    return _show(result, folder, as_json)


def _add_advice(
    result: "Audit", data: str, source: Source, ladder: Path | None, work: Path, targets: int, report: "Progress"
) -> "Audit":
    """Add the advice about the headline adversary to the findings."""
    from standout.advising.advise import advise

    settings, name = result.findings.settings, Path(public_url(data)).name
    limit = min(max(settings.fail_above or DEFAULT_LIMIT, SMALLEST_LIMIT), 1 - SMALLEST_LIMIT)
    adversary = result.adversaries[settings.headline]
    common: dict[str, Any] = {"seed": result.seed, "threads": result.threads, "progress": report, "work": work}
    advice = advise(result.release, adversary, limit, targets=targets, name=name, **common)
    repeated = ["--limit", str(limit), *([] if ladder is None else ["--ladder", ladder.name])]
    return result.with_advice(with_commands(advice, name, source.arguments(), repeated))


def _write(result: Any, folder: Path) -> Any:
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


def _show(result: "Audit", folder: Path, as_json: bool) -> int:
    """Print the findings as JSON, or a small table and the answer in sentences; return the exit code.

    A failed self-check outweighs everything else.
    """
    if as_json:
        print_json(result.to_dict())
    else:
        _show_table(result.findings)
        print_text("", *_sentences(result), f"Report: {folder / 'report.html'}")
    if not result.trusted:
        return NOT_TRUSTED
    return LIMIT_EXCEEDED if result.exceeded else 0 if result.complete else INTERRUPTED


def _sentences(result: "Audit") -> list[str]:
    from standout.evaluate.estimates import percent

    findings = result.findings
    checks, classes, advice = findings.trust.checks, findings.classes, findings.advice
    failed = ", ".join(check.title for check in checks if not check.passed)
    attacks = {attack.name for adversary in findings.adversaries for attack in adversary.attacks}
    settling = advice.unproven.command if advice is not None and advice.unproven else ""
    lines = [
        "" if result.trusted else f"DO NOT TRUST THIS: the audit failed its own checks ({failed}).",
        f"{findings.answer.sentence} {findings.answer.comparison}".rstrip(),
        ""
        if classes is None
        else f"Quasi-identifiers ({', '.join(classes.columns)}): k = {classes.k:,}, "
        f"{percent(classes.unique)} of rows are unique.",
        *(
            f"The sensitive column {each.column} is guessed for {percent(each.guessed.value)} of people; for "
            f"people who are not in the release it is {percent(each.control.value)}."
            for each in findings.disclosure
            if each.guessed is not None and each.control is not None
        ),
        findings.verdict.summary,
        f"Only one attack was tried ({min(attacks)}): another may identify more people." if len(attacks) == 1 else "",
        findings.original.explanation if findings.original is not None else "",
        findings.before_after.summary if findings.before_after is not None else "",
        findings.threshold.explanation if findings.threshold.fail_above is not None else "",
        f"{advice.summary} {advice.command or settling}".rstrip() if advice is not None else "",
        f"The audit passed all {len(checks)} of its self-checks." if result.trusted else "",
        "" if result.complete else "Interrupted: run the same command again to resume.",
    ]
    return [line for line in lines if line]


def _show_table(findings: "AuditFindings") -> None:
    """Print one row per adversary, with the titles and numbers that the report shows."""
    from standout.findings.audit import measure_titles
    from standout.report.audit_charts import common_threshold
    from standout.report.charts import with_interval

    titles = measure_titles(common_threshold(findings), budget=findings.settings.budget)
    tried = {attack.name for adversary in findings.adversaries for attack in adversary.attacks}
    others = {name: title for name, title in ATTACKS.items() if name in tried and len(tried) > 1}
    rows: list[tuple[Cell, ...]] = [
        (
            adversary.name,
            with_interval(adversary.as_named.identified),
            *(estimate_text(measures.identified if (measures := adversary.by(name)) else None) for name in others),
            *(estimate_text(getattr(adversary.as_named, name), unit) for name, unit in MEASURES.items()),
        )
        for adversary in findings.adversaries
    ]
    heads = (
        "Adversary",
        f"{titles['identified']} (95 % interval)",
        *others.values(),
        *(titles[each] for each in MEASURES),
    )
    print_table(heads, rows)


@options.command()
@option("-o --output", "FOLDER", "Folder for the report.", type=options.PATH, default=Path("demo"))
@option("--records", "N", "Number of synthetic people, at least 100.", type=click.IntRange(100), default=5_000)
@options.quick_option
@options.threads_option
@options.json_option
def demo(output: Path, records: int, quick: bool, threads: int | None, as_json: bool) -> int:
    """Run the whole audit on built-in synthetic data.

    The data is a stand-in for the Netflix Prize data: synthetic people with the
    published statistics of the real ones.

    \b
    Example:
      standout demo
      standout demo --quick -o /tmp/demo

    \b
    Exit codes and JSON output: those of `standout audit`.
    """
    from standout.auditing.audit import audit
    from standout.paper.synthesize import synthesize

    folder = options.output_folder(output, *REPORT_FILES)
    name = f"a stand-in for {records:,} people of the Netflix Prize data"
    with progress() as report:
        common: dict[str, Any] = {"seed": DEMO_SEED, "threads": threads, "progress": report}
        release = synthesize(like="netflix", records=records, **common)
        result = audit(release, name=name, targets=500, quick=quick, work=folder / CHECKPOINTS, **common)
        result = _write(result, folder)
    return _show(result, folder, as_json)
