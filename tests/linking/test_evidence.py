"""Evidence: how much two histories speak for one person, held against loops and dicts."""

import math

import numpy as np
import polars as pl
import pytest

import naive
import standout as so
from conftest import content
from standout.linking.agreement import COLUMNS, MISSING, SHARED, TIMES, VALUES, Agreement
from standout.linking.align import align
from standout.linking.claims import Null
from standout.linking.evidence import Model, odds
from standout.linking.learn_model import _present
from standout.linking.profiles import Profiles
from standout.linking.scores import TOP

pytestmark = pytest.mark.once

FEW = {"budget": 0.1, "decoys": 60}


@pytest.fixture(scope="module")
def pair():
    """People of whom half of the entries are public, some without a value or a date, some on other days; and
    people who are on one side only."""
    everybody = so.synthesize(records=60, items=25, entries=700, seed=5).to_frame()
    draw = np.random.default_rng(3)
    number = everybody["record"].cast(pl.Int64).to_numpy()
    public = everybody.filter((number > 10) & (draw.random(len(number)) < 0.6))
    n = len(public)
    late = pl.Series(draw.choice([0, 0, 0, 1, -5, 40, 300], n)).cast(pl.Int64)
    public = public.with_columns(
        record="p" + pl.col("record"),
        value=pl.when(pl.Series(draw.random(n) < 0.8)).then("value"),
        time=pl.when(pl.Series(draw.random(n) < 0.8)).then(pl.col("time") + pl.duration(days=late)),
    )
    return so.read(everybody.filter(pl.Series(number <= 50))), so.read(public)


def told(release, public, profile):
    known = {item for _, item in content(release)}
    return {item: cells for (one, item), cells in content(public).items() if one == profile and item in known}


def weighed(model, row, dated=True):
    return naive.evidence(row, model.covered, model.values.tolist(), model.times.tolist(), dated)


def test_what_two_have_in_common_is_counted_as_loops_do_it(pair):
    release, public = pair
    profiles, entries = Profiles(release, public, align(*pair)), content(release)
    places = np.arange(6)
    known = profiles.known(places)
    query, record = np.repeat(places, 5), np.tile(np.arange(3, 8), 6)
    found = Agreement(release).counts(known, query, record)
    for row, q, r in zip(found.tolist(), query.tolist(), record.tolist(), strict=True):
        facts = told(*pair, public.records[q])
        assert row == pytest.approx(naive.common(entries, facts, release.records[r]))


def test_who_is_taken_out_is_not_counted_at_all(pair):
    release, entries = pair[0], content(pair[0])
    gone = np.arange(6)
    profiles = Profiles(release, release, align(release, release))
    query, record = np.repeat(gone, 5), np.tile(np.arange(10, 15), 6)
    found = Agreement(release).counts(profiles.known(gone), query, record, gone)
    for row, q, r in zip(found.tolist(), query.tolist(), record.tolist(), strict=True):
        facts, rest = told(release, release, release.records[q]), naive.without(entries, release.records[q])
        mine = naive.common(rest, facts, release.records[r])
        assert row == pytest.approx(mine)


def test_strangers_are_two_people_with_the_same_item(pair):
    release, entries, step = pair[0], content(pair[0]), naive.step_of(content(pair[0]))
    found = Agreement(release).strangers(seed=1)
    values, days, n = [0.0] * 4, [0.0] * 7, 0
    for (one, item), (value, time) in entries.items():
        others = [cells for (two, its), cells in entries.items() if its == item and two != one]
        for its, when in others:
            off = abs(value - its)
            weigh = 1 / len(others)
            values[0 if off == 0 else 1 if off <= step else 2 if off <= 2 * step else 3] += weigh
            days[naive.days_apart(time, when)] += weigh
        n += bool(others)
    assert found[VALUES] / found[VALUES].sum() == pytest.approx(np.array(values) / n, abs=0.02)
    assert found[TIMES] / found[TIMES].sum() == pytest.approx(np.array(days) / n, abs=0.02)


