"""Learning the evidence model."""

import numpy as np
import pytest

from standout.linking.decoys import DecoyStrengths, presence

pytestmark = pytest.mark.once


def test_profiles_count_as_present_to_the_extent_that_they_are_stronger_than_decoys():
    draw = np.random.default_rng(7)
    decoys = DecoyStrengths(np.zeros(100, int), np.arange(100), np.round(draw.normal(0, 1, 100), 1))
    strength = np.round(np.concatenate([draw.normal(0, 1, 40), draw.normal(4, 1, 40)]), 1)
    present = presence(strength, np.ones(80, bool), decoys)
    false_claim = decoys.false_claim(strength)
    absent = min(1.0, 2 * float((false_claim > 0.5).mean()))
    share = [absent * p / max((strength >= s).mean(), 1 / 80) for p, s in zip(false_claim, strength, strict=True)]
    for s, probability in zip(strength.tolist(), present.tolist(), strict=True):
        least = min(own for own, other in zip(share, strength.tolist(), strict=True) if other <= s)
        assert probability == pytest.approx(1 - least if least < 0.5 else 0.0)
    assert present[strength > 4].min() > 0.9 and present[np.argmin(strength)] == 0
