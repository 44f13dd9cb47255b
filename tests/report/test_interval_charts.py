"""Charts of shares with intervals: bars and curves."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from standout.report.charts import Axis, Point
from standout.report.share_charts import Bar, bar_chart, curves

pytestmark = pytest.mark.once

AXIS = Axis("facts")


def test_attributes_are_stripped_from_tags_and_not_from_texts():
    chart = bar_chart([Bar("", 'label style="x" class="y"', 0.5)])
    assert 'label style="x" class="y"' in "".join(ElementTree.fromstring(chart.svg()).itertext())


@pytest.mark.parametrize(("most", "top"), [(0.02, "10"), (0.2, "25"), (0.3, "50"), (0.6, "100"), (None, "10")])
def test_small_shares_have_a_shorter_axis_from_0(most, top):
    svg = bar_chart([Bar("", "a", most)]).svg()
    texts = {element.text for element in ElementTree.fromstring(svg).iter()}
    assert {"0\xa0%", f"{top}\xa0%"} <= texts and ("not measured" in texts) == (most is None)


def test_curves_of_one_point_and_of_none_can_be_drawn():
    single = [Point("a", 2, 0.5, 0.4, 0.6)]
    for others in ([], [Point("b", 1, 0.1), Point("b", 2, 0.2)]):
        assert "title" in curves([*single, *others], AXIS, "title", ["a"]).svg()


def test_names_of_curves_do_not_overlap():
    points = [Point(f"name {k}", x, y) for k in range(6) for x, y in ((1, 0.999), (2, 1.0))]
    tree = ElementTree.fromstring(curves(points, AXIS, "t", ["name 0"]).svg())
    names = [element for element in tree.iter() if (element.text or "").startswith("name ")]
    heights = sorted(
        {float(re.search(r"translate\([^,]*,([-\d.]+)\)", element.get("transform"))[1]) for element in names}
    )
    assert len(heights) == 6 and min(b - a for a, b in pairwise(heights)) >= 15
