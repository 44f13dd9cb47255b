"""The paper's appendix on a release: how similar nearest neighbours are, and how records were altered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from standout.attack.neighbours import nearest_neighbours
from standout.cluster.workers import on_client
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, check_share, whole_number
from standout.core.progress import ProgressOption, no_progress
from standout.core.rng import generator
from standout.core.threads import thread_count
from standout.data.export import FrameExport, ResultView
from standout.data.labels import Entry, Record, position_of_id
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, rate
from standout.ingest.read import as_release
from standout.know.facts import Aux, Fact, encode_auxes
from standout.know.similarity import Over, Present, Similarity, Within, check_similarity, days_per_unit

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
        return self._share(self.nearest > check_share("epsilon", epsilon, zero=True))

    def survival(self, similarity: float) -> Estimate:
        """The share of records whose nearest neighbour is at least this similar  [Figure 12]."""
        return self._share(self.nearest >= check_share("similarity", similarity, zero=True))

    def is_sparse(self, epsilon: float, delta: float) -> bool:
        """Whether the release is (epsilon, delta)-sparse  [Definition 1]."""
        return self.delta(epsilon).high <= check_share("delta", delta, zero=True)

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
    records = np.arange(release.n_records)
    if sample is not None:
        sample = whole_number("sample", sample, 1)
        records = np.sort(generator(seed, "sparsity").permutation(release.n_records)[:sample])
    is_over_first, threads = over == "first", thread_count(threads)
    nearest = nearest_neighbours(
        release, check_similarity(similarity), records, over_first=is_over_first, threads=threads, progress=progress
    )
    return Sparsity(records, nearest.similarity, nearest.record, release.n_records)


def _frame(x: str, points: Sequence[float], y: str, estimates: list[Estimate]) -> "pl.DataFrame":
    import polars as pl

    rows = [(float(at), each.value, each.low, each.high, each.n) for at, each in zip(points, estimates, strict=True)]
    return pl.DataFrame(rows, schema=dict.fromkeys((x, y, "low", "high"), pl.Float64) | {"n": pl.Int64}, orient="row")


# Altered entries: how a record differs from the person's true history. The paper obtained the histories of two
# subscribers and found their records: 1 of 306 ratings was altered, and 5 of 229.


History = Aux | Record | Iterable[Fact | Entry]


@dataclass(frozen=True, slots=True)
class Altered:
    """The differences between a person's history and the record that represents it in a release.

    All counts are upper bounds of what the publisher changed: the person may have changed, added or deleted
    entries since the release, and the history may be incomplete.
    """

    shared: int  # items in both; if the history has an item several times, each of its entries counts
    values: int  # shared items whose value differs, or is missing in the record
    times: int  # shared items whose time differs, or is missing in the record
    changed: int  # shared items whose value or time differs
    missing: int  # items of the history that the record lacks
    extra: int  # items of the record that the history lacks

    def __str__(self) -> str:
        return (
            f"at most {self.values:,} of {self.shared:,} values and {self.times:,} times altered; "
            f"{self.missing:,} item{'s' * (self.missing != 1)} missing, {self.extra:,} extra"
        )


def altered(
    release: Release, record: str, history: History, value: float | None = 0, time: float | None = 0
) -> Altered:
    """Compare a record with the true history of the person whom it represents.

    A part that the history lacks (a fact without a value or a time) is not compared. A part that only the
    record's entry lacks differs. If the release has hours, a day without an hour is its first hour.

    If the record has an item several times, the entry that differs least from the history's is compared: in
    as few parts as possible, the first in a tie. Each entry of the history is compared on its own, so that
    two may be compared with the same entry of the record.

    Parameters
    ----------
    record
        The id of the record.
    history
        An Aux, a record of another release, or any facts or entries. Items are named by id or title.
    value
        Values differ if they are further apart than this; None: do not compare values.
    time
        Times differ if they are more than this many days apart; None: do not compare times.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> first, second, *rest = release.record("14").entries
    >>> print(altered(release, "14", [so.Fact(first.item, first.value % 5 + 1), so.Fact("Bent"), *rest]))
    at most 1 of 12 values and 0 times altered; 1 item missing, 1 extra
    """
    threshold, columns = Within(value, time), release.by_record
    index = position_of_id(release.records, record)
    known = encode_auxes(release, [_aux(history)])
    start, stop = columns.start[index : index + 2]
    items = columns.item[start:stop].astype(np.int64)
    # each fact of the history is paired with all entries of its item, in their order
    first, last = np.searchsorted(items, known.item), np.searchsorted(items, known.item, "right")
    fact = np.repeat(np.arange(len(known.item)), last - first)
    entry = start + first[fact] + np.arange(len(fact)) - np.searchsorted(fact, fact)
    values, times = np.zeros((2, len(fact)), np.bool_)
    if threshold.value is not None and columns.value is not None and release.levels is not None:
        for i in np.flatnonzero(known.value[fact] >= 0).tolist():
            near = threshold.values(known.values[known.value[fact[i]]], release.levels)
            assert near is not None
            values[i] = not np.append(near, 0.0)[columns.value[entry[i]]]
    if threshold.time is not None and columns.time is not None:
        code = columns.time[entry].astype(np.int64)
        near = threshold.times((code - known.time[fact]).astype(np.float64) * days_per_unit(release))
        assert near is not None
        times = known.timed[fact] & ((code == release.span) | (near == 0))
    order = np.lexsort((values.astype(np.int64) + times, fact))
    best = order[np.unique(fact[order], return_index=True)[1]]
    values, times = values[best], times[best]
    return Altered(
        shared=len(best),
        values=int(values.sum()),
        times=int(times.sum()),
        changed=int((values | times).sum()),
        missing=len(known.item) - len(best),
        extra=int((~np.isin(items, known.item)).sum()),
    )


def _aux(history: Any) -> Aux:
    if isinstance(history, Aux):
        return history
    entries = history.entries if isinstance(history, Record) else history
    entries = list(entries) if isinstance(entries, Iterable) and not isinstance(entries, str) else [None]
    if not all(isinstance(entry, (Fact, Entry)) for entry in entries):
        raise ParameterError("history must be an Aux, a record, or facts: [Fact(item, value, time), …]")
    return Aux([Fact(entry.item, entry.value, entry.time) for entry in entries])
