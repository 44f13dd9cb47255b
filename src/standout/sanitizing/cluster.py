"""One record for each cluster of k: the paper's example of a k-anonymous release.

Records are laid out in a few dimensions (the leading singular vectors of who has what, with popular items
and long records weighed down) and halved along the widest until blocks are small. Within a block clusters
are made by how alike supports are  [microaggregation: Domingo-Ferrer and Mateo-Sanz 2002]: the record that is
least like the others of the block and the k - 1 most like it, and so on.
"""

from dataclasses import dataclass

import numpy as np

from standout.core.arrays import Floats, offsets
from standout.core.checks import whole_number
from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.sanitizing import cluster_kernels as kernels
from standout.sanitizing.draft import Draft, Ints
from standout.sanitizing.step import Step, StepResult, number
from standout.sanitizing.step_noise import Noise

__all__ = ["ClusterRecords"]

DIMENSIONS, ROUNDS = 8, 6
BLOCK = 1024
"""Most records of a block, or four times k."""
MOST = 2_000
"""The largest k: a block of 8,000 records has 64 million pairs."""


@dataclass(frozen=True)
class ClusterRecords(Step):
    """One record for each cluster of at least k similar ones; all others are left out.

    The representative is a real record as it is, the one most like the others of its cluster, and stands for
    all of them. Whoever finds it has found the one person in k whose it is, and learns of the others what is
    alike.

    >>> str(ClusterRecords(5))
    'cluster-records 5'
    """

    name = "cluster-records"
    syntax = "K"
    summary = "one representative for each cluster of at least K similar records"
    parsers = (number,)

    k: int

    def __post_init__(self) -> None:
        self._set(k=whole_number("k", self.k, 2))
        if self.k > MOST:
            raise ParameterError(f"k must be at most {MOST:,}, got {self.k:,}")

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        n = draft.n_records
        if self.k > n:
            raise ParameterError(f"{self}: there are {n:,} records, fewer than {self.k:,}")
        blocks = _blocks(_layout(draft, noise, progress), max(BLOCK, 4 * self.k))
        stands, alike = np.empty(n, np.int64), np.empty(n)
        first = offsets([len(block) for block in blocks])
        members = np.concatenate(blocks)
        side = draft.side

        def work(block: int) -> None:
            mine = members[first[block] : first[block + 1]]
            kernels.clustered(side.start, side.item, mine, draft.n_items, self.k, stands, alike)

        draft.on_threads(work, len(blocks), "clustering", progress)
        chosen = stands == np.arange(n)
        sizes = np.bincount(stands, minlength=n)[chosen]
        counts = {
            "clusters": len(sizes), "largest cluster": int(sizes.max()),
            "similarity": float(alike[~chosen].mean()),
        }  # fmt: skip
        return StepResult(draft.with_records(chosen, stands), counts)


def _layout(draft: Draft, noise: Noise, progress: Progress) -> Floats:
    """A place in a few dimensions for each record: orthogonal iteration, without a library whose sums depend
    on how many threads it has."""
    side = draft.side
    by_record, by_item = 1 / np.sqrt(draft.lengths), 1 / np.sqrt(draft.support)
    places = np.empty((draft.n_records, DIMENSIONS))
    items = np.empty((draft.n_items, DIMENSIONS))
    kernels.fill(noise.items, items)
    items[:, 0] = 1 / by_item  # the first vector: it tells nothing but how popular an item is
    for done in range(ROUNDS):
        progress("laying out records", done, ROUNDS)
        _orthogonal(items)
        draft.by_pieces(
            lambda low, high: kernels.to_records(
                side.start, side.item, by_record, by_item, items, low, high, places
            )
        )
        if done < ROUNDS - 1:
            items[:] = 0
            kernels.to_items(side.start, side.item, by_record, by_item, places, items)
    return np.ascontiguousarray(places[:, 1:])


def _orthogonal(columns: Floats) -> None:
    """Gram and Schmidt, twice for the digits."""
    for i in range(columns.shape[1]):
        for _ in range(2):
            for j in range(i):
                columns[:, i] -= (columns[:, i] * columns[:, j]).sum() * columns[:, j]
        size = np.sqrt((columns[:, i] ** 2).sum())
        columns[:, i] /= size if size > 0 else 1.0


def _blocks(places: Floats, most: int) -> list[Ints]:
    """Records that lie together: halved at the median of the widest dimension while they are too many."""
    waiting, found = [np.arange(len(places))], []
    while waiting:
        here = waiting.pop()
        if len(here) <= most:
            found.append(here)
            continue
        axis = int(np.argmax(places[here].var(axis=0)))
        order = here[np.argsort(places[here, axis], kind="stable")]
        waiting += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
    return found
