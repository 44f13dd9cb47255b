"""Nearest neighbours by counting: exact, by bitmaps and by ranges, in any tiles and batches."""

import warnings
from contextlib import contextmanager
from functools import partial

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so
from random_releases import FIRST, random_rows, read_rows
from standout.measure.sparsity import sparsity

COMPILED = not numba.config.DISABLE_JIT


SEED = 2008


TWINS = {
    so.Present(): naive.present,
    so.Equal(): naive.equal,
    so.Within(None, None): partial(naive.within, value=None, time=None),
    so.Within(0, None): partial(naive.within, value=0, time=None),
    so.Within(1, None): partial(naive.within, value=1, time=None),
    so.Within(None, 0): partial(naive.within, value=None, time=0),
    so.Within(None, 2): partial(naive.within, value=None, time=2),
    so.Within(0, 2): partial(naive.within, value=0, time=2),
    so.Within(1, 3.5): partial(naive.within, value=1, time=3.5),
}


KINDS = [*TWINS]


FEW = KINDS if COMPILED else [so.Present(), so.Within(1, None), so.Within(1, 3.5)]


@contextmanager
def with_constants(**constants):
    """The search with tiles, batches or tables of another size."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            patch.setattr(f"standout.attack.neighbours.{name}", value)
        yield


TINY = {"MAX_BITMAP_BYTES": 1, "BATCH": 7}
"""Every column is a tile of its own, and seven records are a batch."""


def limits_of(similarity):
    """The largest difference of values and of days that counts as similar; None: not compared."""
    fixed = {so.Present: (None, None), so.Equal: (0, None)}
    return fixed.get(type(similarity)) or (similarity.value, similarity.time)


def by_dense_arrays(release, similarity, over="union"):
    """(nearest, neighbour) of every record, by the slow twin."""
    side, shape = release.by_record, (release.n_records, release.n_items)
    cells = np.repeat(np.arange(shape[0]), release.lengths), side.item
    has, value, time = np.zeros(shape, bool), np.full(shape, np.nan), np.full(shape, np.nan)
    has[cells] = True
    if side.value is not None:
        levels = np.arange(release.n_levels) if isinstance(release.levels, tuple) else release.levels
        value[cells] = np.append(levels, np.nan)[side.value]
    if side.time is not None:
        per_day = {"day": 1, "hour": 24, "minute": 1440}[release.clock.unit]
        time[cells] = np.where(side.time < release.span, side.time, np.nan) / per_day
    return naive.dense_nearest_neighbours(has, (value, time), limits_of(similarity), over)


def assert_same(result, expected):
    assert result.nearest.tolist() == expected[0].tolist()
    assert result.neighbour.tolist() == expected[1].tolist()


VALUES = st.sampled_from([None, 1.0, 1.5, 2.0, 3.0, 5.0])


DAYS = st.sampled_from([None, 0, 1, 2, 3, 5, 9])


CELLS = st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("uvwxyz"), VALUES, DAYS)


@settings(max_examples=30 if COMPILED else 15)
@given(st.lists(CELLS, min_size=1, max_size=40), st.sampled_from(KINDS), st.sampled_from(["union", "first"]))
def test_the_nearest_neighbour_equals_the_slow_twin(rows, similarity, over):
    release, entries = read_rows(rows), naive.entries(rows)
    result = sparsity(release, similarity, over=over, threads=1)
    expected = naive.nearest_neighbours(entries, TWINS[similarity], over)
    assert [release.records[record] for record in result.records] == [*expected]
    assert result.nearest.tolist() == [near for near, _ in expected.values()]
    names = [None if record < 0 else release.records[record] for record in result.neighbour]
    assert names == [who for _, who in expected.values()]
    for record, near, other in zip(result.records, result.nearest, result.neighbour, strict=True):
        if other >= 0:
            pair = release.records[record], release.records[other]
            assert so.record_similarity(release, *pair, similarity, over) == near


@pytest.mark.parametrize(("missing", "over"), [(0.0, "union"), (0.1, "union"), (0.1, "first")])
@pytest.mark.parametrize("similarity", FEW, ids=str)
def test_tiles_columns_and_batches_of_any_size_equal_dense_arrays(similarity, missing, over):
    records = 530 if COMPILED else 265
    release = read_rows(random_rows(records, 40, SEED, missing=missing, length=6 if COMPILED else 1))
    expected = by_dense_arrays(release, similarity, over)
    with with_constants(**TINY):
        result = sparsity(release, similarity, over=over, threads=2)
    assert_same(result, expected)
    if COMPILED:
        assert_same(sparsity(release, similarity, over=over, threads=1), expected)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_many_levels_are_looked_up_by_ranges(missing):
    rows = random_rows(300 if COMPILED else 60, 12, SEED, levels=200, missing=missing)
    release = read_rows(rows)
    assert release.n_levels > 100
    for similarity in (so.Within(7, None), so.Within(3, 5), so.Equal(), so.Within(1000, None)):
        assert_same(sparsity(release, similarity), by_dense_arrays(release, similarity))


@pytest.mark.large
def test_records_of_very_different_lengths_equal_dense_arrays():
    draw = np.random.default_rng(SEED)
    lengths = [*draw.integers(1, 8, 300).tolist(), 1100, 800, 500, 257, 256, 255, 16, 15]
    rows = [
        (f"{record}", f"{item}", float(draw.integers(1, 6)), int(draw.integers(30)))
        for record, length in enumerate(lengths)
        for item in draw.choice(1200, length, replace=False)
    ]
    release = read_rows(rows)
    for similarity in (so.Present(), so.Within(1, None), so.Within(1, 3)):
        for over in ("union", "first"):
            assert_same(sparsity(release, similarity, over=over), by_dense_arrays(release, similarity, over))


def test_categories_and_hours():
    draw = np.random.default_rng(SEED)
    count = 40 if COMPILED else 15
    rows = [
        (f"{record}", f"{item}", str(draw.choice(["lent", "seen"])), FIRST + pd.Timedelta(hours=int(hour)))
        for record in range(count)
        for item, hour in zip(draw.choice(15, 5, replace=False), draw.integers(0, 200, 5), strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
    release = so.read(frame, value_type="text", time_unit="hour")
    assert_same(sparsity(release, so.Equal()), by_dense_arrays(release, so.Equal()))
    assert_same(sparsity(release, so.Within(1, None)), by_dense_arrays(release, so.Equal()))
    for similarity in (so.Within(None, 0.5), so.Within(0, 1.25)):
        result = sparsity(release, similarity)
        for target in range(count):
            similarities = [
                so.record_similarity(release, release.records[target], release.records[other], similarity)
                for other in range(count)
            ]
            similarities[target] = -1.0
            assert result.nearest[target] == max(similarities)
            assert result.neighbour[target] == (similarities.index(max(similarities)) if max(similarities) else -1)


@pytest.mark.parametrize("missing", [False, True])
def test_minutes_over_years_need_words_of_64_bits(missing):
    draw = np.random.default_rng(SEED)
    rows = [
        (f"{record}", f"{item}", float(draw.integers(1, 4)), FIRST + pd.Timedelta(minutes=int(minute)))
        for record in range(60 if COMPILED else 20)
        for item, minute in zip(
            draw.choice(9, 5, replace=False), draw.choice([0, 3_000_000]) + draw.integers(0, 3000, 5), strict=True
        )
    ]
    rows += [("none", "1", 2.0, None)] * missing
    frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
    release = so.read(frame, time_unit="minute")
    assert release.span > 1 << 21
    for similarity in (so.Within(None, 0.5), so.Within(1, 0.25), so.Within(None, 10_000)):
        for over in ("union", "first"):
            assert_same(sparsity(release, similarity, over=over), by_dense_arrays(release, similarity, over))


def test_without_values_and_times_only_items_count():
    frame = pl.DataFrame({"record": [*"aabbcc"], "item": [*"xyxyyz"]})
    release = so.read(frame, kind="history")
    for similarity in KINDS:
        result = sparsity(release, similarity)
        assert result.nearest.tolist() == [1.0, 1.0, 1 / 3]
        assert result.neighbour.tolist() == [1, 0, 0]


def test_rounding_errors_are_within_but_not_equal():
    rows = [("a", "x", 0.3, 0), ("b", "x", 0.1 + 0.2, 0), ("c", "x", 0.4, 0)]
    release = read_rows(rows)
    assert release.n_levels == 3
    assert sparsity(release, so.Within(0, None)).nearest.tolist() == [1.0, 1.0, 0.0]
    assert sparsity(release, so.Within(0.1, None)).nearest.tolist() == [1.0, 1.0, 1.0]
    assert sparsity(release, so.Equal()).nearest.tolist() == [0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def release():
    return read_rows(random_rows(300 if COMPILED else 40, 30, 7, missing=0.05))


@pytest.mark.parametrize("similarity", [so.Present(), so.Within(1, None), so.Within(1, 3)], ids=str)
def test_threads_and_samples_change_nothing(release, similarity):
    everybody = sparsity(release, similarity, threads=1)
    with with_constants(BATCH=16):
        again = sparsity(release, similarity, threads=2)
    assert_same(again, (everybody.nearest, everybody.neighbour))
    some = sparsity(release, similarity, sample=20, seed=3, threads=2)
    assert len(some.records) == 20 and (np.diff(some.records) > 0).all() and not some.complete
    assert_same(some, (everybody.nearest[some.records], everybody.neighbour[some.records]))
    with with_constants(**TINY):
        stages = []
        few = sparsity(release, similarity, sample=20, seed=3, threads=3, progress=lambda *at: stages.append(at))
    assert_same(few, (some.nearest, some.neighbour))
    assert stages[-1] == ("comparing", stages[-1][2], stages[-1][2])


@pytest.mark.parametrize("similarity", KINDS, ids=str)
def test_an_identical_copy_has_similarity_1(similarity):
    rows = random_rows(30, 12, 5)
    copied = rows + [("copy", *cells) for record, *cells in rows if record == "7"]
    release = read_rows(copied)
    result = sparsity(release, similarity)
    original, copy = release.records.find("7"), release.records.find("copy")
    assert result.nearest[[original, copy]].tolist() == [1.0, 1.0]
    assert result.neighbour[copy] <= original
    before = sparsity(read_rows(rows), similarity).nearest
    assert (result.nearest[: len(before)] >= before).all()


def test_renaming_records_permutes_the_result():
    rows = random_rows(50, 15, 11)
    release, names = read_rows(rows), np.random.default_rng(1).permutation(50)
    renamed = read_rows([(f"{names[int(record)]}", *cells) for record, *cells in rows])
    for similarity in (so.Present(), so.Within(1, 3)):
        result, renamed_result = sparsity(release, similarity), sparsity(renamed, similarity)
        renamed_index = [renamed.records.find(f"{names[int(release.records[i])]}") for i in range(50)]
        assert result.nearest.tolist() == renamed_result.nearest[renamed_index].tolist()


def test_stricter_similarities_are_never_nearer(release):
    sets, values, both = (
        sparsity(release, similarity).nearest for similarity in (so.Present(), so.Within(1, None), so.Within(1, 3))
    )
    assert (sets >= values).all() and (values >= both).all()
    assert (sparsity(release, over="first").nearest >= sets).all()


@pytest.mark.parametrize("over", ["union", "first"])
@pytest.mark.parametrize("similarity", [so.Present(), so.Within(1, None), so.Within(1, 3)], ids=str)
def test_degenerate_releases_have_defined_results(similarity, over):
    search = partial(sparsity, similarity=similarity, over=over)
    alone = search(read_rows([("a", "x", 1.0, 0), ("a", "y", 2.0, 1)]))
    assert (alone.nearest.tolist(), alone.neighbour.tolist()) == ([0.0], [-1])
    assert (alone.delta(0).value, alone.survival(0).value, alone.is_sparse(0, 0)) == (0.0, 1.0, True)
    same = search(read_rows([(f"{i}", item, 1.0, 0) for i in range(5) for item in "xyz"]))
    assert (same.nearest.tolist(), same.neighbour.tolist()) == ([1.0] * 5, [1, 0, 0, 0, 0])
    apart = search(read_rows([(f"{i}", f"{i}", 1.0, 0) for i in range(5)]))
    assert (apart.nearest.tolist(), apart.neighbour.tolist()) == ([0.0] * 5, [-1] * 5)
    single = search(read_rows([(f"{i}", "x", 1.0, 0) for i in range(300 if COMPILED else 9)]))
    assert set(single.nearest.tolist()) == {1.0} and single.neighbour[:3].tolist() == [1, 0, 0]
    nothing_known = search(read_rows([("a", "x", None, None), ("b", "x", 1.0, 0)]))
    assert nothing_known.nearest[0] == 1.0
    for result in (alone, same, apart, single):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not result.table().to_numpy().ravel().tolist().count(float("nan"))
            assert "records" in str(result)


def test_progress_is_reported_and_its_exception_ends_the_search(release):
    reports = []
    with with_constants(**TINY):
        sparsity(release, threads=1, progress=lambda *report: reports.append(report))
        assert {stage for stage, _, _ in reports} == {"comparing"}
        counts = [count for _, count, _ in reports]
        assert counts == sorted(counts) and counts[-1] == reports[-1][2]

        def stop(*report):
            raise KeyboardInterrupt

        for threads in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                sparsity(release, threads=threads, progress=stop)


FOLDERS = {"movielens": "movielens-latest-small", "movietweetings": "movietweetings/2013-11-06"}


REAL = [so.Present(), so.Within(0, None), so.Within(1, None), so.Within(None, 14), so.Within(1, 14)]


def ratings_of(folder, name):
    """user, item, rating and day of every row, as pandas reads them; of a pair that repeats, the last."""
    if name == "movielens":
        frame = pd.read_csv(folder / FOLDERS[name] / "ratings.csv", dtype={"userId": str, "movieId": str})
    else:
        path = folder / FOLDERS[name] / "ratings.dat"
        frame = pd.read_csv(path, sep="::", engine="python", header=None, dtype={0: str, 1: str})
    frame.columns = ["user", "item", "rating", "second"]
    return frame.assign(day=frame.second // 86_400).drop(columns="second")


@pytest.mark.realdata
@pytest.mark.large
@pytest.mark.parametrize("name", ["movielens", pytest.param("movietweetings", marks=pytest.mark.slow)])
def test_on_real_data_the_nearest_neighbour_is_that_of_pandas(realdata, name):
    release, ratings = so.read(realdata / FOLDERS[name]), ratings_of(realdata, name)
    assert release.n_entries == len(ratings)
    for similarity in REAL:
        named_limits = zip(("rating", "day"), limits_of(similarity), strict=True)
        limits = {column: limit for column, limit in named_limits if limit is not None}
        for over in ("union", "first"):
            result = sparsity(release, similarity, sample=5, seed=SEED, over=over)
            for record, near, other in zip(result.records, result.nearest, result.neighbour, strict=True):
                similarities = naive.merged_similarities(ratings, release.records[record], limits, over)
                assert near == similarities.max()
                assert other < 0 or similarities[release.records[other]] == near
        whole = sparsity(release, similarity)
        some = sparsity(release, similarity, sample=50, seed=1)
        assert_same(some, (whole.nearest[some.records], whole.neighbour[some.records]))
