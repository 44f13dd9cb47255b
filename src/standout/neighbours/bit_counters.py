"""Memory for bit counters (see `core.simd`): aligned to lines of the cache, and in large pages."""

from typing import Any

import numpy as np

from standout.core.jit import Array

__all__ = ["aligned", "roomy"]

PAGES = 1 << 22
"""Bytes: from here on NumPy asks for large pages."""


def roomy(count: int, kind: Any) -> Array:
    """So many elements, in large pages where the system has them: small ones are looked up too often."""
    return np.empty(max(count, PAGES // np.dtype(kind).itemsize), kind)[:count]


def aligned(words: int) -> Array:
    """So many words, from a multiple of 64 bytes on: no vector lies in two lines of the cache."""
    found = np.empty(words + 8, np.uint64)
    first = -(found.ctypes.data // 8) % 8
    return found[first : first + words]
