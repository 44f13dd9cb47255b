"""Arrays of `block_scores`: a thread's workspace."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.attack.kernels.query_arrays import BLOCK
from standout.attack.kernels.repeated_parts import RepeatedParts

__all__ = ["PIECE", "PIECES", "BlockWorkspace"]

PIECE = 128
"""Number of records of which the highest score is kept while a block is summed."""
PIECES = BLOCK // PIECE


class BlockWorkspace(NamedTuple):
    """A thread's own arrays.

    `scores` has the scores of all records of the part (a list where a block has few) and one spare block,
    used where they need not be kept; `score_bits` are the same as bits. `highest` is the highest of each
    piece of a block, `highest_bits` the same as bits. `position` is the position in its block of each listed
    score, `out` marks records that are not candidates, `left_out` is their number per block. `listed` is
    the length of a block's list, or -1. `sums` are a block's sums of scores and of squares. `cursor`, `at`
    and `stop` are each fact's next run, next word and last word of the block. `best` are the highest scores.
    `gain` is by fact and size of a record (see `sized_additions`). `repeated` has the parts of a block's
    records that have an item several times.
    """

    scores: NDArray[np.float32]
    score_bits: NDArray[np.int32]
    highest: NDArray[np.float32]
    highest_bits: NDArray[np.int32]
    position: NDArray[np.uint16]
    out: NDArray[np.bool_]
    left_out: NDArray[np.int64]
    listed: NDArray[np.int64]
    sums: NDArray[np.float64]
    cursor: NDArray[np.int64]
    at: NDArray[np.int64]
    stop: NDArray[np.int64]
    best: NDArray[np.float32]
    gain: NDArray[np.float32]
    repeated: RepeatedParts

    @classmethod
    def allocate(
        cls, n_blocks: int, most_facts: int, top: int, n_sizes: int, repeats: bool
    ) -> "BlockWorkspace":
        """Arrays for a part of this many blocks, and for queries of at most `most_facts` facts."""
        n = n_blocks
        scores, highest = np.zeros((n + 1) * BLOCK, np.float32), np.zeros(PIECES, np.float32)
        return cls(
            scores=scores,
            score_bits=scores.view(np.int32),
            highest=highest,
            highest_bits=highest.view(np.int32),
            position=np.zeros(n * BLOCK, np.uint16),
            out=np.zeros(n * BLOCK, np.bool_),
            left_out=np.zeros(n, np.int64),
            listed=np.zeros(n, np.int64),
            sums=np.zeros(2),
            cursor=np.zeros(most_facts, np.int64),
            at=np.zeros(most_facts, np.int64),
            stop=np.zeros(most_facts, np.int64),
            best=np.zeros(top, np.float32),
            gain=np.zeros((most_facts, n_sizes), np.float32),
            repeated=RepeatedParts.allocate(repeats),
        )
