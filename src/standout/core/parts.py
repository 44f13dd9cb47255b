"""Computations over parts of a release: map over ranges of blocks, merge in the order of the parts, finish.

A part is a range of the release's blocks of records (see `release.postings`). A computation is a function
of a release, a part and other arguments. Its results are merged exactly, so they do not depend on how many
parts there are. An executor runs the function on all parts: in this process (`LocalExecutor`), or on workers
that open the same release by its path. It is attached to a release, and every attack on that release uses it:

    attach_executor(release, executor)

Without an executor, attacks run on the whole release on threads, with the same results.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats
from standout.core.jit import Array, Int, Real, inline
from standout.core.threads import current_pool

__all__ = [
    "Executor",
    "LocalExecutor",
    "Part",
    "Words",
    "add_sums",
    "add_to_sum",
    "attach_executor",
    "even_parts",
    "exact_sums",
    "executor_of",
    "merged_sums",
    "sum_unit",
    "sum_value",
    "sum_values",
]

R = TypeVar("R")
ATTACHED = "_executor"


class Part(NamedTuple):
    """The blocks first_block … last_block - 1 of a release."""

    first_block: int
    last_block: int


class Executor(ABC):
    """Runs functions on all parts of one release.

    `parts` are ascending and adjacent, from block 0 to the release's last. A function is called as
    function(release, part, *arguments), with the release as the worker has opened it. It belongs to a module,
    and its arguments and results can be pickled. It has no side effects, so that a worker may run it again
    after another was lost. Errors that it raises are raised here.
    """

    parts: tuple[Part, ...]

    @abstractmethod
    def map_batches(self, function: Callable[..., R], batches: Iterable[Sequence[Any]]) -> Iterator[list[R]]:
        """For each of the batches, which are arguments, in order: the results of all parts, in their order.

        Later batches may run while the results of earlier ones are read.
        """

    def map(self, function: Callable[..., R], *arguments: Any) -> list[R]:
        """The results of all parts, in their order."""
        return next(iter(self.map_batches(function, [arguments])))


class LocalExecutor(Executor):
    """All parts in this process, one after another."""

    def __init__(self, release: object, parts: Sequence[Part]) -> None:
        self.release, self.parts = release, tuple(parts)

    def map_batches(self, function: Callable[..., R], batches: Iterable[Sequence[Any]]) -> Iterator[list[R]]:
        """As in `Executor`."""
        for arguments in batches:
            yield [function(self.release, part, *arguments) for part in self.parts]


def even_parts(n_blocks: int, count: int) -> tuple[Part, ...]:
    """Split blocks into at most `count` parts of about the same number of blocks, at least one part."""
    count = max(1, min(count, n_blocks))
    ends = [n_blocks * i // count for i in range(count + 1)]
    return tuple(Part(low, high) for low, high in pairwise(ends))


def attach_executor(release: object, executor: Executor | None) -> None:
    """Let all attacks on this release run on an executor's parts; None: on threads of this process again."""
    vars(release)[ATTACHED] = executor


def executor_of(release: object) -> Executor | None:
    """The executor of a release: the one attached, or that of the current workers; None if it has none."""
    executor, pool = vars(release).get(ATTACHED), current_pool()
    if executor is None and pool is not None:
        executor = pool.executor_of(release)
    assert executor is None or isinstance(executor, Executor)
    return executor


# Sums that do not depend on how their terms are grouped: fixed-point numbers in two words of 64 bits.
#
# A sum is coarse + fine · 2^-60 units, where 0 ≤ fine < 2^60. The unit is a power of two, 2^-40 of a bound on
# the size of each term. A term is a float64, which is cut off at 2^-100 of the bound. From there on, additions
# of whole numbers are exact: terms and partial sums may be added in any order. There is room for 2^22 terms,
# such as the sums of 2^22 blocks of records.


Words = NDArray[np.int64]
"""Sums by (…, 2): coarse and fine words."""
COARSE_BITS, FINE_BITS = 40, 60
ONE, LAST = np.int64(1 << FINE_BITS), np.int64((1 << FINE_BITS) - 1)
LIMIT = 2.0**COARSE_BITS
PER_ONE, ONE_PER = 2.0**FINE_BITS, 2.0**-FINE_BITS
SHIFT = np.int64(FINE_BITS)


def sum_unit(bits: Any) -> Floats:
    """The unit of sums whose terms are at most 2^bits, which is between 2^-900 and 2^900."""
    return np.asarray(np.ldexp(1.0, np.asarray(bits) - COARSE_BITS))


@inline
def add_to_sum(sums: Array, i: Int, j: Int, term: Real, unit: Real) -> None:
    """Add a term to the sum sums[i, j]. One beyond the bound, or NaN, counts as the bound."""
    units = term / unit
    units = units if -LIMIT <= units <= LIMIT else LIMIT
    whole = np.floor(units)
    fine = sums[i, j, 1] + np.int64((units - whole) * PER_ONE)
    sums[i, j, 0] += np.int64(whole) + (fine >> SHIFT)
    sums[i, j, 1] = fine & LAST


@inline
def add_sums(sums: Array, i: Int, other: Int) -> None:
    """Add the sums sums[other] to sums[i]."""
    for j in range(sums.shape[1]):
        fine = sums[i, j, 1] + sums[other, j, 1]
        sums[i, j, 0] += sums[other, j, 0] + (fine >> SHIFT)
        sums[i, j, 1] = fine & LAST


@inline
def sum_value(sums: Array, i: Int, j: Int, unit: Real) -> Real:
    """The sum sums[i, j] in double precision."""
    return (np.float64(sums[i, j, 0]) + np.float64(sums[i, j, 1]) * ONE_PER) * unit


def exact_sums(terms: Floats, unit: Any) -> Words:
    """The sums of terms over the first axis, as `add_to_sum` forms them."""
    units = terms / unit
    units = np.where(np.abs(units) <= LIMIT, units, LIMIT)
    whole = np.floor(units)
    words = np.stack([whole, (units - whole) * PER_ONE], axis=-1).astype(np.int64)
    return merged_sums(words)


def merged_sums(parts: Words) -> Words:
    """The sums over the first axis of partial sums, such as those of all parts of a release."""
    low = (parts[..., 1] & ((1 << 30) - 1)).sum(axis=0)
    high = (parts[..., 1] >> 30).sum(axis=0) + (low >> 30)  # in halves: 2^60 times 8 terms would overflow
    fine = ((high & ((1 << 30) - 1)) << 30) | (low & ((1 << 30) - 1))
    return np.stack([parts[..., 0].sum(axis=0) + (high >> 30), fine], axis=-1)


def sum_values(sums: Words, unit: Any) -> Floats:
    """All sums in double precision, as `sum_value` gives them."""
    return np.asarray((sums[..., 0].astype(np.float64) + sums[..., 1].astype(np.float64) * ONE_PER) * unit)
