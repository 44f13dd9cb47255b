"""Who is exposed: groups and facts needed are those of a slow twin."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.audit_samples import ACQUAINTANCE, FACTS, SEED, TARGETS, identified, small_audit, targets_of
from standout.auditing.exposure import NEVER, by_length, smallest_sufficient
from standout.auditing.ladder import with_facts
from standout.evaluate.estimates import rate

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def by_paper(release):
    """An audit with the paper's attack only, which the slow twin computes."""
    return small_audit(release, attack="paper", ladder={"acquaintance": ACQUAINTANCE})


def test_the_exposure_is_that_of_the_strongest_attack(audited, release):
    (headline,) = (each for each in audited.findings.adversaries if each.name == "acquaintance")
    only = small_audit(release, attack=headline.attack, ladder={"acquaintance": ACQUAINTANCE})
    assert only.findings.exposure == audited.findings.exposure


def test_facts_needed_are_those_of_a_slow_twin(by_paper, release):
    adversary = with_facts(ACQUAINTANCE, 4)
    rows = targets_of(release, adversary)
    by_size = {size: identified(release, adversary, rows, size) for size in FACTS}
    for needed in by_paper.findings.exposure.facts_needed:
        stays = [all(by_size[size][t] == 1 for size in FACTS if size >= needed.facts) for t in range(TARGETS)]
        assert needed.share == rate(sum(stays), TARGETS)


def test_groups_of_people_are_those_of_a_slow_twin(by_paper, release):
    adversary = ACQUAINTANCE
    rows = targets_of(release, adversary)
    correct = identified(release, adversary, rows, 8)
    known = adversary.observe_all(release, rows, SEED)
    rarest = [max(release.item(fact.item).rank for fact in known.aux(release, q)) for q in range(TARGETS)]
    own = {"by_length": [int(release.lengths[row]) for row in rows], "by_popularity": rarest}
    everybody = {"by_length": release.lengths.tolist()}
    for kind, numbers in own.items():
        groups = getattr(by_paper.findings.exposure, kind)
        assert sum(group.identified.n for group in groups) == TARGETS
        for group in groups:
            inside = [t for t in range(TARGETS) if group.low <= numbers[t] <= group.high]
            assert group.identified == rate(math.fsum(correct[t] for t in inside), len(inside))
            if kind in everybody:
                assert group.people == sum(group.low <= number <= group.high for number in everybody[kind])


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=9))
def test_a_person_is_identified_from_the_first_number_on_that_stays_right(correct):
    smallest = smallest_sufficient(np.array(correct), [1, 2, 4])
    for row, number in zip(correct, smallest.tolist(), strict=True):
        slow = [size for i, size in enumerate([1, 2, 4]) if all(share == 1 for share in row[i:])]
        assert number == min(slow, default=NEVER)


def cell_of_identified(n):
    """A cell in which all of n people are targets and identified."""
    return SimpleNamespace(targets=np.arange(n), outcomes=SimpleNamespace(identified=np.ones((n, 1))))


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60))
def test_groups_by_length_hold_everybody_once(lengths):
    groups = by_length(SimpleNamespace(lengths=np.array(lengths)), cell_of_identified(len(lengths)))
    assert sum(group.people for group in groups) == sum(group.identified.n for group in groups) == len(lengths)
    assert all(group.identified.n for group in groups)
    assert all(before.high + 1 == after.low for before, after in pairwise(groups))
