"""Every Numba default, in one place.

cache          compiled once per machine, then loaded in milliseconds
nogil          kernels run beside each other on a thread pool
error_model    "numpy": Python's division checks for zero in every step and stops vectorisation
forceinline    on the small helpers: a call per byte would cost more than the byte

With NUMBA_DISABLE_JIT=1 the kernels run as plain Python, so that coverage sees into them. NumPy's
scalars then warn where 64-bit hashes wrap around on purpose; the decorator silences just that.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numpy.typing import NDArray

__all__ = ["Array", "Flag", "Int", "inline", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

Array = NDArray[Any]
Int = Any
"""A whole number inside a kernel: Python's when the compiler is off, 64 bits when it is on."""
Flag = Any
"""A truth value inside a kernel."""


def kernel(function: F) -> F:
    """The function, compiled: arrays in, arrays out."""
    return _compiled(function, inlined=False)


def inline(function: F) -> F:
    """The function, compiled into each kernel that calls it."""
    return _compiled(function, inlined=True)


def _compiled(function: F, inlined: bool) -> F:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function if inlined else _interpreted(function)
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inlined)(function))


def _interpreted(function: F) -> F:
    @wraps(function)
    def run(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast(F, run)
