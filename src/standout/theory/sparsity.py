"""Sparsity: how near the nearest neighbour of a record is  [Definition 1, appendix "Sparsity"]."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.core.threads import thread_count
from standout.evaluate.estimates import Estimate, rate
from standout.neighbours.nearest import nearest_neighbours, rule_of
from standout.release.model import Release
from standout.similarity.attributes import Present, Similarity
from standout.similarity.records import Over

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EPSILONS", "Sparsity", "sparsity"]

EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75)
POINTS = tuple(i / 100 for i in range(101))


@dataclass(frozen=True, eq=False)
class Sparsity:
    """The nearest neighbours of records: who they are and how similar.

    records    the places of the records that were examined, in order
    nearest    for each, the similarity of its nearest neighbour; 0 if nobody has anything in common with it
    neighbour  the place of that neighbour, the first among equals; -1 if there is none
    total      how many records the release has; where all were examined, nothing is left to chance

    >>> import standout as so
    >>> release = so.synthesize(records=200, items=60, entries=2_000, seed=7)
    >>> found = sparsity(release)
    >>> print(found)
    200 of 200 records: the nearest neighbour is 0.649 similar at the median, 1.000 at most
    >>> print(found.delta(0.75))
    0.310 (0.310 to 0.310, n = 200)
    >>> found.is_sparse(epsilon=0.75, delta=0.31)
    True
    """

    records: Ints = field(repr=False)
    nearest: Floats = field(repr=False)
    neighbour: Ints = field(repr=False)
    total: int

    def __str__(self) -> str:
        return (
            f"{len(self.records):,} of {self.total:,} records: the nearest neighbour is "
            f"{np.median(self.nearest):.3f} similar at the median, {self.nearest.max():.3f} at most"
        )

    @property
    def complete(self) -> bool:
        """Whether all records were examined."""
        return len(self.records) == self.total

    def delta(self, epsilon: float) -> Estimate:
        """The share of records that have a neighbour MORE similar than epsilon  [Definition 1]."""
        return self._share(self.nearest > _share_checked("epsilon", epsilon))

    def survival(self, similarity: float) -> Estimate:
        """The share of records whose nearest neighbour is at least so similar  [Figure 12]."""
        return self._share(self.nearest >= _share_checked("similarity", similarity))

    def is_sparse(self, epsilon: float, delta: float) -> bool:
        """Whether the release is (epsilon, delta)-sparse  [Definition 1]; of a sample, by the upper end."""
        return self.delta(epsilon).high <= _share_checked("delta", delta)

    def table(self, epsilons: Sequence[float] = EPSILONS) -> "pl.DataFrame":
        """A row for each epsilon: epsilon, delta, low, high, n."""
        return _frame("epsilon", epsilons, "delta", [self.delta(epsilon) for epsilon in epsilons])

    def curve(self, points: Sequence[float] = POINTS) -> "pl.DataFrame":
        """Figure 12: similarity, the share of records with a neighbour at least so similar, low, high, n."""
        return _frame("similarity", points, "share", [self.survival(point) for point in points])

    def _share(self, there: NDArray[np.bool_]) -> Estimate:
        found = rate(int(np.count_nonzero(there)), len(there))
        return Estimate(found.value, found.value, found.value, found.n) if self.complete else found


def sparsity(
    release: Release,
    similarity: Similarity = Present(),  # noqa: B008, it is frozen
    *,
    sample: int | None = None,
    over: Over = "union",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Sparsity:
    """The nearest neighbour of every record, or of a sample, among all other records: exact.

    Sim(r, r′) = (common items whose attributes are similar) / |supp(r) ∪ supp(r′)|, as `record_similarity`
    has it; with over="first" it is divided by |supp(r)|. By default having an item is all that counts;
    `Within` and `Equal` look at values and times too.

    >>> import standout as so
    >>> release = so.synthesize(records=200, items=60, entries=2_000, seed=7)
    >>> found = sparsity(release, so.Within(value=1, time=14), sample=100, seed=1)
    >>> pair = [release.records[place] for place in (found.records[0], found.neighbour[0])]
    >>> so.record_similarity(release, *pair, so.Within(value=1, time=14)), float(found.nearest[0])
    (0.2857142857142857, 0.2857142857142857)
    """
    if over not in ("union", "first"):
        raise ParameterError(f"over must be union or first, got {over!r}")
    rule = rule_of(release.check(), similarity)
    asked, threads = _asked(release.n_records, sample, seed), thread_count(threads)
    best = nearest_neighbours(
        release, rule, asked, over_first=over == "first", threads=threads, progress=progress
    )
    return Sparsity(asked, best.similar / best.union, best.place, release.n_records)


def _asked(n_records: int, sample: int | None, seed: int) -> Ints:
    """The places of all records, or of so many drawn ones, in order."""
    if sample is None:
        return np.arange(n_records)
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 1:
        raise ParameterError(f"sample must be a whole number ≥ 1, or None for all records, got {sample!r}")
    drawn = generator(seed, "sparsity").permutation(n_records)[:sample]
    return np.sort(drawn)


def _share_checked(name: str, given: Any) -> float:
    fits = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not fits or not 0 <= given <= 1:
        raise ParameterError(f"{name} must be a number from 0 to 1, got {given!r}")
    return float(given)


def _frame(x: str, points: Sequence[float], y: str, found: list[Estimate]) -> "pl.DataFrame":
    import polars as pl

    columns = {
        x: [float(point) for point in points],
        y: [one.value for one in found],
        "low": [one.low for one in found],
        "high": [one.high for one in found],
    }
    schema = dict.fromkeys(columns, pl.Float64)
    return pl.DataFrame(columns, schema=schema).with_columns(
        n=pl.Series([one.n for one in found], dtype=pl.Int64)
    )
