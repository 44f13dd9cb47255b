"""Unicity: who is singled out is whom the slow twin singles out, for any columns and any resolution."""

from datetime import datetime, timedelta
from fractions import Fraction

import numba
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import standout as so
from standout.evaluate.targets import draw_targets, shuffled_entries
from standout.measure.unicity import unicity

COMPILED = not numba.config.DISABLE_JIT
SEED = 2008
START = datetime(2005, 3, 1)
PER_DAY = {"day": 1, "hour": 24, "minute": 1_440}
PEOPLE = ["9", "10", "2", "007", "7", "é"]
THINGS = ["b", "aa", "31", "4", "5"]
VALUES = {"number": [1.0, 2.0, 3.5, 5.0], "text": ["bought", "rented", "sold"], None: [None]}
HOURS = [0, 1, 5, 23, 24, 47, 24 * 14, 24 * 15, 24 * 40]


def read(rows, kind="number", unit="day"):
    """A release of rows (record, item, value, time); None: no such column."""
    schema = {"record": pl.String, "item": pl.String}
    schema |= {"value": pl.Float64 if kind == "number" else pl.String} if kind else {}
    schema |= {"time": pl.Datetime("us")} if unit else {}
    cells = [row[:2] + row[2:3] * bool(kind) + row[3:] * bool(unit) for row in rows]
    frame = pl.DataFrame(cells, schema=schema, orient="row")
    return so.read(frame, value_type=kind or "auto", time_unit=unit or "day")


def entries_of(rows, kind, unit):
    """The same for the twin, times in days since 1970."""
    return {
        (record, item): (value if kind else None, None if unit is None else in_days(time, unit))
        for record, item, value, time in rows
    }


def in_days(time, unit):
    return None if time is None else Fraction(naive.units(time, unit), PER_DAY[unit])


@st.composite
def data(draw):
    """(rows, kind, unit) of any small release, with gaps."""
    kind, unit = draw(st.sampled_from(["number", "text", None])), draw(st.sampled_from(["day", "hour", None]))
    cells = st.tuples(st.sampled_from(PEOPLE), st.sampled_from(THINGS))
    pairs = draw(st.lists(cells, min_size=1, max_size=24, unique=True))
    value = st.sampled_from([*VALUES[kind], None])
    time = st.sampled_from([*(START + timedelta(hours=step) for step in HOURS), None] if unit else [None])
    rows = [(*pair, draw(value), draw(time)) for pair in pairs]
    for column, is_present in ((2, kind), (3, unit)):
        assume(not is_present or any(row[column] is not None for row in rows))
    return rows, kind, unit


def count_unique(release, entries, k, most, value, time):
    """How many records the first k of `most` entries single out, by the twin."""
    targets, too_few_entries = draw_targets(release, None, most, SEED, "unicity")
    entries_of_targets = shuffled_entries(release, targets, SEED, "unicity", k)
    names = [release.records[target] for target in targets.tolist()]
    items = [[release.items[code] for code in release.by_record.item[at]] for at in entries_of_targets]
    is_unique = [
        naive.is_unique(entries, record, known, value, time) for record, known in zip(names, items, strict=True)
    ]
    return sum(is_unique), len(is_unique), too_few_entries


@settings(max_examples=60 if COMPILED else 12)
@given(st.data())
def test_unique_records_equal_the_slow_twin(given):
    rows, kind, unit = given.draw(data())
    release, entries = read(rows, kind, unit), entries_of(rows, kind, unit)
    value = given.draw(st.sampled_from([0, 1, 1.5, 100, None]))
    time = given.draw(st.sampled_from([None, 1, 2, 7, 365] + [1 / 24, 0.25] * (unit == "hour")))
    sizes = given.draw(st.lists(st.integers(1, 4), min_size=1, unique=True))
    results = unicity(release, sizes, value=value, time=time, targets=None, seed=SEED, threads=1)
    bins = time if time is None or time >= 1 else Fraction(round(time * 24), 24)
    for k, result in zip(sizes, results, strict=True):
        count, n, too_few_entries = count_unique(release, entries, k, max(sizes), value, bins)
        assert (result.k, result.share.n, result.too_few_entries) == (k, n, too_few_entries)
        assert result.share.value * n == pytest.approx(count)
        assert result.share.low <= result.share.value <= result.share.high


