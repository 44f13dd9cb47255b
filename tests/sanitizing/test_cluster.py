"""Clusters: each has at least k members, and the most similar one represents them."""

from collections import defaultdict

import numpy as np
import pytest
from sanitizing_data import START, drawn_rows, table

import naive
import standout as so
from conftest import content


@pytest.mark.parametrize(("k", "records"), [(2, 5), (3, 14), (5, 40), (14, 14), (20, 30)])
def test_every_cluster_has_k_members_and_its_medoid_represents_them(k, records):
    release = table(list(drawn_rows(k, records=records, items=9, share=0.4)))
    safer = so.sanitize(release, so.steps.ClusterRecords(k))
    items = naive.item_sets(content(release))
    clusters = defaultdict(list)
    for person, record in enumerate(safer.mapping.representatives.tolist()):
        assert record >= 0
        clusters[safer.records[record]].append(release.records[person])
    assert all(k <= len(members) < 2 * k for members in clusters.values())
    assert content(safer) == {cell: entry for cell, entry in content(release).items() if cell[0] in clusters}
    similarities = []
    for chosen, members in clusters.items():
        assert chosen in members
        totals = {a: sum(naive.jaccard(items[a], items[b]) for b in members) for a in members}
        assert totals[chosen] == pytest.approx(max(totals.values()), abs=1e-5)
        similarities += [naive.jaccard(items[chosen], items[a]) for a in members if a != chosen]
    counts = safer.step_reports[0].counts
    assert counts["similarity"] == pytest.approx(np.mean(similarities), abs=1e-5)
    assert counts["largest cluster"] == max(map(len, clusters.values()))


def test_similar_people_share_a_cluster(monkeypatch):
    monkeypatch.setattr("standout.sanitizing.k_steps.BLOCK", 8)
    rows = [
        (f"{group}{member:02}", str(100 * group + i), 1.0, START)
        for group in range(1, 7)
        for member in range(4)
        for i in range(10)
        if i != member
    ]
    safer = so.sanitize(table(rows), so.steps.ClusterRecords(4))
    groups = defaultdict(set)
    for person, record in enumerate(safer.mapping.representatives.tolist()):
        groups[record].add(safer.original.records[person][0])
    assert len(groups) == 6
    assert all(len(group) == 1 for group in groups.values())


def test_a_cluster_larger_than_the_release_is_refused(small_release):
    with pytest.raises(so.ParameterError, match="has 14 records, fewer than 15"):
        so.sanitize(small_release, so.steps.ClusterRecords(15))
