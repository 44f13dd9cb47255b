"""Words that sort by a size and carry an index. Compiled."""

import numpy as np

from standout.core.jit import Int, Real, inline

__all__ = ["INDEX_BITS", "pack_index", "unpack_index"]

INDEX_BITS = np.uint64(32)
"""The low bits of a word, which carry the index; the size is above them."""


@inline
def pack_index(size: Real, index: Int) -> np.uint64:
    """A size and an index in one word, to be sorted."""
    return (np.uint64(size * 2.0**24) << INDEX_BITS) | np.uint64(index)


@inline
def unpack_index(word: np.uint64) -> Int:
    """The index in a word."""
    return np.int64(word & np.uint64(0xFFFFFFFF))
