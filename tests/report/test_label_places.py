"""Labels of a chart cover neither lines nor each other."""

import random

import pytest

from standout.report.charts import NARROW, WIDE, Axis, Point
from standout.report.share_charts import Box, _Area, _crosses, _name_points, _ring_label, curves, free_box

pytestmark = pytest.mark.once


def test_a_free_place_covers_nothing_and_stays_in_the_chart():
    draw = random.Random(5)
    for _ in range(200):
        lines = [[(x, draw.uniform(0, 300)) for x in (0, 100, 200, 300)] for _ in range(4)]
        left, top = draw.uniform(0, 250), draw.uniform(0, 284)
        other = Box(left - 20, left + 30, top - 5, top + 5)
        start = Box(left, left + 40, top, top + 16)
        place = free_box(start, lines, [other], 300)
        if place != start:
            assert place.top >= 0 and place.bottom <= 300
            assert not any(_crosses(place, line) for line in lines)
            assert place.bottom <= other.top or place.top >= other.bottom


def test_names_inside_a_chart_lie_on_no_curve():
    area = _Area(1.0, 8.0, 1.0, 500.0, 300.0)
    series = {
        "short": [Point("short", 1, 0.2), Point("short", 4, 0.6)],
        "long": [Point("long", 1, 0.1), Point("long", 4, 0.55), Point("long", 8, 0.7)],
        "other": [Point("other", 1, 0.3), Point("other", 8, 0.8)],
    }
    names = {name.series: name for name in _name_points(series, area)}
    label, is_right = _ring_label(Point("70 % with 8 facts", 8, 0.7), [*series.values()], [*names.values()], area)
    lines = [[area.pixels(point) for point in curve] for curve in series.values()]
    box = area.name_box(names["short"])
    assert not any(_crosses(box, line) for line in lines)
    assert not is_right and label.y != 0.7


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_curve_is_dashed_where_it_covers_fewer_people(width):
    curve = [Point("all", facts, facts / 10, facts / 10 - 0.05, facts / 10 + 0.05) for facts in (1, 2, 4, 8)]
    axis = Axis("known facts")
    drawn = curves(curve, axis, "", width=width).svg()
    dashed = curves(curve, axis, "", width=width, dashed_from={"all": 2.0}).svg()
    assert "stroke-dasharray" in dashed and dashed != drawn
