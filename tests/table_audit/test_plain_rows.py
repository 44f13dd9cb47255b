"""The plain attacks that an audit checks itself with agree with the kernels on columns of every kind."""

import math

import numpy as np
import pytest
from tests.table_attack.made_tables import made_table, released_table

from standout.attack.column_scores import attack_columns, attack_named
from standout.auditing.plain_rows import plain_verdict
from standout.auditing.table_runs import ATTACKS
from standout.know.adversary import Adversary

ADVERSARY = Adversary(knows=4, wrong=1)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("released", [False, True])
def test_the_plain_attack_agrees_with_the_kernels(attack, absent, released):
    original = made_table(40, seed=2)
    table = released_table(original, seed=1) if released else original
    rows = np.flatnonzero(ADVERSARY.eligible(original, np.arange(40)))[:10]
    facts = ADVERSARY.observe_all(original, rows, seed=4)
    verdicts = attack_columns(table, facts, attack_named(attack, ADVERSARY), absent=absent)
    agree = 0
    for query in range(len(facts)):
        plain = plain_verdict(table, facts, query, attack, ADVERSARY, absent)
        if plain.ties == plain.near_ties:
            agree += 1
            assert plain.found == pytest.approx(float(verdicts.found[query]))
            assert plain.ties == verdicts.ties[query]
            assert math.isclose(plain.posterior, float(verdicts.posterior[query]), rel_tol=1e-5)
    assert agree >= 8
