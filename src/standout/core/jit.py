"""Every Numba default, in one place.

cache          compiled once per machine, then loaded in milliseconds
nogil          kernels run beside each other on a thread pool
error_model    "numpy": Python's division checks for zero in every step and stops vectorisation
forceinline    on the small helpers: a call per byte would cost more than the byte
fastmath       on sums in double precision only: their order may change, so that they vectorise; NaN stays NaN

No function lets the compiler fuse a product and a sum: it does so only on processors that can, and results in
single precision would differ between processors in the seventh digit. `multiply_add` fuses them on every
processor. Note that Numba applies the fastmath of a function to all functions that it calls.

An index is np.uint64 wherever speed matters: a signed one is tested for being negative, at every access.

With NUMBA_DISABLE_JIT=1 the kernels run as plain Python, so that coverage sees into them. NumPy's
scalars then warn where 64-bit hashes wrap around on purpose; the decorator silences just that.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "Array", "Flag", "Int", "Real", "float_of_bits", "inline", "kernel", "multiply_add", "subroutine",
    "summing_subroutine", "write_multiply_add",
]  # fmt: skip

cgutils: Any = import_module("numba.core.cgutils")  # untyped
F = TypeVar("F", bound=Callable[..., Any])

Array = NDArray[Any]
Int = Any
"""A whole number inside a kernel: Python's when the compiler is off, 64 bits when it is on."""
Real = Any
"""A number inside a kernel."""
Flag = Any
"""A truth value inside a kernel."""


SUMS = {"reassoc", "contract", "nsz", "arcp"}
INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """The function, compiled: arrays in, arrays out."""
    return _compiled(function)


def inline(function: F) -> F:
    """The function, compiled into each kernel that calls it."""
    return _compiled(function, forceinline=True)


def subroutine(function: F) -> F:
    """The function, compiled for kernels to call: without a way in from Python it compiles faster."""
    return _compiled(function, **INSIDE)


def summing_subroutine(function: F) -> F:
    """The same, so that its sums vectorise: sums in double precision, where the order hardly shows."""
    return _compiled(function, fastmath=SUMS, **INSIDE)


def _compiled(function: F, forceinline: bool = False, **options: Any) -> F:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function if forceinline else _interpreted(function)
    compiled = numba.njit(nogil=True, error_model="numpy", forceinline=forceinline, **options)(function)
    compiled._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
    return cast(F, compiled)


class _KernelCache(FunctionCache):
    """Numba's cache on disk, emptied where an older version left types in it that no longer exist.

    Numba unpickles the cached types before it compares the age of the source. A class that was renamed
    since would stop every call with an AttributeError.
    """

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super().load_overload(signature, target)  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            self.flush()  # type: ignore[no-untyped-call]
            return None


@intrinsic
def _bits(typing: Any, bits: Any) -> Any:
    def bitcast(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], ir.FloatType())

    return types.float32(types.int32), bitcast


def _bits_interpreted(bits: Any) -> Any:
    return np.int32(bits).view(np.float32)


float_of_bits: Any = _bits_interpreted if config.DISABLE_JIT else _bits  # type: ignore[attr-defined]
"""The float32 that has these 32 bits."""


def write_multiply_add(context: Any, builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Writes the instructions for a · b + c with one rounding, of float32 numbers or vectors of them.

    x86 processors before 2013 lack the instruction. There the product, which is then exact, and the sum are
    computed in double precision; about one result in 2^29 is rounded twice and may be off by one unit.
    """
    triple, _, features = context.codegen().magic_tuple()
    single, double, lanes = a.type, ir.DoubleType(), getattr(a.type, "count", 0)
    if "+fma" in features.split(",") or not triple.startswith(("x86", "i386", "i686")):
        name = f"llvm.fma.v{lanes}f32" if lanes else "llvm.fma.f32"
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(single, [single] * 3), name)
        return builder.call(fma, [a, b, c])
    wide = ir.VectorType(double, lanes) if lanes else double
    a, b, c = (builder.fpext(x, wide) for x in (a, b, c))
    return builder.fptrunc(builder.fadd(builder.fmul(a, b), c), single)


@intrinsic
def _multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return write_multiply_add(context, builder, *given)

    return types.float32(types.float32, types.float32, types.float32), write


def _multiply_add_interpreted(a: Any, b: Any, c: Any) -> Any:
    return np.float32(np.float64(a) * np.float64(b) + np.float64(c))


multiply_add: Any = _multiply_add_interpreted if config.DISABLE_JIT else _multiply_add  # type: ignore[attr-defined]
"""a · b + c in single precision, with one rounding."""


def _interpreted(function: F) -> F:
    @wraps(function)
    def run(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast(F, run)
