"""The description of a release: each number equals the one counted by hand."""

import json
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import standout as so

QUANTILES = {
    "0%": 0.0,
    "1%": 0.01,
    "5%": 0.05,
    "25%": 0.25,
    "50%": 0.5,
    "75%": 0.75,
    "95%": 0.95,
    "99%": 0.99,
    "100%": 1.0,
}


def spread(numbers):
    summary = {"mean": sum(numbers) / len(numbers)}
    return summary | {name: naive.quantile(numbers, share) for name, share in QUANTILES.items()}


def check(release, entries):
    """Compare every number of the description with loops and dicts."""
    description = so.describe(release)
    cells = naive.all_cells(entries)
    values = Counter(value for *_, value, _ in cells if value is not None)
    moments = [time for *_, time in cells if time is not None]
    lengths, supports = naive.lengths(entries), naive.support(entries)
    assert (description.records, description.items, description.entries) == (len(lengths), len(supports), len(cells))
    assert description.repeats == len(cells) - len(entries)
    assert description.density == pytest.approx(len(entries) / len(lengths) / len(supports))
    assert description.lengths == pytest.approx(spread(list(lengths.values())))
    assert description.supports == pytest.approx(spread(list(supports.values())))
    assert description.outside_top == naive.outside_top(entries)
    assert description.values == len(values)
    assert description.without_value == (0 if release.levels is None else len(cells) - values.total())
    assert description.without_time == (0 if release.clock is None else len(cells) - len(moments))
    assert description.time_range == ((min(moments).isoformat(), max(moments).isoformat()) if moments else None)
    most = sorted(sorted(values), key=lambda value: -values[value])[:20]
    shares = [values[value] / values.total() for value in sorted(most)]
    assert list(description.value_shares.values()) == pytest.approx(shares)
    assert description.fingerprint == release.fingerprint
    assert json.loads(json.dumps(description.to_dict()))["entries"] == len(cells)


def entries_of(release):
    frame = release.to_frame()
    missing = [pl.lit(None).alias(name) for name in ("value", "time") if name not in frame.columns]
    rows = frame.with_columns(missing).select("record", "item", "value", "time").rows()
    return {row[:2]: row[2:] for row in rows}


def test_every_number_equals_its_slow_twin():
    for records, items, entries in [(1, 1, 1), (60, 120, 900), (30, 510, 1_500)]:
        release = so.synthesize(records=records, items=items, entries=entries, seed=4)
        check(release, entries_of(release))


@pytest.mark.large
def test_every_number_equals_its_slow_twin_at_a_larger_size():
    release = so.synthesize(records=2_000, items=1_500, entries=60_000, seed=4)
    check(release, entries_of(release))


ROWS = st.lists(
    st.tuples(
        st.sampled_from("pqrs"), st.sampled_from("uvwxyz"),
        st.none() | st.sampled_from([-1.5, 0.0, 2.0, 1_000_000.0, 1_000_001.0]) | st.floats(-1e9, 1e9),
        st.none() | st.dates(),
    ),
    min_size=1, max_size=40,
)  # fmt: skip


@settings(max_examples=40)
@given(ROWS, st.sampled_from([("value", "time"), ("value",), ("time",), ()]))
def test_every_number_of_any_table_equals_its_slow_twin(rows, kept):
    schema = {"record": pl.String, "item": pl.String, "value": pl.Float64, "time": pl.Date}
    rows = [(*row[:2], row[2] if "value" in kept else None, row[3] if "time" in kept else None) for row in rows]
    frame = pl.DataFrame(rows, schema=schema, orient="row").select("record", "item", *kept)
    for repeats in ("last", "keep"):
        check(so.read(frame, repeats=repeats), naive.entries(rows, repeats))


def test_values_that_differ_late_are_not_merged():
    values = [1_234_567.0, 1_234_568.0, 0.1234567, 0.12345678]
    frame = pl.DataFrame({"user": ["p"] * 4, "item": list("wxyz"), "rating": values})
    assert so.describe(so.read(frame)).value_shares == {
        repr(value).removesuffix(".0"): 0.25 for value in sorted(values)
    }


def test_rare_categories_are_not_shown():
    values = ["good"] * 20 + ["bad"] * 10 + ["my own words"] * 9 + [None]
    frame = pl.DataFrame({"user": ["p"] * 40, "item": [str(i) for i in range(40)], "value": values})
    description = so.describe(so.read(frame))
    assert description.value_shares == pytest.approx({"bad": 10 / 39, "good": 20 / 39})
    assert (description.without_value, description.time_unit, description.zone) == (1, None, None)


def test_an_index_is_described_as_the_release_it_was_made_from(tmp_path):
    release = so.synthesize(records=40, items=120, entries=600, seed=5)
    so.save(release, tmp_path / "index")
    assert so.describe(so.open(tmp_path / "index")) == so.describe(release)
