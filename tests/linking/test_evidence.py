"""The evidence model and its odds."""

import math

import numpy as np
import pytest
from linking_data import data

from standout.linking.links import link
from standout.linking.records import COLUMNS, MISSING, SHARED, TIMES, VALUES, EvidenceModel, log_odds

pytestmark = pytest.mark.once


def test_the_model_is_updated_with_counts_of_people_and_their_own_records():
    strangers = np.zeros(COLUMNS)
    strangers[VALUES], strangers[TIMES] = [40, 30, 20, 10], [1, 0, 1, 2, 6, 20, 70]
    possible = np.ones(COLUMNS, bool)
    possible[TIMES.start + 1] = False
    before = EvidenceModel.prior(strangers, possible)
    prior = [max(math.exp(-step / 1.5), 0.02) for step in range(4)]
    u = [(n + 1) / 104 for n in (40, 30, 20, 10)]
    assert before.coverage == 0.5
    expected = [math.log(share / sum(prior) / other) for share, other in zip(prior, u, strict=True)]
    assert before.values == pytest.approx(expected)
    counts = np.zeros(COLUMNS)
    counts[SHARED], counts[MISSING], counts[VALUES] = 300, 100, [270, 30, 0, 0]
    after = before.updated(counts)
    assert after.coverage == pytest.approx((300 + 50) / 500)
    m = [(n + 100 * share / sum(prior)) / 400 for n, share in zip((270, 30, 0, 0), prior, strict=True)]
    assert after.values == pytest.approx([math.log(a / b) for a, b in zip(m, u, strict=True)])
    assert after.times == pytest.approx(before.times)  # no times were counted
    strangers[VALUES] = [97, 1, 1, 1]
    assert (np.diff(EvidenceModel.prior(strangers, np.ones(COLUMNS, bool)).values) <= 0).all()


def test_odds_are_those_of_one_candidate_against_the_others_and_nobody():
    draw = np.random.default_rng(4)
    evidence = draw.normal(0, 6, (20, 5))
    evidence[3, 2:] = -np.inf
    odds = np.column_stack([log_odds(np.roll(evidence, -at, axis=1), records=50) for at in range(5)])
    for row, row_odds in zip(evidence.tolist(), odds.tolist(), strict=True):
        for at, own in enumerate(row):
            rest = 1 + sum(math.exp(other) / 50 for k, other in enumerate(row) if k != at)
            expected = math.log(math.exp(own) / 50 / rest) if own > -math.inf else own
            assert row_odds[at] == pytest.approx(expected)


def test_evidence_grows_with_agreement_where_eccentricity_is_at_its_ceiling():
    """One item that nobody else has gives the highest eccentricity; three that agree give more evidence."""
    rows = [(f"{r}", f"i{r % 40}", float(1 + r // 40)) for r in range(200)]
    rows += [("a", "x", 2.0)] + [("b", f"y{k}", 4.0) for k in range(3)]
    public = data([("p", "x", 4.0), *(("q", f"y{k}", 4.0) for k in range(3))])
    single, three = link(data(rows), public, values="same", phi=0, decoys=0).table.sort("profile").to_dicts()
    assert single["eccentricity"] == pytest.approx(three["eccentricity"])
    assert three["evidence"] > single["evidence"] + 5
