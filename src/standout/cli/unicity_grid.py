"""Unicity of traces by resolution, on the console, as JSON and as a chart."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from standout.cli.console import (
    borderless_table,
    number_columns,
    percent_interval,
    print_json,
    print_table,
    progress,
    release_stamp,
)
from standout.cli.option_errors import naming_options
from standout.cli.output_folders import output_file
from standout.cli.reading_report import reading_json
from standout.cli.source_options import SourceOptions
from standout.core.errors import ParameterError

if TYPE_CHECKING:
    from standout.ingest.place_cells import PlaceCells
    from standout.ingest.time_bins import TimeBin
    from standout.release.model import Release
    from standout.theory.unicity_grid import Draw, UnicityCell, UnicityGrid

__all__ = ["show_grid"]

CHARTS = (".svg", ".png", ".html")
Resolutions = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def show_grid(
    source: SourceOptions,
    data: str,
    resolutions: Resolutions,
    draw: "Draw",
    chart: Path | None,
    as_json: bool,
) -> None:
    """Measure the unicity of traces for grids, geohashes and time bins, and show it."""
    from standout.release.index_writer import is_index
    from standout.theory.unicity_grid import measure_grid, parse_resolutions, unicity_grid

    if resolutions[0] and resolutions[1]:
        raise ParameterError("--grid and --geohash exclude each other: set one of them")
    _check_chart(chart, data)
    with progress() as report, naming_options(time_bin="--time-bin", time_bins="--time-bin", source="DATA"):
        cells, bins = parse_resolutions(*resolutions)
        if is_index(Path(data)):
            release = source.read([data], report)
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
                place = cell.settings()
                options = replace(
                    source,
                    grid=place.get("grid"),
                    geohash=place.get("geohash"),
                    time_bin=None if time_bin is None else str(time_bin),
                    repeats="keep",
                )
                return options.read([data], report)

            result = measure_grid(read_at, cells, bins, draw, report)
    if chart is not None:
        _write_chart(result, chart)
    _show(result, as_json)


def _check_chart(path: Path | None, data: str) -> None:
    if path is None:
        return
    if path.suffix not in CHARTS:
        raise ParameterError(f"--chart must end in {', '.join(CHARTS)}, got {path.name!r}")
    output_file(path, "--chart", [data])


def _write_chart(result: "UnicityGrid", path: Path) -> None:
    from standout.core.atomic_files import write_content
    from standout.report.unicity_chart import unicity_chart, unicity_page

    if path.suffix == ".png":
        write_content(path, unicity_chart(result.cells).png())
    else:
        text = unicity_chart(result.cells).svg("Unicity by resolution") if path.suffix == ".svg" else ""
        write_content(path, (text or unicity_page(result.cells)).encode())


def _show(result: "UnicityGrid", as_json: bool) -> None:
    if as_json:
        rows, read = list(map(_to_dict, result.cells)), reading_json(result.release)
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


def _to_dict(cell: "UnicityCell") -> dict[str, float | int | str | None]:
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
