"""What a release looks like: the table of the paper's appendix, and the spread of its sizes."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.release import build_kernels as kernels
from standout.release.build import count_codes
from standout.release.model import Release

__all__ = ["Description", "describe"]

TOPS = (100, 500, 1000)
AT_LEAST = (1, 5, 10)
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
MOST_SHARES = 20
MOST_DIGITS = 1e15
LEAST_ENTRIES = 10


@dataclass(frozen=True, slots=True)
class Description:
    """Sizes, shares and quantiles of a release; counts and rates only.

    outside_top[k][j] is the share of records with at least j items outside the k most popular;
    k is left out where the release has no more than k items. value_shares gives the most frequent values.
    """

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
    lengths: dict[str, float]
    supports: dict[str, float]
    outside_top: dict[int, dict[int, float]]
    provenance: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe(release: Release) -> Description:
    """The description of a release.

    >>> import standout as so
    >>> told = so.describe(so.synthesize(records=500, items=300, entries=9_000, seed=1))
    >>> told.lengths["50%"], told.outside_top[100][1]
    (8.0, 0.522)
    """
    ends, clock = release.check().time_range, release.clock
    return Description(
        release.fingerprint,
        release.n_records,
        release.n_items,
        release.n_entries,
        release.n_entries / (release.n_records * release.n_items),
        None if ends is None else (ends[0].isoformat(), ends[1].isoformat()),
        None if clock is None else clock.unit,
        None if clock is None else clock.zone,
        0 if release.levels is None else len(release.levels),
        _value_shares(release),
        release.provenance.without_value,
        release.provenance.without_time,
        _quantiles(release.lengths),
        _quantiles(release.support),
        outside_top(release),
        release.provenance.to_dict(),
    )


def outside_top(release: Release) -> dict[int, dict[int, float]]:
    """Shares of records with ≥ 1, 5, 10 items outside the top 100, 500, 1000  [the paper's appendix]."""
    tops = [top for top in TOPS if top < release.n_items]
    counts = np.zeros((len(tops), release.n_records), np.int64)
    kernels.count_outside(
        release.by_record.start, release.by_record.item, release.rank, np.array(tops, np.int64), counts
    )
    return {
        top: {least: float((counts[t] >= least).mean()) for least in AT_LEAST} for t, top in enumerate(tops)
    }


def _quantiles(numbers: NDArray[np.int64]) -> dict[str, float]:
    values = np.quantile(numbers, QUANTILES)
    told = {f"{100 * q:g}%": float(value) for q, value in zip(QUANTILES, values, strict=True)}
    return {"mean": float(numbers.mean()), **told}


def _value_shares(release: Release) -> dict[str, float]:
    """The shares of the most frequent values among the entries that have one, in the order of the levels.

    A text that only a few entries have may be what one person wrote: it is not shown.
    """
    if release.levels is None or release.by_record.value is None:
        return {}
    counts = count_codes(release.by_record.value, len(release.levels) + 1)[:-1]
    most = np.sort(np.argsort(-counts, kind="stable")[:MOST_SHARES])
    if isinstance(release.levels, tuple):
        most = most[counts[most] >= LEAST_ENTRIES]
    return {_label(release.levels[i]): float(counts[i] / counts.sum()) for i in most}


def _label(level: float | str) -> str:
    """A level as one would write it: no two levels are written alike."""
    if isinstance(level, str):
        return level
    return f"{level:.0f}" if level.is_integer() and abs(level) < MOST_DIGITS else repr(float(level))
