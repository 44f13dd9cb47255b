"""Steps on releases with repeated entries: canonical, counted, and equal to slow twins on rows."""

import json
from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sanitizing_data import ALL, START, assert_same, drawn_rows, table

import naive
import standout as so
from standout.data.manifest import release_columns
from standout.know.sanitized import TimeSpread, ValueSpread
from standout.sanitizing.files import write_sanitized
from standout.sanitizing.step import Step, StepResult

SCHEMA = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.sampled_from("123456"),
        st.none() | st.sampled_from([1.0, 2.0, 3.5, 4.0]),
        st.none() | st.sampled_from([START + timedelta(days) for days in (0, 3, 40, 200, 700)]),
    ),
    min_size=2,
    max_size=60,
)


def read(rows):
    return so.read(pl.DataFrame(rows, schema=SCHEMA, orient="row"), repeats="keep")


def rows_of(release):
    """All rows (record, item, value, time) of a release."""
    frame = release.to_frame()
    missing = [pl.lit(None).alias(name) for name in SCHEMA if name not in frame.columns]
    return frame.with_columns(missing).select(*SCHEMA).rows()


def repeated_rows(seed=1, repeats=3):
    """Rows in which records have most items several times."""
    draw = np.random.default_rng(seed)
    for record, item, value, time in drawn_rows(seed):
        for _ in range(int(draw.integers(1, repeats + 1))):
            later = None if time is None else time + timedelta(int(draw.integers(0, 60)))
            yield record, item, value if draw.random() < 0.5 else float(draw.integers(1, 6)), later


@pytest.fixture(scope="module")
def repeated():
    release = read(list(repeated_rows()))
    assert release.has_repeats
    return release


def test_the_output_equals_a_release_read_from_its_rows(repeated):
    for words in ALL:
        safer = so.sanitize(repeated, words, seed=3)
        again = so.read(safer.to_frame(), repeats="keep")
        ours, theirs = release_columns(safer), release_columns(again)
        assert ours.keys() == theirs.keys(), words
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours), words
        assert all(ours[name].dtype == theirs[name].dtype for name in ours), words
        assert safer.fingerprint == again.fingerprint, words


@settings(max_examples=25)
@given(rows=ROWS, words=st.lists(st.sampled_from(ALL), min_size=1, max_size=3))
def test_every_entry_is_counted(rows, words):
    """in = out + removed + merged − added, and each count is that of the rows."""
    release = read(rows)
    for step in words:
        try:
            safer = so.sanitize(release, step, seed=5)
        except so.ParameterError:
            continue
        counts = safer.step_reports[-1].counts
        pairs, left = ({row[:2] for row in rows_of(some)} for some in (release, safer))
        merges = step in ("merge-repeats last", "randomized-response 2 items")
        assert (counts["entries before"], counts["entries"]) == (release.n_entries, safer.n_entries)
        assert counts["entries merged"] == (release.n_entries - len(pairs) if merges else 0)
        assert counts["entries added"] == len(left - pairs)
        removed = len(pairs - left) if merges else release.n_entries - safer.n_entries
        assert counts["entries removed"] == removed
        assert counts["entries before"] == (
            counts["entries"] + counts["entries removed"] + counts["entries merged"] - counts["entries added"]
        )
        release = safer


@given(rows=ROWS)
def test_entries_that_a_step_makes_equal_stay_separate(rows):
    release = read(rows)
    assume(release.clock is not None and release.span)
    safer = so.sanitize(release, "round-time year", seed=1)
    expected = Counter((*row[:3], None if row[3] is None else naive.period_start(row[3], "year")) for row in rows)
    assert Counter(rows_of(safer)) == expected


@given(rows=ROWS, keep=st.sampled_from(["last", "first", "max"]))
def test_merge_repeats_keeps_the_entry_of_its_slow_twin(rows, keep):
    release = read(rows)
    assume(keep != "max" or release.n_levels)
    safer = so.sanitize(release, so.steps.MergeRepeats(keep))
    expected = naive.merged_entries(rows, keep)
    assert Counter(rows_of(safer)) == Counter(expected)
    assert not safer.has_repeats
    assert safer.step_reports[0].counts["entries merged"] == len(rows) - len(expected)


@given(rows=ROWS, keep=st.sampled_from(["last", "first"]))
def test_merge_repeats_describes_how_entries_changed(rows, keep):
    release = read(rows)
    safer = so.sanitize(release, so.steps.MergeRepeats(keep))
    kept = {row[:2]: row[2:] for row in naive.merged_entries(rows, keep)}
    changes = [(kept[row[:2]], row[2:]) for row in rows]
    values = sum(new[0] != old[0] for new, old in changes)
    times = sum(new[1] != old[1] for new, old in changes)
    moved = [abs((new[1] - old[1]).days) for new, old in changes if new[1] and old[1] and new[1] != old[1]]
    days = 2 * sum(moved) / len(moved) if moved else 0.0
    assert safer.noise.kept == safer.noise.own == safer.noise.present == 1
    assert safer.noise.values == ((ValueSpread(None, values / len(rows)),) if values else ())
    assert [spread.probability for spread in safer.noise.times] == ([times / len(rows)] if times else [])
    assert all(isinstance(s, TimeSpread) and s.days == pytest.approx(days) for s in safer.noise.times)


