"""Bits of an item equal those of the slow twin."""

import math

import polars as pl
import pytest

import naive
import standout as so
from conftest import content
from standout.paper.figures import bits_by_rank

pytestmark = pytest.mark.once


def release_with_gaps():
    """A release in which some entries lack a value or a date."""
    rows = [
        (
            f"p{person}",
            f"i{item}",
            None if (person + item) % 7 == 0 else float((person * item) % 5 + 1),
            None if (person * 3 + item) % 5 == 0 else f"2005-03-{1 + (person * 7 + item * 3) % 28:02}",
        )
        for person in range(12)
        for item in range(8)
        if (person * item + person) % 3
    ]
    frame = pl.DataFrame(rows, schema=["record", "item", "value", "time"], orient="row")
    return so.read(frame.with_columns(pl.col("time").str.to_date()), kind="history")


@pytest.mark.parametrize("has_gaps", [False, True])
def test_bits_of_an_item_equal_those_of_the_slow_twin(release, has_gaps):
    release = release_with_gaps() if has_gaps else release
    entries, bits = content(release), bits_by_rank(release, 1, 3)
    for index, item in enumerate(release.items):
        rank = release.rank[index] - 1
        cells = [cell for (_, other), cell in entries.items() if other == item]
        values, times = ([cell[k] for cell in cells if cell[k] is not None] for k in (0, 1))
        alone = math.log2(release.n_records / naive.support(entries)[item])
        assert bits.alone[rank] == pytest.approx(alone)
        assert bits.with_value[rank] == pytest.approx(alone + naive.bits_of_nearness(values, 1))
        assert bits.with_time[rank] == pytest.approx(alone + naive.bits_of_nearness(times, 3))


def test_categories_are_near_only_if_they_are_equal(put):
    text = "record,item,value\n" + "".join(f"{i},x,{'ab'[i % 2]}\n" for i in range(8))
    bits = bits_by_rank(so.read(put(text)))
    with_value = sum(1 / k for k in range(4, 8)) / math.log(2)  # 3 of the 7 others have the same
    assert (bits.alone[0], bits.with_value[0], bits.with_time[0]) == (0.0, pytest.approx(with_value), 0.0)
