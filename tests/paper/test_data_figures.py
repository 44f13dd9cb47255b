"""The figures about the data show what the library says about it."""

from collections import Counter

import pytest

import standout as so
from standout.paper.figures import AttackRunner, all_figures
from standout.paper.published import PEOPLE

pytestmark = pytest.mark.once

BY_KEY = {figure.key: figure for figure in all_figures()}


def test_the_table_equals_that_of_describe():
    release = so.synthesize(records=60, items=150, entries=1_500, seed=3)
    rows = BY_KEY["table"].compute(AttackRunner(release)).rows
    shares = {(row.panel, row.label): row.measured for row in rows}
    assert shares["outside the top 100", "at least 5"] == so.describe(release).outside_top[100][5]
    assert all(row.note == "the release has no more than 500 items" for row in rows[3:6])


def test_nearest_neighbours_equal_those_of_sparsity(release):
    result = BY_KEY["12"].compute(AttackRunner(release, threads=1))
    curve = {
        point.x: point.y
        for point in result.points
        if (point.series, point.panel) == ("ours", "films with the same rating")
    }
    sparsity = so.sparsity(release, so.Within(value=0, time=None))
    assert all(curve[x] == sparsity.survival(x).value for x in curve) and len(curve) == 76
    assert result.rows[1].measured == so.sparsity(release).survival(0.1).value


@pytest.mark.parametrize("key", ["8", "9"])
def test_people_are_counted_by_number_of_ratings_and_scaled(release, key):
    result = BY_KEY[key].compute(AttackRunner(release))
    curve = {point.x: point.y for point in result.points if point.series == "ours"}
    counts = Counter(release.lengths.tolist())
    assert all(curve[k] == pytest.approx(counts[k] * PEOPLE / 40) for k in curve)
    assert "scaled from 40" in result.notes[0]
    assert any(point.series == "ours with test entries" for point in result.points) == (key == "8")