@settings(max_examples=25)
@given(rows=ROWS, words=st.sampled_from(["drop-entries 0.5", "cap-records 2"]))
def test_a_removed_entry_whose_item_is_left_is_replaced_not_lost(rows, words):
    """Otherwise an attack that knows the steps would be weaker than it can be."""
    release = read(rows)
    try:
        safer = so.sanitize(release, words, seed=2)
    except so.ParameterError:
        return
    left, order = {}, lambda row: (row[3] or date.max, 9.0 if row[2] is None else row[2])
    for row in sorted(rows_of(safer), key=order):
        left.setdefault(row[:2], row)
    gone = Counter(rows) - Counter(rows_of(safer))
    replaced = [(row, left[row[:2]]) for row in gone.elements() if row[:2] in left]
    if not replaced:
        assert safer.noise.kept == pytest.approx(0.5 if words[0] == "d" else safer.n_entries / len(rows))
        assert not safer.noise.values and not safer.noise.times
        return
    known = safer.n_entries + len(replaced)
    assert safer.noise.kept == pytest.approx(known / len(rows))
    for column, spreads in ((2, safer.noise.values), (3, safer.noise.times)):
        changed = sum(old[column] != new[column] for old, new in replaced)
        assert [spread.probability for spread in spreads] == ([changed / known] if changed else [])
    moved = [abs((old[3] - new[3]).days) for old, new in replaced if old[3] and new[3] and old[3] != new[3]]
    assert all(
        spread.days == pytest.approx(2 * sum(moved) / len(moved) if moved else 0) for spread in safer.noise.times
    )


def test_merge_repeats_refuses_what_has_no_largest_value():
    rows = [("a", "1", "x", START), ("a", "1", "y", START)]
    with pytest.raises(so.ParameterError, match="categories"):
        so.sanitize(table(rows, "text"), "merge-repeats max")
    with pytest.raises(so.ParameterError, match="has no values"):
        so.sanitize(table(rows, values=None), "merge-repeats max")
    with pytest.raises(so.ParameterError, match="keep must be"):
        so.steps.MergeRepeats("min")


@pytest.mark.parametrize("m", [1, 2])
@settings(max_examples=20)
@given(rows=ROWS)
def test_km_suppress_counts_records_and_keeps_all_entries_of_an_item_or_none(m, rows):
    release, k = read(rows), 2
    expected = naive.km_suppress({row[:2] for row in rows}, k, m)
    if not expected or release.n_records < k:
        with pytest.raises(so.ParameterError):
            so.sanitize(release, so.steps.KmSuppress(k, m))
        return
    safer = so.sanitize(release, so.steps.KmSuppress(k, m))
    assert Counter(rows_of(safer)) == Counter(row for row in rows if row[:2] in expected)
    left = [row for row in rows if row[1] in {item for _, item in expected}]
    assert safer.noise.kept == pytest.approx(safer.n_entries / len(left))


@given(rows=ROWS, below=st.integers(2, 4))
def test_rare_items_are_those_of_few_records(rows, below):
    support = Counter(item for _, item in {row[:2] for row in rows})
    expected = Counter(row for row in rows if support[row[1]] >= below)
    if expected:
        assert Counter(rows_of(so.sanitize(read(rows), so.steps.DropRareItems(below)))) == expected


def test_clusters_do_not_depend_on_how_often_records_have_items(repeated):
    merged = so.read(so.sanitize(repeated, "merge-repeats last").to_frame())
    many, alone = (so.sanitize(some, "cluster-records 3", seed=4) for some in (repeated, merged))
    assert np.array_equal(many.mapping.representatives, alone.mapping.representatives)
    assert many.step_reports[0].counts["similarity"] == alone.step_reports[0].counts["similarity"]


def test_randomized_response_on_items_treats_repeats_as_one_cell(repeated):
    merged = so.read(so.sanitize(repeated, "merge-repeats last").to_frame())
    many, alone = (so.sanitize(some, "randomized-response 1 items", seed=4) for some in (repeated, merged))
    assert many.fingerprint == alone.fingerprint
    assert many.step_reports[0].counts["false entries"] == alone.step_reports[0].counts["false entries"]


