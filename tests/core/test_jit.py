"""Compiled kernels: the cache on disk survives renames, and keywords work with and without the compiler."""

import importlib
import sys

import numba
import numpy as np
import pytest

from standout.core.jit import kernel

MODULE = """
from typing import NamedTuple

import numpy as np

from standout.core.jit import kernel


class {name}(NamedTuple):
    numbers: np.ndarray


@kernel
def total(pair):
    sum = 0.0
    for i in range(len(pair.numbers)):
        sum += pair.numbers[i]
    return sum


def run():
    return total({name}(np.arange(4.0)))
"""


@kernel
def difference(first, second):
    return first - second


def test_a_kernel_takes_keywords():
    assert difference(second=np.float64(1.0), first=np.float64(3.0)) == 2.0


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is cached without the compiler")
def test_a_cache_with_a_type_that_was_renamed_is_emptied(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Numbers", "Renamed"):
        (tmp_path / "cached_kernel.py").write_text(MODULE.format(name=name))
        importlib.invalidate_caches()
        sys.modules.pop("cached_kernel", None)
        try:
            assert importlib.import_module("cached_kernel").run() == 6.0
        finally:
            sys.modules.pop("cached_kernel", None)
