"""The figures of the data itself, one short function each: 7 to 10, 12 and the table."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from standout.core import elementary
from standout.paper.attack_runner import Lab, exactly
from standout.paper.figure import Result, said
from standout.paper.item_bits import bits_by_rank, held_back
from standout.paper.paper_results import PEOPLE, bars, neighbours
from standout.paper.rows import Row, row
from standout.release.describe import outside_top
from standout.report.charts import Point
from standout.similarity.attributes import Present, Within
from standout.synthetic.published_statistics import lengths_in_all, netflix, support_by_rank
from standout.synthetic.synthesize import held_back_of

__all__ = ["bits_of_a_film", "by_number", "nearest", "table", "test_entries"]

PANELS = {"sets": "sets of films", "ratings": "films with the same rating"}


def test_entries(lab: Lab) -> Result:
    """Figure 7: how many people have so many test entries."""
    counts = held_back(lab.release.lengths, lab.seed) if lab.qualifying is None else lab.qualifying
    people = np.bincount(counts)
    sizes = netflix()["sizes"]
    mean = sizes["qualifying"] / sizes["records"]
    average, most = (exactly(float(number), len(counts)) for number in (counts.mean(), counts.max()))
    rows = (
        row("", "test entries of a person, mean", "mean", "number", mean, average),
        row("", "most of any person", "most", "number", 9.0, most),
    )
    points = tuple(Point("people", entries, float(many)) for entries, many in enumerate(people))
    known = "drawn" if lab.qualifying is None else "made" if held_back_of(lab.release) is not None else "file"
    return Result(rows, points, (said()[known].strip(),))


def by_number(most: int, shown: tuple[int, ...]) -> Callable[[Lab], Result]:
    """Figures 8 and 9: how many people have exactly k ratings, for each k up to `most`."""

    def make(lab: Lab) -> Result:
        lengths, scale = lab.release.lengths, PEOPLE / lab.release.n_records
        back = held_back(lengths, lab.seed) if lab.qualifying is None else lab.qualifying
        ours = {"ours": lengths} | ({"ours with test entries": lengths + back} if most <= 100 else {})
        points = [
            Point(name, k, float(many) * scale)
            for name, counted in ours.items()
            for k, many in enumerate(np.bincount(counted, minlength=most + 1)[: most + 1])
            if k > 0
        ]
        sizes, people = lengths_in_all()
        points += [Point("paper", float(k), float(many)) for k, many in zip(sizes, people, strict=True)]
        found = {(point.series, point.x): point.y for point in points}
        rows = tuple(
            row(name, f"{k} ratings", "people", "number", found["paper", k], exactly(found[name, k], 1))
            for name in ours
            for k in shown
        )
        return Result(rows, tuple(points), () if lab.whole else (_scaled(lab),))

    return make


def _scaled(lab: Lab) -> str:
    return f"Counts are scaled from {lab.release.n_records:,} to the paper's {PEOPLE:,} people."


def bits_of_a_film(lab: Lab) -> Result:
    """Figure 10: bits that one film tells, by its rank, alone, with its rating, with its date."""
    release = lab.release
    bits, told = bits_by_rank(release, 1, 14), netflix()["bits"]
    knots = np.unique(np.geomspace(1, release.n_items, 120).astype(np.int64))
    edges = [*knots.tolist(), release.n_items + 1]
    points = [
        Point(name, low, float(column[low - 1 : high - 1].mean()))
        for name, column in zip(("film", "with rating", "with date"), bits, strict=True)
        for low, high in pairwise(edges)
    ]
    published = elementary.log2(PEOPLE / support_by_rank())
    points += [
        Point("paper", rank, float(published[rank - 1])) for rank in knots.tolist() if rank <= len(published)
    ]
    rows = [
        row("film alone", f"rank {rank:,}", "bits", "number", paper, exactly(float(bits.alone[rank - 1]), 1))
        for rank, paper in zip(told["ranks"], told["film"], strict=True)
        if rank <= release.n_items
    ]
    for name, column in (("rating", bits.with_value), ("date", bits.with_time)):
        added = column - bits.alone
        for words, ranks in (("popular", slice(0, 100)), ("rare", slice(5000, None))):
            if len(added[ranks]):
                panel, label, paper = f"what a {name} adds", f"{words} films", told[f"{name}_{words}"]
                found = exactly(float(added[ranks].mean()), len(added[ranks]))
                rows.append(row(panel, label, "bits", "number", paper, found))
    return Result(tuple(rows), tuple(points))


def nearest(lab: Lab) -> Result:
    """Figure 12: how similar the nearest neighbour is."""
    rows, points = [], []
    for name, similarity in (("sets", Present()), ("ratings", Within(value=0, time=None))):
        if name == "ratings" and lab.release.levels is None:
            continue
        found = lab.nearest(similarity)
        curve = neighbours()[name]
        points += [Point("paper", x, y, panel=PANELS[name]) for x, y in curve]
        for x in [i / 100 for i in range(76)]:
            share = found.survival(x)
            points.append(Point("ours", x, share.value, share.low, share.high, PANELS[name]))
        rows += [
            row(PANELS[name], f"at least {x:.2f}", "share", "rate", dict(curve)[x], found.survival(x))
            for x in (0.05, 0.1, 0.2, 0.3, 0.5)
        ]
    return Result(tuple(rows), tuple(points))


def table(lab: Lab) -> Result:
    """The appendix's table: who has films outside the most rated."""
    found, n = outside_top(lab.release), lab.release.n_records
    rows = []
    for bar in bars("table"):
        top, least = bar.setting.outside_top or 0, bar.setting.right
        panel, label = f"outside the top {top}", f"at least {least}"
        if top in found:
            rows.append(row(panel, label, "share", "rate", bar.paper, exactly(found[top][least], n)))
        else:
            note = f"the release has no more than {top} items"
            rows.append(Row(panel, label, "share", "rate", bar.paper, None, note=note))
    return Result(tuple(rows))
