"""Audits of releases in which people have items several times: right numbers, and defects are noticed."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import standout as so
import standout.attack.scoreboard as scoreboard
from auditing.audit_samples import ACQUAINTANCE, valid
from standout.auditing.exposure import risk_table
from standout.auditing.selfcheck import check_facts, planted_release
from standout.auditing.sentences import describe_adversary
from standout.know.observation import Observer

pytestmark = pytest.mark.once


def shoppers(n=60, items=40, visits=24, value=True, time=True, days=900, repeats="keep"):
    """A release of n people, each of whom buys a few things many times."""
    draw, rows = np.random.default_rng(5), []
    ends = [{"record": "person 0", "item": item} for item in ("first", "last")]
    for row, day in zip(ends, (0, days), strict=True):  # so that merging changes neither levels nor clock
        rows.append(row | ({"value": 1.0} if value else {}))
        rows[-1] |= {"time": date(2004, 1, 1) + timedelta(days=day)} if time else {}
    for r in range(n):
        own = draw.permutation(items)[:12]
        chance = 1.0 / np.arange(1, 13) ** 1.5
        for item in draw.choice(own, visits + r % 5, p=chance / chance.sum()).tolist():
            row = {"record": f"person {r}", "item": f"thing {item}"}
            row |= {"value": float(draw.integers(1, 6))} if value else {}
            row |= {"time": date(2004, 1, 1) + timedelta(days=int(draw.integers(days)))} if time else {}
            rows.append(row)
    return so.read(pl.DataFrame(rows), repeats=repeats)


def failed(release, **options):
    """Names of the checks that an audit fails."""
    options = {"targets": 30, "facts": [4], "ladder": {"acquaintance": ACQUAINTANCE}} | options
    result = so.audit(release, **options)
    valid(result)
    return {check.name for check in result.findings.trust.checks if not check.passed}


@pytest.fixture(scope="module")
def release():
    return shoppers()


CASES = {
    "no values": {"value": False},
    "no times": {"time": False},
    "neither": {"value": False, "time": False},
    "a few days": {"days": 12},
    "few things": {"items": 12, "days": 60},
}


def test_the_undamaged_audit_fails_no_check_and_counts_repeats(release):
    result = so.audit(release, targets=30, facts=[2, 4])
    assert [check.name for check in result.findings.trust.checks if not check.passed] == []
    data = valid(result)["data"]
    assert data["repeats"] == release.provenance.repeats > 0
    assert data["entries"] == release.provenance.rows == data["repeats"] + release.support.sum()
    assert "8 entries" in result.findings.adversaries[1].description


@pytest.mark.parametrize("case", CASES)
def test_other_releases_with_repeats_fail_no_check(case):
    assert failed(shoppers(**CASES[case]), ladder=None, facts=[2, 4], targets=20) == set()


@pytest.mark.parametrize("step", ["round-time month", "perturb-value 1", "merge-repeats last", "drop-entries 0.3"])
def test_sanitized_releases_with_repeats_fail_no_check(release, step):
    assert failed(so.sanitize(release, step, seed=1)) == set()


def with_draws(choose):
    """`_chosen` of an observer, with another way to choose positions: choose(draw, entries, count)."""

    def chosen(self, uniform, entries):
        return choose(np.random.default_rng(int(uniform[0, 0] * 2**52)), entries, self.needs)

    return chosen


def test_items_drawn_instead_of_entries_are_noticed(release, monkeypatch):
    def by_item(draw, entries, count):
        items, first = np.unique(entries.item, return_index=True)
        order = first[draw.permutation(len(items))]
        return np.append(order, np.setdiff1d(np.arange(len(entries.item)), order))[:count]

    monkeypatch.setattr(Observer, "_chosen", with_draws(by_item))
    assert "facts" in failed(release, targets=60)


def test_an_entry_that_is_known_twice_is_noticed(release, monkeypatch):
    def with_replacement(draw, entries, count):
        return draw.integers(len(entries.item), size=count)

    monkeypatch.setattr(Observer, "_chosen", with_draws(with_replacement))
    exact = so.Adversary(knows=8)
    assert "facts" in failed(release, targets=60, ladder={"exact": exact})


@pytest.mark.parametrize("all_wrong", [True, False])
def test_facts_that_are_all_wrong_or_all_right_are_noticed(release, monkeypatch, all_wrong):
    monkeypatch.setattr(Observer, "_wrong", lambda self, uniform, known, count: np.full(uniform.shape, all_wrong))
    assert "facts" in failed(release)


def test_facts_that_are_all_exact_are_noticed(release, monkeypatch):
    times = Observer._times

    def exact(self, uniform, code, wrong):
        return np.where(wrong, times(self, uniform, code, wrong), code)

    monkeypatch.setattr(Observer, "_times", exact)
    assert "facts" in failed(release)


def test_weights_by_entries_instead_of_records_are_noticed(release, monkeypatch):
    prepare = scoreboard.prepare_queries

    def by_entries(release, known, similarity, weights, exclude, *mode):
        queries = prepare(release, known, similarity, weights, exclude, *mode)
        weight = 1 / np.log(np.maximum(release.item_entries[queries.facts.item], 2))
        return replace(queries, weight=weight)

    monkeypatch.setattr(scoreboard, "prepare_queries", by_entries)
    assert "outcomes" in failed(release)


@pytest.mark.parametrize("attack", ["paper", "likelihood"])
def test_an_attack_that_sees_one_entry_of_each_item_is_noticed(release, monkeypatch, attack):
    """The attack runs on a release in which repeats are merged; the self-check reads all entries."""
    merged = shoppers(repeats="last")
    kind = so.ScoreboardRH if attack == "paper" else so.Likelihood
    attacks = kind.attacks

    def on_merged(self, data, known, *args, **options):
        return attacks(self, merged if data is release else data, known, *args, **options)

    monkeypatch.setattr(kind, "attacks", on_merged)
    nested = kind.nested
    monkeypatch.setattr(
        kind,
        "nested",
        lambda self, data, *args, **options: nested(self, merged if data is release else data, *args, **options),
    )
    assert list(merged.items) == list(release.items) and merged.clock == release.clock
    assert merged.levels.tolist() == release.levels.tolist()
    assert {"outcomes", "absence"} & failed(release)


def test_wrong_facts_that_fit_another_entry_by_chance_fail_no_check():
    dense = shoppers(items=12, visits=60, days=30)
    adversary = so.Adversary(knows=8, wrong=2, value_error=1, time_error=2)
    everybody = np.arange(dense.n_records)
    for seed in range(20):
        assert check_facts(dense, adversary, everybody, seed).passed


def test_planted_records_repeat_items_where_the_release_does(release):
    planted, rows, known = planted_release(release, 5)
    assert planted.lengths[rows].tolist() == [16] * len(rows)
    assert np.diff(known.first).tolist() == [8] * len(rows)
    assert (planted.distinct_items[rows] < 16).all()
    others = np.setdiff1d(np.arange(release.n_records), rows)
    for record in others.tolist():
        assert planted.record_at(record) == release.record_at(record)
    for row in rows.tolist():
        entries = planted.record_at(row).entries
        places = [(release.items.find(entry.item), entry.time, entry.value) for entry in entries]
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("adversary", "text"),
    [
        (so.Adversary(knows=8), "8 entries,"),
        (so.Adversary(knows=1), "1 entry,"),
        (so.Adversary(knows=4, items="popular"), "4 entries of popular items,"),
        (so.Adversary(knows=4, items="rarest"), "4 entries of the rarest items,"),
        (so.Adversary(knows=4, items="recent"), "4 of the latest entries,"),
        (so.Adversary(knows=4, items=so.outside_top(9)), "4 entries of items outside the 9 most popular,"),
    ],
)
def test_an_adversary_knows_entries_where_items_repeat(release, adversary, text):
    assert describe_adversary(adversary, release).startswith(text)


def test_the_risk_table_and_groups_count_entries(release):
    table = risk_table(release, so.Adversary(knows=4), records=10, draws=2)
    lengths = {record: int(length) for record, length in zip(release.records, release.lengths, strict=True)}
    assert table["length"].to_list() == [lengths[record] for record in table["record"]]
    assert table["probability"].mean() > 0.5
