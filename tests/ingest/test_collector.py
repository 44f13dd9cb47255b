"""From rows to a release: items of several columns, repeats, row order, missing cells."""

import re

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sample_texts import HEADER, KEPT, NUMBERED, PLAIN, TABLE, TEXT, joined

import naive
import standout as so
from conftest import content, outcome, windows
from standout.ingest.report import Reason

sizes = st.integers(16, 64)


def test_several_columns_form_an_item_and_never_merge(put):
    rows = [("a|b", "c"), ("a", "b|c"), ("a\\", "b|c"), ("a\\|b", "c"), ("a", "|b|c"), ("a", ""), ("", "a")]
    rows += [("a|", ""), ("a\\|", ""), ("\\", "\\"), ("|", "|")]
    text = "user,place,hour\n" + "".join(f"u,{place},{hour}\n" for place, hour in rows)
    release = so.read(put(text), item=["place", "hour"])
    assert release.n_items == len(set(rows))
    assert release.provenance.columns["item"] == "place + hour"
    assert set(content(so.read(put(text), item=["hour", "place"]))) != set(content(release))


def test_an_item_whose_columns_are_all_empty_is_missing(put):
    assert outcome(put("user,a,b\nu,x,y\nu,,\n"), item=["a", "b"])[1] == {3: Reason.NO_ITEM}


repeated_rows = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("xyz"),
        st.sampled_from([None, -1.0, 0.5, 3.0]),
        st.sampled_from([None, -1, 0, 12_000, 12_001]),
    ),
    min_size=1,
    max_size=25,
)


@given(repeated_rows, st.sampled_from(["last", "first", "max"]), sizes)
def test_one_entry_of_each_repeat_is_kept_and_the_others_are_counted(put, rows, repeats, size):
    text = "user,item,rating,time\n" + "".join(
        f"{user},{item},{'' if value is None else value},{'' if day is None else day * 86_400}\n"
        for user, item, value, day in rows
    )
    with windows(size):
        release = so.read(put(text), repeats=repeats, time_format="s")
    wanted = naive.entries(rows, repeats)
    provenance = release.provenance
    assert content(release) == wanted
    assert (provenance.rows, provenance.repeats) == (len(rows), len(rows) - len(wanted))
    assert provenance.without_value == sum(value is None for value, _ in wanted.values())
    assert provenance.without_time == sum(time is None for _, time in wanted.values())


def test_repeats_can_be_an_error_that_counts_them(put):
    assert content(so.read(put(TEXT), repeats="error")) == PLAIN
    with pytest.raises(so.SourceError, match="2 rows repeat"):
        so.read(put(TEXT + "\na,x,5\nc,x,5\nb,x,5\n"), repeats="error")
    with pytest.raises(so.SourceError, match="1 rows repeat"):
        so.read(put(TEXT + "c,x,bad\nd\nb,x,5\n"), repeats="error", max_rejects=2)


def test_an_unknown_rule_for_repeats_is_refused(put):
    with pytest.raises(so.ParameterError, match="last, first, max or error"):
        so.read(put(TEXT), repeats="newest")


@given(repeated_rows, st.randoms())
def test_the_order_of_rows_does_not_matter(put, rows, draw):
    rows = [(*pair, *rest) for pair, rest in naive.entries(rows).items()]
    texts = []
    for _ in range(2):
        texts.append(joined([[str(cell if cell is not None else "") for cell in row] for row in rows]))
        draw.shuffle(rows)
    options = {"header": False, "time_format": "s", "record": 1, "item": 2, "value": 3, "time": 4}
    first, second = (so.read(put(text), **options) for text in texts)
    assert first.fingerprint == second.fingerprint
    assert content(first) == content(second)


def test_a_value_or_a_time_may_be_missing_from_any_entry(put):
    release = so.read(put(joined([HEADER, *TABLE])))
    assert content(release) == KEPT
    assert (release.provenance.without_value, release.provenance.without_time) == (1, 1)


def test_values_and_times_are_ignored_on_request(put):
    for left_out in [{"value": False}, {"time": False}, {"value": False, "time": False}]:
        for header in [True, False]:
            ignore = [NUMBERED[role] for role in left_out]
            named = {} if header else {**NUMBERED, "ignore": ignore}
            release = so.read(put(joined([HEADER, *TABLE] if header else TABLE)), **{**named, **left_out})
            assert content(release) == {
                pair: (None if "value" in left_out else value, None if "time" in left_out else time)
                for pair, (value, time) in KEPT.items()
            }
            assert (release.levels is None, release.clock is None) == ("value" in left_out, "time" in left_out)


def test_the_provenance_names_format_files_columns_and_settings(put):
    provenance = so.read(put(joined([HEADER, *TABLE], "\t"))).provenance
    assert provenance.format == "delimited text"
    assert provenance.files == ("data.csv",)
    assert provenance.columns == {"record": "user", "item": "item", "value": "rating", "time": "date"}
    assert provenance.settings.items() >= {
        ("separator", "tab"), ("header", "yes"), ("time format", "ISO 8601"), ("time unit", "day"),
        ("repeats", "last"),
    }  # fmt: skip
    assert "UTC" in provenance.settings["zone"]


parts = st.text("a|\\", max_size=4)


@given(st.sets(st.tuples(parts, parts).filter(any), min_size=1, max_size=12))
@example({("a\\", "b|c"), ("a|b\\", "c")})
def test_items_of_several_columns_never_merge_and_have_one_spelling(pairs):
    rows = sorted(pairs)
    frame = pl.DataFrame([("p", *row) for row in rows], schema=["user", "one", "two"], orient="row")
    release = so.read(frame, item=["one", "two"])
    escaped = ["|".join(re.sub(r"([|\\])", r"\\\1", part) for part in row) for row in rows]
    assert set(release.items) == set(escaped) and release.n_entries == len(rows)
