"""Summary of a release: sizes, quantiles, and the table of the paper's appendix."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import offsets
from standout.core.errors import ParameterError
from standout.core.json_files import JsonObject
from standout.data.build import count_codes
from standout.data.entries import distinct_items, record_pieces
from standout.data.labels import Provenance
from standout.data.release import Release

TOPS = (100, 500, 1000)
AT_LEAST = (1, 5, 10)
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
MOST_SHARES = 20
MOST_DIGITS = 1e15
LEAST_ENTRIES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """Sizes, shares and quantiles of a release: counts and rates only."""

    fingerprint: str
    records: int
    items: int
    entries: int
    density: float
    time_range: tuple[str, str] | None
    time_unit: str | None
    zone: str | None
    values: int
    value_shares: dict[str, float]
    without_value: int
    without_time: int
    repeats: int
    lengths: dict[str, float]
    distinct_items: dict[str, float]
    supports: dict[str, float]
    outside_top: dict[int, dict[int, float]]
    provenance: Provenance

    def __repr__(self) -> str:
        sizes = f"{self.entries:,} entries, {self.records:,} records × {self.items:,} items"
        return f"<Description: {sizes}, density {self.density:.3g}, {self.values:,} values>"

    def to_dict(self) -> JsonObject:
        """Return the fields as a dictionary for JSON."""
        return asdict(self)


def describe(release: Release) -> Description:
    """Describe a release: sizes, density, quantiles, and the table of the paper's appendix.

    Examples
    --------
    >>> import standout as so
    >>> description = so.describe(so.synthesize(records=500, items=300, entries=9_000, seed=1))
    >>> description.lengths["50%"], description.outside_top[100][1]
    (8.0, 0.522)
    """
    if not release.n_items:
        raise ParameterError("describe needs entries (who, what, when); the columns of a survey are in release.columns")
    times, clock = release.check().time_range, release.clock
    return Description(
        fingerprint=release.fingerprint,
        records=release.n_records,
        items=release.n_items,
        entries=release.n_entries,
        density=int(release.support.sum()) / (release.n_records * release.n_items),
        time_range=None if times is None else (times[0].isoformat(), times[1].isoformat()),
        time_unit=None if clock is None else clock.unit,
        zone=None if clock is None else clock.zone,
        values=release.n_levels,
        value_shares=_value_shares(release),
        without_value=release.provenance.without_value,
        without_time=release.provenance.without_time,
        repeats=release.n_entries - int(release.support.sum()),
        lengths=_quantiles(release.lengths),
        distinct_items=_quantiles(release.distinct_items),
        supports=_quantiles(release.support),
        outside_top=outside_top(release),
        provenance=release.provenance,
    )


def outside_top(release: Release) -> dict[int, dict[int, float]]:
    """Share of records with at least 1, 5, 10 items outside the top 100, 500, 1000 [the paper's appendix]."""
    tops = [top for top in TOPS if top < release.n_items]
    counts = np.zeros((len(tops), release.n_records), np.int64)
    for records, part in record_pieces(release.by_record):
        distinct = distinct_items(part)
        for t, top in enumerate(tops):
            counts[t, records] = np.diff(offsets(release.rank[distinct.item] > top)[distinct.start])
    return {top: {least: float((counts[t] >= least).mean()) for least in AT_LEAST} for t, top in enumerate(tops)}


def _quantiles(numbers: NDArray[np.int64]) -> dict[str, float]:
    values = np.quantile(numbers, QUANTILES)
    quantiles = {f"{100 * q:g}%": float(value) for q, value in zip(QUANTILES, values, strict=True)}
    return {"mean": float(numbers.mean()), **quantiles}


def _value_shares(release: Release) -> dict[str, float]:
    """Shares of the most frequent values among the entries with a value, in the order of the levels.

    Rare texts are not shown: one person may have written them.
    """
    if release.levels is None or release.by_record.value is None:
        return {}
    counts = count_codes(release.by_record.value, len(release.levels) + 1)[:-1]
    frequent = np.sort(np.argsort(-counts, kind="stable")[:MOST_SHARES])
    if isinstance(release.levels, tuple):
        frequent = frequent[counts[frequent] >= LEAST_ENTRIES]
    return {_label(release.levels[i]): float(counts[i] / counts.sum()) for i in frequent}


def _label(level: float | str) -> str:
    """Text of a level; two levels never have the same text."""
    if isinstance(level, str):
        return level
    return f"{level:.0f}" if level.is_integer() and abs(level) < MOST_DIGITS else repr(float(level))
