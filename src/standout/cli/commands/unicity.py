"""`standout unicity`: how many records a few of their entries single out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.console import (
    borderless_table,
    number_columns,
    percent_interval,
    print_json,
    print_table,
    reading_json,
    release_stamp,
    suggest_index,
)
from standout.cli.error_lines import naming_options
from standout.cli.option_groups import command, option
from standout.cli.options import (
    json_option,
    output_file,
    parse_counts,
    parse_number_or_none,
    path_argument,
    seed_option,
)
from standout.cli.reading import Source, reading_options
from standout.cli.worker_options import worker_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.release import Release
    from standout.ingest.places import PlaceCells
    from standout.ingest.times import TimeBin
    from standout.measure.unicity import Unicity
    from standout.measure.unicity_grid import Draw, UnicityCell, UnicityGrid

__all__ = ["show_grid", "unicity"]


@command()
@path_argument("data")
@option("-k --points entry_counts", "K,…", "Numbers of known entries: 4, or 1,2,4, or 1-4.", default="1-4")
@option("--within-value", "E|none", "Accuracy of known values; none: values are unknown.", default="0")
@option(
    "--bin-days",
    "DAYS",
    "Accuracy of known dates: bins of this many days.",
    type=float,
    show_default="dates are unknown",
)
@option("--targets", "N", "Number of targets.", default=1000)
@option(
    "--grid grids",
    "DEGREES",
    "Items are places: squares of a grid, such as 0.01 degrees; repeat for several resolutions.",
    group="Resolution of places and times",
    multiple=True,
)
@option(
    "--geohash geohashes",
    "N",
    "Items are places: geohashes of N letters, 1 to 12; repeat for several resolutions.",
    group="Resolution of places and times",
    multiple=True,
)
@option(
    "--time-bin time_bins",
    "WIDTH",
    "Resolution of times: minute, hour, day, week or month, or a width like 15min, 6h or 2d; repeat "
    "for several with --grid or --geohash.",
    group="Resolution of places and times",
    multiple=True,
)
@option(
    "--chart",
    "FILE",
    "Also draw a chart of the resolutions: NAME.svg, NAME.png or NAME.html.",
    type=click.Path(path_type=Path, dir_okay=False),
)
@seed_option
@worker_options
@reading_options
@json_option
def unicity(
    data: str,
    source: Source,
    entry_counts: str,
    within_value: str,
    bin_days: float | None,
    targets: int,
    grids: tuple[str, ...],
    geohashes: tuple[str, ...],
    time_bins: tuple[str, ...],
    chart: Path | None,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure how many records k of their entries single out.

    A record is singled out if no other record has all k entries, with values
    within --within-value and dates in the same bins.

    With --grid or --geohash, entries are points: a place in a bin of time. Each
    resolution is measured, and the value of an entry is unknown.

    \b
    Example:
      standout unicity ratings.csv -k 1-4
      standout unicity ratings.csv -k 2 --within-value none --bin-days 30
      standout unicity traces.csv --grid 0.001 --grid 0.01 --time-bin hour

    \b
    JSON output:
      by       what is known about an entry
      unicity  k, share, low, high, n, baseline, too_few_entries
      read     how the data was read
      fingerprint, version
    With --grid or --geohash, each row of unicity also has places and time_bin,
    and too_few_points instead of too_few_entries.
    """
    if grids or geohashes:
        if bin_days is not None:
            raise ParameterError("--bin-days is not used with places: set --time-bin")
        from standout.measure.unicity_grid import Draw

        draw = Draw(parse_counts("-k", entry_counts), targets, seed, threads)
        show_grid(source, data, (grids, geohashes, time_bins), draw, chart, as_json)
        return
    if len(time_bins) > 1 or chart is not None:
        given = "--chart" if chart is not None else "several --time-bin"
        raise ParameterError(f"{given} can only be used with places: add --grid or --geohash")
    if time_bins:
        source = source.with_settings(time_bin=time_bins[0])
    from standout.measure.unicity import unicity as measure_unicity

    value = parse_number_or_none("--within-value", within_value)
    counts = parse_counts("-k", entry_counts)
    with progress() as report, naming_options(k="-k", value="--within-value", time="--bin-days"):
        release = source.read_entries([data], report, "unicity")
        results = measure_unicity(
            release, counts, value=value, time=bin_days, targets=targets, seed=seed, threads=threads, progress=report
        )
    _show(results, _knowledge(value, bin_days), release, as_json)
    suggest_index(release, data)


