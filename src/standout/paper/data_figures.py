"""The figures about the data itself: 7 to 10, 12 and the table."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

import numpy as np

from standout.core import elementary
from standout.core.arrays import Ints
from standout.paper.attack_runner import AttackRunner
from standout.paper.comparison_rows import ComparisonRow, comparison_row, exact_estimate
from standout.paper.figure import FigureResult
from standout.paper.item_bits import ItemBits, bits_by_rank
from standout.paper.paper_results import PEOPLE, bars, neighbours
from standout.paper.qualifying_entries import draw_qualifying
from standout.paper.sentences import qualifying_note, scaling_note
from standout.release.describe import outside_top
from standout.release.model import Release
from standout.report.charts import Point
from standout.similarity.attributes import Present, Similarity, Within
from standout.synthetic.published_statistics import published, published_lengths, published_support
from standout.synthetic.synthesize import qualifying_of_standin

__all__ = [
    "bits_of_a_film",
    "films_outside_top",
    "nearest_neighbours",
    "qualifying_per_person",
    "record_lengths",
]

NEIGHBOUR_PANELS: tuple[tuple[str, str, Similarity], ...] = (
    ("sets", "sets of films", Present()),
    ("ratings", "films with the same rating", Within(value=0, time=None)),
)
COUNTED_WITH_TESTS = 100
"""The published counts, which seem to include test entries, end at this number of ratings."""
CURVE_POINTS = 120


def qualifying_per_person(runner: AttackRunner) -> FigureResult:
    """Figure 7: number of people by number of test entries."""
    counts = _qualifying(runner)
    sizes = published()["sizes"]
    mean = sizes["qualifying"] / sizes["records"]
    average, most = (exact_estimate(float(number), len(counts)) for number in (counts.mean(), counts.max()))
    rows = (
        comparison_row("", "test entries per person, mean", "mean", "number", mean, average),
        comparison_row("", "test entries per person, maximum", "most", "number", 9.0, most),
    )
    people = enumerate(np.bincount(counts))
    points = tuple(Point("people", entries, float(count)) for entries, count in people)
    return FigureResult(rows, points, (qualifying_note(_origin_of_qualifying(runner)),))


def _qualifying(runner: AttackRunner) -> Ints:
    """Number of test entries of each record, drawn if they are not known."""
    if runner.qualifying is not None:
        return runner.qualifying
    return draw_qualifying(runner.release.lengths, runner.seed)


def _origin_of_qualifying(runner: AttackRunner) -> Literal["file", "standin", "drawn"]:
    if runner.qualifying is None:
        return "drawn"
    return "file" if qualifying_of_standin(runner.release) is None else "standin"


def record_lengths(most: int, compared: tuple[int, ...]) -> Callable[[AttackRunner], FigureResult]:
    """Figures 8 and 9: number of people with exactly k ratings, for each k up to `most`.

    `compared` are the numbers of ratings whose counts are compared with the paper's.
    """

    def compute(runner: AttackRunner) -> FigureResult:
        release = runner.release
        series = {"ours": release.lengths}
        if most <= COUNTED_WITH_TESTS:
            series["ours with test entries"] = release.lengths + _qualifying(runner)
        points = [point for name, lengths in series.items() for point in _length_counts(name, lengths, most)]
        ratings, people = published_lengths()
        points += [Point("paper", float(k), float(count)) for k, count in zip(ratings, people, strict=True)]
        count_of = {(point.series, point.x): point.y for point in points}
        rows = tuple(
            comparison_row(
                name,
                f"{k} ratings",
                "people",
                "number",
                paper=count_of["paper", k],
                estimate=exact_estimate(count_of[name, k], 1),
            )
            for name in series
            for k in compared
        )
        return FigureResult(rows, tuple(points), () if runner.has_full_size else (scaling_note(release),))

    return compute


def _length_counts(name: str, lengths: Ints, most: int) -> Iterator[Point]:
    """Number of people with k = 1 … `most` ratings, scaled to the paper's number of people."""
    scale = PEOPLE / len(lengths)
    for k, count in enumerate(np.bincount(lengths, minlength=most + 1)[: most + 1]):
        if k > 0:
            yield Point(name, k, float(count) * scale)


