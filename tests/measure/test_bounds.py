"""Theorems 1 to 5: the arithmetic is the paper's, what is measured is what the slow twin sees, slips show."""

import math
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content
from standout.data.build import subset
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.measure import bounds
from standout.measure.bounds import NO_LEMMA, OVER, matching_sets

COMPILED = not numba.config.DISABLE_JIT
NETFLIX = 480_189
SEED = 2008
START = datetime(2005, 3, 1)
PEOPLE = ["9", "10", "2", "007", "7", "é"]
THINGS = ["b", "aa", "31", "4", "5"]
VALUES = {"number": [1.0, 2.0, 5.0], None: [None]}
SIMILARITIES = [
    (so.Within(), naive.within),
    (so.Within(value=0, time=0), partial(naive.within, value=0, time=0)),
    (so.Within(value=None, time=2), partial(naive.within, value=None, time=2)),
    (so.Present(), naive.present),
    (so.Decay(), naive.mean_decay),
]


def read(rows, kind="number", timed=True):
    """A release of rows (record, item, value, time); what is not asked for is no column."""
    schema = {"record": pl.String, "item": pl.String} | ({"value": pl.Float64} if kind else {})
    schema |= {"time": pl.Datetime("us")} if timed else {}
    cells = [row[:2] + row[2:3] * bool(kind) + row[3:] * timed for row in rows]
    return so.read(pl.DataFrame(cells, schema=schema, orient="row"), kind="history")


@st.composite
def releases(draw, most=24):
    kind, timed = draw(st.sampled_from(["number", None])), draw(st.booleans())
    cells = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(THINGS))
    pairs = draw(st.lists(cells, min_size=1, max_size=most, unique=True))
    value = st.sampled_from([*VALUES[kind], None])
    time = st.sampled_from([*(START + timedelta(days=step) for step in (0, 2, 14, 40)), None])
    rows = [(*pair, draw(value), draw(time)) for pair in pairs]
    assume(not kind or any(row[2] is not None for row in rows))
    assume(not timed or any(row[3] is not None for row in rows))
    return read(rows, kind, timed)


# The arithmetic.


def test_the_facts_that_the_paper_needs_for_netflix():
    assert [bounds.facts_needed(NETFLIX, 0.01, delta) for delta in (0.5, 0.9)] == [26, 8]
    assert NETFLIX * 0.5**26 <= 0.01 < NETFLIX * 0.5**25 and NETFLIX * 0.1**8 <= 0.01 < NETFLIX * 0.1**7


def test_a_lineup_needs_fewer_facts_and_all_records_none():
    facts = [bounds.facts_for_lineup(NETFLIX, k, 0.5) for k in (2, 10, 100, NETFLIX, NETFLIX + 1, 10**9)]
    assert facts == [19, 16, 13, 1, 0, 0]
    assert facts[0] < bounds.facts_needed(NETFLIX, 0.01, 0.5)


def test_for_small_delta_it_is_the_logarithm_over_delta():
    for delta in (1e-3, 1e-6, 1e-9):
        simple = (math.log(NETFLIX) - math.log(0.01)) / delta
        assert bounds.facts_needed(NETFLIX, 0.01, delta) == pytest.approx(simple, rel=delta)


TENTHS = st.integers(1, 99).map(lambda part: Fraction(part, 100))


@given(records=st.integers(1, 10**6), epsilon=TENTHS, delta=TENTHS, k=st.integers(2, 1000))
def test_the_facts_needed_are_the_least_that_are_enough(records, epsilon, delta, k):
    needed = bounds.facts_needed(records, float(epsilon), float(delta))
    assert needed == naive.facts_needed(records, delta, epsilon)
    assert bounds.facts_for_lineup(records, k, float(delta)) == naive.facts_needed(records, delta, k - 1)


def test_a_whole_quotient_is_not_rounded_up():
    for records, epsilon, delta, facts in [
        (1000, 0.001, 0.9, 6),
        (1000, 0.001, 0.99, 3),
        (1024, 2**-10, 0.5, 20),
        (10**9, 1e-3, 0.9, 12),
        (1, 0.1, 0.9, 1),
        (1, 0.999, 0.999, 1),
        (3**9, 1 / 3, 2 / 3, 10),
    ]:
        assert bounds.facts_needed(records, epsilon, delta) == facts


@given(st.integers(2, 9), st.integers(1, 12), st.integers(1, 6))
def test_powers_are_whole_whatever_floats_say(base, records, errors):
    assert bounds.facts_needed(base**records, base**-errors, 1 - 1 / base) == records + errors
    assert bounds.facts_for_lineup(base**records, 2, 1 - 1 / base) == records


