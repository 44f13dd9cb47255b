"""The pictures of an audit: what each shows, in a sentence, and the numbers behind it as a table."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from standout.core.formatting import count, estimate_text, interval_text, percent
from standout.report.charts import Axis, Chart, Point
from standout.report.interval_charts import NARROW, WIDE, Row, fan, rows

__all__ = [
    "FIGURES", "Drawing", "Extreme", "Figure", "Table", "drawing", "extremes", "figures", "group_table",
    "headline",
]  # fmt: skip

Found = Mapping[str, Any]
GROUPS = {
    "by_length": "By the number of entries of a record",
    "by_popularity": "By how popular the known items are",
    "by_joined": "By the date of the first entry",
}


KINDS = dict(zip(GROUPS.values(), ("length", "popularity", "first date"), strict=True))
Cells = tuple[str | tuple[str, str], ...]
SHOWN = 20
"""A table of a curve has at most so many rows."""


class Table(NamedTuple):
    """Numbers as they stand in a table; a pair is a number and its interval. The first column names rows."""

    heads: tuple[str, ...]
    rows: Sequence[Cells]


class Figure(NamedTuple):
    """A chart, drawn at a width; its title, what it shows for those who do not see it, and its numbers."""

    title: str
    words: str
    draw: Callable[[int], Chart]
    table: Table


def figures(found: Found) -> dict[str, Figure]:
    """The charts there are numbers for, by name, in the order of the page."""
    made = {name: make(found) for name, make in FIGURES.items()}
    return {name: figure for name, figure in made.items() if figure is not None}


def headline(found: Found) -> Found | None:
    """The adversary that the answer is about."""
    named = found["answer"]["adversary"]
    told: Sequence[Found] = found["adversaries"]
    return next((one for one in told if one["name"] == named), told[0] if told else None)


def _success(found: Found) -> Figure | None:
    main = headline(found)
    series = {one["name"]: _curve(one) for one in found["adversaries"]}
    if main is None or max(map(len, series.values())) < 2:
        return None  # a single number is told by the answer
    at = Point("", main["at"]["facts"], _value(main["at"]["identified"]) or 0.0)
    ends = [f"{name}: {percent(own[-1].y)} with {own[-1].x:g}" for name, own in series.items() if own]
    words = f"Share of people whose record is picked out, by the number of facts known. {'; '.join(ends)}."
    return Figure(
        "People picked out, by how much is known of them",
        words,
        partial(_drawn_success, series, main["name"], at),
        _wide(found["adversaries"]),
    )


def _drawn_success(series: dict[str, list[Point]], main: str, at: Point, width: int) -> Chart:
    told = percent(at.y) + (f" with {count(int(at.x), 'fact', 'facts')}" if width == WIDE else "")
    names = _distinct(list(series))
    renamed: dict[str, Sequence[Point]] = {names[name]: own for name, own in series.items()}
    axis = Axis("facts known about a person")
    return fan(
        renamed, names[main], "People whose record is picked out", axis, at._replace(series=told), width
    )


def _distinct(names: list[str]) -> dict[str, str]:
    """Names short enough for a chart, that still differ."""
    short = {name: name if len(name) <= 20 else name[:19] + "…" for name in names}
    again = {one for one in short.values() if list(short.values()).count(one) > 1}
    return {
        name: f"{place + 1}: {one[:16]}" if one in again else one
        for place, (name, one) in enumerate(short.items())
    }


def _curve(one: Found) -> list[Point]:
    told = [_point(one["name"], step["facts"], step["identified"]) for step in one["curve"]]
    return [point for point in told if point is not None]


def _point(series: str, x: float, share: Found | None) -> Point | None:
    value = _value(share)
    return None if share is None or value is None else Point(series, x, value, share["low"], share["high"])


def _wide(adversaries: Sequence[Found]) -> Table:
    """A row for each number of facts, a column for each adversary."""
    every = sorted({step["facts"] for one in adversaries for step in one["curve"]})
    by = [{step["facts"]: step["identified"] for step in one["curve"]} for one in adversaries]
    told: list[Cells] = [(f"{facts:g}", *(_sure(own.get(facts)) for own in by)) for facts in every]
    return Table(("facts known", *(one["name"] for one in adversaries)), told)


def _ladder(found: Found) -> Figure | None:
    told, main, budget = found["adversaries"], headline(found), percent(found["settings"]["budget"])
    if len(told) < 2 or main is None:
        return None
    sure = f"Right and sure of it: claimed, with {budget} of false claims"
    parts = (("identified", "The best guess is right"), ("correct_claims_at_budget", sure))
    bars = [
        _row(title, one["title"], one["at"][key], one["name"] == main["name"])
        for key, title in parts
        for one in told
    ]
    words = "; ".join(f"{one['title']}: {estimate_text(one['at']['identified'])}" for one in told)
    table = Table(
        ("adversary", *(title.lower() for _, title in parts)),
        [(one["title"], *(_sure(one["at"][key]) for key, _ in parts)) for one in told],
    )
    return Figure("What each adversary achieves", f"Best guess right: {words}.", partial(rows, bars), table)


def _needed(found: Found) -> Figure | None:
    told = found["exposure"]["facts_needed"]
    if len(told) < 2 or not any(_value(one["share"]) for one in told):
        return None  # a sentence says it
    bars = [_row("", count(one["facts"], "fact", "facts or fewer"), one["share"]) for one in told]
    words = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars)
    table = Table(
        ("facts needed", "share of people", "95 % interval"),
        [
            (bar.label, percent(bar.value), interval_text(one["share"]))
            for bar, one in zip(bars, told, strict=True)
        ],
    )
    return Figure(
        "How few facts are enough", f"Share of people identified with {words}.", partial(rows, bars), table
    )


def _groups(found: Found) -> Figure | None:
    """Only where groups differ by more than chance; else a sentence says so."""
    apart = {one.kind for one in extremes(found) if one.apart}
    told = [(title, group) for title, group in _grouped(found) if title in apart]
    if not told:
        return None
    bars = [_row(title, group["label"], group["identified"]) for title, group in told]
    words = "; ".join(f"{bar.label}: {percent(bar.value)}" for bar in bars[:40])
    return Figure("Who is picked out", f"Best guess right. {words}.", partial(rows, bars), group_table(found))


def group_table(found: Found) -> Table:
    """All groups."""
    return Table(
        ("group", "by", "people", "best guess right", "95 % interval", "tried"),
        [
            (group["label"], KINDS[title], count(group["people"]), estimate_text(group["identified"]),
             interval_text(group["identified"]), count(group["identified"]["n"]))
            for title, group in _grouped(found)
        ],
    )  # fmt: skip


def _grouped(found: Found) -> list[tuple[str, Found]]:
    return [(title, group) for key, title in GROUPS.items() for group in found["exposure"][key]]


class Extreme(NamedTuple):
    """The groups of a kind that are found most and least often, and whether that is more than chance."""

    kind: str
    most: Found
    least: Found
    apart: bool


def extremes(found: Found) -> list[Extreme]:
    """Who is found most and least often, of each kind of groups."""
    made = []
    for key, title in GROUPS.items():
        own = [group for group in found["exposure"][key] if group["identified"]["value"] is not None]
        ordered = sorted(own, key=lambda group: group["identified"]["value"])
        if len(own) > 1:
            most, least = ordered[-1], ordered[0]
            made.append(Extreme(title, most, least, _apart(most["identified"], least["identified"])))
    return made


def _apart(more: Found, less: Found) -> bool:
    """Whether their intervals do not overlap."""
    return more["low"] is not None and less["high"] is not None and more["low"] > less["high"]


def _sparsity(found: Found) -> Figure | None:
    told = found["theory"]["sparsity"]
    points = [_point("", step["epsilon"], step["share"]) for step in (told or {}).get("curve", [])]
    own = [point for point in points if point is not None]
    if len(own) < 2:
        return None
    title, axis = (
        "Records with a neighbour at least so similar",
        Axis("similarity of the nearest neighbour", 0, 1, form="~g"),
    )
    every = -(-len(told["curve"]) // SHOWN)
    table = Table(
        ("similarity", "share of records", "95 % interval"),
        [
            (f"{step['epsilon']:g}", estimate_text(step["share"]), interval_text(step["share"]))
            for step in told["curve"][::every]
        ],
    )
    words = f"{title}: {percent(own[0].y)} at {own[0].x:g}, {percent(own[-1].y)} at {own[-1].x:g}."
    return Figure(
        "How alone records are", words, lambda width: fan({"": own}, "", title, axis, width=width), table
    )


def _row(panel: str, label: str, share: Found | None, main: bool = True) -> Row:
    low, high = (None, None) if share is None else (share["low"], share["high"])
    return Row(panel, label, _value(share), low, high, main)


def _value(share: Found | None) -> float | None:
    value = None if share is None else share["value"]
    return value if value is not None and math.isfinite(value) else None


def _sure(share: Found | None) -> tuple[str, str]:
    return estimate_text(share), interval_text(share)


FIGURES: dict[str, Callable[[Found], Figure | None]] = {
    "success": _success,
    "adversaries": _ladder,
    "facts-needed": _needed,
    "groups": _groups,
    "sparsity": _sparsity,
}
"""Every chart there may be."""


class Drawing(NamedTuple):
    """A figure on a page: drawn twice, once for narrow screens."""

    figure: Figure
    wide: Any
    narrow: Any


def drawing(figure: Figure) -> Drawing:
    """The figure, drawn."""
    from markupsafe import Markup

    wide, narrow = (figure.draw(width).svg(figure.title, figure.words) for width in (WIDE, NARROW))
    return Drawing(figure, Markup(wide), Markup(narrow))
