"""Compiled counting of the classes of many sets of columns.

Each level of each column has a random 64-bit number, and the key of a row in a set of columns is the sum of
its numbers. So a set and one more column need one addition for each row. A slot and its position hold about
51 bits of a key with a million rows. Two different rows share them in about one of 5,000 sets, which is then
counted two unique rows short. The search for sets tolerates that, and reported sets are counted exactly.
"""

import numpy as np

from standout.core.jit import Array, Int, inline, kernel

__all__ = ["add_numbers", "count_classes", "find_repeated"]

U, U32 = np.uint64, np.uint32
EMPTY, SEEN_TWICE, OCCUPIED = U32(0), U32(1), U32(2)
TAG, LOW_HALF, ONE = U32(0xFFFFFFFC), U(0xFFFFFFFF), U(1)


@kernel
def add_numbers(keys: Array, codes: Array, numbers: Array) -> None:
    """Add the number of each row's level to its key."""
    for row in range(len(keys)):
        keys[row] += numbers[codes[row]]


@kernel
def count_classes(
    keys: Array, rows: Array, codes: Array, numbers: Array, bits: Int, slots: Array
) -> tuple[Int, Int]:
    """Count the rows that are unique among `rows`, and their classes, after one more column.

    keys, rows    keys of n rows, and which rows these are
    slots         2**bits
    """
    slots[:] = EMPTY
    shift, mask = U(64 - bits), U((1 << bits) - 1)
    n_unique, n_classes = 0, 0
    for i in range(len(keys)):
        key = keys[i] + numbers[codes[rows[i]]]
        tag = _tag(key)
        slot = _slot(slots, key >> shift, tag, mask)
        if slots[slot] == EMPTY:
            slots[slot] = tag
            n_unique += 1
            n_classes += 1
        elif slots[slot] == tag:
            slots[slot] = tag | SEEN_TWICE
            n_unique -= 1
    return n_unique, n_classes


@kernel
def find_repeated(keys: Array, bits: Int, slots: Array, rows: Array) -> Int:
    """Write the positions of keys that occur more than once to `rows`, and return their number."""
    slots[:] = EMPTY
    shift, mask, n_repeated = U(64 - bits), U((1 << bits) - 1), 0
    for row in range(len(keys)):
        tag = _tag(keys[row])
        slot = _slot(slots, keys[row] >> shift, tag, mask)
        slots[slot] = tag if slots[slot] == EMPTY else tag | SEEN_TWICE
    for row in range(len(keys)):
        slot = _slot(slots, keys[row] >> shift, _tag(keys[row]), mask)
        if slots[slot] & SEEN_TWICE:
            rows[n_repeated] = row
            n_repeated += 1
    return n_repeated


@inline
def _tag(key: Int) -> Int:
    """The part of a key that its slot holds: 30 bits; its position holds others."""
    return (U32(key & LOW_HALF) & TAG) | OCCUPIED


@inline
def _slot(slots: Array, slot: Int, tag: Int, mask: Int) -> Int:
    """Where the tag is, or the free slot where it belongs."""
    while slots[slot] != EMPTY and (slots[slot] & ~SEEN_TWICE) != tag:
        slot = (slot + ONE) & mask
    return slot
