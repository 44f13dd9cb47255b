"""Charts: deterministic, described, and nothing in them that a page may not show."""

import re
from xml.etree import ElementTree

import pytest

from standout.report.charts import ACCENT, GREY, PALE_ACCENT, Axis, Point
from standout.report.share_charts import Bar, bar_chart, columns, curves

pytestmark = pytest.mark.once

BARS = [
    Bar("dates ± 3 days", "2", 0.7, 0.66, 0.74, ACCENT, "ours"),
    Bar("dates ± 3 days", "", 0.686, None, None, GREY, "paper"),
    Bar("dates ± 3 days", "3 of 4", None, None, None, ACCENT, "ours"),
    Bar("dates ± 3 days", "", 0.9, None, None, GREY, "paper"),
    Bar("no dates", "2", 0.02, None, None, ACCENT, "ours"),
]
LINES = [Point(name, x, y + x, y, y + 2 * x) for name, y in (("ours", 0.0), ("paper", 0.1)) for x in (0.1, 0.2)]
FALLING = [
    Point(name, x, max(0, 1 - steep * x), panel=panel)
    for name, steep in (("ours", 1.0), ("paper", 2.0))
    for x in (0, 0.25, 0.5, 0.75, 1)
    for panel in ("sets", "ratings")
]
CHARTS = {
    "bars": lambda: bar_chart(BARS, axis=Axis("share", 0, 1)),
    "columns": lambda: columns(
        {"": [(str(x), 120 * x) for x in range(4)]}, "", "entries", Axis("people"), (380, 200), "g"
    ),
    "curves": lambda: curves(LINES, Axis("x", 0, 1), Axis("y"), ["ours"]),
    "log": lambda: curves(LINES, Axis("x", log=True), Axis("y")),
    "falling": lambda: curves(FALLING, Axis("x", 0, 1), Axis("y", 0, 1), ["ours"]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_the_same_numbers_give_the_same_bytes(name):
    chart, again = CHARTS[name](), CHARTS[name]()
    assert chart.svg("a", "b") == again.svg("a", "b")
    assert chart.png() == again.png() and chart.png().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_has_a_description_and_no_forbidden_attributes(name):
    text = CHARTS[name]().svg("Titles & <more>", "What it shows")
    tree = ElementTree.fromstring(text)
    assert tree.get("role") == "img"
    assert [child.text for child in tree][:2] == ["Titles & <more>", "What it shows"]
    assert not re.search(r" (?:style|class|on\w+|id)=|<script|<image|url\(", text)


def words(chart):
    tree = ElementTree.fromstring(chart.svg())
    return [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_a_second_measurement_has_a_bar_of_its_own():
    second = [*BARS[:2], Bar("dates ± 3 days", "", 0.9, 0.85, 0.95, PALE_ACCENT, "likelihood")]
    texts = words(bar_chart(second, axis=Axis("share", 0, 1)))
    assert {"ours 0.70", "paper 0.69", "likelihood 0.90"} < set(texts)
    assert not any("likelihood" in text for text in words(CHARTS["bars"]()))


def test_each_bar_has_its_name_and_number():
    texts = words(CHARTS["bars"]())
    for expected in ("ours 0.70", "paper 0.69", "ours: not measured", "paper 0.90", "ours 0.02", "no dates", "share"):
        assert expected in texts
    assert ACCENT in CHARTS["bars"]().svg() and GREY in CHARTS["bars"]().svg()


def test_curves_are_named_at_their_ends():
    assert {"ours", "paper", "x", "y"} <= set(words(CHARTS["curves"]()))


def test_columns_have_their_numbers_on_top():
    assert {"0", "120", "240", "360", "entries"} <= set(words(CHARTS["columns"]()))


def test_curves_have_a_chart_for_each_panel():
    texts = words(CHARTS["falling"]())
    assert {"sets", "ratings"} <= set(texts) and texts.count("ours") == texts.count(
        "paper"
    ) == 2 * 2  # each with its outline
