"""Tables of a decay over many levels equal one exponential per level, and give the same verdicts."""

import math

import numpy as np
import pytest
from tests.attack.made_tables import made_table

from standout.attack import column_evidence as evidence
from standout.attack.any_attack import attack_columns
from standout.attack.column_evidence import DecayBlocks, DecayTable
from standout.attack.scoreboard import ScoreboardRH
from standout.know.adversary import Adversary


@pytest.mark.parametrize("scale", [0.3, 4.0, 1e6])
def test_a_table_in_blocks_equals_one_exponential_per_level(scale):
    levels = np.unique(np.random.default_rng(1).normal(size=300) * 20)
    blocks = DecayBlocks.of(levels, scale)
    for code in (0, 7, 150, len(levels) - 1):
        low, high = blocks.ends(code)
        out = np.empty(high - low)
        DecayTable(blocks, code, low, high, 0.07).fill(out)
        expected = [round(0.07 * 2**20 * math.exp(-abs(x - levels[code]) / scale)) for x in levels[low:high].tolist()]
        assert (out * 2**20).tolist() == expected
        assert all(abs(levels[i] - levels[code]) > 15 * scale for i in range(len(levels)) if not low <= i < high)


@pytest.mark.parametrize("absent", [False, True])
def test_the_paper_s_attack_says_the_same_of_columns_with_many_levels(monkeypatch, absent):
    table, adversary = made_table(50, seed=6), Adversary(knows=4, wrong=1)
    facts = adversary.observe_all(table, np.flatnonzero(adversary.eligible(table, np.arange(50))), 3)
    few = attack_columns(table, facts, ScoreboardRH(), absent=absent)
    monkeypatch.setattr(evidence, "MANY_LEVELS", 200)
    many = attack_columns(table, facts, ScoreboardRH(), absent=absent)
    assert np.array_equal(few.found, many.found)
    assert np.array_equal(few.eccentricity, many.eccentricity)