@pytest.fixture(scope="module")
def crowd():
    return so.synthesize(records=300, items=60, entries=3_000, seed=7)


def test_more_entries_single_out_no_fewer_of_the_same_people(crowd):
    for resolution in ({}, {"value": 1}, {"value": 1, "time": 30}):
        shares = [result.share.value for result in unicity(crowd, range(1, 7), seed=SEED, **resolution)]
        assert shares == sorted(shares) and shares[0] < shares[-1]


def test_finer_knowledge_singles_out_no_fewer(crowd):
    resolutions = [
        {"value": None},
        {"value": 1},
        {"value": 0},
        {"value": 0, "time": 64},
        {"value": 0, "time": 8},
        {"time": 1},
    ]
    shares = [unicity(crowd, 2, seed=SEED, **resolution).share.value for resolution in resolutions]
    assert shares == sorted(shares) and shares[0] < shares[-1]


def test_a_single_k_gives_the_same_result_as_that_k_among_several(crowd):
    first, *_, last = unicity(crowd, [4, 1, 3, 4], seed=SEED)
    assert first == last == unicity(crowd, 4, seed=SEED)
    assert first.too_few_entries == int((crowd.lengths < 4).sum()) > 0
    assert first.share.baseline == 1 / 300


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(crowd, threads):
    assert unicity(crowd, [1, 2, 3], seed=SEED, threads=threads) == unicity(crowd, [1, 2, 3], seed=SEED)


def test_another_seed_draws_other_targets(crowd):
    shares = {unicity(crowd, 2, seed=seed, targets=50).share.value for seed in range(8)}
    assert len(shares) > 1
    assert unicity(crowd, 2, seed=1, targets=50) == unicity(crowd, 2, seed=1, targets=50)


def test_bins_begin_in_1970_and_are_not_a_distance():
    """14 and 15 January 1970 are a day apart, and in two bins of a fortnight."""
    for days, alone in ((1, 2), (7, 2), (14, 2), (15, 0), (28, 0)):
        rows = [("7", "b", 1.0, datetime(1970, 1, 14)), ("9", "b", 1.0, datetime(1970, 1, 15))]
        assert unicity(read(rows), 1, time=days).share.value * 2 == alone


def test_bins_before_1970_are_as_wide():
    rows = [(str(i), "b", 1.0, datetime(1969, 12, 25) + timedelta(days=i)) for i in range(14)]
    share = unicity(read(rows), 1, time=7).share.value
    assert share == 0 and unicity(read(rows), 1, time=1).share.value == 1


def test_one_record_is_singled_out_by_anything():
    results = unicity(read([("7", "b", 1.0, START), ("7", "aa", None, None)]), [1, 2, 3])
    assert [result.share.value for result in results] == [0, 0, 0] and results[0].share.n == 0
    assert [result.too_few_entries for result in results] == [1, 1, 1]
    assert unicity(read([("7", "b", 1.0, START)]), 1).share.value == 1


def test_identical_records_are_never_unique():
    rows = [(who, item, 2.0, START) for who in "79" for item in THINGS]
    assert [result.share.value for result in unicity(read(rows), [1, 5], time=1)] == [0, 0]


def test_an_item_that_one_person_has_singles_out():
    rows = [(str(i), f"item {i}", 2.0, START) for i in range(9)]
    assert unicity(read(rows), 1, value=None).share.value == 1


