"""`standout paper`: reproduce the figures and tables of the paper; `standout synthesize`: make a synthetic data set."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout._version import __version__
from standout.cli import options
from standout.cli.console import print_json, print_line, print_table, print_text
from standout.cli.error_lines import INTERRUPTED
from standout.cli.options import option
from standout.cli.reading import Source, reading_options
from standout.core.errors import ParameterError, StandoutError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.paper.calibration import Calibration
    from standout.paper.published import ComparisonRow
    from standout.paper.reproduce import Reproduction


@options.command()
@option("--data", "DATA", "Index or source, instead of the stand-in.")
@option("--records", "N", "Number of people in the stand-in.", show_default="480189, as in the paper")
@option("--targets", "N", "Number of targets for each bar.", type=options.COUNT, default=1000)
@option("--only", "FIGURES", "Figures to show, like 1,4,12: 1 to 12, table, sp10, imdb.", show_default="all")
@option("--qualifying", "FILE", "Test entries of the Netflix Prize.", show_default="qualifying.txt next to DATA")
@options.seed_option
@options.worker_options
@option("-o --output", "FOLDER", "Folder for the results.", required=True)
@reading_options
@options.json_option
def paper(
    data: str | None,
    source: Source,
    records: int | None,
    only: str | None,
    qualifying: Path | None,
    seed: int,
    threads: int | None,
    output: Path,
    as_json: bool,
    **settings: Any,
) -> int:
    """Reproduce the figures and tables of the paper.

    Without --data the command makes a stand-in for the Netflix Prize data and
    stores it in the output folder. Use --data if you have the original. The folder
    gets index.html, each figure as CSV, SVG and PNG, and validation.csv with every
    number. If the run is interrupted, the same command resumes it.

    The attack is the paper's. Next to it, the column likelihood shows what a
    Bayesian attack reaches with the same facts about the same targets. A stand-in
    with fewer people (--records) is compared with our own result at full size.

    \b
    Example:
      standout paper --records 20000 -o paper
      standout paper --data netflix.index --only 1,4,12 -o paper

    Exit code 3: interrupted.
    """
    from standout.paper.figures import select_figures
    from standout.paper.reproduce import find_qualifying, reproduce
    from standout.paper.synthesize import open_or_make_standin

    select_figures(only)
    if data is not None and records is not None:
        raise ParameterError("--records is for the stand-in: it cannot be used with --data")
    options.output_folder(output, "index.html", "validation.csv", "about.json", "figures/1.csv")
    with progress() as report:
        if data is None:
            release = open_or_make_standin(output, records, seed, threads, report)
        else:
            release = source.read([data], report)
            qualifying = qualifying or find_qualifying(Path(data))
        common: dict[str, Any] = {"seed": seed, "threads": threads, "progress": report}
        result = reproduce(release, output, only=only, qualifying=qualifying, **common, **settings)
    if as_json:
        content = {
            name: getattr(result, name) for name in ("complete", "summary", "stronger_attack", "targets", "seed")
        }
        content |= {"page": str(result.page), "table": result.table.to_dicts()}
        print_json(content, result.release)
    else:
        _show(result)
    return 0 if result.complete else INTERRUPTED


def _show(result: "Reproduction") -> None:
    from standout.paper.published import texts

    for figure in result.figures:
        about = figure.about
        also = f" ({about['number_2008']} in 2008)" if about["number_2008"] and figure.key != "sp10" else ""
        _show_rows(result.results[figure.key].rows, f"{about['name']}{also}: {about['title']}")
        print_text("")
    stronger = (result.stronger_attack, texts()["two_attacks"]) if result.stronger_attack else ()
    print_text(*result.notes, result.summary, *stronger, str(result.page))
    if not result.complete:
        print_text("Interrupted: run the same command again to resume.")


def _show_rows(rows: "tuple[ComparisonRow, ...]", title: str) -> None:
    """Print the rows of a figure; columns without a number are omitted."""
    from standout.paper.published import number

    cells = [("", "paper", "full size", "ours", "diff.", "likelihood", "<")]
    for row in rows:
        label, ends = ", ".join(filter(None, (row.label, row.panel))), row.interval.replace(" to ", "–")
        ours = number(row.measured, row.unit) + (f" ({ends})" if ends else "")
        reached, full = (
            "" if each is None else number(each.value, row.unit) for each in (row.likelihood, row.full_size)
        )
        cells.append((label, number(row.paper, row.unit), full, ours, row.difference_text, reached, row.judgement))
    heads, *shown = zip(*(column for column in zip(*cells, strict=True) if any(column[1:])), strict=True)
    print_table(heads, shown, title)


@options.command()
@option("--like", "quick|netflix|flat", "Long tails; like the Netflix Prize data; no structure.", default="quick")
@option("--records", "N", "Number of records.", type=int, show_default="10,000; netflix: 480,189")
@option("--items", "N", "Number of items.", type=int, show_default="2,000; netflix: those of 17,770 that occur")
@option("--entries", "N", "Number of entries.", type=int, show_default="50 per record; netflix: 209 per record")
@option("--scale", "X", "With --like netflix: X times the people of the Netflix Prize data, instead of --records.")
@options.memory_option
@options.seed_option
@options.threads_option
@option("-o --output", "PATH", "NAME.csv, NAME.parquet, or any other name for an index.")
@option("--check", "", "With --like netflix: compare its statistics with those published about the Netflix Prize data.")
@option("--nearest", "N", "Records whose nearest neighbours --check examines.", type=click.IntRange(0), default=2_000)
@options.json_option
def synthesize(
    like: str,
    records: int | None,
    scale: float | None,
    memory: str | None,
    seed: int,
    threads: int | None,
    output: Path | None,
    check: bool,
    nearest: int,
    as_json: bool,
    **sizes: int | None,
) -> None:
    """Make a synthetic data set with the shape of a real one.

    With --check its statistics are compared with the published ones; nothing is
    written then unless -o is given.

    \b
    Example:
      standout synthesize --records 1000 -o people.csv
      standout synthesize --like netflix --records 20000 --check
      standout synthesize --like netflix --scale 10 -o big.index --memory 4GB
    """
    from standout.core.threads import memory_limit
    from standout.paper.synthesize import scaled_records, synthesize_index
    from standout.paper.synthesize import synthesize as make_release

    if scale is not None:
        if like != "netflix" or records is not None:
            raise ParameterError("--scale needs --like netflix and no --records")
        records = scaled_records(scale)
    if check and like != "netflix":
        raise ParameterError(f"--check needs --like netflix, got --like {like}")
    if check and records is not None:
        from standout.paper.calibration import check_records

        check_records(records)
    if output is None and not check:
        raise ParameterError("--output is missing: name a file or folder to write, or use --check")
    if output is not None:
        if output.is_file():
            raise StandoutError(f"{output} exists and is not overwritten: name another file")
        from standout.data.store import is_index as is_index_at

        options.output_file(output / "manifest.json" if is_index_at(output) else output, "--output")
    memory_limit(memory)
    is_index = output is not None and output.suffix not in (".csv", ".parquet")
    if not is_index and memory is not None:
        raise ParameterError("--memory is for an index: choose another --output")
    with progress() as report:
        common: dict[str, Any] = {"seed": seed, "threads": threads, "progress": report}
        shape: dict[str, Any] = {"like": like, "records": records, **sizes}
        if is_index and output is not None:
            release = synthesize_index(output, memory=memory, **shape, **common)
        else:
            release = make_release(**shape, **common)
        calibration = None
        if check:
            from standout.paper.calibration import calibration as calibrate

            calibration = calibrate(release, nearest=nearest, **common)
        if output is not None and not is_index:
            from standout.data.export import write_table

            write_table(release, output, report)
    if as_json:
        content: dict[str, object] = {"output": None if output is None else str(output), "like": like, "seed": seed}
        content |= {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        content |= {} if calibration is None else {"calibration": calibration.table.to_dicts()}
        print_json(content | {"fingerprint": release.fingerprint, "version": __version__})
        return
    if calibration is not None:
        _show_calibration(calibration)
    name = "not written" if output is None else str(output)
    print_line(f"{name}: {release.n_entries:,} entries of {release.n_records:,} records")


def _show_calibration(calibration: "Calibration") -> None:
    """Print how each statistic compares with the published one."""

    def number(value: float, digits: int) -> str:
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"

    rows: list[tuple[str, ...]] = []
    for group, statistics in groupby(calibration.statistics, lambda row: row.group):
        rows.append((f"\n{group[0].upper()}{group[1:]}",))
        for row in statistics:
            numbers = (number(row.published, 4), number(row.measured, 4), number(row.tolerance, 2))
            rows.append((row.statistic, *numbers, row.verdict))
    print_table(("Statistic", "published", "measured", "±", ""), rows)
    print_text(f"\n{calibration}.\nmet: within the tolerance (±); near: within twice the tolerance.\n")
