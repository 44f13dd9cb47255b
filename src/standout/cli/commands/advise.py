"""`standout advise`: search for the smallest change that meets a risk limit."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

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
from standout.cli.exit_codes import INTERRUPTED, LIMIT_EXCEEDED
from standout.cli.source_options import SourceOptions, source_options
from standout.ingest.remote import public_url

if TYPE_CHECKING:
    from rich.table import Table

    from standout.adversary import Adversary
    from standout.advising.advice import Advice
    from standout.evaluate.estimates import Estimate
    from standout.findings.advice import AdviceFindings
    from standout.release.model import Release

__all__ = ["advise", "sanitize_command"]

WORK = "work"
"""Folder of checkpoints, removed once the search is complete."""


@click.command()
@click.argument("data")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder to write; NAME is the name of DATA.",
    show_default="NAME-advice",
)
@click.option(
    "--limit",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Largest acceptable share of people identified.",
)
@click.option(
    "--among",
    type=click.Choice(["everybody", "released"]),
    default="released",
    show_default=True,
    help="Whom the limit applies to: everybody in DATA, or the people whom the sanitized release still "
    "represents.",
)
@click.option(
    "--try",
    "candidates",
    multiple=True,
    metavar="STEPS",
    help="Candidate to try instead of the built-in ones, like 'round-time month + drop-entries 0.5'. "
    "Repeat for several.",
)
@ladder_option
@click.option("--headline", metavar="NAME", help="Adversary of the ladder to protect against.")
@click.option(
    "--targets",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Number of targets for the best candidates.",
)
@click.option(
    "--people",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Number of people whose entries are held out to measure utility.",
)
@click.option("--fail", is_flag=True, help="Exit with code 4 if no candidate meets the limit.")
@seed_option
@threads_option
@source_options
@json_option
def advise(
    data: str,
    source: SourceOptions,
    output: Path | None,
    limit: float,
    among: Literal["everybody", "released"],
    candidates: tuple[str, ...],
    ladder: Path | None,
    headline: str | None,
    targets: int,
    people: int,
    fail: bool,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Find the smallest change that meets a risk limit.

    Tries steps of `standout sanitize` and combinations of them. For each candidate
    it measures how many people an adversary who knows the steps identifies, and how
    well a recommender learns from the sanitized release. The recommended candidate
    is re-measured with fresh targets and noise, and the upper end of its interval
    must be below the limit. The output folder gets report.html, advice.json and
    frontier.csv. If the search is interrupted, the same command resumes it.

    \b
    Example:
      standout advise ratings.csv --limit 0.05 -o advice
      standout advise ratings.csv --try "round-time month + drop-entries 0.5"

    \b
    Exit codes:
      0  the search is complete, whether or not a candidate meets the limit
      1  an error
      3  the search was interrupted
      4  with --fail: no candidate meets the limit

    \b
    JSON output: the content of advice.json, as docs/findings.schema.json
    describes it under "advice".
    """
    from standout.advising.advise import advise as run_search
    from standout.core.atomic_files import make_folder

    folder = make_folder(output or Path(f"{data_stem(data)}-advice"))
    with progress() as report:
        release = source.read([data], report, strict=fail)
        advice = run_search(
            release,
            _adversary(release, ladder, headline),
            limit,
            candidates=_parse_candidates(candidates),
            targets=targets,
            people=people,
            among=among,
            name=Path(public_url(data)).name,
            seed=seed,
            threads=threads,
            progress=report,
            work=folder / WORK,
        )
        findings = _write(advice, data, source, folder)
    _show(advice, findings, sanitize_command(advice, data, source), folder, as_json)
    if not advice.complete:
        sys.exit(INTERRUPTED)
    if fail and advice.recommended is None:
        sys.exit(LIMIT_EXCEEDED)


def _parse_candidates(texts: tuple[str, ...]) -> list[list[str]] | None:
    """Split each candidate into its steps."""
    return [[step.strip() for step in text.split("+")] for text in texts] or None


def _adversary(release: "Release", ladder: Path | None, headline: str | None) -> "Adversary":
    """Return the headline adversary of a ladder, fitted to the release."""
    from standout.auditing.ladder import fit_ladder, resolve_ladder

    fit = fit_ladder(resolve_ladder(ladder, headline), release)
    return next(rung.adversary for rung in fit.rungs if rung.name == fit.headline)


def sanitize_command(advice: "Advice", data: str, source: SourceOptions) -> str:
    """Return the command that makes the recommended release; empty if there is none."""
    return advice.command([data, *source.arguments()], f"{data_stem(data)}-safer")


def _write(advice: "Advice", data: str, source: SourceOptions, folder: Path) -> "AdviceFindings":
    """Write report, advice.json and frontier.csv. They name the data, but not its folder."""
    from standout.core.atomic_files import write_content
    from standout.findings.serialize import json_text
    from standout.report.advice_page import advice_page
    from standout.report.safe_tables import inert

    findings = replace(advice.findings, command=sanitize_command(advice, Path(public_url(data)).name, source))
    write_content(folder / "advice.json", json_text(findings))
    write_content(folder / "frontier.csv", inert(advice.table).write_csv())
    write_content(folder / "report.html", advice_page(findings))
    if advice.complete:
        shutil.rmtree(folder / WORK, ignore_errors=True)
    return findings


def _show(advice: "Advice", findings: "AdviceFindings", command: str, folder: Path, as_json: bool) -> None:
    """Print the findings as JSON, or the frontier as a table and the answer in sentences."""
    if as_json:
        from standout.findings.serialize import to_json_object

        print_json(to_json_object(findings))
        return
    console().print(_table(findings))
    print_text("", advice.summary)
    if command:
        print_text(f"\n  {command}\n")
    if findings.composition is not None:
        print_text(findings.composition.explanation)
    if not advice.complete:
        print_text("Interrupted: run the same command again to resume.")
    print_text(f"Report: {folder / 'report.html'}")


def _table(findings: "AdviceFindings") -> "Table":
    """The frontier, with the recommended candidate as it was re-measured."""
    table = borderless_table()
    table.add_column("candidate", overflow="fold")
    number_columns(table, "identified", "95 %", "utility kept", "95 %", "hit rate", "RMSE")
    for candidate in findings.frontier:
        utility = candidate.utility
        kept = ("", "") if utility.kept is None else _share(utility.kept)
        rmse = "" if utility.rmse is None else f"{utility.rmse.value:.3f}"
        hit_rate = f"{utility.hit_rate.value:.3f}"
        table.add_row(candidate.name, *_share(candidate.rate(findings.among)), *kept, hit_rate, rmse)
    return table


def _share(estimate: "Estimate") -> tuple[str, str]:
    """Return a share and its interval, cut off at 0 and 100 %."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (100 * min(max(end, 0.0), 1.0) for end in ends)
    return f"{value:.1f} %", f"{low:.0f}–{high:.0f}"
