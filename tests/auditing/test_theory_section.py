"""What theory says: sparsity and bounds are the library's."""

import math

import numpy as np
import pytest

import standout as so

pytestmark = pytest.mark.once


def test_sparsity_and_bounds_are_the_librarys(audited, release):
    sparsity = so.sparsity(release, so.Within(value=1, time=14))
    theory = audited.findings.theory
    assert theory.sparsity.similarity == "values within 1 and dates within 14 days"
    assert all(sparsity.survival(point.epsilon) == point.share for point in theory.sparsity.curve)
    nearest = np.sort(sparsity.nearest)[math.ceil(0.95 * 40) - 1]
    bounds = {bound.theorem: bound.bound for bound in theory.bounds}
    assert bounds["Theorem 1"] == so.bounds.facts_needed(40, 0.05, 0.5)
    assert bounds["Theorem 3"] == so.bounds.facts_for_lineup(40, 10, 0.95 - nearest)
    assert sparsity.delta(float(nearest)).value <= 0.05
