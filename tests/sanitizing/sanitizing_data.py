"""Small releases, all steps, and comparisons for the tests of sanitizing."""

from datetime import date, timedelta

import numpy as np
import polars as pl
from hypothesis import strategies as st

import standout as so
from conftest import content
from standout.know.facts import facts_from_entries

START = date(2005, 2, 25)
FIXED = [
    "round-time day",
    "round-time week",
    "round-time month",
    "round-time quarter",
    "round-time year",
    "round-time 30",
    "round-time none",
    "round-value bins 2",
    "round-value bins 3",
    "round-value edges 2 4",
    "round-value liked 4",
    "round-value none",
    "drop-rare-items 3",
    "drop-top-items 2",
    "drop-items 3 4",
]
RANDOM = [
    "perturb-time 14 1",
    "perturb-time 3 0.5",
    "perturb-value 1 0.5",
    "perturb-value none 1",
    "randomized-response 1",
    "randomized-response 2 items",
    "drop-entries 0.25",
    "cap-records 3",
    "sample-records 0.5",
    "sample-records 7",
]
OTHERS = ["merge-repeats last", "cluster-records 3", "km-suppress 3 1", "km-suppress 3 2"]
ALL = FIXED + RANDOM + OTHERS


def table(rows, values="number", times=True):
    """A release of rows (record, item, value, time)."""
    schema = {"record": pl.String, "item": pl.String}
    schema |= {"value": pl.Float64 if values == "number" else pl.String} if values else {}
    schema |= {"time": pl.Date} if times else {}
    cells = [row[:2] + row[2:3] * bool(values) + row[3:] * times for row in rows]
    return so.read(pl.DataFrame(cells, schema=schema, orient="row"), value_type=values or "auto", kind="history")


def drawn_rows(seed, records=14, items=8, share=0.5, levels=(1.0, 2.0, 3.5, 4.0, 5.0)):
    """Random rows, one in ten without a value and one in ten without a time."""
    draw = np.random.default_rng(seed)
    for r in range(records):
        for i in range(items):
            if draw.random() < share + (i == r % items):
                value = None if draw.random() < 0.1 else levels[draw.integers(len(levels))]
                time = None if draw.random() < 0.1 else START + timedelta(int(draw.integers(400)))
                yield f"r{r}", str(i + 1), value, time


@st.composite
def releases(draw, least=2):
    """Releases of up to 8 records and 6 items."""
    cells = draw(
        st.dictionaries(
            st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("123456")),
            st.tuples(
                st.sampled_from([1.0, 2.0, 3.0, 4.5, None]),
                st.sampled_from([START + timedelta(days) for days in (0, 3, 40, 200, 700)] + [None]),
            ),
            min_size=least,
        )
    )
    return table([(*cell, *entry) for cell, entry in cells.items()])


def assert_same_mapping(one, other):
    assert np.array_equal(one.mapping.representatives, other.mapping.representatives)
    assert np.array_equal(one.mapping.item_codes, other.mapping.item_codes)
    assert one.mapping.released_values == other.mapping.released_values
    assert one.mapping.rounding_periods == other.mapping.rounding_periods


def assert_same(one, other):
    assert one.fingerprint == other.fingerprint
    assert one.step_reports == other.step_reports
    assert one.renumbered == other.renumbered
    assert_same_mapping(one, other)


def assert_facts_match_release(safer):
    """Without noise, the translated facts of a person are what the person's representative has."""
    original = safer.original
    people = np.arange(original.n_records)
    known = facts_from_entries(original, np.arange(original.n_entries), original.by_record.start)
    facts = safer.translate_facts(known, people)
    released, compared = content(safer), 0
    for person in people:
        record = safer.mapping.representatives[person]
        for i in range(facts.first[person], facts.first[person + 1]):
            if record < 0 or facts.item[i] < 0:
                continue
            cell = safer.records[record], safer.items[facts.item[i]]
            value = None if facts.value[i] < 0 else facts.values[facts.value[i]]
            time = int(facts.time[i]) + safer.clock.origin if facts.timed[i] else None
            assert released[cell] == (value, time)
            compared += 1
    assert compared == safer.n_entries