@pytest.mark.parametrize(("kind", "unit"), [(None, None), ("number", None), (None, "day"), ("text", "minute")])
def test_a_release_without_values_or_times_has_its_unicity(kind, unit):
    rows = [("7", "b", "x", START), ("9", "b", "x", START), ("9", "aa", "x", START), ("2", "4", "x", START)]
    rows = [(*row[:2], 1.0, row[3]) if kind == "number" else row for row in rows]
    result = unicity(read(rows, kind, unit), 1, value=0, time=1, targets=None, seed=1)
    assert (result.share.n, result.too_few_entries) == (3, 0)
    assert 1 / 3 <= result.share.value <= 2 / 3


def test_the_text_gives_share_interval_and_records_with_too_few_entries():
    rows = [("7", "b", 1.0, START), ("9", "b", 2.0, START), ("9", "aa", 2.0, START)]
    assert str(unicity(read(rows), 1)) == "1 entry singles out 1.000 (0.342 to 1.000, n = 2)"
    text = str(unicity(read(rows), 2))
    assert text == "2 entries single out 1.000 (0.207 to 1.000, n = 1); records with too few entries: 1"


def test_invalid_arguments_are_refused_by_name():
    for k, options, message in [
        (0, {}, "k must be a whole number ≥ 1, got 0"),
        (1.0, {}, "k must be a whole number ≥ 1, got 1.0"),
        ("2", {}, "k must be a whole number ≥ 1, got '2'"),
        (True, {}, "k must be a whole number ≥ 1, got True"),
        ([1, -1], {}, "k must be a whole number ≥ 1, got -1"),
        ([], {}, "k is empty: give a whole number ≥ 1, or several"),
        (1, {"value": -1}, "value must be a finite number ≥ 0, or None, got -1"),
        (1, {"time": 0}, "time is in days and must be a whole number of days ≥ 1, got 0"),
        (1, {"time": 1.5}, "time is in days and must be a whole number of days ≥ 1, got 1.5"),
        (1, {"time": "7"}, "time is in days and must be a whole number of days ≥ 1, got '7'"),
        (1, {"targets": 0}, "targets must be a whole number ≥ 1, got 0"),
        (1, {"seed": -1}, "seed must be a whole number from 0 to 2**63 - 1, got -1"),
        (1, {"threads": 0}, "threads must be a whole number ≥ 1, got 0"),
    ]:
        with pytest.raises(so.StandoutError) as error:
            unicity(read([("7", "b", 1.0, START)]), k, **options)
        assert str(error.value) == message


@pytest.mark.large
def test_records_in_several_blocks_are_compared():
    """Two people with the same three items, far from each other, among many with others."""
    n = 20_000
    rows = [(str(i), f"{i % 50}:{j}", 1.0, START) for i in range(n) for j in range(3)]
    results = unicity(read(rows), [1, 3], targets=100)
    assert [result.share.value for result in results] == [0, 0]
    rows += [(str(i), f"own {i}", 1.0, START) for i in range(n)]
    assert unicity(read(rows), 4, targets=100).share.value == 1


@pytest.mark.realdata
@pytest.mark.large
def test_the_unicity_of_real_people_equals_a_merge_in_polars(realdata):
    release = so.read(realdata / "movielens-latest-small")
    frame = release.to_frame().with_columns(pl.col("time").dt.epoch("d") // 30)
    targets, _ = draw_targets(release, 100, 3, SEED, "unicity")
    entries_of_targets = shuffled_entries(release, targets, SEED, "unicity", 3)
    rows = [
        (release.records[target], release.items[code])
        for target, at in zip(targets.tolist(), entries_of_targets, strict=True)
        for code in release.by_record.item[at]
    ]
    known = pl.DataFrame(rows, schema=["target", "item"], orient="row").join(
        frame, left_on=["target", "item"], right_on=["record", "item"]
    )
    agree = known.join(frame, on=["item", "value", "time"]).group_by("target", "record").len()
    alone = agree.filter(pl.col("len") == 3).group_by("target").len().filter(pl.col("len") == 1).height
    assert unicity(release, 3, time=30, targets=100, seed=SEED).share.value == alone / 100