def bits_of_a_film(runner: AttackRunner) -> FigureResult:
    """Figure 10: bits that one film gives away by its rank: alone, with its rating, with its date."""
    bits = bits_by_rank(runner.release, 1, 14)
    points = (*_bit_curves(runner.release, bits), *_published_bit_curve(runner.release))
    return FigureResult((*_bits_alone(bits), *_bits_added(bits)), points)


def _ranks_shown(release: Release) -> list[int]:
    ranks: list[int] = np.unique(np.geomspace(1, release.n_items, CURVE_POINTS).astype(np.int64)).tolist()
    return ranks


def _bit_curves(release: Release, bits: ItemBits) -> Iterator[Point]:
    edges = [*_ranks_shown(release), release.n_items + 1]
    for name, column in zip(("film", "with rating", "with date"), bits, strict=True):
        for low, high in pairwise(edges):
            yield Point(name, low, float(column[low - 1 : high - 1].mean()))


def _published_bit_curve(release: Release) -> Iterator[Point]:
    bits = elementary.log2(PEOPLE / published_support())
    for rank in _ranks_shown(release):
        if rank <= len(bits):
            yield Point("paper", rank, float(bits[rank - 1]))


def _bits_alone(bits: ItemBits) -> Iterator[ComparisonRow]:
    section = published()["bits"]
    for rank, paper in zip(section["ranks"], section["film"], strict=True):
        if rank <= len(bits.alone):
            estimate = exact_estimate(float(bits.alone[rank - 1]), 1)
            yield comparison_row("film alone", f"rank {rank:,}", "bits", "number", paper, estimate)


def _bits_added(bits: ItemBits) -> Iterator[ComparisonRow]:
    """Bits that a rating or a date adds, for popular and for rare films."""
    for name, column in (("rating", bits.with_value), ("date", bits.with_time)):
        for kind, ranks in (("popular", slice(0, 100)), ("rare", slice(5000, None))):
            added = (column - bits.alone)[ranks]
            if len(added):
                panel, paper = f"added by a {name}", published()["bits"][f"{name}_{kind}"]
                estimate = exact_estimate(float(added.mean()), len(added))
                yield comparison_row(panel, f"{kind} films", "bits", "number", paper, estimate)


def nearest_neighbours(runner: AttackRunner) -> FigureResult:
    """Figure 12: similarity of the nearest neighbour."""
    rows: list[ComparisonRow] = []
    points: list[Point] = []
    for name, panel, similarity in NEIGHBOUR_PANELS:
        if name == "ratings" and runner.release.levels is None:
            continue
        sparsity, curve = runner.nearest_neighbours(similarity), neighbours()[name]
        points += [Point("paper", x, y, panel=panel) for x, y in curve]
        for x in [i / 100 for i in range(76)]:
            share = sparsity.survival(x)
            points.append(Point("ours", x, share.value, share.low, share.high, panel))
        rows += [
            comparison_row(panel, f"at least {x:.2f}", "share", "rate", dict(curve)[x], sparsity.survival(x))
            for x in (0.05, 0.1, 0.2, 0.3, 0.5)
        ]
    return FigureResult(tuple(rows), tuple(points))


def films_outside_top(runner: AttackRunner) -> FigureResult:
    """The table of the appendix: people with films outside the most rated ones."""
    shares, rows = outside_top(runner.release), []
    for bar in bars("table"):
        top, least = bar.setting.outside_top or 0, bar.setting.right
        panel, label = f"outside the top {top}", f"at least {least}"
        if top in shares:
            estimate = exact_estimate(shares[top][least], runner.release.n_records)
            rows.append(comparison_row(panel, label, "share", "rate", bar.paper, estimate))
        else:
            note = f"the release has no more than {top} items"
            rows.append(ComparisonRow(panel, label, "share", "rate", bar.paper, None, note=note))
    return FigureResult(tuple(rows))
