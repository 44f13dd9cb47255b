"""Compiled loops of `elementary`: one call of the C library per number."""

import math

from numba.core import config

from standout.core.jit import Array, kernel

__all__ = ["COMPILED", "exp", "exp2", "expm1", "log", "log1p", "log2", "power"]

COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]


@kernel
def exp(x: Array, out: Array) -> None:
    """Set out to e^x."""
    for i in range(len(x)):
        out[i] = math.exp(x[i])


@kernel
def exp2(x: Array, out: Array) -> None:
    """Set out to 2^x."""
    for i in range(len(x)):
        out[i] = math.exp2(x[i])


@kernel
def expm1(x: Array, out: Array) -> None:
    """Set out to e^x − 1."""
    for i in range(len(x)):
        out[i] = math.expm1(x[i])


@kernel
def log(x: Array, out: Array) -> None:
    """Set out to ln x."""
    for i in range(len(x)):
        out[i] = math.log(x[i])


@kernel
def log1p(x: Array, out: Array) -> None:
    """Set out to ln(1 + x)."""
    for i in range(len(x)):
        out[i] = math.log1p(x[i])


@kernel
def log2(x: Array, out: Array) -> None:
    """Set out to log2 x."""
    for i in range(len(x)):
        out[i] = math.log2(x[i])


@kernel
def power(base: Array, exponent: Array, out: Array) -> None:
    """Set out to base^exponent."""
    for i in range(len(base)):
        out[i] = math.pow(base[i], exponent[i])
