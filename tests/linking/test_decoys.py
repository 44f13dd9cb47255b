"""Decoys: recombined and withheld."""

import numpy as np
import pytest
from linking_data import FEW, aligned_profiles, entries_of

import naive
import standout as so
from standout.linking.decoys import fact_pool, withhold

pytestmark = pytest.mark.once


def test_a_recombined_decoy_has_the_size_and_popularity_of_its_template_but_facts_of_others(pair):
    release = pair[0]
    crowd = so.synthesize(records=90, items=18, entries=500, seed=8)
    profiles = aligned_profiles(release, crowd)
    pool = fact_pool(profiles, seed=1)
    templates = np.flatnonzero(profiles.used > 0)[:12]
    decoys = pool.recombine(profiles, templates, seed=1)
    entries, band = entries_of(crowd), np.array([n.bit_length() - 1 for n in release.support.tolist()])
    for number, template in enumerate(templates.tolist()):
        facts = slice(*decoys.first[number : number + 2])
        items = decoys.item[facts]
        assert len(set(items.tolist())) == len(items) <= profiles.used[template]
        if len(items) == profiles.used[template] and len(items) < 6:
            assert sorted(band[items]) == sorted(band[profiles.items(template)])
        for fact in range(facts.start, facts.stop):
            item, value = release.items[decoys.item[fact]], decoys.values[decoys.value[fact]]
            holders = [r for (r, other), cells in entries.items() if other == item and cells[0] == value]
            assert any(holder != crowd.records[template] for holder in holders)


def test_no_donor_is_used_twice_if_there_are_enough():
    crowd = so.synthesize(like="flat", records=120, items=40, entries=600, seed=4)
    profiles = aligned_profiles(crowd, crowd)
    pool = fact_pool(profiles, seed=1)
    for number, template in enumerate(np.flatnonzero(profiles.used >= 3)[:20].tolist()):
        drawn = pool.draw(profiles.items(template), template, np.random.default_rng(number))
        donors = pool.donor[drawn].tolist()
        assert template not in donors and len(set(donors)) == len(donors)


def test_a_withheld_decoy_is_a_part_of_one_record_attacked_without_that_record(pair):
    release = pair[0]
    profiles = aligned_profiles(*pair)
    templates = np.flatnonzero(profiles.used > 2)[:8]
    known, removed = withhold(profiles, templates, seed=3)
    verdicts = so.ScoreboardRH().attacks(release, known, exclude=removed, top=2)
    entries = entries_of(release)
    for number, (template, record) in enumerate(zip(templates, removed, strict=True)):
        name = release.records[int(record)]
        facts = {fact.item: entries[name, fact.item] for fact in known.aux(release, number)}
        assert len(facts) == min(profiles.used[template], release.lengths[record])
        scores = naive.sums(naive.without(entries, name), facts)
        assert verdicts[number].eccentricity == pytest.approx(naive.eccentricity(scores), rel=1e-5, abs=1e-9)


def test_decoys_depend_on_the_seed_alone(pair):
    first, second, other = (
        so.link(*pair, seed=seed, threads=threads, **FEW) for seed, threads in ((1, 1), (1, 2), (9, 1))
    )
    assert first.decoys.equals(second.decoys) and first.table.equals(second.table)
    assert not first.decoys.equals(other.decoys)
    columns = ["record", "eccentricity"]
    paper, again = (so.link(*pair, by="eccentricity", seed=seed, **FEW) for seed in (1, 9))
    assert paper.table.select(columns).equals(again.table.select(columns))