BETWEEN = "must be above 0 and below 1, got"


def test_invalid_arguments_of_a_formula_are_refused_by_name():
    for ask, message in [
        (lambda: bounds.facts_needed(0, 0.1, 0.1), "records must be a whole number ≥ 1, got 0"),
        (lambda: bounds.facts_needed(1.5, 0.1, 0.1), "records must be a whole number ≥ 1, got 1.5"),
        (lambda: bounds.facts_needed(9, 0, 0.1), f"epsilon {BETWEEN} 0"),
        (lambda: bounds.facts_needed(9, 0.1, 1), f"delta {BETWEEN} 1"),
        (lambda: bounds.facts_needed(9, 0.1, math.nan), f"delta {BETWEEN} nan"),
        (lambda: bounds.facts_needed(9, "0.1", 0.1), f"epsilon {BETWEEN} '0.1'"),
        (lambda: bounds.facts_needed(9, True, 0.1), f"epsilon {BETWEEN} True"),
        (lambda: bounds.facts_needed(9, 0.1, 5e-324), "delta = 5e-324 is too small: the number of facts overflows"),
        (lambda: bounds.facts_for_lineup(9, 1, 0.1), "k must be a whole number ≥ 2, got 1"),
        (lambda: bounds.prize_share(0.9, 0.87), "improvement must be from 0 to 0.87, got 0.9"),
        (lambda: bounds.prize_share("0.1"), "improvement must be from 0 to 0.87, got '0.1'"),
        (lambda: bounds.prize_share(math.nan), "improvement must be from 0 to 0.87, got nan"),
        (lambda: bounds.prize_share(0.0, 0), "rmse must be a finite number above 0, got 0"),
        (lambda: bounds.prize_share(0.0, math.inf), "rmse must be a finite number above 0, got inf"),
    ]:
        with pytest.raises(so.ParameterError) as error:
            ask()
        assert str(error.value) == message


# The Prize.


def test_the_papers_share_is_its_linear_reading_and_the_rmse_is_a_root_of_a_mean_of_squares():
    assert math.floor(bounds.prize_share(0.01, linear=True) * 1e4) / 1e4 == 0.0114  # cut off; rounded it is 1.15 %
    assert [bounds.prize_share(0.01, rmse) for rmse in (0.87, 1)] == pytest.approx([0.0228563, 0.0199], abs=1e-7)
    for share in (0.0, 0.1, 0.5, 1.0):
        gained = 0.87 - math.sqrt(math.fsum([0.87**2 * (1 - share)]))
        assert bounds.prize_share(gained) == pytest.approx(share)


# What is measured.


@settings(max_examples=40 if COMPILED else 10)
@given(st.data())
def test_matching_records_and_their_similarities_equal_the_slow_twin(given):
    release, m = given.draw(releases()), given.draw(st.integers(1, 4))
    similarity, slow = given.draw(st.sampled_from(SIMILARITIES))
    alpha = given.draw(st.sampled_from([1.0, 0.9, 0.3]))
    tried, entries = (
        matching_sets(release, similarity, alpha, m, targets=None, seed=SEED, threads=1),
        content(release),
    )
    lengths = naive.lengths(entries)
    assert (len(tried.sets), tried.too_few_items) == (
        sum(length >= m for length in lengths.values()),
        sum(length < m for length in lengths.values()),
    )
    for matches in tried.sets:
        target = release.records[matches.target]
        at = shuffled_entries(release, np.array([matches.target]), SEED, "theorems", m)[0]
        items = [release.items[code] for code in release.by_record.item[at]]
        scores = naive.minima(entries, {item: entries[target, item] for item in items}, slow)
        records = [release.records[record] for record in matches.record]
        assert records == naive.shortlex(r for r, score in scores.items() if score >= alpha - naive.EQUAL)
        for over in OVER:
            similarities = [naive.record_similarity(entries, target, other, slow, over) for other in records]
            assert matches.similarity[over].tolist() == pytest.approx(similarities, rel=1e-12)


def test_matches_in_a_sample_are_the_matches_in_the_release_that_the_sample_contains():
    """What Theorem 4 relies on: with Algorithm 1A nothing changes for those who stay."""
    release = so.synthesize(records=80, items=20, entries=800, seed=SEED)
    keep = np.arange(release.n_records) % 3 == 0
    sample = subset(release, keep)
    targets, _ = draw_targets(release, 30, 2, SEED, "theorems")
    auxes = so.Adversary(knows=2).observe_all(release, targets, SEED)
    board = so.Scoreboard(so.Within(value=1, time=None))
    for q, verdict in enumerate(board.attacks(release, auxes, top=100)):
        expected = [
            candidate.record for candidate in verdict.lineup(100) if sample.records.find(candidate.record) is not None
        ]
        lineup = board.attack(sample, auxes.aux(release, q), top=100).lineup(100)
        assert [candidate.record for candidate in lineup] == expected


