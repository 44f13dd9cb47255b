"""`standout advise`: search for the smallest change that meets a risk limit."""

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli import options
from standout.cli.console import print_json, print_table, print_text
from standout.cli.error_lines import INTERRUPTED, LIMIT_EXCEEDED
from standout.cli.gate import gate_option, start_gate, write_gate
from standout.cli.options import option
from standout.cli.reading import Source, data_command
from standout.core.json_files import CHECKPOINTS
from standout.core.progress import progress_bar as progress
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from standout.findings.link_and_advise import AdviceFindings

REPORT_FILES = ("report.html", "advice.json", "frontier.csv")
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@data_command
@option("-o --output", "FOLDER", "Folder to write; NAME is the name of DATA.", show_default="NAME-advice")
@option("--limit", "SHARE", "Largest acceptable share of people identified.", type=SHARE, default=0.05)
@option("--among", "everybody|released", "Whom the limit is about; released: who is still in it.", default="released")
@option("--try candidates", "STEPS", "Steps to try instead, like 'round-time month + drop-entries 0.5'.", multiple=True)
@options.ladder_option
@option("--targets", "N", "Number of targets for the best candidates.", type=options.COUNT, default=1000)
@option("--people", "N", "People whose entries are held out to measure utility.", type=options.COUNT, default=1000)
@option("--fail", "", "Exit with code 4 if no candidate meets the limit.", options.GATE)
@gate_option
@options.seed_option
@options.threads_option
def advise(
    data: str,
    source: Source,
    output: Path | None,
    limit: float,
    among: str,
    candidates: tuple[str, ...],
    ladder: Path | None,
    fail: bool,
    gate_files: tuple[Path, ...],
    as_json: bool,
    **settings: Any,
) -> int:
    """Find the smallest change that meets a risk limit.

    Tries steps of `standout sanitize` and combinations of them. For each candidate
    it measures how many people an adversary who knows the steps identifies, and how
    well a recommender learns from the sanitized release. The recommended candidate
    is re-measured with fresh targets and noise, and the upper end of its interval
    must be below the limit. The adversary is the headline adversary of the ladder.
    The output folder gets report.html, advice.json and frontier.csv. If the search
    is interrupted, the same command resumes it.

    For a table, utility is the share that is kept of the information in its cells,
    or of the associations between its columns, whichever is lower.

    \b
    Example:
      standout advise ratings.csv --limit 0.05 -o advice
      standout advise ratings.csv --try "round-time month + drop-entries 0.5"
      standout advise survey.csv --table --schema schema.toml --limit 0.05

    Exit code 3: interrupted. Exit code 4: with --fail, no candidate meets the limit.

    JSON output: the content of advice.json (docs/advice.schema.json).
    """
    output = output or Path(f"{options.data_stem(data)}-advice")
    start_gate(gate_files, "standout advise", data, limit if fail else None, "--fail", output, [ladder])
    from standout.advising.advise import advise as run_search
    from standout.auditing.ladder import headline_adversary
    from standout.findings.audit import advice_gate

    folder, name = options.output_folder(output, *REPORT_FILES), Path(public_url(data)).name
    steps = [[step.strip() for step in text.split("+")] for text in candidates] or None
    repeated = ["--limit", str(limit), *([] if among == "released" else ["--among", among])]
    with progress() as report:
        release = source.read([data], report, strict=fail)
        common: dict[str, Any] = {"among": among, "name": name, "progress": report, "work": folder / CHECKPOINTS}
        adversary = headline_adversary(release, ladder)
        advice: Any = run_search(release, adversary, limit, candidates=steps, **common, **settings)
        kind = ["--table"] if release.columns and source.settings.get("kind") != "table" else []
        reading = [*source.arguments(), *kind]
        of_ladder = [] if ladder is None else ["--ladder", ladder.name]
        findings = with_commands(advice, name, reading, [*repeated, *of_ladder])
        _write(advice, findings, folder)
        write_gate(gate_files, advice_gate(findings), data)
    if as_json:
        from standout.findings.json_types import to_json_object

        print_json(to_json_object(findings))
    else:
        of_ladder = [] if ladder is None else ["--ladder", str(ladder)]
        _show(advice, with_commands(advice, data, reading, [*repeated, *of_ladder]), folder)
    failed = fail and advice.recommended is None
    return INTERRUPTED if not advice.complete else LIMIT_EXCEEDED if failed else 0


def with_commands(advice: Any, data: str, reading: list[str], settings: list[str]) -> Any:
    """The findings with the commands that make the recommended data, or settle what is not proven.

    `reading` says how to read the data, and `settings` which search to repeat.
    """
    findings, unproven = advice.findings, advice.findings.unproven
    ending = ".csv" if "--table" in reading else ""
    sanitizing = advice.command([data, *reading], f"{options.data_stem(data)}-safer{ending}")
    if unproven is not None and unproven.targets is not None:
        candidate = ["--try", unproven.candidates[0].name] if unproven.candidates[0].steps else []
        words = [data, *reading, *settings, "--targets", str(unproven.targets), *candidate]
        unproven = replace(unproven, command=shlex.join(["standout", "advise", *words]))
    return replace(findings, command=sanitizing, unproven=unproven)


def _write(advice: Any, findings: "AdviceFindings", folder: Path) -> None:
    """Write report, advice.json and frontier.csv."""
    from standout.core.files import write_content
    from standout.data.export import inert
    from standout.findings.json_types import json_text
    from standout.report.pages import advice_page

    write_content(folder / "advice.json", json_text(findings))
    write_content(folder / "frontier.csv", inert(advice.table).write_csv())
    write_content(folder / "report.html", advice_page(findings))
    if advice.complete:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def _show(advice: Any, findings: "AdviceFindings", folder: Path) -> None:
    """Print the candidates as a table and the answer in sentences."""
    from standout.report.pages import candidates_table

    table = candidates_table(findings.rows, numbered=False)
    other = 1 if findings.among == "released" else 2  # the rate that the limit is not about
    heads, *rows = ((*row[:other], *row[other + 1 : -1]) for row in (table.heads, *table.rows))
    print_table(map(str, heads), rows)
    print_text("", advice.summary)
    for line in (findings.command, findings.unproven.command if findings.unproven else ""):
        if line:
            print_text(f"\n  {line}\n")
    if findings.composition is not None:
        print_text(findings.composition.explanation)
    if not advice.complete:
        print_text("Interrupted: run the same command again to resume.")
    print_text(f"Report: {folder / 'report.html'}")
