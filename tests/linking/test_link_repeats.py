"""Linking where people have items several times: one fact for each item, compared with all entries."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from linking_data import aligned_profiles

import naive
import standout as so
from standout.linking.decoys import fact_pool, latest_entries, withhold
from standout.linking.records import COLUMNS, TIMES, TOP, VALUES, Agreement

pytestmark = pytest.mark.once
FIRST = pl.date(2010, 1, 1)


def shoppers(people, items, seed, baskets=9, habits=6):
    """Rows of people who buy a few favourite items again and again, and now and then something else."""
    draw, rows = np.random.default_rng(seed), []
    chance = 1 / np.arange(3, items + 3)
    for person in range(people):
        favourites = draw.choice(items, habits, replace=False, p=chance / chance.sum())
        for day in draw.integers(0, 360, 3 + draw.poisson(baskets)).tolist():
            bought = [*draw.choice(favourites, 2), draw.choice(items, p=chance / chance.sum())]
            rows += [(f"{person}", f"i{item}", float(draw.integers(1, 6)), day) for item in bought]
    return pl.DataFrame(rows, schema=["record", "item", "value", "day"], orient="row")


def read(frame, repeats="keep"):
    dated = frame.with_columns(time=FIRST + pl.duration(days=pl.col("day"))).drop("day")
    return so.read(dated, repeats=repeats)


def two_sides(people, items, seed, absent):
    """Frames of a release and of profiles: each purchase is in either with probability ½.

    The first `absent` people are not in the release.
    """
    frame, draw = shoppers(people, items, seed), np.random.default_rng(seed + 1)
    number = frame["record"].cast(pl.Int64)
    release = frame.filter(pl.Series(draw.random(len(frame)) < 0.5) & (number >= absent))
    public = frame.filter(pl.Series(draw.random(len(frame)) < 0.5))
    return release, public.with_columns(record="p" + pl.col("record"))


def visits(frame):
    """{(record, item): [(value, day), …]} in the order of a release."""
    return naive.visits(sorted(frame.rows(), key=lambda row: (row[3], row[2])))


def facts_of(release, public, profile):
    """{item: (value, day)} of a profile: the latest entry of each item that the release has."""
    known = {item for _, item in release}
    return {item: naive.latest(cells) for (owner, item), cells in public.items() if owner == profile and item in known}


@pytest.fixture(scope="module")
def sides():
    return two_sides(40, 25, 3, absent=6)


@pytest.fixture(scope="module")
def linked(sides):
    release, public = (read(side) for side in sides)
    assert release.has_repeats and public.has_repeats
    return release, public, so.link(release, public, budget=0.1, decoys=60, seed=2)


def test_the_best_record_among_repeats_is_that_of_loops(sides, linked):
    release, _, links = linked
    entries, public = (visits(side) for side in sides)
    names, model = list(release.records), links.model
    given = model.coverage, model.values.tolist(), model.times.tolist()
    for row in links.table.filter(pl.col("facts_used") > 0)[::4].iter_rows(named=True):
        facts = facts_of(entries, public, row["profile"])
        assert row["facts_used"] == len(facts)
        assert row["facts_unknown"] == sum(owner == row["profile"] for owner, _ in public) - len(facts)
        parts, rest = naive.evidence_scores(entries, facts, names, given, TOP)
        scores, best = {r: sum(part) for r, part in parts.items()}, row["record"]
        assert row["score"] == pytest.approx(max(scores.values())) == pytest.approx(scores[best])
        rest += sum(np.exp(score) for r, score in scores.items() if r != best)
        nobody = len(names) * (1 - model.coverage) ** -len(facts)
        bits = np.log2(np.exp(scores[best]) / (rest + nobody))
        assert row["evidence"] == pytest.approx(bits, abs=1e-3)  # a small rest of a large sum
        lead = [(a - b) / np.log(2) for a, b in zip(parts[best], parts[row["runner_up"]], strict=True)]
        assert [row["by_values"], row["by_dates"], row["by_items"]] == pytest.approx(lead, abs=1e-9)


def test_counts_with_repeats_equal_those_of_loops(sides, linked):
    release, public, links = linked
    profiles, (entries, cells) = aligned_profiles(release, public), (visits(side) for side in sides)
    chosen, agreement = np.arange(6), Agreement(release)
    query, record = np.repeat(chosen, 5), np.tile(np.arange(3, 8), 6)
    model = links.model
    for ratios, given in ((None, ()), (model.ratios, (model.values.tolist(), model.times.tolist()))):
        counts = agreement.counts(profiles.known(chosen), query, record, ratios)
        for row, q, r in zip(counts.tolist(), query.tolist(), record.tolist(), strict=True):
            facts = facts_of(entries, cells, public.records[q])
            assert row == pytest.approx(naive.agreement(entries, facts, release.records[r], *given))
    assert model.ratios.shape == (COLUMNS,)


def test_strangers_with_repeats_are_two_people_with_the_same_item(sides, linked):
    entries = visits(sides[0])
    counts, step = Agreement(linked[0]).stranger_counts(seed=1), naive.step_of(entries)
    values, days, n = np.zeros(4), np.zeros(7), 0
    for (owner, item), cells in entries.items():
        others = [c for (person, its), more in entries.items() if its == item and person != owner for c in more]
        for value, day in cells:
            for other_value, other_day in others:
                values[naive.value_class(value, other_value, step)] += 1 / len(others)
                days[naive.days_apart(day, other_day)] += 1 / len(others)
            n += bool(others)
    assert counts[VALUES] / counts[VALUES].sum() == pytest.approx(values / n, abs=0.03)
    assert counts[TIMES] / counts[TIMES].sum() == pytest.approx(days / n, abs=0.03)


def test_a_profile_with_repeats_says_what_its_latest_entries_say(sides, linked):
    release, _, links = linked
    latest = sides[1].sort("day", "value").unique(["record", "item"], keep="last", maintain_order=True)
    merged = so.link(release, read(latest), budget=0.1, decoys=60, seed=2)
    assert merged.table.drop("by_values", "by_dates", "by_items").equals(
        links.table.drop("by_values", "by_dates", "by_items")
    )


def test_the_latest_entry_of_an_item_has_a_time_if_any_has():
    rows = [("a", "x", 1.0, 3), ("a", "x", 2.0, None), ("a", "x", 5.0, 1), ("a", "y", 1.0, None)]
    rows += [("a", "y", 4.0, None), ("b", "y", 2.0, 7), ("b", "y", 3.0, 7)]
    release = read(pl.DataFrame(rows, schema=["record", "item", "value", "day"], orient="row"))
    entries = [entry for record in "ab" for entry in release.record(record).entries]
    chosen = [(e.item, e.value) for e, keep in zip(entries, latest_entries(release), strict=True) if keep]
    cells = naive.visits(rows)
    assert chosen == [(item, naive.latest(cells[who, item])[0]) for who, item in cells]
    assert latest_entries(so.synthesize(records=20, items=9, entries=60, seed=1)).all()


def test_decoys_have_one_fact_for_each_item_as_profiles_do(linked):
    release, public, _ = linked
    profiles = aligned_profiles(release, public)
    templates = np.flatnonzero(profiles.used > 2)[:20]
    withheld, removed = withhold(profiles, templates, seed=3)
    pool = fact_pool(profiles, seed=3)
    recombined = pool.recombine(profiles, templates, seed=3)
    for known in (withheld, recombined, pool.known):
        owner = np.repeat(np.arange(len(known)), np.diff(known.first))
        assert max(Counter(zip(owner.tolist(), known.item.tolist(), strict=True)).values()) == 1
    n_facts = np.diff(withheld.first)
    assert (n_facts <= np.minimum(profiles.used[templates], release.distinct_items[removed])).all()
    assert (n_facts == profiles.used[templates]).mean() > 0.5


@pytest.mark.large
def test_kept_repeats_link_no_fewer_people_and_false_claims_keep_to_the_budget():
    sides = two_sides(500, 150, 7, absent=150)
    truth = {f"p{person}": f"{person}" for person in range(150, 500)}
    kept, merged = (
        so.link(*(read(side, repeats) for side in sides), budget=0.05, decoys=300, seed=1, truth=truth)
        for repeats in ("keep", "last")
    )
    assert kept.absent_claims.value <= 0.05
    assert kept.recall.value >= merged.recall.value and kept.recall.value > 0.2
    assert kept.precision.value > 0.95
