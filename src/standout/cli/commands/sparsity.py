"""Measures of a history: `standout sparsity`, `unicity`, and `bounds`, the theorems of the paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from standout.cli import options
from standout.cli.console import percent, percent_interval, print_json, print_table, print_text
from standout.cli.error_lines import naming_options
from standout.cli.options import option
from standout.cli.reading import Source, data_command, reading_options
from standout.core.errors import ParameterError
from standout.core.progress import progress_bar as progress

if TYPE_CHECKING:
    from standout.data.release import Release
    from standout.ingest.places import PlaceCells
    from standout.ingest.times import TimeBin
    from standout.measure.bounds import Check
    from standout.measure.unicity import UnicityGrid

RESOLUTION = "Resolution of places and times (all repeatable)"
CHARTS = (".svg", ".png", ".html")
DELTAS, LINEUPS = (0.1, 0.25, 0.5, 0.75, 0.9), (2, 10, 100)
VERDICTS = {True: "holds", False: "does not hold", None: "undecided"}
DENOMINATORS = {"first": " / |supp(r)|", "union": " / union", None: ""}


@data_command
@option("--within-value", "E", "Largest difference between equal values.", show_default="values do not matter")
@option("--within-days", "DAYS", "Largest difference between equal dates.", show_default="dates do not matter")
@option("--sample", "N", "Number of records to examine.", show_default="all")
@options.seed_option
@options.worker_options
@options.table_option
def sparsity(
    data: str,
    source: Source,
    within_value: float | None,
    within_days: float | None,
    output: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure how similar each record's nearest neighbour is.

    The similarity of two records is the number of items they share, divided by
    the number of items that either has. With --within-value and --within-days an
    item is shared only if its values and dates are close as well. The table is
    Definition 1 of the paper: a release is (ε, δ)-sparse if at most a share δ of
    the records has a neighbour more similar than ε.

    \b
    Example:
      standout sparsity ratings.csv
      standout sparsity ratings.index --within-value 1 --within-days 14
    """
    from standout.evaluate.simulation import write_table
    from standout.know.similarity import Within
    from standout.measure.sparsity import sparsity as measure_sparsity

    with naming_options(value="--within-value", time="--within-days"):
        similarity = Within(value=within_value, time=within_days)
    with progress() as report:
        release = source.read([data], report, purpose="sparsity")
        result = measure_sparsity(release, similarity, progress=report, **settings)
    if output is not None:
        write_table(result.curve(), output)
    criterion = "items in common" + ("" if within_value is None else f", values within {within_value:g}")
    criterion += "" if within_days is None else f", dates within {within_days:g} days"
    rows = result.table().to_dicts()
    if as_json:
        sizes = {"by": criterion, "records": len(result.records), "of": result.total}
        print_json({**sizes, "table": rows, "curve": result.curve().to_dicts()}, release)
    else:
        shares = [(f"{row['epsilon']:g}", percent_interval(row["delta"], row["low"], row["high"])) for row in rows]
        print_text(f"{result}\nby {criterion}")
        print_table(("ε", "δ"), shares, "Share δ of records with a neighbour more similar than ε")
        print_text(
            f"{percent(1 - result.survival(0.5).value)} of the records have no neighbour that is at least half "
            "similar. Any record that is at least half similar to theirs is therefore their own."
        )