def test_the_model_is_learned_from_what_was_seen():
    strangers = np.zeros(COLUMNS)
    strangers[VALUES], strangers[TIMES] = [40, 30, 20, 10], [1, 0, 1, 2, 6, 20, 70]
    possible = np.ones(COLUMNS, bool)
    possible[TIMES.start + 1] = False
    before = Model.declared(strangers, possible)
    usual = [max(math.exp(-at / 1.5), 0.02) for at in range(4)]
    u = [(one + 1) / 104 for one in (40, 30, 20, 10)]
    assert before.covered == 0.5
    assert before.values == pytest.approx(
        [math.log(m / sum(usual) / o) for m, o in zip(usual, u, strict=True)]
    )
    seen = np.zeros(COLUMNS)
    seen[SHARED], seen[MISSING], seen[VALUES] = 300, 100, [270, 30, 0, 0]
    after = before.learned(seen)
    assert after.covered == pytest.approx((300 + 50) / 500)
    m = [(one + 100 * share / sum(usual)) / 400 for one, share in zip((270, 30, 0, 0), usual, strict=True)]
    assert after.values == pytest.approx([math.log(a / b) for a, b in zip(m, u, strict=True)])
    assert after.times == pytest.approx(before.times)  # of times nothing was seen
    strangers[VALUES] = [97, 1, 1, 1]
    assert (np.diff(Model.declared(strangers, np.ones(COLUMNS, bool)).values) <= 0).all()


