"""The steps that are tried by default: each kind of step, and each column, in several strengths."""

import math
from collections.abc import Iterator

import numpy as np

from standout.core import elementary
from standout.core.arrays import Floats
from standout.data.column import Column
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.sanitizing.step import Step
from standout.sanitizing.steps import (
    CapRecords,
    ClusterRecords,
    DropColumn,
    DropEntries,
    DropRareItems,
    DropRows,
    DropTopItems,
    GeneralizeColumn,
    KmSuppress,
    MergeRepeats,
    PerturbTime,
    PerturbValue,
    RandomizedResponse,
    RoundColumn,
    RoundTime,
    RoundValue,
    SampleRecords,
    SuppressCells,
    SuppressToK,
    SwapColumn,
    TopCode,
)

FAMILIES: dict[str, tuple[type[Step], ...]] = {
    "times": (RoundTime, PerturbTime),
    "values": (RoundValue, PerturbValue, RandomizedResponse),
    "items": (DropRareItems, DropTopItems, KmSuppress),
    "repeats": (MergeRepeats,),
    "entries": (DropEntries, CapRecords),
    "records": (SampleRecords, ClusterRecords),
}
"""Steps of one family are alternatives: they are not combined with each other."""
SAFE_SAMPLE, MIN_SAMPLE = 0.6, 10
"""A sample of this share of the limit meets it even if everybody in it is identified; its minimum size."""
MAX_KM_ENTRIES = 20_000_000
"""On larger releases kᵐ-suppression is not tried, because it counts pairs of items."""


def step_family(step: Step) -> str:
    """What a step changes: steps of one family are alternatives."""
    if isinstance(step, (SuppressToK, DropRows)):
        return CLASSES
    if columns := step_columns(step):
        return "column " + ",".join(columns)
    return next((name for name, kinds in FAMILIES.items() if isinstance(step, kinds)), step.name)


def built_in_steps(release: Release, limit: float) -> list[Step]:
    """Single steps that suit the release, weak ones first in each family.

    One of them is a sample so small that it meets a limit for everybody even if all people in it are
    identified.
    """
    steps: list[Step] = []
    if release.span:
        steps += [RoundTime(to) for to in ("month", "year", "none")] + [PerturbTime(90), PerturbTime(365)]
    steps += _value_steps(release)
    steps += [DropRareItems(k) for k in (3, 10, 50) if _suits_drop_rare_items(release, k)]
    steps += [DropTopItems(k) for k in _top_counts(release)]
    steps += [KmSuppress(2, 2)] if release.n_entries <= MAX_KM_ENTRIES else []
    steps += [MergeRepeats("last")] if release.has_repeats else []
    steps += [DropEntries(share) for share in (0.25, 0.5, 0.75, 0.9)]
    steps += [CapRecords(length) for length in _caps(release)]
    samples = (0.5, 0.2, round(SAFE_SAMPLE * limit, 4))
    steps += [SampleRecords(share) for share in samples if share * release.n_records >= MIN_SAMPLE]
    return steps + [ClusterRecords(k) for k in (2, 5, 10, 25) if 4 * k <= release.n_records]


def _value_steps(release: Release) -> list[Step]:
    levels = release.levels
    if levels is None or len(levels) < 2:
        return []
    response: list[Step] = [RandomizedResponse(3), RandomizedResponse(1)]
    if isinstance(levels, tuple):
        return [PerturbValue(None, 0.5), *response, RoundValue(to="none")]
    quarter = float(levels[-1] - levels[0]) / 4
    smallest_gap = float(np.diff(levels).min())
    noise: list[Step] = [
        PerturbValue(max(quarter, smallest_gap), 0.5),
        PerturbValue(max(2 * quarter, smallest_gap), 1.0),
    ]
    return [RoundValue(bins=3), RoundValue(bins=2), *noise, *response, RoundValue(to="none")]


def _suits_drop_rare_items(release: Release, k: int) -> bool:
    """Whether dropping items with a support below k drops some, and keeps most entries."""
    rare = release.support < k
    return bool(rare.any()) and float(release.item_entries[rare].sum()) < release.n_entries / 2


