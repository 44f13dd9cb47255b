"""Kernels on records with several entries of an item: every number equals that in double precision."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import standout as so

pytestmark = pytest.mark.once
FIRST, DAYS, ITEMS = date(2005, 1, 1), 300, 60
ATTACKS = {
    "paper": so.ScoreboardRH(),
    "thresholds": so.ScoreboardRH(so.Within(value=1, time=14)),
    "likelihood": so.Likelihood(so.Adversary(knows=4, value_error=1, time_error=14)),
    "likelihood, wrong facts": so.Likelihood(so.Adversary(knows=4, wrong=1, value_error=0, time_error=3)),
}


@pytest.fixture(scope="module")
def visits():
    """A release of three blocks of records, most of which have some items several times."""
    draw = np.random.default_rng(7)
    record = np.repeat(np.arange(17_000), 1 + draw.poisson(8, 17_000))
    item = np.minimum(draw.exponential(8, len(record)).astype(int), ITEMS - 1)
    frame = pl.DataFrame(
        {
            "record": record.astype(str),
            "item": item.astype(str),
            "value": draw.integers(1, 6, len(record)).astype(float),
            "time": [FIRST + timedelta(days=int(day)) for day in draw.integers(0, DAYS, len(record))],
        }
    )
    return so.read(frame, repeats="keep")


def draws(count, seed):
    """Facts about four items, two of them about the same one, in several draws of values and times."""
    draw = np.random.default_rng(seed)
    items = [*map(str, draw.integers(0, 20, 3)), "2"]
    items.append(items[0])
    return [
        so.Aux(
            [
                so.Fact(item, float(draw.integers(1, 6)), FIRST + timedelta(days=int(draw.integers(DAYS))))
                for item in items
            ]
        )
        for _ in range(count)
    ]


def check(verdict, release, scores):
    """Compare a verdict with the scores of all records; -∞ means that a record is not a candidate."""
    left = scores[np.isfinite(scores)]
    assert verdict.highest == pytest.approx(left.max(), rel=1e-12)
    assert set(verdict.tied) == {release.records[int(i)] for i in np.flatnonzero(scores == left.max())}
    assert verdict.mean == pytest.approx(left.mean(), rel=1e-5)
    assert verdict.sigma == pytest.approx(left.std(), rel=2e-5)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("exclude", [None, "9000"])
def test_single_queries_and_nested_lanes_equal_double_precision(visits, name, exclude):
    attack, auxes = ATTACKS[name], [*draws(8, 1), *draws(1, 2), *draws(3, 3)]
    left_out = [exclude] * len(auxes)
    queries = attack.attacks(visits, auxes, exclude=left_out).queries
    alone = attack.attacks(visits, auxes, exclude=left_out)
    sizes = [1, 3, 5]
    nested = attack.nested(visits, auxes, sizes, exclude=left_out)
    for q, aux in enumerate(auxes):
        check(alone[q], visits, queries.scores(q))
        for s, size in enumerate(sizes):
            first = so.Aux(aux.facts[:size])
            check(
                nested[len(sizes) * q + s], visits, attack.attacks(visits, [first], exclude=[exclude]).queries.scores(0)
            )


@pytest.mark.parametrize("name", ATTACKS)
def test_probabilities_of_all_records_equal_those_in_double_precision(visits, name):
    attack, (aux, *_) = ATTACKS[name], draws(1, 4)
    verdict, scores = attack.attack(visits, aux), attack.attacks(visits, [aux], exclude=[None]).queries.scores(0)
    scale = 1.0 if "likelihood" in name else scores.std()
    mass = np.exp((scores - scores.max()) / scale)
    nobody = verdict.nobody if "likelihood" in name else 0.0
    assert verdict.probability(verdict.best) == pytest.approx((1 - nobody) / mass.sum(), rel=1e-5)