def rows_of(release, **options):
    return {(row.theorem, row.statement, row.settings.over): row for row in bounds.check(release, **options)}


@pytest.fixture(scope="module")
def crowd():
    return so.synthesize(records=200, items=80, entries=6_000, seed=SEED)


def test_every_theorem_has_its_rows_and_they_hold_on_a_crowd(crowd):
    rows = bounds.check(crowd, epsilon=0.05, delta=0.8, targets=60, samples=6, seed=SEED)
    assert sorted({row.theorem for row in rows}) == [1, 2, 3, 4, 5]
    for row in rows:
        assert row.settings.over != "first" or row.holds is not False or row.statement.endswith("(premise)")
        assert row.measured.low <= row.measured.value <= row.measured.high
        assert not math.isnan(row.bound + row.measured.value)
        assert str(row).startswith(f"Theorem {row.theorem}: {row.statement}")
    m = {row.theorem: row.settings.m for row in rows if row.settings.m}
    n = crowd.n_records
    assert m == {
        theorem: bounds.facts_needed(n, 0.05, 0.8) if theorem != 3 else bounds.facts_for_lineup(n, 10, 0.8)
        for theorem in (1, 2, 3, 4)
    }


def test_the_table_has_a_row_for_each_check(crowd):
    rows = bounds.check(crowd, epsilon=0.05, delta=0.8, targets=20, samples=2)
    table = bounds.table(rows)
    assert table.height == len(rows) and table["theorem"].to_list() == [row.theorem for row in rows]
    assert table["value"].to_list() == [row.measured.value for row in rows]
    assert table["holds"].to_list() == [row.holds for row in rows]
    assert table["lambda"].drop_nulls().unique().to_list() == [8.0]
    assert table["over"].to_list() == [row.settings.over for row in rows]
    assert bounds.table([]).columns == table.columns


@pytest.mark.parametrize("threads", [1, 3])
def test_neither_threads_nor_another_run_change_a_check(crowd, threads):
    options = {"epsilon": 0.05, "delta": 0.8, "targets": 30, "samples": 2, "seed": SEED}
    assert bounds.check(crowd, threads=threads, **options) == bounds.check(crowd, **options)
    other = bounds.check(crowd, **options | {"seed": 1})
    assert [row.measured for row in other] != [row.measured for row in bounds.check(crowd, **options)]


def test_with_the_union_below_the_line_a_superset_refutes_theorem_1():
    """Somebody who has everything matches everybody and is similar to nobody: half of the guesses fail."""
    people = [(str(p), f"{p}:{i}", 1.0, START) for p in range(40) for i in range(10)]
    release = read(people + [("all", item, 1.0, START) for _, item, *_ in people])
    rows = rows_of(release, epsilon=0.1, delta=0.5, targets=None, samples=1)
    first, union = (rows[1, "a random match is similar", over] for over in OVER)
    assert first.holds and first.measured.value == 1
    assert union.holds is False and union.measured.value == pytest.approx((40 / 2 + 1) / 41)
    assert union.note == NO_LEMMA
    premise = [rows[2, "records with a similar record (premise)", over] for over in OVER]
    assert [row.holds for row in premise] == [False, True]
    alone = rows[2, "only the target matches", None]
    assert alone.holds is None and alone.note.startswith("the premise is not met")
    assert rows[4, "not in the sample: nothing matches", None].measured.value in (0, 1 / 41, 40 / 41, 1)


def test_theorem_5_is_refuted_by_a_star():
    """One person who has all items, and others with one each: a sample without the one is sparse."""
    leaves = [(f"leaf {i}", str(i), 1.0, START) for i in range(20)]
    release = read(leaves + [("hub", item, 1.0, START) for _, item, *_ in leaves])
    rows = rows_of(release, epsilon=0.01, delta=0.95, lam=2, gamma=0.1, targets=None, samples=60, seed=SEED)
    dense = rows[5, "samples that are not sparse", "union"]
    assert dense.holds is False and 0.3 < dense.measured.value < 0.7 < dense.bound == 0.9
    mean = rows[5, "records of a sample with a similar record", "union"]
    assert mean.bound == 0.5 and mean.holds is not False


