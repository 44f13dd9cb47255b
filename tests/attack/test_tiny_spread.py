"""Scores that hardly differ, or are hardly above 0, give finite numbers that are right to a millionth."""

import math
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from attack_cases import Data, examples

DAY = date(2000, 1, 1)


def days_later(days):
    return DAY + timedelta(days=days)


@st.composite
def hardly_different(draw):
    """Clusters of equal records, whose values or dates are nearly equal, or far from what is known."""
    n = draw(st.sampled_from([2, 3, 5, 6, 30, 122, 300]))
    clusters = draw(st.integers(1, 4))
    tiny = 10.0 ** -draw(st.integers(1, 15))
    value, gap = st.integers(0, 2), st.sampled_from([0, 1, 30, 400, 900, 960, 1_000, 1_100])
    cells = [
        {item: (3 + tiny * draw(value), days_later(draw(gap))) for item in "abc" if draw(st.integers(0, 3))}
        for _ in range(clusters)
    ]
    rows = [(str(i), "all", 1.0, DAY) for i in range(n)]
    rows += [(str(i), item, *cell) for i in range(n) for item, cell in cells[i % clusters].items()]
    known = st.tuples(st.none() | st.just(3.0), gap.map(days_later))
    facts = [so.Fact(item, *draw(known)) for item in draw(st.permutations(["all", "a", "b", "c"]))]
    return Data(rows), so.Aux(facts[: draw(st.integers(1, 4))])


def scaled(scores):
    """The scores from 0 to 1: neither σ's multiples nor probabilities change."""
    low, high = min(scores.values()), max(scores.values())
    return {record: (score - low) / ((high - low) or 1.0) for record, score in scores.items()}


@examples(60, 30)
@given(hardly_different(), st.booleans())
def test_scores_that_hardly_differ_give_the_probabilities_of_the_reference(made_and_aux, leave_out):
    made, aux = made_and_aux
    release, attack = made.read(), so.ScoreboardRH()
    sizes, exclude = list(range(1, len(aux) + 1)), ["0" if leave_out else None]
    nested = attack.nested(release, [aux], sizes, exclude=exclude)
    plain = attack.attacks(release, [so.Aux(aux.facts[:size]) for size in sizes], exclude=exclude * len(sizes))
    for verdict in [*nested, *plain]:
        scores = {release.records[i]: x for i, x in enumerate(verdict.scores.tolist()) if x > -math.inf}
        normal = scaled(scores)
        expected, top = naive.probabilities(normal), max(scores.values())
        assert verdict.highest == top
        assert verdict.eccentricity == pytest.approx(naive.eccentricity(normal), rel=1e-6, abs=1e-9)
        for record in list(scores)[:8]:
            assert verdict.probability(record) == pytest.approx(expected[record], rel=1e-5)
            assert verdict.entropy(record) >= 0
    for columns in (nested.columns, plain.columns):
        assert np.isfinite(columns.z).all() and np.isfinite(columns.eccentricity).all()
        assert ((columns.z >= 1) | (columns.sigma == 0)).all() and (columns.z <= columns.candidates).all()


@pytest.mark.parametrize("gap", range(960, 1_060, 4))
def test_dates_so_far_away_that_only_single_precision_sees_them_say_nothing(gap):
    """e^(−1000/30) is less than the grid's step: every score is 0, or a multiple of the step."""
    rows = [("1", "x", 1.0, DAY), ("2", "x", 2.0, DAY), ("3", "y", 1.0, days_later(gap)), ("4", "y", 1.0, DAY)]
    release, aux = Data(rows).read(), so.Aux([so.Fact("x", time=days_later(gap))])
    attack = so.ScoreboardRH()
    for verdicts in (attack.nested(release, [aux], [1]), attack.attacks(release, [aux])):
        scores = verdicts[0].scores
        assert verdicts.columns.sigma[0] == pytest.approx(scores.std(), rel=1e-9)
        assert verdicts.columns.z[0] <= 4 and verdicts[0].entropy("1") == pytest.approx(
            naive.entropy(naive.probabilities(scaled(dict(zip("1234", scores, strict=True)))), "1")
        )


@pytest.mark.parametrize("size", [1e-200, 1e-120, 1e-40, 1e-18])
def test_the_smallest_weights_change_no_eccentricity(size):
    rows = [(str(i), item, 1.0, None) for item, count in (("a", 9), ("b", 3), ("c", 1)) for i in range(count)]
    release, aux = Data(rows, unit=None).read(), so.Aux([so.Fact(item) for item in "abc"])
    one, other = (
        so.ScoreboardRH(so.Present(), lambda support, scale=scale: scale / support).attack(release, aux)
        for scale in (1.0, size)
    )
    assert other.eccentricity == pytest.approx(one.eccentricity, rel=1e-9)
    assert other.entropy("0") == pytest.approx(one.entropy("0"), rel=1e-6)
