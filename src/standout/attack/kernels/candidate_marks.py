"""Which records of each block are not candidates of a query: compiled."""

import numpy as np

from standout.attack.kernels.query_arrays import BLOCK, CandidateFilter, U
from standout.core.jit import Array, Int, subroutine

__all__ = ["rule_out"]


@subroutine
def rule_out(
    candidates: CandidateFilter, q: Int, first_record: Int, n_records: Int, out: Array, left_out: Array
) -> Int:
    """Mark the records of a part that are not candidates, count them by block, and return their number.

    `out` and `left_out` are by record and by block of the part, which begins with `first_record`.
    """
    exclude, total = candidates.exclude[q] - first_record, np.int64(0)
    for number in range(len(left_out)):
        gone, first = np.int64(0), first_record + number * BLOCK
        if candidates.filtered:
            last = min(n_records, first + BLOCK)
            gone = _filter(candidates, q, first, last, out[number * BLOCK : (number + 1) * BLOCK])
        if exclude // BLOCK == number and not out[exclude]:
            out[exclude] = True
            gone += 1
        left_out[number] = gone
        total += gone
    return total


@subroutine
def _narrow(x: Int) -> Int:
    """A bound in 32 bits: what is compared with it has no more."""
    return np.int32(min(max(x, -(1 << 31)), (1 << 31) - 1))


@subroutine
def _filter(candidates: CandidateFilter, q: Int, first: Int, last: Int, out: Array) -> Int:
    """Mark records first … last - 1 that are too short, too long, or begin too early or too late.

    `out` begins with the mark of the first.
    """
    lengths, begins = candidates.lengths, candidates.begins
    shortest, longest = _narrow(candidates.length[q, 0]), _narrow(candidates.length[q, 1])
    earliest, latest = _narrow(candidates.joined[q, 0]), _narrow(candidates.joined[q, 1])
    gone = np.int32(0)
    for i in range(U(first), U(last)):
        length, day = lengths[i], begins[i]
        apart = (length < shortest) | (length > longest) | ((day >= 0) & ((day < earliest) | (day > latest)))
        out[i - U(first)] = apart
        gone += np.int32(apart)
    return np.int64(gone)
