"""Decorators that compile kernels, with every Numba option in one place.

cache          a kernel is compiled once per machine and then loaded in milliseconds (NUMBA_CACHE_DIR or __pycache__)
nogil          kernels run in parallel on a thread pool
error_model    "numpy": Python's division checks for zero at every step, which prevents vectorisation
forceinline    for small helpers: a call per byte would cost more than the work on the byte
fastmath       for sums in double precision only: reordering them allows vectorisation; NaN stays NaN

The compiler must not fuse a product and a sum, or reorder a sum: it does so only on some processors, and ties
would depend on it. Only a `summing_subroutine` allows it, for sums of which the last digits do not matter. Numba
applies the fastmath of a function to all functions that it calls.

Use np.uint64 for array indices where speed matters: Numba tests a signed index for being negative at every
access.

With NUMBA_DISABLE_JIT=1 the kernels run as plain Python, so that coverage can trace them. NumPy scalars then
warn where 64-bit hashes overflow on purpose; the decorator silences only that warning.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

Array = NDArray[Any]
Int = Any
"""A whole number inside a kernel: 64 bits if compiled, a Python int otherwise."""
Real = Any
"""A floating-point number inside a kernel."""
Flag = Any
"""A truth value inside a kernel."""


REORDERED_SUMS = {"reassoc", "contract", "nsz", "arcp"}
NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: F, forceinline: bool = False, **options: Any) -> F:
    """Compile a function that Python calls with arrays."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        if forceinline:
            return function

        @wraps(function)
        def run(*args: Any, **settings: Any) -> Any:
            with np.errstate(over="ignore"):
                return function(*args, **settings)

        return cast(F, run)
    options |= {"nogil": True, "error_model": "numpy", "forceinline": forceinline}
    return cast(F, numba.njit(cache=True, **options)(function))


def inline(function: F) -> F:
    """Compile a small function into each kernel that calls it."""
    return kernel(function, forceinline=True)


def subroutine(function: F) -> F:
    """Compile a function that only kernels call; without a Python wrapper it compiles faster."""
    return kernel(function, **NO_WRAPPERS)


def summing_subroutine(function: F) -> F:
    """Compile a subroutine whose sums may be reordered, so that they vectorise; in double precision only."""
    return kernel(function, fastmath=REORDERED_SUMS, **NO_WRAPPERS)