def test_repeated_entries_have_independent_noise():
    """With one draw for all, every shift of a person's entries of an item would be the same."""
    rows = [(f"r{r}", "1", 1.0, START) for r in range(40) for _ in range(50)]
    release = read([*rows, ("x", "1", 2.0, START)])
    shifts = so.sanitize(release, "perturb-time 14", seed=1).to_frame().filter(pl.col("record") == "r7")
    assert 15 < shifts["time"].n_unique() <= 29
    kept = so.sanitize(release, "drop-entries 0.5", seed=1)
    assert all(8 < length < 42 for length in kept.lengths[-40:])
    values = so.sanitize(release, "perturb-value none 0.5", seed=1).to_frame()
    changed = values.filter(pl.col("record") != "x").group_by("record").agg((pl.col("value") == 2).sum())
    assert changed["value"].min() > 8 and changed["value"].max() < 42
    capped = so.sanitize(release, "cap-records 10", seed=1)
    assert capped.lengths[-40:].tolist() == [10] * 40


def test_two_calls_with_one_seed_equal_one_call_and_threads_do_not_matter(repeated):
    steps = ["perturb-time 14", "perturb-value 1 0.5", "drop-entries 0.2", "round-time month", "cap-records 5"]
    once = so.sanitize(repeated, *steps, seed=4, threads=1)
    assert_same(once, so.sanitize(so.sanitize(repeated, *steps[:2], seed=4), *steps[2:], seed=4, threads=2))


def test_a_release_without_repeated_rows_is_sanitized_as_before():
    rows = list(drawn_rows(1))
    for words in ALL:
        kept, merged = (so.sanitize(some, words, seed=3) for some in (read(rows), table(rows)))
        assert kept.fingerprint == merged.fingerprint, words
        assert kept.step_reports == merged.step_reports, words


@pytest.mark.once
@pytest.mark.parametrize("name", ["safer.csv", "safer.parquet", "safer"])
def test_outputs_with_repeats_come_back(repeated, tmp_path, name):
    out, key = tmp_path / name, tmp_path / "key.csv"
    for words in ALL:
        safer = so.sanitize(repeated, words, seed=3, renumber=True)
        write_sanitized(safer, out, key=key, force=True)
        assert_same(so.open_sanitized(out, repeated, key), safer)


@pytest.mark.once
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_an_exported_table_has_every_row(repeated, tmp_path, name):
    from standout.data.export import write_table

    write_table(repeated, tmp_path / name)
    again = so.read(tmp_path / name, repeats="keep")
    assert again.fingerprint == repeated.fingerprint
    assert Counter(rows_of(again)) == Counter(rows_of(repeated))


@pytest.mark.once
def test_an_original_with_fewer_entries_of_an_item_is_refused(tmp_path):
    rows = [("a", "1", 1.0, START)] * 3 + [("a", "2", 1.0, START), ("b", "1", 1.0, START)]
    other = [("a", "1", 1.0, START)] + [("a", "2", 1.0, START)] * 3 + [("b", "1", 1.0, START)]
    write_sanitized(so.sanitize(read(rows), "round-time month"), tmp_path / "safer.csv")
    with pytest.raises(so.SourceError, match="not made from this original"):
        so.open_sanitized(tmp_path / "safer.csv", read(other))
    merged = so.read(pl.DataFrame(rows, schema=SCHEMA, orient="row"), repeats="last")
    with pytest.raises(so.SourceError, match="read it with repeats 'keep'"):
        so.open_sanitized(tmp_path / "safer.csv", merged)


@pytest.mark.once
def test_the_sidecar_says_how_many_rows_reading_merged(tmp_path):
    rows = [("a", "1", 1.0, START)] * 3 + [("b", "1", 1.0, START)]
    release = so.read(pl.DataFrame(rows, schema=SCHEMA, orient="row"), repeats="last")
    sidecar = write_sanitized(so.sanitize(release, "round-time month"), tmp_path / "safer.csv")
    original = json.loads(sidecar.read_text())["original"]
    assert original == {
        "records": 2, "columns": 0, "items": 1, "entries": 2, "repeats": "last", "merged_rows": 2,
    }  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("count", ["entries", "entries before", "entries removed", "entries merged"])
def test_a_sidecar_whose_steps_do_not_account_for_every_entry_is_refused(repeated, tmp_path, count):
    out = tmp_path / "safer.csv"
    sidecar = write_sanitized(so.sanitize(repeated, "drop-entries 0.5", seed=1), out)
    content = json.loads(sidecar.read_text())
    content["steps"][0]["counts"][count] += 1
    sidecar.write_text(json.dumps(content))
    with pytest.raises(so.SourceError, match="damaged"):
        so.open_sanitized(out, repeated)


def test_entries_that_a_step_of_your_own_loses_are_counted_as_removed(repeated):
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Lossy(Step):
        name, syntax, summary = "lossy", "", "loses entries"

        def apply(self, draft, noise, progress=None):
            return StepResult(draft.keep_entries(np.arange(draft.n_entries) > 0, ""))

    assert so.sanitize(repeated, Lossy()).step_reports[0].counts["entries removed"] == 1
