"""Nearest neighbours of all records, compared with plain counting and other tools.

python -m benchmarks.sparsity [--entries 10000000] [--rounds 1] [--folder build/bench]

It measures CPU time in one process on one thread. We search the nearest neighbours of all records; the other
tools search those of a random sample, which gives their time per record. All must give the same result. The
goals are for the full size of the Netflix Prize data (--entries 100480507) and an idle machine. A missed goal
is reported; it is not an error.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

import standout as so
from benchmarks.data_files import index_file, release_of
from benchmarks.harness import options, restart_single_threaded
from benchmarks.ratio_table import HEADER, RatioRow
from standout.core.arrays import Floats, Ints
from standout.measure.sparsity import Sparsity, sparsity

MODULE = "benchmarks.sparsity"
FEW, MANY, BATCH = 120, 1_200, 64
SMALL = 100_000
KINDS = {
    "by sets": (so.Present(), "union", "≤ 600"),
    "times within 14 days": (so.Within(None, 14), "union", "≤ 600"),
    "values the same": (so.Within(0, None), "union", ""),
    "values within 1": (so.Within(1, None), "union", ""),
    "values within 1 and times within 14 days": (so.Within(1, 14), "union", ""),
    "by sets, over the first alone": (so.Present(), "first", ""),
}


def all_records(release: so.Release, kind: str) -> tuple[Sparsity, float]:
    """The nearest neighbours of all records, and the CPU seconds."""
    similarity, over, _ = KINDS[kind]
    sparsity(release_of(SMALL), similarity, over=over, threads=1)  # compiles
    start = time.process_time()
    result = sparsity(release, similarity, over=over, threads=1)
    return result, time.process_time() - start


def all_kinds(release: so.Release, by_sets: float) -> Iterator[RatioRow]:
    """CPU seconds for each kind of similarity."""
    for kind, (_, _, goal) in KINDS.items():
        seconds = by_sets if kind == "by sets" else all_records(release, kind)[1]
        yield RatioRow(f"all records, {kind}", seconds, goal, seconds / release.n_records, unit="s")


def other_tools(release: so.Release, result: Sparsity, seconds: float) -> Iterator[RatioRow]:
    """Compared with other tools that search the neighbours of a sample by sets."""
    ours = seconds / release.n_records
    for name, prepare, count, goal in (
        ("compiled counting through the postings", counting, MANY, "≥ 6"),
        ("SciPy, sparse products", scipy_products, FEW, ""),
        ("sparse_dot_topn, the most common items", topn, FEW, "≥ 25"),
    ):
        count = min(count, release.n_records)
        sample = np.sort(np.random.default_rng(1).choice(release.n_records, count, replace=False))
        search = prepare(release)
        search(sample[:1])
        start = time.process_time()
        answer = search(sample)
        other = (time.process_time() - start) / count
        expected = result.nearest[sample]
        if prepare is topn:
            expected = counting(release, over_union=False)(sample)
        assert np.array_equal(answer, expected), f"{name}: different neighbours"
        yield RatioRow(f"{name} ÷ ours, per record", other / ours, goal, ours, other)


def counting(release: so.Release, over_union: bool = True) -> Callable[[Ints], Floats]:
    """Count the items in common with every other record, through the records of each item; compiled."""
    items, lengths = scipy.sparse.csr_matrix(_matrix(release).T), release.lengths
    start, record = items.indptr.astype(np.int64), items.indices.astype(np.uint32)
    side, counter = release.by_record, np.zeros(release.n_records, np.uint16)
    return lambda sample: _highest_counts(
        first=side.start,
        other=side.item,
        start=start,
        record=record,
        lengths=lengths,
        counter=counter,
        sample=sample,
        over_union=over_union,
    )


@numba.njit(nogil=True, error_model="numpy")
def _highest_counts(
    first: Ints,
    other: NDArray[Any],
    start: Ints,
    record: NDArray[Any],
    lengths: Ints,
    counter: NDArray[Any],
    sample: Ints,
    over_union: bool,
) -> Floats:
    highest = np.zeros(len(sample))
    for q in range(len(sample)):
        target = sample[q]
        counter[:] = 0
        for p in range(first[target], first[target + 1]):
            item = other[p]
            for at in range(np.uint64(start[item]), np.uint64(start[item + 1])):
                counter[record[at]] += 1
        counter[target] = 0
        best = 0.0
        for at in range(np.uint64(0), np.uint64(len(counter))):
            near = counter[at] / ((lengths[target] + lengths[at] - counter[at]) if over_union else 1)
            best = near if near > best else best
        highest[q] = best
    return highest


def scipy_products(release: so.Release) -> Callable[[Ints], Floats]:
    """Rows times the transposed matrix, then the highest value of each row."""
    matrix, lengths = _matrix(release), release.lengths
    items = scipy.sparse.csr_matrix(matrix.T)

    def search(sample: Ints) -> Floats:
        highest = []
        for low in range(0, len(sample), BATCH):
            batch = sample[low : low + BATCH]
            common = (matrix[batch] @ items).tocoo()
            row, column = common.coords
            near = common.data / (lengths[batch[row]] + lengths[column] - common.data.astype(np.int64))
            near[batch[row] == column] = 0
            highest.append(_highest(near, row, len(batch)))
        return np.concatenate(highest)

    return search


def _highest(near: Floats, row: Ints, count: int) -> Floats:
    highest = np.zeros(count)
    np.maximum.at(highest, row, near)
    return highest


def topn(release: so.Release) -> Callable[[Ints], Floats]:
    """The largest number of items in common: sparse_dot_topn cannot divide by the union."""
    from sparse_dot_topn import sp_matmul_topn

    matrix = _matrix(release)
    items = scipy.sparse.csr_matrix(matrix.T)

    def search(sample: Ints) -> Floats:
        common = sp_matmul_topn(matrix[sample], items, top_n=2, n_threads=1, sort=True)
        row = np.repeat(np.arange(len(sample)), np.diff(common.indptr))
        other = common.indices != sample[row]
        return _highest(common.data[other], row[other], len(sample))

    return search


def _matrix(release: so.Release) -> scipy.sparse.csr_matrix:
    side = release.by_record
    ones, shape = np.ones(release.n_entries, np.float32), (release.n_records, release.n_items)
    return scipy.sparse.csr_matrix((ones, side.item.astype(np.int32), side.start), shape=shape)


def main() -> None:
    """Print the table."""
    restart_single_threaded(MODULE)
    given = options(__doc__, rounds=1)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    result, seconds = all_records(release, "by sets")
    for rows in (other_tools(release, result, seconds), all_kinds(release, seconds)):
        for row in rows:
            print(row, flush=True)


if __name__ == "__main__":
    main()
