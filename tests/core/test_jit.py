"""Compiled kernels take keywords, with and without the compiler."""

import numpy as np

from standout.core.jit import kernel


@kernel
def difference(first, second):
    return first - second


def test_a_kernel_takes_keywords():
    assert difference(second=np.float64(1.0), first=np.float64(3.0)) == 2.0
