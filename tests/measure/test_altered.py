"""Altered entries: the counts are the slow twin's, whatever the history is given as."""

from datetime import date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import standout as so
from standout.data.labels import Entry
from standout.measure.sparsity import Altered, altered

START = date(2005, 3, 1)
THINGS = ["b", "aa", "31", "4", "5"]
NOT_A_NUMBER = "the value of a fact must be a number, because the release's values are numbers"
TWICE = "two facts of one aux name the same item: put all that is known into one"
VALUES = {"number": [1.0, 2.0, 3.5, 5.0], "text": ["bought", "rented"], None: [None]}


def read(rows, kind="number", timed=True):
    """A release of rows (record, item, value, time); what all of them lack is no column."""
    schema = {"record": pl.String, "item": pl.String}
    schema |= {"value": pl.Float64 if kind == "number" else pl.String} if kind else {}
    schema |= {"time": pl.Date} if timed else {}
    cells = [row[:2] + row[2:3] * bool(kind) + row[3:] * timed for row in rows]
    return so.read(pl.DataFrame(cells, schema=schema, orient="row"), value_type=kind or "auto")


def in_days(history):
    """The same for the twin."""
    start = date(1970, 1, 1)
    return {item: (value, time and (time - start).days) for item, (value, time) in history.items()}


def counts(result):
    return result.shared, result.values, result.times, result.changed, result.missing, result.extra


@st.composite
def histories(draw, kind, timed, least=0):
    """{item: (value, time)}."""
    items = draw(st.lists(st.sampled_from(THINGS), min_size=least, unique=True))
    steps = [START + timedelta(days=step) for step in (0, 1, 14, 15)] if timed else [None]
    value, time = st.sampled_from([*VALUES[kind], None]), st.sampled_from([*steps, None])
    return {item: (draw(value), draw(time)) for item in items}


@given(st.data())
def test_the_counts_equal_their_slow_twin(given):
    kind, timed = given.draw(st.sampled_from(["number", "text", None])), given.draw(st.booleans())
    record, history = given.draw(histories(kind, timed, 1)), given.draw(histories(kind, timed))
    whole = ("9", "b", VALUES[kind][0], START if timed else None)  # so that each column holds something
    release = read([*(("7", item, *cells) for item, cells in record.items()), whole], kind, timed)
    value, time = given.draw(st.sampled_from([0, 1, None])), given.draw(st.sampled_from([0, 1, 14, None]))
    facts = [so.Fact(item, *cells) for item, cells in history.items()]
    result = altered(release, "7", facts, value, time)
    mine, theirs = in_days(history), in_days(record)
    assert counts(result) == naive.altered_counts(mine, theirs, value, time)
    for same in (so.Aux(facts), [Entry(item, *cells) for item, cells in history.items()]):
        assert result == altered(release, "7", same, value, time)


@pytest.mark.parametrize(("changed", "of"), [(1, 306), (5, 229)])
def test_the_papers_two_subscribers(changed, of):
    rows = [("7", str(i), float(1 + i % 5), START) for i in range(of)]
    true = read([(*row[:2], row[2] % 5 + 1 if i < changed else row[2], START) for i, row in enumerate(rows)])
    result = altered(read(rows), "7", true.record("7"))
    assert (result.values, result.shared, result.times, result.changed) == (changed, of, 0, changed)
    assert str(result) == f"at most {changed} of {of} values and 0 times altered; 0 items missing, 0 extra"


def test_a_record_is_an_unaltered_copy_of_itself():
    release = so.synthesize(records=50, items=40, entries=500, seed=7)
    for index in range(5):
        record = release.record_at(index)
        assert counts(altered(release, record.id, record)) == (len(record), 0, 0, 0, 0, 0)


def test_only_a_value_or_time_that_the_history_has_can_differ():
    release = read([("7", "b", None, None), ("7", "aa", 2.0, START), ("9", "b", 1.0, START)])
    assert counts(altered(release, "7", [so.Fact("b", 1, START)])) == (1, 1, 1, 1, 0, 1)
    assert counts(altered(release, "7", [so.Fact("aa"), so.Fact("b")])) == (2, 0, 0, 0, 0, 0)


def test_items_may_be_titles_and_unknown_items_count_as_missing(put):
    path = put("record,item,value\n7,1,4\n7,2,3\n")
    titles = put("item,title\n1,Brazil\n2,Bent\n", "titles.csv")
    release = so.read(path, titles=titles)
    result = altered(release, "7", [so.Fact("Brazil", 4), so.Fact("Nowhere", 1), so.Fact("Elsewhere")])
    assert counts(result) == (1, 0, 0, 0, 2, 1)


def test_an_empty_history_shares_nothing():
    release = read([("7", "b", 1.0, START)])
    result = altered(release, "7", [])
    assert result == Altered(0, 0, 0, 0, 0, 1)


def test_hours_are_days_as_a_threshold_has_them():
    rows = [("7", "b", 1.0, datetime(2005, 3, 1, 18))]
    frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
    release = so.read(frame, time_unit="hour")
    for time, differ in ((0.75, 0), (0.7, 1)):
        assert altered(release, "7", [so.Fact("b", 1, START)], time=time).times == differ


def test_invalid_records_histories_and_thresholds_are_refused_by_name():
    for record, history, thresholds, message in [
        ("8", [], {}, "the release has no record with this id; ids are text, so 007 is not 7"),
        ("7", 3, {}, "history must be an Aux, a record, or facts: [Fact(item, value, time), …]"),
        ("7", "b", {}, "history must be an Aux, a record, or facts: [Fact(item, value, time), …]"),
        ("7", [("b", 1.0)], {}, "history must be an Aux, a record, or facts: [Fact(item, value, time), …]"),
        ("7", [], {"value": -1}, "value must be a finite number ≥ 0, or None, got -1"),
        ("7", [], {"time": "1"}, "time must be a finite number ≥ 0, or None, got '1'"),
        ("7", 2 * [so.Fact("b")], {}, TWICE),
        ("7", [so.Fact("b", "x")], {}, NOT_A_NUMBER),
    ]:
        with pytest.raises(so.StandoutError) as error:
            altered(read([("7", "b", 1.0, START)]), record, history, **thresholds)
        assert str(error.value) == message


@pytest.mark.realdata
@pytest.mark.large
def test_changes_of_a_real_record_are_counted(realdata):
    release = so.read(realdata / "movielens-latest-small")
    record = release.record("414")
    facts = [so.Fact(entry.item, entry.value, entry.time) for entry in record.entries]
    facts[0] = so.Fact(facts[0].item, 5.5 - facts[0].value, facts[0].time)
    facts[1] = so.Fact(facts[1].item, facts[1].value, facts[1].time + timedelta(days=3))
    result = altered(release, "414", [*facts[:-4], so.Fact("none such", 4)])
    assert counts(result) == (len(record) - 4, 1, 1, 2, 1, 4)
    assert counts(altered(release, "414", facts, value=5, time=3)) == (len(record), 0, 0, 0, 0, 0)