@pytest.mark.parametrize(
    ("values", "possible"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0]),
        ([0.0, 1.0, 1.0, 0.0], [0, 1]),
        ([1.0, 2.0, 3.0, 3.0], [0, 1, 2]),
        ([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 3]),
        (["a", "b", "c", "a"], [0, 3]),
    ],
)
def test_nothing_is_expected_of_distances_that_cannot_be(values, possible):
    """Where everybody says the same, agreeing says nothing; of two answers the same one speaks for one
    person."""
    rows = [(f"{r}", f"i{k}", values[(r + k) % 4]) for r in range(40) for k in range(5)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    agreement = Agreement(release)
    assert np.flatnonzero(agreement.possible[VALUES]).tolist() == possible
    model = Model.declared(agreement.strangers(seed=1), agreement.possible)
    if len(possible) == 1:
        assert model.values == pytest.approx([0, 0, 0, 0], abs=1e-3)
    else:
        assert model.values[0] > 0 > model.values[possible[-1]]


def test_odds_are_of_one_against_the_others_and_nobody():
    draw = np.random.default_rng(4)
    evidence = draw.normal(0, 6, (20, 5))
    evidence[3, 2:] = -np.inf
    found = odds(evidence, records=50)
    for row, mine in zip(evidence.tolist(), found.tolist(), strict=True):
        for at, one in enumerate(row):
            rest = 1 + sum(math.exp(its) / 50 for k, its in enumerate(row) if k != at)
            assert mine[at] == pytest.approx(math.log(math.exp(one) / 50 / rest) if one > -math.inf else one)


@pytest.mark.parametrize("dates", ["use", "ignore"])
def test_the_best_of_the_candidates_is_claimed_by_evidence_as_loops_do_it(pair, dates):
    release = pair[0]
    links = so.link(*pair, dates=dates, seed=2, **FEW)
    entries = content(release)
    order = {name: place for place, name in enumerate(release.records)}
    for row in links.table.filter(pl.col("facts_used") > 0).iter_rows(named=True):
        facts = told(*pair, row["profile"])
        way = (
            naive.decay if dates == "use" else lambda known, entry: naive.decay(known, entry, time_scale=None)
        )
        scores = naive.sums(entries, facts, way)
        best = sorted((one for one in scores if scores[one] > 0), key=lambda one: (-scores[one], order[one]))
        seen = {one: naive.common(entries, facts, one) for one in best[:TOP]}
        evidence = {one: weighed(links.model, counts, dates == "use") for one, counts in seen.items()}
        ranked = sorted(evidence, key=lambda one: -evidence[one])
        n = len(order)
        rest = 1 + sum(math.exp(evidence[one]) / n for one in ranked[1:])
        bits = math.log2(math.exp(evidence[ranked[0]]) / n / rest)
        assert row["evidence"] == pytest.approx(bits, rel=1e-6, abs=1e-6)
        assert evidence[row["record"]] == pytest.approx(evidence[ranked[0]])
        assert row["score"] == pytest.approx(scores[row["record"]])
        above = max(score for one, score in scores.items() if one != row["record"])
        assert row["eccentricity"] == pytest.approx(
            (scores[row["record"]] - above) / naive.sigma(scores), abs=1e-6
        )
        chances = naive.probabilities(scores)
        assert row["bits_left"] == pytest.approx(-math.log2(chances[row["record"]]), abs=1e-5)
        if len(ranked) > 1:
            parts = row["by_values"] + row["by_dates"] + row["by_items"]
            assert parts == pytest.approx((evidence[ranked[0]] - evidence[ranked[1]]) / math.log(2), abs=1e-6)
        assert row["claimed"] <= (row["evidence"] >= links.phi) and row["ties"] >= 1


def test_profiles_count_as_present_by_as_much_as_they_stand_out_further_than_decoys():
    draw = np.random.default_rng(7)
    null = Null(np.zeros(100, int), np.arange(100), np.round(draw.normal(0, 1, 100), 1))
    claim = np.round(np.concatenate([draw.normal(0, 1, 40), draw.normal(4, 1, 40)]), 1)
    tried = np.ones(80, bool)
    found = _present(claim, tried, null)
    false = null.false_claim(claim)
    away = min(1.0, 2 * float((false > 0.5).mean()))
    share = [away * f / max((claim >= c).mean(), 1 / 80) for f, c in zip(false, claim, strict=True)]
    for c, mine in zip(claim.tolist(), found.tolist(), strict=True):
        least = min(s for s, its in zip(share, claim.tolist(), strict=True) if its <= c)
        assert mine == pytest.approx(1 - least if least < 0.5 else 0.0)
    assert found[claim > 4].min() > 0.9 and found[np.argmin(claim)] == 0


def test_people_on_both_sides_are_found_and_strangers_are_not():
    whole = so.synthesize(records=400, items=200, entries=12_000, seed=11)
    frame, draw = whole.to_frame(), np.random.default_rng(1)
    sides = [frame.filter(pl.Series(draw.random(len(frame)) < 0.6)) for _ in range(2)]
    both = so.link(
        *(so.read(side) for side in sides), truth={str(one): str(one) for one in range(1, 401)}, decoys=400
    )
    assert both.recall.value > 0.85 and both.precision.value > 0.99
    half = pl.col("record").cast(pl.Int64) % 2 == 0
    away = so.link(so.read(frame.filter(half)), so.read(frame.filter(~half)), decoys=400, seed=3)
    assert away.claims <= 0.02 * len(away)


def test_how_much_one_agrees_matters_where_eccentricity_is_at_its_ceiling():
    """One item that nobody else has is as eccentric as can be; three that agree in everything are more."""
    rows = [(f"{r}", f"i{r % 40}", float(1 + r // 40), None) for r in range(200)]
    rows += [("a", "x", 2.0, None)] + [("b", f"y{k}", 4.0, None) for k in range(3)]
    names = ["record", "item", "value", "time"]
    release = so.read(pl.DataFrame(rows, schema=names, orient="row").drop("time"))
    public = so.read(
        pl.DataFrame(
            {"record": ["p", *"qqq"], "item": ["x", "y0", "y1", "y2"], "value": [4.0, 4.0, 4.0, 4.0]}
        )
    )
    one, three = so.link(release, public, values="same", phi=0, decoys=0).table.sort("profile").to_dicts()
    assert one["eccentricity"] == pytest.approx(three["eccentricity"])
    assert three["evidence"] > one["evidence"] + 5


def test_categories_agree_or_do_not():
    rows = [(f"{r}", f"i{k}", "abc"[(r + k) % 3]) for r in range(30) for k in range(r % 4, 12, 3)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    agreement = Agreement(release)
    profiles = Profiles(release, release, align(release, release))
    known = profiles.known(np.array([4]))
    found = agreement.counts(known, np.zeros(30, np.int64), np.arange(30))
    entries, own = content(release), told(release, release, release.records[4])
    for record, row in zip(release.records, found.tolist(), strict=True):
        shared = [
            (cells[0], entries[record, item][0]) for item, cells in own.items() if (record, item) in entries
        ]
        same = sum(a == b for a, b in shared)
        assert row[VALUES] == [same, 0, 0, len(shared) - same]
