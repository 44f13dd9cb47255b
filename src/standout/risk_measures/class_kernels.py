"""Compiled hash tables that number and count 64-bit keys."""

import numpy as np

from standout.core.jit import Array, Int, kernel
from standout.core.rng import mix

__all__ = ["number_keys", "table_bits"]

U = np.uint64
ZERO = U(0)


def table_bits(n: int) -> int:
    """Size of a hash table for n keys, as a power of two: at most half of it is used."""
    return max(4, (2 * n - 1).bit_length())


@kernel
def number_keys(keys: Array, bits: Int, number: Array, counts: Array) -> Int:
    """Number the different keys in the order in which they first occur, and count each.

    keys      n different or equal 64-bit keys
    number    n, written: the number of each key
    counts    n, written: how often the keys 0, 1, … occur
    """
    slot_key, slot_number = np.empty(1 << bits, np.uint64), np.full(1 << bits, np.int32(-1))
    shift, mask, n_classes = U(64 - bits), U((1 << bits) - 1), 0
    for row in range(len(keys)):
        key = keys[row]
        slot = mix(key, ZERO) >> shift
        while slot_number[slot] >= 0 and slot_key[slot] != key:
            slot = (slot + U(1)) & mask
        if slot_number[slot] < 0:
            slot_key[slot], slot_number[slot] = key, n_classes
            counts[n_classes] = 0
            n_classes += 1
        number[row] = slot_number[slot]
        counts[slot_number[slot]] += 1
    return n_classes