def test_the_target_is_tried_in_the_sample_and_not_in_it():
    """Twins: who is not in the sample has a twin in it once in λ."""
    rows = [(f"{p}{twin}", f"{p}:{i}", 1.0, START) for p in range(60) for twin in "ab" for i in range(12)]
    checks = rows_of(read(rows), epsilon=0.1, delta=0.5, lam=3, targets=None, samples=1, seed=SEED)
    assert checks[2, "only the target matches", None].measured.value == 0
    matched = checks[4, "in the sample: a random match is similar", "first"]
    assert matched.measured.value == 1 and matched.settings.lam == 3
    missed = checks[4, "not in the sample: nothing matches", None]
    assert missed.holds is False and 0.5 < missed.measured.value < 0.8
    assert missed.note == "does not follow without sparsity"
    assert checks[4, "not in the sample: all matches are similar", "union"].measured.value == 1


def test_records_that_are_too_short_are_too_few_items_and_counted():
    rows = [("long", str(i), 1.0, START) for i in range(12)] + [("7", "0", 1.0, START), ("9", "1", 2.0, START)]
    checks = rows_of(read(rows), epsilon=0.1, delta=0.5, samples=1)
    check = checks[1, "a random match is similar", "first"]
    assert (check.settings.m, check.measured.n, check.too_few_items) == (5, 1, 2)
    assert checks[3, "a random match is the target", None].too_few_items == 0


DEGENERATE = {
    "one record": [("7", "b", 1.0, START)],
    "two of the same": [(who, item, 1.0, START) for who in "79" for item in THINGS],
    "all of them the same": [(who, item, 1.0, START) for who in PEOPLE for item in THINGS],
    "items of one person": [(str(i), f"item {i}", 1.0, START) for i in range(9)],
    "one long record": [("7", str(i), 1.0, START) for i in range(30)],
}


@pytest.mark.parametrize("columns", [("number", True), ("number", False), (None, False)], ids=str)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_releases_have_defined_checks(name, columns):
    for similarity in (None, so.Present()):
        rows = bounds.check(read(DEGENERATE[name], *columns), samples=3, similarity=similarity)
        assert len(rows) == 14
        for row in rows:
            assert row.holds is None or row.measured.n > 0
            assert not math.isnan(row.measured.value + row.bound)
            assert row.measured.low <= row.measured.value <= row.measured.high
        assert bounds.table(rows).height == 14


def test_invalid_options_of_a_check_are_refused_by_name():
    for options, message in [
        ({"epsilon": 0.5, "delta": 0.5}, "epsilon + delta must be below 1, got 0.5 + 0.5"),
        ({"epsilon": 2}, f"epsilon {BETWEEN} 2"),
        ({"gamma": 1}, f"gamma {BETWEEN} 1"),
        ({"k": 1}, "k must be a whole number ≥ 2, got 1"),
        ({"lam": "8"}, "lam must be a finite number ≥ 1, got '8'"),
        ({"lam": 0.5}, "lam must be a finite number ≥ 1, got 0.5"),
        ({"samples": 0}, "samples must be a whole number ≥ 1, got 0"),
        ({"targets": 0}, "targets must be a whole number ≥ 1, got 0"),
        ({"seed": -1}, "seed must be a whole number from 0 to 2**63 - 1, got -1"),
        ({"threads": 0}, "threads must be a whole number ≥ 1, got 0"),
        ({"similarity": "within"}, "similarity must be Within, Equal or Present, got str"),
        ({"similarity": so.Decay()}, "similarity must be Within, Equal or Present, got Decay"),
    ]:
        with pytest.raises(so.StandoutError) as error:
            bounds.check(read(DEGENERATE["one long record"]), **options)
        assert str(error.value) == message


# Real people.


@pytest.mark.realdata
@pytest.mark.large
def test_no_theorem_that_follows_is_refuted_by_real_people(realdata):
    release = so.read(realdata / "movielens-latest-small")
    for similarity in (None, so.Present()):
        for delta in (0.5, 0.9):
            for row in bounds.check(release, delta=delta, similarity=similarity, seed=SEED):
                follows = row.settings.over == "first" or row.statement in ("a random match is the target", "bits left")
                assert not follows or row.statement.endswith("(premise)") or row.holds is not False


@pytest.mark.realdata
@pytest.mark.large
def test_real_people_with_ratings_and_dates_are_alone(realdata):
    release = so.read(realdata / "movielens-latest-small")
    rows = rows_of(release, targets=100, samples=2, seed=SEED)
    assert rows[1, "a random match is similar", "first"].settings.m == 16
    assert rows[2, "only the target matches", None].measured.value >= 0.99
    assert rows[3, "bits left", None].measured.value < 0.5
