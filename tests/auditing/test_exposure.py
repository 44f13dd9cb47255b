"""Who is exposed: groups and facts needed are those of a slow twin."""

import math
from datetime import datetime
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from auditing.audit_samples import (
    ACQUAINTANCE,
    FACTS,
    SEED,
    TARGETS,
    identified,
    people,
    random_hour,
    small_audit,
    targets_of,
)
from standout.auditing.exposure import NEVER, by_first_date, by_length, smallest_sufficient
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
    first = {r: min(e.time for e in release.record_at(r).entries) for r in range(release.n_records)}
    known = adversary.observe_all(release, rows, SEED)
    rarest = [max(release.item(fact.item).rank for fact in known.aux(release, q)) for q in range(TARGETS)]
    own = {
        "by_length": [int(release.lengths[row]) for row in rows],
        "by_popularity": rarest,
        "by_first_date": [first[int(row)].isoformat() for row in rows],
    }
    everybody = {"by_length": release.lengths.tolist(), "by_first_date": [day.isoformat() for day in first.values()]}
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


@pytest.mark.parametrize(("days", "label"), [(3000, "2004"), (500, "2004-01 to 2004-03"), (100, "2004-01")])
def test_first_dates_are_grouped_by_year_quarter_or_month(days, label):
    release = people(n=30, length=lambda r: 1, time=lambda draw: random_hour(draw, days))
    groups = by_first_date(release, cell_of_identified(30))
    assert groups[0].label.startswith(label[:4]) and sum(group.people for group in groups) == 30
    assert groups[0].low == "2004-01-01"


@pytest.mark.parametrize("first", [datetime(9999, 11, 1), datetime(9999, 2, 1), datetime(9990, 1, 1)])
def test_periods_end_with_the_last_year_that_a_date_can_have(first):
    moments = [first] * 15 + [datetime(9999, 12, 31, 10)] * 15
    rows = {"user": [f"u{n}" for n in range(30)], "item": ["i"] * 30, "time": moments}
    release = so.read(pl.DataFrame(rows), time_unit="hour")
    groups = by_first_date(release, cell_of_identified(30))
    assert groups[-1].high == "9999-12-31" and sum(group.people for group in groups) == 30
