"""Memory for the bit counters of `core.simd`: aligned to cache lines, and in large pages."""

from typing import Any

import numpy as np

from standout.core.jit import Array

__all__ = ["aligned_words", "large_page_array"]

LARGE_PAGE_BYTES = 1 << 22
"""NumPy asks for large pages from this size on."""


def large_page_array(count: int, kind: Any) -> Array:
    """An array in large pages, if the system has them: looking up small pages takes too long."""
    return np.empty(max(count, LARGE_PAGE_BYTES // np.dtype(kind).itemsize), kind)[:count]


def aligned_words(count: int) -> Array:
    """An array of words that begins at a multiple of 64 bytes: no vector is in two cache lines."""
    words = np.empty(count + 8, np.uint64)
    first = -(words.ctypes.data // 8) % 8
    return words[first : first + count]
