"""Precision and recall by φ and by budget."""

import math

import numpy as np
import pytest

from standout.linking.claim_curves import JudgedProfiles

pytestmark = pytest.mark.once


def test_precision_and_recall_are_counted_by_phi_and_by_budget():
    draw = np.random.default_rng(8)
    strength, present = np.round(draw.exponential(3, 80), 1), draw.random(80) >= 0.3
    claimable, identified = strength > 0, present & (draw.random(80) < 0.7)
    judged = JudgedProfiles(strength, claimable, identified, present)
    for row in judged.by_phi().iter_rows(named=True):
        claims = [i for i in range(80) if claimable[i] and strength[i] >= row["phi"]]
        correct = sum(identified[i] for i in claims)
        assert (row["claims"], row["correct_claims"]) == (len(claims), correct)
        assert row["precision"] == (correct / len(claims) if claims else None)
        assert row["recall"] == pytest.approx(correct / present.sum())
        assert row["absent_claims"] == pytest.approx(sum(~present[i] for i in claims) / (~present).sum())
    table = judged.by_budget(lambda budget: 1 / budget if budget > 0.01 else math.inf)
    assert table["budget"].to_list() == [0.02, 0.05, 0.1, 0.2, 0.5]
    for row in table.iter_rows(named=True):
        claims = [i for i in range(80) if claimable[i] and strength[i] >= 1 / row["budget"]]
        assert (row["claims"], row["correct_claims"]) == (len(claims), sum(identified[i] for i in claims))
