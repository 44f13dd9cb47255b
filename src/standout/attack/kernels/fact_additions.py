"""Add what one fact adds to the scores of all records that have its item, in double precision: compiled.

The same numbers as `Queries.parts`, in a tenth of the time: a query with ties goes through all records.
"""

from typing import NamedTuple

import numpy as np

from standout.attack.kernels.query_arrays import U
from standout.core.arrays import Floats, Ints
from standout.core.errors import StoreError
from standout.core.jit import Array, Flag, Int, Real, kernel
from standout.release.model import INVALID_CODE, Release
from standout.release.postings import BLOCK_BITS, Postings
from standout.similarity.lookup_tables import Tables
from standout.similarity.time_cells import time_similarity

__all__ = ["add_weighted_fact"]


class _Rows(NamedTuple):
    """The rows of a fact's shape in the tables of similarity."""

    a: Floats
    b: Floats
    off: Ints


def add_weighted_fact(
    release: Release,
    tables: Tables,
    item: int,
    shape: int,
    time: int,
    *,
    weight: float,
    step: float,
    scores: Floats,
) -> None:
    """Add weight · Sim, each term on the grid of `step`, to the scores of the records that have the item.

    No record may have it several times.
    """
    rows = _Rows(tables.a[shape], tables.b[shape], tables.off[shape])
    if not _add(release.by_item, rows, tables.c, item, time, weight, step, scores):
        raise StoreError(INVALID_CODE)


@kernel
def _add(
    postings: Postings, rows: _Rows, c: Array, item: Int, time: Int, weight: Real, step: Real, scores: Array
) -> Flag:
    """Add the parts; return whether every record exists."""
    start, run, blocks, end, word = postings.start, postings.run, postings.block, postings.end, postings.word
    a, b, off = rows
    kind_shift, position_shift = U(postings.time_bits), U(postings.time_bits + postings.value_bits)
    time_mask, kind_mask = (U(1) << kind_shift) - U(1), (U(1) << U(postings.value_bits)) - U(1)
    p = start[item]
    for j in range(run[item], run[item + 1]):
        first, stop = U(blocks[j]) << U(BLOCK_BITS), start[item] + np.int64(end[j])
        while p < stop:
            x = U(word[p])
            kind, record = (x >> kind_shift) & kind_mask, first + (x >> position_shift)
            if record >= U(len(scores)):
                return False
            timed = b[kind] * time_similarity(c, U(np.int64(x & time_mask) + off[kind] - time))
            fixed = np.rint(weight * max(a[kind], 0.0) / step) * step
            scores[record] += fixed + np.rint(weight * max(timed, 0.0) / step) * step
            p += 1
    return True