def _knowledge(value: float | None, bin_days: float | None) -> str:
    text = "item" + ("" if value is None else ", value" if value == 0 else f", value ± {value:g}")
    return text + ("" if bin_days is None else f", date to {bin_days:g} days")


def _show(results: "Sequence[Unicity]", knowledge: str, release: "Release", as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "by": knowledge,
                "unicity": list(map(_to_dict, results)),
                "read": reading_json(release),
                **release_stamp(release),
            }
        )
        return
    table = borderless_table()
    table.add_column("k")
    number_columns(table, "singled out", "targets", "too few entries")
    for result in results:
        share = percent_interval(result.share.value, result.share.low, result.share.high)
        table.add_row(str(result.k), share, f"{result.share.n:,}", f"{result.too_few_entries:,}")
    print_table(table, f"Records that k of their entries single out, by {knowledge}")


def _to_dict(result: "Unicity") -> dict[str, float | int | None]:
    share = result.share
    return {
        "k": result.k,
        "share": share.value,
        "low": share.low,
        "high": share.high,
        "n": share.n,
        "baseline": share.baseline,
        "too_few_entries": result.too_few_entries,
    }


# Unicity of traces by resolution, on the console, as JSON and as a chart.


CHARTS = (".svg", ".png", ".html")
Resolutions = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def show_grid(
    source: Source, data: str, resolutions: Resolutions, draw: "Draw", chart: Path | None, as_json: bool
) -> None:
    """Measure the unicity of traces for grids, geohashes and time bins, and show it."""
    from standout.data.store import is_index
    from standout.measure.unicity_grid import measure_grid, parse_resolutions, unicity_grid

    if resolutions[0] and resolutions[1]:
        raise ParameterError("--grid and --geohash exclude each other: set one of them")
    _check_chart(chart, data)
    with progress() as report, naming_options(time_bin="--time-bin", time_bins="--time-bin", source="DATA"):
        cells, bins = parse_resolutions(*resolutions)
        if is_index(Path(data)):
            release = source.read_entries([data], report, "unicity")
            grids, geohashes, time_bins = resolutions
            result = unicity_grid(
                release,
                grids=grids,
                geohashes=geohashes,
                time_bins=time_bins,
                points=draw.points,
                targets=draw.targets,
                seed=draw.seed,
                threads=draw.threads,
                progress=report,
            )
        else:

            def read_at(cell: "PlaceCells", time_bin: "TimeBin | None") -> "Release":
                width = {} if time_bin is None else {"time_bin": str(time_bin)}
                return source.with_settings(**cell.settings(), **width, repeats="keep").read([data], report)

            result = measure_grid(read_at, cells, bins, draw, report)
    if chart is not None:
        _write_chart(result, chart)
    _show_unicity_grid(result, as_json)


def _check_chart(path: Path | None, data: str) -> None:
    if path is None:
        return
    if path.suffix not in CHARTS:
        raise ParameterError(f"--chart must end in {', '.join(CHARTS)}, got {path.name!r}")
    output_file(path, "--chart", [data])


def _write_chart(result: "UnicityGrid", path: Path) -> None:
    from standout.core.files import write_content
    from standout.report.views import unicity_chart, unicity_page

    if path.suffix == ".png":
        write_content(path, unicity_chart(result.cells).png())
    else:
        text = unicity_chart(result.cells).svg("Unicity by resolution") if path.suffix == ".svg" else ""
        write_content(path, (text or unicity_page(result.cells)).encode())


def _show_unicity_grid(result: "UnicityGrid", as_json: bool) -> None:
    if as_json:
        rows, read = list(map(_to_dict_unicity_grid, result.cells)), reading_json(result.release)
        print_json({"unicity": rows, "read": read, **release_stamp(result.release)})
        return
    table = borderless_table()
    for title in ("places", "time", "points"):
        table.add_column(title)
    number_columns(table, "singled out", "targets", "too few points")
    for cell in result.cells:
        share = percent_interval(cell.share.value, cell.share.low, cell.share.high)
        time_bin = "unknown" if cell.time_bin is None else cell.time_bin
        numbers = f"{cell.share.n:,}", f"{cell.too_few_points:,}"
        table.add_row(cell.places, time_bin, str(cell.points), share, *numbers)
    print_table(table, "Traces that some of their points single out, by resolution")


def _to_dict_unicity_grid(cell: "UnicityCell") -> dict[str, float | int | str | None]:
    share = cell.share
    return {
        "places": cell.places,
        "time_bin": cell.time_bin,
        "k": cell.points,
        "share": share.value,
        "low": share.low,
        "high": share.high,
        "n": share.n,
        "baseline": share.baseline,
        "too_few_points": cell.too_few_points,
    }
