"""Releases and tables in notebooks: sizes and distributions. No id and no cell is shown."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from standout.core.formatting import count, percent
from standout.release.model import Release
from standout.report.figures import Cells, Figure
from standout.report.figures import Table as Cellwise
from standout.report.interval_charts import ShareBar, share_bars
from standout.report.view import View
from standout.tables.column import Column
from standout.tables.model import Table

__all__ = ["release_view", "table_view"]

MOST_BINS = 12
MOST_COLUMNS = 20


def release_view(release: Release) -> View:
    """Sizes of a release, and how many people have few entries or many."""
    bars = _length_bars(release.lengths)
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    figure = Figure(
        "People, by number of entries",
        f"Share of people by the number of their entries. {shares}.",
        partial(share_bars, bars),
        Cellwise(("", "number"), list(_release_rows(release))),
    )
    entries, people = (
        count(release.n_entries, "entry", "entries"),
        count(release.n_records, "person", "people"),
    )
    return View(f"{entries} of {people} about {count(release.n_items, 'item', 'items')}", figure)


def _release_rows(release: Release) -> Sequence[Cells]:
    times = release.time_range
    rows: list[Cells] = [
        ("People (records)", count(release.n_records)),
        ("Items", count(release.n_items)),
        ("Entries", count(release.n_entries)),
        ("Different values", count(release.n_levels) if release.n_levels else "no values"),
        ("Dates", "no times" if times is None else f"{times[0]} to {times[1]}"),
    ]
    if release.n_records:
        rows.append(("Entries of the median person", f"{np.median(release.lengths):,.0f}"))
    if release.n_items:
        rows.append(("People who have the median item", f"{np.median(release.support):,.0f}"))
    return rows


def _length_bars(lengths: NDArray[np.int64]) -> list[ShareBar]:
    """Shares of people in bins of their number of entries that grow by the same factor."""
    most, edges, factor = int(lengths.max(initial=0)), [0, 1], 2
    while factor**MOST_BINS <= most:
        factor *= 2
    while edges[-1] <= most:
        edges.append(edges[-1] * factor)
    counts = np.histogram(lengths, np.array(edges))[0]
    used = np.flatnonzero(counts)
    bins = list(pairwise(edges))
    shown = range(used[0], used[-1] + 1) if len(used) else range(1)
    total = max(len(lengths), 1)
    return [ShareBar("", _span(*bins[i]), counts[i] / total) for i in shown]


def _span(low: int, end: int) -> str:
    return count(low, "entry", "entries") if end - low == 1 else f"{low:,} to {end - 1:,} entries"


def table_view(table: Table) -> View:
    """The columns of a table, and how many rows each of them singles out alone."""
    bars = [ShareBar("", column.name, _unique_share(column)) for column in table.columns[:MOST_COLUMNS]]
    shares = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    figure = Figure(
        "Rows that one column singles out",
        f"Share of rows whose value in this column no other row has. {shares}.",
        partial(share_bars, bars),
        Cellwise(
            ("column", "kind", "role", "different values", "empty cells", "singles out"),
            [_column_cells(column) for column in table.columns[:MOST_COLUMNS]],
        ),
    )
    more = table.n_columns - MOST_COLUMNS
    remarks = [f"The first {MOST_COLUMNS} columns; there are {more:,} more."] if more > 0 else []
    if table.history is not None:
        remarks.append(f"With a history of {count(table.history.n_entries, 'entry', 'entries')}.")
    rows = count(table.n_rows, "row", "rows")
    return View(f"{rows} × {count(table.n_columns, 'column', 'columns')}", figure, tuple(remarks))


def _column_cells(column: Column) -> Cells:
    empty, unique = int(column.counts[column.missing]), percent(_unique_share(column))
    return column.name, column.kind, column.role, count(column.n_levels), count(empty), unique


def _unique_share(column: Column) -> float | None:
    """Share of rows whose value is unique; None for sets, where members are counted."""
    if column.starts is not None:
        return None
    return int(np.count_nonzero(column.counts[: column.missing] == 1)) / max(column.n_rows, 1)
