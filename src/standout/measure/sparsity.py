"""Sparsity: how similar the nearest neighbour of each record is  [Definition 1, appendix "Sparsity"]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from standout.attack.neighbours import counts_items, nearest_by_sums, nearest_neighbours, rule_of
from standout.cluster.workers import on_client
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import ProgressOption, no_progress
from standout.core.rng import generator
from standout.core.threads import thread_count
from standout.data.export import FrameExport, ResultView
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.ingest.read import as_release
from standout.know.similarity import Over, Present, Similarity, check_similarity

if TYPE_CHECKING:
    import polars as pl

EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75)
POINTS = tuple(i / 100 for i in range(101))


@dataclass(frozen=True, eq=False, repr=False)
class Sparsity(ResultView, FrameExport):
    """The nearest neighbours of records, and the sparsity that follows from them.

    Attributes
    ----------
    records
        Indices of the examined records, in ascending order.
    nearest
        The similarity of each record's nearest neighbour; 0 if it shares nothing with any other record.
    neighbour
        The index of that neighbour, the first one in a tie; -1 if there is none.
    total
        Number of records in the release. If all were examined, there is no sampling error.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=200, items=60, entries=2_000, seed=7)
    >>> result = sparsity(release)
    >>> print(result)
    200 of 200 records: similarity of the nearest neighbour 0.649 (median), 1.000 (maximum)
    >>> print(result.delta(0.75))
    0.310 (0.310 to 0.310, n = 200)
    >>> result.is_sparse(epsilon=0.75, delta=0.31)
    True
    """

    records: Ints
    nearest: Floats
    neighbour: Ints
    total: int

    def __repr__(self) -> str:
        return f"<Sparsity: {self}>"

    def __str__(self) -> str:
        return (
            f"{len(self.records):,} of {self.total:,} records: similarity of the nearest neighbour "
            f"{np.median(self.nearest):.3f} (median), {self.nearest.max():.3f} (maximum)"
        )

    @property
    def complete(self) -> bool:
        """Whether all records were examined."""
        return len(self.records) == self.total

    def delta(self, epsilon: float) -> Estimate:
        """The share of records with a neighbour more similar than epsilon  [Definition 1]."""
        return self._share(self.nearest > _share_from_0_to_1("epsilon", epsilon))

    def survival(self, similarity: float) -> Estimate:
        """The share of records whose nearest neighbour is at least this similar  [Figure 12]."""
        return self._share(self.nearest >= _share_from_0_to_1("similarity", similarity))

    def is_sparse(self, epsilon: float, delta: float) -> bool:
        """Whether the release is (epsilon, delta)-sparse  [Definition 1]."""
        return self.delta(epsilon).high <= _share_from_0_to_1("delta", delta)

    def table(self, epsilons: Sequence[float] = EPSILONS) -> "pl.DataFrame":
        """One row for each epsilon: epsilon, delta, low, high, n."""
        return _frame("epsilon", epsilons, "delta", [self.delta(epsilon) for epsilon in epsilons])

    def curve(self, points: Sequence[float] = POINTS) -> "pl.DataFrame":
        """Figure 12: similarity, share of records with a neighbour at least this similar, low, high, n."""
        return _frame("similarity", points, "share", [self.survival(point) for point in points])

    def _frame(self) -> "pl.DataFrame":
        return self.table()

    def _share(self, flags: NDArray[np.bool_]) -> Estimate:
        share = rate(int(np.count_nonzero(flags)), len(flags))
        return Estimate(share.value, share.value, share.value, share.n) if self.complete else share


@on_client
def sparsity(
    release: Release | Any,
    similarity: Similarity = Present(),  # noqa: B008, it is frozen
    *,
    sample: int | None = None,
    over: Over = "union",
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    client: Any = None,
) -> Sparsity:
    """Find the nearest neighbour of every record, or of a sample, among all other records.

    Sim(r, r′) = Σ Sim(r_i, r′_i) / |supp(r) ∪ supp(r′)| over the shared items [section 2]. The search is
    exact. Present, Within and Equal count items that agree, which is fast. For any other similarity, all
    pairs of records that share an item are compared: take a sample of a large release.

    If records have items several times, Sim(r_i, r′_i) is the highest Sim of an entry of r and an entry of r′
    about item i, and supp counts each item once. Only Present is then fast.

    Parameters
    ----------
    release
        The release. A path or frame is read with the default options of `standout.read`.
    similarity
        How similar shared items are, from 0 to 1: Present, Within, Equal, Decay (the mean of its terms),
        Custom, or a subclass of Similarity.
    sample
        Number of random records to examine; default: all.
    over
        The denominator: "union", or "first" for |supp(r)|.
    client
        A `distributed.Client`: its workers search, if the release is an open index that they can read at the
        same path. It changes no result. Default: threads of this process.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=200, items=60, entries=2_000, seed=7)
    >>> result = sparsity(release, so.Within(value=1, time=14), sample=100, seed=1)
    >>> pair = [release.records[index] for index in (result.records[0], result.neighbour[0])]
    >>> so.record_similarity(release, *pair, so.Within(value=1, time=14)), float(result.nearest[0])
    (0.2857142857142857, 0.2857142857142857)
    >>> print(sparsity(release, so.Decay()))
    200 of 200 records: similarity of the nearest neighbour 0.279 (median), 0.909 (maximum)
    """
    if over not in ("union", "first"):
        raise ParameterError(f'over must be "union" or "first", got {over!r}')
    release = as_release(release).check()
    records = _examined(release.n_records, sample, seed)
    is_over_first, threads = over == "first", thread_count(threads)
    if counts_items(release, check_similarity(similarity)):
        rule = rule_of(release, similarity)
        best = nearest_neighbours(release, rule, records, over_first=is_over_first, threads=threads, progress=progress)
        return Sparsity(records, best.similar / best.union, best.record, release.n_records)
    nearest = nearest_by_sums(
        release, similarity, records, over_first=is_over_first, threads=threads, progress=progress
    )
    return Sparsity(records, nearest.similarity, nearest.record, release.n_records)


def _examined(n_records: int, sample: int | None, seed: int) -> Ints:
    """All records, or a random sample of them, in ascending order."""
    if sample is None:
        return np.arange(n_records)
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 1:
        raise ParameterError(f"sample must be a whole number ≥ 1, or None for all records, got {sample!r}")
    return np.sort(generator(seed, "sparsity").permutation(n_records)[:sample])


def _share_from_0_to_1(name: str, given: Any) -> float:
    is_number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= 1:
        raise ParameterError(f"{name} must be a number from 0 to 1, got {given!r}")
    return float(given)


def _frame(x: str, points: Sequence[float], y: str, estimates: list[Estimate]) -> "pl.DataFrame":
    import polars as pl

    columns = {
        x: [float(point) for point in points],
        y: [estimate.value for estimate in estimates],
        "low": [estimate.low for estimate in estimates],
        "high": [estimate.high for estimate in estimates],
    }
    n = pl.Series([estimate.n for estimate in estimates], dtype=pl.Int64)
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64)).with_columns(n=n)
