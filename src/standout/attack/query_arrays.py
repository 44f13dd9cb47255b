"""Arrays that kernels read and write for a slice of queries, and the constants that they share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Int, Real, inline
from standout.core.simd import multiply_add
from standout.data.postings import BLOCK_BITS
from standout.know.lookup_tables import time_cell, time_similarity

__all__ = [
    "BLOCK",
    "FIRST_ROUND",
    "LEAST",
    "NO_LIKELIHOODS",
    "OUT",
    "PARTITION",
    "SCORES",
    "SECOND_ROUND",
    "SQUARES",
    "ZERO",
    "CandidateFilter",
    "Likelihoods",
    "QueryFacts",
    "QuerySummaries",
    "RecordSizes",
    "ScoreRule",
    "U",
    "interpolated",
]

BLOCK = 1 << BLOCK_BITS
"""Number of records in a block: their scores stay in the cache."""
U = np.uint64
ZERO = np.float32(0)
OUT = np.float32(-1e30)
"""Score of a record that is not a candidate."""
LEAST = np.float32(1e-30)
"""Lowest score that a record of a shortlist can have."""

FIRST_ROUND, SECOND_ROUND = 1, 2
"""What a kernel does: the sums of scores and the shortlists; Z, which needs those of all parts; or both."""
SCORES, SQUARES, PARTITION = 0, 1, 2
"""The columns of sums: of scores, of squares, and Z."""


class QueryFacts(NamedTuple):
    """Facts that name items of the release: query q owns first[q] … first[q + 1]."""

    first: NDArray[np.int64]
    item: NDArray[np.int64]
    weight: NDArray[np.float32]
    shape: NDArray[np.int64]
    time: NDArray[np.int64]


class RecordSizes(NamedTuple):
    """How many entries a fact about each record may come from: 1 / inverse[code[record]]  [`Likelihood`].

    Both are empty for attacks that ignore it.
    """

    code: NDArray[np.uint16]
    inverse: NDArray[np.float32]


class Likelihoods(NamedTuple):
    """P(v, t | entry) by shape of a fact, kind and time: a + b · c, or near[u, 2 · kind + is near].

    The tables of Likelihood have its logarithm (see `KernelTables`, whose rows of c these share). They are
    empty unless the release has records with several entries of an item, over which P is summed.
    """

    a: NDArray[np.float32]
    b: NDArray[np.float32]
    c: NDArray[np.float32]
    near: NDArray[np.float32]


NO_ROWS = np.empty((0, 0), np.float32)
NO_LIKELIHOODS = Likelihoods(NO_ROWS, NO_ROWS, np.empty(0, np.float32), NO_ROWS)


class ScoreRule(NamedTuple):
    """How the parts of a score are formed, and how it becomes a probability.

    If `sized`, a fact adds max(0, ln(1 + odds/size of the record) + constant + Sim) and Π ∝ e^score.
    Otherwise it adds weight · Sim and Π ∝ e^(score/σ). `odds` and `constant` are by fact, and empty unless
    `sized`. `slack` is more than the error of a part in single precision beyond its own rounding. For records
    with several entries of an item, see `repeated_additions`.
    """

    sized: bool
    odds: NDArray[np.float32]
    constant: NDArray[np.float32]
    sizes: RecordSizes
    slack: float
    likelihoods: Likelihoods


class CandidateFilter(NamedTuple):
    """Records that each query may return.

    `exclude` is a record per query, or -1. `length` and `joined` are the lowest and highest values allowed
    per query. If `filtered` is set, they are compared with `lengths` and `begins` of every record. A record
    without a time (begins = -1) cannot be ruled out by when it begins.
    """

    exclude: NDArray[np.int64]
    length: NDArray[np.int64]
    joined: NDArray[np.int64]
    lengths: NDArray[np.int32]
    begins: NDArray[np.int32]
    filtered: bool


class QuerySummaries(NamedTuple):
    """What a kernel computes for each query from the records of a part, one row per query.

    `candidates` is their number. `sums` are the sums of their scores, of the squares, and of e^((score −
    highest) · scale) over the candidates whose score is below `cut`, which are those that are not on the
    shortlist: exact sums of blocks (see `core.exact_sums`), in the units `units`, 2^-100 of which is lost.
    `highest`, `scale` (1/σ; 1 for a sized rule) and `cut` are results if the part is the whole release, and
    given otherwise. The shortlist of query q is the first shortlisted[q] elements from q · capacity on of
    `record` and `score`: all records that may be among the best. `lost` is the highest score that found no
    room on it.
    """

    candidates: NDArray[np.int64]
    sums: NDArray[np.int64]
    units: NDArray[np.float64]
    highest: NDArray[np.float64]
    scale: NDArray[np.float64]
    cut: NDArray[np.float32]
    shortlisted: NDArray[np.int64]
    record: NDArray[np.int64]
    score: NDArray[np.float32]
    lost: NDArray[np.float32]
    capacity: int

    @classmethod
    def empty(cls, units: NDArray[np.float64], capacity: int) -> "QuerySummaries":
        """Summaries to be filled in, of as many queries as there are rows of `units`."""
        queries = len(units)
        return cls(
            candidates=np.zeros(queries, np.int64),
            sums=np.zeros((queries, 3, 2), np.int64),
            units=units,
            highest=np.zeros(queries),
            scale=np.zeros(queries),
            cut=np.full(queries, np.inf, np.float32),
            shortlisted=np.zeros(queries, np.int64),
            record=np.zeros(queries * capacity, np.int64),
            score=np.zeros(queries * capacity, np.float32),
            lost=np.zeros(queries, np.float32),
            capacity=capacity,
        )

    def select_rows(self, rows: NDArray[np.int64]) -> "QuerySummaries":
        """These rows, in this order."""
        columns = {name: column[rows] for name, column in self._asdict().items() if name in BY_QUERY}
        record = self.record.reshape(-1, self.capacity)[rows].reshape(-1)
        score = self.score.reshape(-1, self.capacity)[rows].reshape(-1)
        return self._replace(**columns, record=record, score=score)


BY_QUERY = ("candidates", "sums", "units", "highest", "scale", "cut", "shortlisted", "lost")


# A long time table, read from its straight pieces.


@inline
def interpolated(c: Array, lines: Array, line_bits: Int, at: Int) -> Real:
    """The number for a distance, from its straight piece if it has one."""
    cell = time_cell(c, at)
    piece = (cell >> U(line_bits)) << U(1)
    along = np.float32(np.int32(cell & ((U(1) << U(line_bits)) - U(1))))
    x = multiply_add(lines[piece + U(1)], along, lines[piece])
    return x if x == x else time_similarity(c, at)
