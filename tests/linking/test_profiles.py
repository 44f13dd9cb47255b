"""Profiles as facts, and their batches."""

from itertools import pairwise

import numpy as np
import pytest
from linking_data import FEW, aligned_profiles

import standout as so
from standout.linking import decoys as profiles_module
from standout.linking.decoys import batches

pytestmark = pytest.mark.once


def test_batches_change_nothing(pair, monkeypatch):
    whole = so.link(*pair, **FEW)
    monkeypatch.setattr(profiles_module, "BATCH_PROFILES", 7)
    monkeypatch.setattr(profiles_module, "BATCH_FACTS", 12)
    assert so.link(*pair, **FEW).table.equals(whole.table)


def test_batches_are_consecutive_and_small(monkeypatch):
    monkeypatch.setattr(profiles_module, "BATCH_PROFILES", 2)
    monkeypatch.setattr(profiles_module, "BATCH_FACTS", 5)
    facts = np.array([3, 2, 1, 9, 0, 0, 4])
    ends = list(batches(facts))
    assert ends[0][0] == 0 and ends[-1][1] == len(facts)
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    assert all(high - low == 1 or (high - low == 2 and facts[low:high].sum() <= 5) for low, high in ends)


def test_long_profiles_are_reduced_to_their_rarest_items(pair, monkeypatch):
    monkeypatch.setattr(profiles_module, "MAX_FACTS", 2)
    release, public = pair
    profiles = aligned_profiles(*pair)
    known = profiles.known(np.arange(len(profiles)))
    for profile in range(len(profiles)):
        items = [release.items.find(entry.item) for entry in public.record_at(profile).entries]
        rarest = sorted((int(release.support[item]), item) for item in items if item is not None)[:2]
        used = known.item[known.first[profile] : known.first[profile + 1]]
        assert sorted(used.tolist()) == sorted(item for _, item in rarest)
        assert sorted(profiles.items(profile).tolist()) == sorted(used.tolist())
    assert (profiles.used == np.diff(known.first)).all()