def _top_counts(release: Release) -> list[int]:
    return sorted({k for k in (release.n_items // 200, release.n_items // 50) if k >= 1})


def _caps(release: Release) -> list[int]:
    """The median number of entries of a record, and a quarter of it."""
    median = int(np.median(release.lengths))
    return sorted({length for length in (median // 4, median) if length >= 2}, reverse=True)


# Steps on columns: each column in several strengths, then small classes.


CLASSES = "classes"
"""Family of the steps that act on classes of rows."""
MOST_STEPS, MOST_DROPS = 64, 40
"""Number of single steps, and of columns whose removal is tried, at most."""
CLASS_COLUMNS = 5
"""Number of columns that form classes: with more, nearly every row is alone."""
CLASS_SIZES = (3, 10)
BANDS = (16, 8, 4)
"""Numbers are rounded to about this many values between the 5 % and the 95 % quantile."""
TAIL = 0.02
"""Share of the rows beyond each bound of top-coding."""
RARE_SHARES, FEWEST = (0.01, 0.05), 3
"""Values that a smaller share of the rows has are emptied; those of fewer rows than this always."""
SWAPPED, FEWEST_TO_SWAP = (0.2, 0.5), 20
"""Shares of the rows that are swapped, and the fewest rows with which it is tried."""


def step_columns(step: Step) -> tuple[str, ...]:
    """Names of the columns that a step names."""
    return tuple(getattr(step, "columns", ())) or tuple(filter(None, [getattr(step, "column", "")]))


def table_built_in_steps(table: Release, adversary: Adversary) -> list[Step]:
    """Single steps that suit a table and an adversary, for at most 64 of them.

    Only columns that the adversary may know are changed. Quasi-identifiers come first, then columns with much
    information. If there are too many columns, the others are only dropped.
    """
    columns = _known_columns(table, adversary)
    drops: list[Step] = [DropColumn(column.name) for column in columns[:MOST_DROPS]]
    if len(columns) == table.n_columns == 1:
        drops = []
    classes = _class_steps(table, columns)
    steps: list[Step] = []
    for column in columns:
        weaker = list(_column_steps(column))
        if len(steps) + len(weaker) + len(drops) + len(classes) <= MOST_STEPS:
            steps += weaker
    return [*steps, *drops, *classes]


def _known_columns(table: Release, adversary: Adversary) -> list[Column]:
    """Columns that vary and that the adversary may know, the most important first."""
    names = None if adversary.columns is None else set(adversary.columns)
    columns = [
        column
        for column in table.columns
        if (names is None or names & {column.name, column.attribute}) and column_bits(column) > 0
    ]
    return sorted(columns, key=lambda column: (column.role != "quasi-identifier", -column_bits(column)))


def column_bits(column: Column) -> float:
    """Entropy of a cell in bits, an empty one counted as a value; of a set, of its members."""
    share = column.counts / max(column.n_rows, 1)
    both = np.concatenate([share, 1 - share]) if column.starts is not None else share
    return -math.fsum(both * elementary.log(np.where(both > 0, both, 1.0))) / math.log(2.0)


def _column_steps(column: Column) -> Iterator[Step]:
    """Steps on one column, weak ones first; none that would change nothing."""
    yield from (step for step in _level_steps(column) if _merges(step, column))
    if column.kind in ("category", "set") and column.hierarchy is None:
        yield from (SuppressCells(column.name, below) for below in _useful_counts(column))
    if column.n_rows >= FEWEST_TO_SWAP:
        yield from (SwapColumn((column.name,), share) for share in SWAPPED)


def _level_steps(column: Column) -> Iterator[Step]:
    """Steps that map the values of a column."""
    name = column.name
    if column.hierarchy is not None:
        yield from (GeneralizeColumn(name, height) for height in _useful_heights(column))
    elif column.kind == "number":
        yield from _number_steps(column)
    elif column.kind == "date":
        yield from (GeneralizeColumn(name, "month"), GeneralizeColumn(name, "year"))
    elif column.kind == "ordered":
        yield from (GeneralizeColumn(name, size) for size in (2, 4) if column.n_levels >= 2 * size)


def _merges(step: Step, column: Column) -> bool:
    """Whether the step gives two values that occur the same name."""
    change = step.level_change(column)
    assert change is not None
    occurs = np.flatnonzero(column.counts[:-1])
    return len(np.unique(change.lookup[occurs])) < len(occurs)


def _useful_heights(column: Column) -> list[int]:
    """Heights at which fewer groups are left than below, and at least two."""
    assert column.hierarchy is not None
    left, heights = column.n_levels, []
    for height in range(1, column.hierarchy.height + 1):
        groups = len(np.unique(column.hierarchy.group_of(height)))
        if 2 <= groups < left:
            heights.append(height)
            left = groups
    return heights


def _number_steps(column: Column) -> Iterator[Step]:
    levels = np.asarray(column.levels, np.float64)
    if len(levels) < 3:
        return
    bottom, top = _quantile(column, TAIL), _quantile(column, 1 - TAIL)
    if bottom < top:
        yield TopCode(column.name, bottom, top)
    span = _quantile(column, 0.95) - _quantile(column, 0.05) or float(levels[-1] - levels[0])
    widths = (_round_number(span / bands) for bands in BANDS)
    yield from (RoundColumn(column.name, width) for width in dict.fromkeys(widths))


def _quantile(column: Column, share: float) -> float:
    counts: Floats = np.cumsum(column.counts[:-1])
    return float(column.levels[int(np.searchsorted(counts, share * counts[-1]))])


def _round_number(number: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, on a logarithmic scale.

    >>> [_round_number(number) for number in (0.23, 3.0, 8.0)]
    [0.2, 2.0, 10.0]
    """
    exponent = math.floor(math.log10(number))
    choices = [float(f"{digit}e{power}") for power in (exponent, exponent + 1) for digit in (1, 2, 5)]
    return min(choices, key=lambda choice: abs(math.log(choice / number)))


def _useful_counts(column: Column) -> list[int]:
    """Numbers of rows below which a value is rare: some values are, and at least two are not."""
    counts = column.counts[:-1]
    useful: dict[int, int] = {}
    for share in RARE_SHARES:
        below = max(FEWEST, math.ceil(share * column.n_rows))
        kept = int(np.count_nonzero(counts >= below))
        if 2 <= kept < np.count_nonzero(counts):
            useful.setdefault(kept, below)
    return list(useful.values())


def _class_steps(table: Release, columns: list[Column]) -> list[Step]:
    """Steps against small classes of the most important columns that are known."""
    names = tuple(column.name for column in columns[:CLASS_COLUMNS])
    sizes = [k for k in CLASS_SIZES if 2 * k <= table.n_records]
    if len(names) < 2:
        return []
    return [*(SuppressToK(names, k) for k in sizes), *(DropRows(names, k) for k in sizes[:1])]