@data_command
@option("-k --points entry_counts", "K,…", "Numbers of known entries: 4, or 1,2,4, or 1-4.", default="1-4")
@option("--within-value", "E|none", "Accuracy of known values; none: values are unknown.", default="0")
@option("--bin-days", "DAYS", "Accuracy of known dates: bins of this many days.", show_default="dates are unknown")
@option("--targets", "N", "Number of targets.", default=1000)
@option("--grid grids", "DEGREES", "Items are squares of a grid, like 0.01 degrees.", RESOLUTION, multiple=True)
@option("--geohash geohashes", "LETTERS", "Items are geohashes of 1 to 12 letters.", RESOLUTION, multiple=True)
@option("--time-bin time_bins", "WIDTH", "Width of times: hour, week, 15min, 2d.", RESOLUTION, multiple=True)
@option("--chart", "FILE", "Also draw a chart of the resolutions: NAME.svg, NAME.png or NAME.html.")
@options.seed_option
@options.worker_options
def unicity(
    data: str,
    source: Source,
    entry_counts: list[int],
    within_value: float | None,
    bin_days: float | None,
    grids: tuple[str, ...],
    geohashes: tuple[str, ...],
    time_bins: tuple[str, ...],
    chart: Path | None,
    as_json: bool,
    **settings: Any,
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
    """
    is_grid = bool(grids or geohashes)
    if is_grid and bin_days is not None:
        raise ParameterError("--bin-days is not used with places: set --time-bin")
    if grids and geohashes:
        raise ParameterError("--grid and --geohash exclude each other: set one of them")
    if not is_grid and (len(time_bins) > 1 or chart is not None):
        given = "--chart" if chart is not None else "several --time-bin"
        raise ParameterError(f"{given} can only be used with places: add --grid or --geohash")
    if chart is not None:
        if chart.suffix not in CHARTS:
            raise ParameterError(f"--chart must end in {', '.join(CHARTS)}, got {chart.name!r}")
        options.output_file(chart, "--chart", [data])
    from standout.measure.unicity import unicity as measure_unicity

    if is_grid:
        places = {"grids": grids, "geohashes": geohashes, "time_bins": time_bins}
        grid = _grid(source, data, points=entry_counts, **places, **settings)
        if chart is not None:
            _write_chart(grid, chart)
        release, knowledge = grid.release, "place" + (", time" if time_bins else "")
        rows = [
            {"places": cell.places, "time_bin": cell.time_bin} | _row(cell.points, cell.share, cell.too_few_points)
            for cell in grid.cells
        ]
    else:
        source = source.with_settings(time_bin=time_bins[0]) if time_bins else source
        with progress() as report, naming_options(k="-k", value="--within-value", time="--bin-days"):
            release = source.read([data], report, purpose="unicity")
            results = measure_unicity(
                release, entry_counts, value=within_value, time=bin_days, progress=report, **settings
            )
        accuracy = f", value ± {within_value:g}" if within_value else ", value"
        knowledge = "item" + ("" if within_value is None else accuracy)
        knowledge += "" if bin_days is None else f", date to {bin_days:g} days"
        rows = [_row(each.k, each.share, each.too_few_entries) for each in results]
    if as_json:
        print_json({"by": knowledge, "unicity": rows}, release)
    else:
        heads = (*(("places", "<time") if is_grid else ()), "<k", "singled out", "targets", "too few entries")
        cells = []
        for row in rows:
            place = (row["places"], row["time_bin"] or "unknown") if is_grid else ()
            share = percent_interval(row["share"], row["low"], row["high"])
            cells.append((*place, f"{row['k']}", share, f"{row['n']:,}", f"{row['too_few']:,}"))
        print_table(heads, cells, f"Records that k of their entries single out, by {knowledge}")


def _grid(source: Source, data: str, **settings: Any) -> "UnicityGrid":
    """Measure the unicity of traces for grids, geohashes and time bins; a source is read anew for each of them."""
    from standout.data.store import is_index
    from standout.measure.unicity import unicity_grid

    with progress() as report, naming_options(time_bin="--time-bin", time_bins="--time-bin", source="DATA"):

        def read_at(cell: "PlaceCells", time_bin: "TimeBin | None") -> "Release":
            width = {} if time_bin is None else {"time_bin": str(time_bin)}
            return source.with_settings(**cell.settings(), **width, repeats="keep").read([data], report)

        traces = source.read([data], report, purpose="unicity") if is_index(Path(data)) else read_at
        return unicity_grid(traces, **settings, progress=report)


def _write_chart(result: "UnicityGrid", path: Path) -> None:
    from standout.core.files import write_content
    from standout.report.views import unicity_chart, unicity_page

    if path.suffix == ".html":
        write_content(path, unicity_page(result.cells))
    else:
        chart = unicity_chart(result.cells)
        write_content(path, chart.png() if path.suffix == ".png" else chart.svg("Unicity by resolution"))


def _row(k: int, share: Any, too_few: int) -> dict[str, Any]:
    ends = {"share": share.value, "low": share.low, "high": share.high}
    return {"k": k, **ends, "n": share.n, "baseline": share.baseline, "too_few": too_few}


@options.command()
@click.argument("data", required=False, type=options.DATA)
@option("--records", "N", "Number of records, if DATA is not given.")
@option("--epsilon", "FLOAT", "ε of the theorems.", default=0.01)
@option("--delta", "FLOAT", "δ to check on DATA.", default=0.5)
@option("-k", "N", "Length of the lineup to check on DATA.", default=10)
@option("--lambda lam", "FLOAT", "λ of Theorem 5: a record is in the sample with probability 1/λ.", default=8.0)
@option("--gamma", "FLOAT", "γ of Theorem 5.", default=0.1)
@option("--wrong", "N", "Number of known facts that are wrong.", options.ADVERSARY, default=0)
@option("--value-error", "E|none", "Error of known values; none: unknown.", options.ADVERSARY, default="0")
@option("--time-error", "DAYS|none", "Error of known dates; none: unknown.", options.ADVERSARY, default="0")
@option("--targets", "N", "Number of targets.", default=200)
@options.seed_option
@options.threads_option
@options.table_option
@reading_options
@options.json_option
def bounds(
    data: str | None,
    source: Source,
    records: int | None,
    epsilon: float,
    wrong: int,
    value_error: float | None,
    time_error: float | None,
    output: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Show how many known facts suffice by the paper's theorems.

    With --records N the bounds are for N records, whatever their content (the
    Netflix Prize data has 480189). With DATA each bound is also compared with a
    measurement, for two definitions of similarity. If the sum is divided by
    |supp(r)|, Lemma 1 of the paper holds; if by the union, it does not. Known
    facts are exact unless --wrong, --value-error or --time-error is given.

    \b
    Example:
      standout bounds --records 480189
      standout bounds ratings.csv --delta 0.9
      standout bounds ratings.csv --value-error 1 --time-error none
    """
    from standout.evaluate.simulation import write_table
    from standout.know.adversary import Adversary
    from standout.measure.bounds import check, table

    adversary = None  # who knows exact facts; the theorems say how many
    if wrong or value_error != 0 or time_error != 0:
        adversary = Adversary(max(wrong, 1), wrong, value_error=value_error, time_error=time_error)
    if data is None:
        if records is None:
            raise ParameterError("bounds needs DATA or --records N")
        if adversary is not None:
            raise ParameterError("--wrong, --value-error and --time-error need DATA to be checked on")
        if output is not None:
            raise ParameterError("--output needs DATA: it is the table of the checks on DATA")
        _show_bounds(records, epsilon, [], None, as_json)
        return
    if records is not None:
        raise ParameterError("bounds needs DATA or --records N, not both")
    with progress() as report:
        release = source.read([data], report, purpose="the theorems")
        checks = check(release, epsilon=epsilon, adversary=adversary, **settings)
    if output is not None:
        write_table(table(checks), output)
    _show_bounds(release.n_records, epsilon, checks, release, as_json)


def _show_bounds(
    records: int, epsilon: float, checks: "Sequence[Check]", release: "Release | None", as_json: bool
) -> None:
    from standout.measure.bounds import facts_for_lineup, facts_needed, table

    facts = {delta: facts_needed(records, epsilon, delta) for delta in DELTAS}
    lineups = {delta: {str(k): facts_for_lineup(records, k, delta) for k in LINEUPS} for delta in DELTAS}
    if as_json:
        needed = [{"delta": delta, "facts": facts[delta], "lineups": lineups[delta]} for delta in DELTAS]
        content: dict[str, object] = {"records": records, "epsilon": epsilon, "needed": needed}
        print_json(content | ({"checks": table(checks).to_dicts()} if checks else {}), release)
        return
    heads = ("δ", "similar or unique", *(f"lineup of {k}" for k in LINEUPS))
    rows = [(f"{delta:g}", str(facts[delta]), *map(str, lineups[delta].values())) for delta in DELTAS]
    print_table(heads, rows, f"Known facts that suffice: {records:,} records, ε = {epsilon:g}")
    print_text(
        "With this many facts, a matching record is at least 1 − ε − δ similar to the target [Theorem 1], "
        f"or is the target itself if records are sparse [Theorem 2], with probability {1 - epsilon:g}."
    )
    if checks:
        rows = []
        for check in checks:
            number = f", m = {check.settings.m}" if check.settings.m else ""
            name = f"{check.theorem} {check.statement}{DENOMINATORS[check.settings.over]}{number}"
            value, low, high = check.measured.value, check.measured.low, check.measured.high
            measured = f"{value:.3g}" + ("" if low == high else f" ({low:.3g}–{high:.3g})")
            rows.append((name, measured, f"{check.sign} {check.bound:.3g}", VERDICTS[check.holds]))
        print_text("")
        print_table(("theorem", "measured", "bound", ""), rows, "The theorems on this release")
        notes = (f"Theorem {check.theorem}, {check.statement}: {check.note}" for check in checks if check.note)
        print_text(*(f"- {note}" for note in dict.fromkeys(notes)))
