"""Precision and recall by φ and by budget."""

import pytest

import standout as so

pytestmark = pytest.mark.once


def test_precision_and_recall_are_counted_by_phi_and_by_budget(larger_pair):
    release, public = larger_pair
    truth = {profile: profile[1:] for profile in public.records if profile[1:] in set(release.records)}
    links = so.link(release, public, truth=truth, decoys=60, budget=0.1)
    present, identified = links.is_present, links.identified
    assert present.sum() == len(truth) and identified.any()
    rows = [(row["phi"], row) for row in links.curve.iter_rows(named=True)]
    budgets = links.by_budget["budget"].to_list()
    assert len(rows) > 10 and budgets == [0.05, 0.1, 0.2, 0.5]
    rows += [(links.decoy_strengths.phi(row["budget"]), row) for row in links.by_budget.iter_rows(named=True)]
    for phi, row in rows:
        claims = [i for i in range(len(links)) if links.best.claimable[i] and links.best.strength[i] >= phi]
        correct = sum(identified[i] for i in claims)
        assert (row["claims"], row["correct_claims"]) == (len(claims), correct)
        assert row["precision"] == (correct / len(claims) if claims else None)
        assert row["recall"] == pytest.approx(correct / present.sum())
        assert row["absent_claims"] == pytest.approx(sum(~present[i] for i in claims) / (~present).sum())
