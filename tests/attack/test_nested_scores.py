"""Nested attacks: the first few facts of each aux, in one walk, give what the facts one by one would give."""

from datetime import datetime, timedelta
from itertools import product

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import standout as so

COMPILED = not numba.config.DISABLE_JIT
START = datetime(2005, 3, 1)
UNKNOWN = "nowhere"
SIMILARITIES = [
    so.Decay(),
    so.Decay(value_scale=0.5, time_scale=None),
    so.Within(value=1, time=14),
    so.Present(),
    so.Equal(),
]
EXACT = ("candidates", "ties", "highest", "second", "first", "record", "score")
SEEDS = st.integers(0, 10_000)
CLOSE = ("mean", "sigma", "eccentricity", "z")


def examples(compiled, interpreted):
    return settings(max_examples=compiled if COMPILED else interpreted)


def made(seed, records=60, items=8, entries=200, levels=5, span=90, unit="day", missing=0.2):
    """A release with values from 1 to `levels`, over `span` units of time, a share of both missing."""
    rng = np.random.default_rng(seed)
    pairs = rng.choice(records * items, min(entries, records * items), replace=False)
    steps = rng.integers(0, span, len(pairs))
    steps[:2] = 0, span - 1
    is_present = rng.random((2, len(pairs))) >= missing
    is_present[:, :2] = True
    values = rng.integers(1, levels + 1, len(pairs)).astype(float)
    values[:levels] = np.arange(1, levels + 1)[: len(pairs)]
    is_present[0, :levels] = True
    times = [START + timedelta(**{f"{unit}s": int(step)}) for step in steps]
    frame = pl.DataFrame(
        {
            "record": [str(pair // items) for pair in pairs],
            "item": [f"i{pair % items}" for pair in pairs],
            "value": pl.Series(values).set(~pl.Series(is_present[0]), None),
            "time": pl.Series(times, dtype=pl.Datetime("us")).set(~pl.Series(is_present[1]), None),
        }
    )
    return so.read(frame, time_unit=unit)


def draws(rng, release, items, count, span=90, levels=5, unit="day", far=True, **filters):
    """So many aux about the same items in the same order, with values and times of their own."""
    return [so.Aux([_fact(rng, item, span, levels, unit, far) for item in items], **filters) for _ in range(count)]


def _fact(rng, item, span, levels, unit, far):
    step = int(rng.integers(-span // 2, span + span // 2))
    if far and rng.random() < 0.1:
        step = int(rng.choice([-4 * span, 5 * span]))
    time = START + timedelta(**{f"{unit}s": step})
    value = float(rng.integers(0, levels + 2)) + float(rng.choice([0, 0, 0, 0.5]))
    return so.Fact(item, None if rng.random() < 0.2 else value, None if rng.random() < 0.2 else time)


def chosen(rng, release, count, unknown=()):
    """So many items of the release in some order, with unknown ones at these places."""
    return with_unknown([release.items[i] for i in rng.permutation(len(release.items))[:count]], unknown)


def with_unknown(items, places):
    items = list(items)
    for n, place in enumerate(places):
        items.insert(min(place, len(items)), f"{UNKNOWN} {n}")
    return items


def check(attack, release, auxes, sizes, exclude=None, top=10, with_z=True, **more):
    """What is nested equals what is attacked one by one."""
    verdicts = attack.nested(release, auxes, sizes, exclude=exclude, top=top, with_z=with_z, **more)
    shorter = [so.Aux(aux.facts[:size], aux.length, aux.joined) for aux in auxes for size in sizes]
    each = exclude if exclude is None or isinstance(exclude, str) else list(np.repeat(exclude, len(sizes)))
    expected = attack.attacks(release, shorter, exclude=each, top=top, with_z=with_z)
    assert len(verdicts) == len(expected) == len(auxes) * len(sizes)
    for name in EXACT:
        np.testing.assert_array_equal(getattr(verdicts.columns, name), getattr(expected.columns, name), err_msg=name)
    for name in CLOSE if with_z else CLOSE[:-1]:
        np.testing.assert_allclose(
            getattr(verdicts.columns, name), getattr(expected.columns, name), rtol=2e-6, atol=1e-12, err_msg=name
        )
    return verdicts, expected


def check_words(verdicts, expected, people):
    """The verdicts say the same too, whatever they work out when asked."""
    for one, other in zip(verdicts, expected, strict=True):
        assert (one.best, one.tied, one.unknown) == (other.best, other.tied, other.unknown)
        for record in people:
            assert one.explain(record) == other.explain(record)
            assert (one.score(record), one.rank(record)) == (other.score(record), other.rank(record))
            assert one.probability(record) == pytest.approx(other.probability(record), rel=2e-6)
        assert [candidate[:2] for candidate in one.lineup(5)] == [candidate[:2] for candidate in other.lineup(5)]


def some_records(rng, release, count):
    """Ids or None, one for each."""
    codes = rng.integers(-3, release.n_records, count)
    return [None if code < 0 else release.records[int(code)] for code in codes]


@examples(60, 10)
@given(similarity=st.sampled_from(SIMILARITIES), seed=SEEDS, with_z=st.booleans(), top=st.sampled_from([2, 3, 10]))
def test_nested_equals_one_by_one(similarity, seed, with_z, top):
    """Single queries, and neighbours about the same items; with and without an excluded record each."""
    rng = np.random.default_rng(seed)
    release = made(seed, records=int(rng.integers(2, 80)), entries=int(rng.integers(10, 200)))
    auxes, exclude = [], []
    for count in rng.permutation([1, 1, int(rng.integers(2, 9)), int(rng.integers(9, 12))]):
        several = draws(rng, release, chosen(rng, release, int(rng.integers(3, 6))), count)
        auxes += several
        exclude += some_records(rng, release, 1) * count if rng.random() < 0.7 else [None] * count
    sizes = sorted(rng.choice(3, int(rng.integers(1, 4)), replace=False) + 1)
    weights = ["rarity", "one", "inverse"][int(rng.integers(3))]
    attack = so.ScoreboardRH(similarity, weights)
    verdicts = check(attack, release, auxes, [int(size) for size in sizes], exclude, top, with_z)
    check_words(*verdicts, [release.records[0], release.records[release.n_records - 1]])


def test_any_number_of_neighbours_share_a_walk():
    for lanes, exclude, with_z in product([1, 2, 8, 9, 17], [None, "3"], [True, False]):
        release, rng = made(seed=1), np.random.default_rng(lanes)
        auxes = draws(rng, release, chosen(rng, release, 5), lanes)
        check(so.ScoreboardRH(), release, auxes, [1, 2, 4, 5], exclude, with_z=with_z)


def test_neighbours_may_leave_out_different_records():
    release, rng = made(seed=2), np.random.default_rng(2)
    auxes = draws(rng, release, chosen(rng, release, 4), 6)
    check(so.ScoreboardRH(), release, auxes, [2, 4], ["3", "3", None, "7", "7", "3"])


def test_neighbours_about_the_same_items_in_another_order_walk_alone():
    release, rng = made(seed=3), np.random.default_rng(3)
    items = chosen(rng, release, 4)
    auxes = draws(rng, release, items, 2) + draws(rng, release, items[::-1], 2)
    check(so.ScoreboardRH(), release, auxes, [1, 2, 3])


def test_sizes_may_repeat_and_exceed_the_facts():
    for sizes, lanes, exclude in product(
        [[2, 5, 9], [3, 3], [9], [2, 2, 1, 1, 50, 60], [5, 2, 9, 2]], [1, 3, 10], [None, "3"]
    ):
        release, rng = made(seed=4), np.random.default_rng(lanes)
        auxes = draws(rng, release, chosen(rng, release, 4), lanes) + draws(rng, release, ["i1"], 1)
        check(so.ScoreboardRH(), release, auxes, sizes, exclude)


def test_unknown_items_among_the_facts_add_nothing():
    for unknown, lanes in product([[0], [2], [1, 2], [0, 1, 4, 6], [9]], [1, 4]):
        release, rng = made(seed=5), np.random.default_rng(lanes)
        auxes = draws(rng, release, chosen(rng, release, 4, unknown), lanes)
        verdicts = check(so.ScoreboardRH(), release, auxes, [1, 2, 3, 4, 5, 8], "7")
        check_words(*verdicts, ["7", "8"])


def test_neighbours_may_have_unknown_items_in_different_places():
    release, rng = made(seed=5), np.random.default_rng(5)
    items = chosen(rng, release, 3)
    places = [[], [1], [0, 1], [3], [2], [0], [1, 2, 3]]
    auxes = [draws(rng, release, with_unknown(items, unknown), 1)[0] for unknown in places]
    for sizes in ([1, 2, 3, 4], [2], [3, 5]):
        check(so.ScoreboardRH(), release, auxes, sizes)
        check(so.ScoreboardRH(), release, auxes[::-1], sizes, "7", with_z=False)


@pytest.mark.parametrize("lanes", [1, 3])
def test_records_that_are_all_the_same_have_no_spread_when_nested(lanes):
    rows = [(str(record), item, 2.0) for record in range(7) for item in ("a", "b")]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    auxes = [so.Aux([so.Fact("a", value=3.7), so.Fact("b", value=1)])] * lanes
    verdicts, _ = check(so.ScoreboardRH(), release, auxes, [1, 2], "3")
    assert not verdicts.columns.sigma.any() and verdicts.columns.ties.tolist() == [6] * len(verdicts)


@pytest.mark.parametrize("lanes", [1, 3])
def test_facts_that_are_all_unknown_and_no_facts_at_all_have_verdicts(lanes):
    release = made(seed=6)
    nobody = [so.Aux([so.Fact(UNKNOWN), so.Fact("elsewhere", value=1)])] * lanes
    auxes = nobody + [so.Aux([])] * lanes + [so.Aux([so.Fact("i1", value=2)])] + nobody
    verdicts = check(so.ScoreboardRH(), release, auxes, [1, 2])
    check_words(*verdicts, ["7"])
    assert verdicts[0][0].ties == release.n_records


def test_nothing_nested_is_no_verdict():
    release = made(seed=6)
    assert len(so.ScoreboardRH().nested(release, [], [1, 2])) == 0
    assert len(so.ScoreboardRH().nested(release, [so.Aux([so.Fact("i1")])], [])) == 0


@pytest.mark.parametrize("filters", [{"length": (2, 4)}, {"joined": (START, START + timedelta(days=30))}], ids=str)
@pytest.mark.parametrize("exclude", [None, "3"])
def test_filters_remove_candidates_from_what_is_nested(filters, exclude):
    release, rng = made(seed=7), np.random.default_rng(7)
    auxes = draws(rng, release, chosen(rng, release, 4), 3, **filters)
    auxes += draws(rng, release, chosen(rng, release, 3, [1]), 2)
    verdicts, _ = check(so.ScoreboardRH(), release, auxes, [1, 2, 2, 9], exclude)
    assert verdicts[0].candidates < verdicts[-1].candidates


@pytest.mark.parametrize("lanes", [1, 3])
def test_functions_of_the_users_own_can_be_nested(lanes):
    release, rng = made(seed=8), np.random.default_rng(8)
    auxes = draws(rng, release, chosen(rng, release, 4, [1]), lanes)

    def near(known, value, days):
        return float(known == value) + (0.0 if days is None else 1 / (1 + abs(days)))

    check(so.ScoreboardRH(so.Custom(near)), release, auxes, [1, 2, 3, 7], "3")


WIDE = [
    pytest.param({"span": 600_000, "unit": "minute", "levels": 7}, id="minutes"),
    pytest.param({"span": 2_000, "unit": "hour", "levels": 400}, id="levels"),
]


@pytest.mark.parametrize("shape", WIDE)
@pytest.mark.parametrize("lanes", [1, 3])
def test_words_of_64_bits_can_be_nested(shape, lanes):
    release = made(seed=9, records=200, entries=800, **shape)
    rng = np.random.default_rng(lanes)
    assert release.by_item.word.dtype == np.uint64
    auxes = draws(rng, release, chosen(rng, release, 3), lanes, **shape)
    check(so.ScoreboardRH(), release, auxes, [1, 2, 3], "3")


def test_a_release_without_values_or_times_can_be_nested():
    rng = np.random.default_rng(10)
    pairs = {(str(rng.integers(30)), f"i{rng.integers(6)}") for _ in range(80)}
    columns = {"record": [record for record, _ in sorted(pairs)], "item": [item for _, item in sorted(pairs)]}
    release = so.read(pl.DataFrame(columns))
    auxes = draws(rng, release, chosen(rng, release, 4), 3) + draws(rng, release, ["i2", "i0"], 1)
    check(so.ScoreboardRH(), release, auxes, [1, 2], "3")


def test_more_tied_than_there_are_places_are_all_found():
    rows = [(str(record), item, 4.0) for record in range(300) for item in ("a", "b")]
    rows += [(str(record), "c", 1.0) for record in range(300, 2_000)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    facts = [so.Fact("a", value=4), so.Fact("b", value=4), so.Fact("c", value=5)]
    for auxes in ([so.Aux(facts)], [so.Aux(facts)] * 3):
        verdicts, _ = check(so.ScoreboardRH(), release, auxes, [1, 2, 3], "7")
        assert verdicts.columns.ties.tolist() == [299] * len(verdicts)


@examples(15, 3)
@given(seed=SEEDS)
def test_neither_threads_nor_neighbours_change_a_bit_of_the_best(seed):
    release, rng = made(seed), np.random.default_rng(seed)
    auxes = draws(rng, release, chosen(rng, release, 3), 4) + draws(rng, release, chosen(rng, release, 4), 1)
    attack, sizes = so.ScoreboardRH(), [1, 2, 3]
    one, two = (attack.nested(release, auxes, sizes, threads=threads).columns for threads in (1, 3))
    for name in (*EXACT, *CLOSE):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.parametrize("sizes", [[0], [-1, 2], [1.5], ["2"], [None]], ids=str)
def test_sizes_are_whole_numbers_from_1_on(sizes):
    with pytest.raises(so.ParameterError, match="sizes"):
        so.ScoreboardRH().nested(made(seed=1), [so.Aux([so.Fact("i1")])], sizes)


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"top": 1}, {"exclude": "nobody"}, {"exclude": ["1", "2"]}], ids=str)
def test_what_cannot_be_nested_is_a_clear_error(wrong):
    with pytest.raises(so.StandoutError):
        so.ScoreboardRH().nested(made(seed=1), [so.Aux([so.Fact("i1")])], [1], **wrong)


@pytest.mark.large
@pytest.mark.parametrize("lanes", [1, 5, 9])
@pytest.mark.parametrize("exclude", [None, "8193", "17"])
def test_several_blocks_can_be_nested(lanes, exclude):
    release = made(seed=11, records=20_000, items=12, entries=60_000)
    rng = np.random.default_rng(lanes)
    auxes = draws(rng, release, chosen(rng, release, 10), lanes) + draws(rng, release, chosen(rng, release, 9), 1)
    check(so.ScoreboardRH(), release, auxes, [2, 5, 9], exclude)
    check(so.ScoreboardRH(so.Within()), release, auxes, [2, 5, 9], exclude, top=100, with_z=False)


@pytest.mark.large
def test_blocks_that_no_known_item_reaches_count_as_zeros():
    rows = [(str(record), "all", 1.0 + record % 5) for record in range(30_000)]
    rows += [(str(record), "rare", 1.0 + record % 3) for record in (5, 9_000, 9_001, 29_999)]
    release = so.read(pl.DataFrame(rows, schema=["record", "item", "value"], orient="row"))
    auxes = [so.Aux([so.Fact("rare", value=value), so.Fact("all", value=2)]) for value in (1, 2, 3)]
    for some in (auxes, auxes[:1]):
        for exclude in (None, "9001", "20000"):
            check(so.ScoreboardRH(), release, some, [1, 2], exclude)


@pytest.mark.large
def test_a_dense_release_can_be_nested():
    release = made(seed=12, records=9_000, items=4, entries=30_000)
    rng = np.random.default_rng(12)
    auxes = draws(rng, release, [f"i{i}" for i in range(4)], 8)
    check(so.ScoreboardRH(), release, auxes, [1, 2, 3, 4], "42")
    check(so.ScoreboardRH(), release, auxes[:1], [1, 2, 3, 4], "42", top=300)
