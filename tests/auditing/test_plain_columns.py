"""The plain attacks that an audit checks itself with agree with the kernels on columns of every kind."""

import numpy as np
import pytest
from tests.attack.made_tables import made_table, released_table

import standout as so
from standout.attack.any_attack import attack_named
from standout.auditing.recomputed import Recomputation
from standout.know.adversary import Adversary
from standout.know.sanitized import representatives_of

ADVERSARY = Adversary(knows=4, wrong=1)


@pytest.mark.parametrize("attack", ["likelihood", "paper", "exact match"])
@pytest.mark.parametrize("adversary", [ADVERSARY, Adversary(knows=4)])
@pytest.mark.parametrize("released", [False, True])
def test_the_plain_attack_agrees_with_the_kernels(attack, adversary, released):
    original = made_table(40, seed=2)
    table = released_table(original, seed=1) if released else original
    cell = so.simulate(table, adversary, attack=attack, targets=12, seed=4, threads=1).cell()
    facts = adversary.observe_all(original, cell.targets, 4)
    again = Recomputation(table, attack_named(attack, adversary), facts, 10)
    compared, records = 0, representatives_of(table)[cell.targets]
    for q, record in enumerate(records.tolist()):
        for present in again.outcomes(q, record):
            compared += 1
            for name, expected in present._asdict().items():
                found = float(getattr(cell.outcomes, name)[q, 0])
                if name == "claim_strength":
                    found, expected = min(found, 4.0), min(expected, 4.0)
                assert np.isnan(expected) or found == pytest.approx(expected, rel=1e-3, abs=1e-4), name
        for absent in again.outcomes(q, record, absent=True):
            found = min(float(cell.outcomes.absent_claim_strength[q, 0]), 4.0)
            assert found == pytest.approx(min(absent.claim_strength, 4.0), rel=1e-3, abs=1e-4)
    assert compared >= 8
