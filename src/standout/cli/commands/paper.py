"""`standout paper`: reproduce the figures and tables of the paper."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import (
    borderless_table,
    number_columns,
    print_json,
    print_table,
    print_text,
    reading_json,
    release_stamp,
)
from standout.cli.error_lines import INTERRUPTED
from standout.cli.option_groups import command, option
from standout.cli.options import json_option, output_folder, seed_option
from standout.cli.reading import Source, reading_options
from standout.cli.worker_options import worker_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from rich.table import Table

    from standout.paper.comparison import ComparisonRow
    from standout.paper.figures import Figure
    from standout.paper.page import Reproduction

__all__ = ["paper"]


@command()
@option("--data", "DATA", "Index or source, instead of the stand-in.")
@option(
    "--records",
    "N",
    "Number of people in the stand-in.",
    type=click.IntRange(1),
    show_default="480189, as in the paper",
)
@option("--targets", "N", "Number of targets for each bar.", type=click.IntRange(1), default=1000)
@option("--only", "FIGURES", "Figures to show, like 1,4,12: 1 to 12, table, sp10, imdb.", show_default="all")
@option(
    "--qualifying",
    "FILE",
    "Test entries of the Netflix Prize.",
    type=click.Path(path_type=Path),
    show_default="qualifying.txt next to DATA",
)
@seed_option
@worker_options
@option("-o --output", "FOLDER", "Folder for the results.", required=True, type=click.Path(path_type=Path))
@reading_options
@json_option
def paper(
    data: str | None,
    source: Source,
    records: int | None,
    targets: int,
    only: str | None,
    qualifying: Path | None,
    seed: int,
    threads: int | None,
    output: Path,
    as_json: bool,
) -> None:
    """Reproduce the figures and tables of the paper.

    Without --data the command makes a stand-in for the Netflix Prize data and
    stores it in the output folder. Use --data if you have the original. The folder
    gets index.html, each figure as CSV, SVG and PNG, validation.csv with every
    number, and readings.csv with other interpretations of the paper's text. If the
    run is interrupted, the same command resumes it.

    The attack is the paper's. Next to it, the column likelihood shows what a
    Bayesian attack reaches with the same facts about the same targets. A stand-in
    with fewer people (--records) is compared with our own result at full size.

    \b
    Example:
      standout paper --records 20000 -o paper
      standout paper --data netflix.index --only 1,4,12 -o paper

    \b
    Exit codes:
      0  all figures are complete
      1  an error
      3  the run was interrupted

    \b
    JSON output:
      complete, page, summary, stronger_attack (how much more likelihood reaches)
      table     figure, figure_2008, kind (attack: validates a stand-in; data),
                panel, label, measure, unit, paper, measured, low, high, n, spread
                (standard deviation over our targets), paper_targets (estimate),
                too_few_items, difference, sampling_error, within_sampling_error,
                within_goal, note, likelihood, likelihood_low, likelihood_high,
                full_size, full_size_low, full_size_high (compared with, if any)
      readings  figure, reading, mean and worst |difference|, bias, within (the
                goal), cells
      read      how the data was read
      targets, seed, fingerprint, version
    """
    from standout.paper.figures import select_figures
    from standout.paper.reproduce import find_qualifying, reproduce
    from standout.paper.synthesize import open_or_make_standin

    keys = {figure.key for figure in select_figures(only)}
    if data is not None and records is not None:
        raise ParameterError("--records is for the stand-in: it cannot be used with --data")
    output_folder(output, "index.html", "validation.csv", "readings.csv", "about.json", "figures/1.csv")
    with progress() as report:
        if data is None:
            release = open_or_make_standin(output, records, seed, threads, report)
        else:
            release = source.read([data], report)
            qualifying = qualifying or find_qualifying(Path(data))
        reproduction = reproduce(
            release,
            output,
            targets=targets,
            only=only,
            qualifying=qualifying,
            seed=seed,
            threads=threads,
            progress=report,
        )
    if as_json:
        print_json(_to_dict(reproduction, keys))
    else:
        _show(reproduction, keys)
    if not reproduction.complete:
        sys.exit(INTERRUPTED)


def _show(reproduction: "Reproduction", keys: set[str]) -> None:
    from standout.paper.comparison import goal_text, texts
    from standout.paper.page import data_note, size_note
    from standout.paper.readings import unit_of

    for figure in reproduction.figures:
        if figure.key in keys:
            print_table(_table(reproduction.results[figure.key].rows), _title(figure))
            print_text("")
    names = {figure.key: figure.name for figure in reproduction.figures}
    for fit in reproduction.fits:
        if fit.figure in keys and fit.reading == reproduction.fits[0].reading:
            goal = goal_text(unit_of(fit.figure))
            print_text(
                f"{names[fit.figure]}: {fit.within} of {fit.cells} numbers are within {goal} of the paper's, "
                "with its definitions as written. The page shows other readings."
            )
    notes = filter(None, (data_note(reproduction.release), size_note(reproduction.release)))
    stronger = (reproduction.stronger_attack, texts()["two_attacks"].strip()) if reproduction.stronger_attack else ()
    print_text(*notes, reproduction.summary, *stronger, str(reproduction.page))
    if not reproduction.complete:
        print_text("Interrupted: run the same command again to resume.")


def _title(figure: "Figure") -> str:
    also = f" ({figure.number_2008} in 2008)" if figure.number_2008 and figure.key != "sp10" else ""
    return f"{figure.name}{also}: {figure.title}"


def _table(rows: "tuple[ComparisonRow, ...]") -> "Table":
    from standout.paper.comparison import difference, interval, judgement, number

    table = borderless_table()
    table.add_column("")
    stronger = any(row.likelihood is not None for row in rows)
    small = any(row.full_size is not None for row in rows)
    full_size = ["full size"] if small else []
    number_columns(table, "paper", *full_size, "ours", "diff.", *(["likelihood"] if stronger else []))
    table.add_column("")
    for row in rows:
        label = ", ".join(filter(None, (row.label, row.panel)))
        ends = interval(row, "–")
        ours = number(row.measured, row.unit) + (f" ({ends})" if ends else "")
        reached = [number(row.likelihood, row.unit)] if stronger else []
        full = [number(None if row.full_size is None else row.full_size.value, row.unit)] if small else []
        table.add_row(label, number(row.paper, row.unit), *full, ours, difference(row), *reached, judgement(row))
    return table


def _to_dict(reproduction: "Reproduction", keys: set[str]) -> dict[str, object]:
    return {
        "complete": reproduction.complete,
        "page": str(reproduction.page),
        "summary": reproduction.summary,
        "stronger_attack": reproduction.stronger_attack,
        "table": [row for row in reproduction.table.to_dicts() if row["figure"] in keys],
        "readings": [fit._asdict() for fit in reproduction.fits if fit.figure in keys],
        "targets": reproduction.targets,
        "seed": reproduction.seed,
        "read": reading_json(reproduction.release),
        **release_stamp(reproduction.release),
    }
