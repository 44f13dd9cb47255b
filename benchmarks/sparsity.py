"""Nearest neighbours of everybody, beside counting them all and other tools: one table from one run.

python -m benchmarks.sparsity [--entries 10000000] [--rounds 1] [--folder build/bench]

CPU time in one process on one thread. We look for everybody's nearest neighbour, the others for that of a few
drawn records, which gives their time per record; all must find the same. What must be reached is meant for
Netflix's size (--entries 100480507) and an idle machine. A miss is told; it is no error.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

import standout as so
from benchmarks.attack import Row
from benchmarks.files import index_file, release_of
from benchmarks.harness import alone, settings
from standout.theory.sparsity import Sparsity, sparsity

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
HEADER = f"{'':<64}{'':>10}{'must be':>10}  {'':<15}{'ours µs':>10}{'other µs':>10}"

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def everybody(release: so.Release, kind: str) -> tuple[Sparsity, float]:
    """Everybody's nearest neighbours, and the CPU seconds that took."""
    similarity, over, _ = KINDS[kind]
    sparsity(release_of(SMALL), similarity, over=over, threads=1)  # compiles
    begun = time.process_time()
    found = sparsity(release, similarity, over=over, threads=1)
    return found, time.process_time() - begun


def all_kinds(release: so.Release, by_sets: float) -> Iterator[Row]:
    for kind, (_, _, must) in KINDS.items():
        took = by_sets if kind == "by sets" else everybody(release, kind)[1]
        yield Row(f"all records, {kind}", took, must, took / release.n_records, unit="s")


def others(release: so.Release, found: Sparsity, took: float) -> Iterator[Row]:
    """Beside others that look for a few records' neighbours by sets."""
    ours = took / release.n_records
    for what, make, count, must in (
        ("compiled counting through the postings", counting, MANY, "≥ 6"),
        ("SciPy, sparse products", scipy_products, FEW, ""),
        ("sparse_dot_topn, the most common items", topn, FEW, "≥ 25"),
    ):
        asked = np.sort(np.random.default_rng(1).choice(release.n_records, count, replace=False))
        job = make(release)
        job(asked[:1])
        begun = time.process_time()
        answer = job(asked)
        other = (time.process_time() - begun) / count
        expected = counting(release, over_union=False)(asked) if make is topn else found.nearest[asked]
        assert np.array_equal(answer, expected), f"{what}: other neighbours"
        yield Row(f"{what} ÷ ours, per record", other / ours, must, ours, other)


def counting(release: so.Release, over_union: bool = True) -> Callable[[Ints], Floats]:
    """For each record a counter for every other, through the records of each of its items; compiled."""
    items, lengths = scipy.sparse.csr_matrix(_matrix(release).T), release.lengths
    start, record = items.indptr.astype(np.int64), items.indices.astype(np.uint32)
    side, counter = release.by_record, np.zeros(release.n_records, np.uint16)
    return lambda asked: _counted(side.start, side.item, start, record, lengths, counter, asked, over_union)


@numba.njit(nogil=True, error_model="numpy")
def _counted(
    first: Ints, other: NDArray[Any], start: Ints, record: NDArray[Any], lengths: Ints, counter: NDArray[Any],
    asked: Ints, over_union: bool,
) -> Floats:  # fmt: skip
    found = np.zeros(len(asked))
    for q in range(len(asked)):
        own = asked[q]
        counter[:] = 0
        for p in range(first[own], first[own + 1]):
            item = other[p]
            for at in range(np.uint64(start[item]), np.uint64(start[item + 1])):
                counter[record[at]] += 1
        counter[own] = 0
        best = 0.0
        for at in range(np.uint64(0), np.uint64(len(counter))):
            near = counter[at] / ((lengths[own] + lengths[at] - counter[at]) if over_union else 1)
            best = near if near > best else best
        found[q] = best
    return found


def scipy_products(release: so.Release) -> Callable[[Ints], Floats]:
    """Some rows times the transposed matrix, then the highest of each."""
    matrix, lengths = _matrix(release), release.lengths
    items = scipy.sparse.csr_matrix(matrix.T)

    def look(asked: Ints) -> Floats:
        found = []
        for low in range(0, len(asked), BATCH):
            here = asked[low : low + BATCH]
            common = (matrix[here] @ items).tocoo()
            row, column = common.coords
            near = common.data / (lengths[here[row]] + lengths[column] - common.data.astype(np.int64))
            near[here[row] == column] = 0
            found.append(_highest(near, row, len(here)))
        return np.concatenate(found)

    return look


def _highest(near: Floats, row: Ints, count: int) -> Floats:
    found = np.zeros(count)
    np.maximum.at(found, row, near)
    return found


def topn(release: so.Release) -> Callable[[Ints], Floats]:
    """How many items the one has that has most in common: it knows no similarity over the union."""
    from sparse_dot_topn import sp_matmul_topn

    matrix = _matrix(release)
    items = scipy.sparse.csr_matrix(matrix.T)

    def look(asked: Ints) -> Floats:
        common = sp_matmul_topn(matrix[asked], items, top_n=2, n_threads=1, sort=True)
        row = np.repeat(np.arange(len(asked)), np.diff(common.indptr))
        other = common.indices != asked[row]
        return _highest(common.data[other], row[other], len(asked))

    return look


def _matrix(release: so.Release) -> scipy.sparse.csr_matrix:
    side = release.by_record
    ones, shape = np.ones(release.n_entries, np.float32), (release.n_records, release.n_items)
    return scipy.sparse.csr_matrix((ones, side.item.astype(np.int32), side.start), shape=shape)


def main() -> None:
    alone(MODULE)
    given = settings(__doc__, rounds=1)
    release = so.open(index_file(given.folder, given.entries))
    print(f"{release}\n\n{HEADER}")
    found, took = everybody(release, "by sets")
    for rows in (others(release, found, took), all_kinds(release, took)):
        for row in rows:
            print(row, flush=True)


if __name__ == "__main__":
    main()
