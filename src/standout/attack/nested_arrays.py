"""Arrays of `nested_scores`: groups of queries that share a walk, and a thread's workspace."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.fact_kernels import RepeatedParts
from standout.attack.query_arrays import BLOCK
from standout.core.simd_fallback import LANES

__all__ = ["NestedWorkspace", "QueryGroups"]


class QueryGroups(NamedTuple):
    """Queries about the same items: group g has the queries first[g] … first[g + 1], its lanes.

    row[q, j] is the row of the summaries for query q after j + 1 facts, -1 if it is not wanted. `exclude` is
    by group.
    """

    first: NDArray[np.int64]
    row: NDArray[np.int64]
    exclude: NDArray[np.int64]


class NestedWorkspace(NamedTuple):
    """A thread's own arrays.

    `scores` are those of one block, lane by lane. `a`, `b` and `c` are the lanes' own tables by step. `sums`
    and `floor` are a block's sums and bounds by step and lane. `exact` are the exact sums of all blocks, one
    row for each step and lane, in the units `unit` by lane. until[j] is the first wanted step from j on.
    `best` and `highest` are the highest scores of a shortlist and of each lane. `noticed` are the positions
    of the block that were noticed, `n_noticed` their number, by lane; `mark` says which are. `cursor` is each
    fact's next run. `flat` is one lane of the block. `gain` is by step and size of a record (see
    `sized_additions`). `repeated` has the parts of records that have an item several times.
    """

    scores: NDArray[np.float32]
    a: NDArray[np.float32]
    b: NDArray[np.float32]
    c: NDArray[np.float32]
    sums: NDArray[np.float64]
    exact: NDArray[np.int64]
    unit: NDArray[np.float64]
    floor: NDArray[np.float32]
    until: NDArray[np.int64]
    best: NDArray[np.float32]
    highest: NDArray[np.float32]
    noticed: NDArray[np.int64]
    n_noticed: NDArray[np.int64]
    mark: NDArray[np.bool_]
    cursor: NDArray[np.int64]
    flat: NDArray[np.float32]
    gain: NDArray[np.float32]
    repeated: RepeatedParts

    @classmethod
    def allocate(
        cls, steps: int, kinds: int, times: int, top: int, width: int, n_sizes: int, repeats: bool
    ) -> "NestedWorkspace":
        """Arrays for groups of at most `width` lanes and queries of at most `steps` facts."""
        steps = max(steps, 1)
        return cls(
            scores=np.zeros(BLOCK * width, np.float32),
            a=np.zeros((steps, kinds * LANES), np.float32),
            b=np.zeros((steps, kinds * LANES), np.float32),
            c=np.zeros((steps, times * LANES), np.float32),
            sums=np.zeros((steps, 2, LANES)),
            exact=np.zeros((steps * LANES, 2, 2), np.int64),
            unit=np.ones((LANES, 2)),
            floor=np.full((steps + 1, LANES), np.inf, np.float32),
            until=np.zeros(steps, np.int64),
            best=np.zeros(top, np.float32),
            highest=np.zeros(LANES, np.float32),
            noticed=np.zeros((LANES, BLOCK), np.int64),
            n_noticed=np.zeros(LANES, np.int64),
            mark=np.zeros(BLOCK * width, np.bool_),
            cursor=np.zeros(steps, np.int64),
            flat=np.zeros(BLOCK, np.float32),
            gain=np.zeros((steps, n_sizes), np.float32),
            repeated=RepeatedParts.allocate(repeats),
        )
