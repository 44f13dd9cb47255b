"""All figures and tables of the paper, with the numbers of the 2007 version."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from standout.core import elementary
from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError
from standout.data.describe import outside_top
from standout.data.release import Levels, Release
from standout.evaluate.estimates import Estimate, median
from standout.know.similarity import ROUNDING, Present, Similarity, Within, days_per_unit
from standout.paper.attack_runner import NEIGHBOUR_SECONDS, AttackRunner, NotPossible
from standout.paper.comparison_rows import PEOPLE as RESULT_PEOPLE
from standout.paper.comparison_rows import Bar, ComparisonRow, Setting, bars, comparison_row, exact_estimate, neighbours
from standout.paper.figure import Figure, FigureResult
from standout.paper.published import published, published_lengths, published_support
from standout.paper.readings import draw_qualifying
from standout.paper.sentences import qualifying_note, scaling_note
from standout.paper.survey import Survey, date_bits, value_bits
from standout.paper.synthesize import qualifying_of_standin
from standout.report.charts import Axis, Point

__all__ = [
    "FIGURES",
    "PROFILES",
    "ItemBits",
    "bits_by_rank",
    "bits_of_a_film",
    "films_outside_top",
    "nearest_neighbours",
    "profile_eccentricities",
    "qualifying_per_person",
    "record_lengths",
    "select_figures",
]

# Eccentricity of public profiles: the paper's section on IMDb, on people whose records are known.


PROFILES = {
    "50 films, dates ± 14 days": Setting(50, 50, 1.0, 14.0, None, None, "values"),
    "50 outside the top 500, dates ± 14 days": Setting(50, 50, 1.0, 14.0, 500, None, "values"),
    "50 outside the top 500, no dates": Setting(50, 50, 1.0, None, 500, None, "values"),
    "100 outside the top 1,000, dates ± 14 days": Setting(100, 100, 1.0, 14.0, 1000, None, "values"),
}
"""Profiles with and without dates, of popular and of unpopular films. The paper does not state how long its
profiles are. People with fewer films cannot be targets."""
PAPER_IDENTIFIED = 15.0
"""The lower of the two eccentricities (28 and 15) with which the paper identified people."""
PAPER_OTHERS = 2.0
"""The highest eccentricity of nearly all other profiles, whose people may have been absent."""
HIGHEST = 60


def profile_eccentricities(runner: AttackRunner) -> FigureResult:
    """The eccentricity of the best guess, for targets who are present and for absent ones."""
    rows: list[ComparisonRow] = []
    points: list[Point] = []
    for panel, setting in PROFILES.items():
        simulation = runner.run(setting, absent=True)
        if isinstance(simulation, NotPossible):
            note = simulation.reason
            rows.append(ComparisonRow(panel, "eccentricity", "eccentricity", "number", None, None, note=note))
            continue
        outcomes = simulation.cell().outcomes
        present, absent = outcomes.claim_strength.ravel(), outcomes.absent_claim_strength.ravel()
        rows += _rows(panel, present, absent)
        points += [*_curve(panel, "present", present), *_curve(panel, "absent", absent)]
    return FigureResult(tuple(rows), tuple(points))


def _rows(panel: str, present: Floats, absent: Floats) -> Iterator[ComparisonRow]:
    for label, estimate, paper in (
        ("targets present, median", median(present), PAPER_IDENTIFIED),
        ("targets present, 10 % quantile", _quantile(present, 0.1), None),
        ("targets absent, median", median(absent), None),
        ("targets absent, 90 % quantile", _quantile(absent, 0.9), PAPER_OTHERS),
    ):
        yield comparison_row(panel, label, "eccentricity", "number", paper, estimate)


def _curve(panel: str, series: str, eccentricity: Floats) -> Iterator[Point]:
    """Share of targets with at least each eccentricity."""
    for x in range(HIGHEST + 1):
        yield Point(series, x, float((eccentricity >= x).mean()), panel=panel)


def _quantile(values: Floats, share: float) -> Estimate:
    return exact_estimate(float(np.quantile(values, share)), len(values))


# Bits that one known item gives away about a person  [Figure 10].


class ItemBits(NamedTuple):
    """Bits that one item gives away about a person who has it, by popularity rank, most popular first."""

    alone: Floats
    with_value: Floats
    with_time: Floats


def bits_by_rank(release: Release, value: float = 1, time: float = 14) -> ItemBits:
    """Bits of each item: −log2 of the share of people who have it  [Figure 10].

    `with_value` adds −log2 of the share of the item's other entries whose values are within `value`,
    `with_time` that of the entries whose times are within `time` days. Both are means over the people who
    have the item.

    >>> import standout as so
    >>> release = so.synthesize(records=500, items=50, entries=9_000, seed=7)
    >>> bits = bits_by_rank(release)
    >>> [round(float(column[0]), 2) for column in bits]
    [0.09, 0.64, 5.29]
    """
    order = np.argsort(release.check().rank, kind="stable")
    alone = elementary.log2(release.n_records / release.support[order])
    with_value, with_time = alone, alone
    if release.levels is not None:
        with_value = alone + value_bits(Survey(release).item_levels[order], _near_levels(release.levels, value))
    if release.span:
        reach = int(min(time / days_per_unit(release) + ROUNDING, release.span))
        with_time = alone + date_bits(release, order, reach)
    return ItemBits(alone, with_value, with_time)


def _near_levels(levels: Levels, value: float) -> Bools:
    """Which pairs of levels are within `value` of each other; categories only if they are equal."""
    if not isinstance(levels, np.ndarray):
        return np.eye(len(levels), dtype=np.bool_)
    return np.asarray(np.abs(levels[:, None] - levels) <= value + ROUNDING)


# The figures about the data itself: 7 to 10, 12 and the table.


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
    scale = RESULT_PEOPLE / len(lengths)
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
    bits = elementary.log2(RESULT_PEOPLE / published_support())
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


SHARE_OF_TARGETS, SHARE_OF_PEOPLE = Axis("share of targets", 0, 1), Axis("share of people", 0, 1)
BITS = Axis("bits gained", 0, 20, form=".1f")
PEOPLE = Axis("people")
PAPER = ("paper",)


def _dates(bar: Bar) -> str:
    return bar.setting.dates


def _films(bar: Bar) -> str:
    return bar.setting.films


def _popularity(bar: Bar) -> str:
    return "any films" if bar.setting.outside_top is None else f"not in top {bar.setting.outside_top}"


def _facts(bar: Bar) -> str:
    return bar.setting.facts


def _right_facts(bar: Bar) -> str:
    return f"{bar.setting.right} of {bar.setting.known}"


def _wrong_films(bar: Bar) -> str:
    draw = "all equally likely" if bar.setting.wrong_facts == "any items" else "by popularity"
    return f"wrong films, {draw}"


def _claims(bar: Bar) -> str:
    measure = {"correct_claims": "present, correct claims", "absent_rejected": "absent, no claim"}
    return f"{measure[bar.measure]}, {bar.setting.dates}"


def _length(bar: Bar) -> str:
    return "length not known" if bar.setting.length_error is None else "length known ± 50 %"


def _attack_figure(
    key: str,
    panel: Callable[[Bar], str],
    label: Callable[[Bar], str] = _facts,
    axis: Axis = SHARE_OF_TARGETS,
    absent: bool = False,
) -> Figure:
    """A figure of attacks: the paper's bars compared with ours."""

    def compute(runner: AttackRunner) -> FigureResult:
        return FigureResult(tuple(runner.compare_bar(bar, panel(bar), label(bar)) for bar in bars(key)))

    settings = tuple(dict.fromkeys(bar.setting for bar in bars(key)))
    return Figure(key, compute, (axis,), settings=settings, absent=absent)


FIGURES = (
    _attack_figure("1", _dates),
    _attack_figure("2", _claims, absent=True),
    _attack_figure("3", _dates, axis=BITS),
    _attack_figure("4", _films),
    _attack_figure("5", _films, axis=BITS),
    _attack_figure("6", _length),
    Figure(
        key="7",
        compute=qualifying_per_person,
        axes=(Axis("test entries"), Axis("people", form="~s")),
        chart="columns",
        attacks=False,
    ),
    Figure(
        key="8",
        compute=record_lengths(100, (10, 19, 20, 50, 100)),
        axes=(Axis("ratings", 0, 100), PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    Figure(
        key="9",
        compute=record_lengths(1000, (20, 100)),
        axes=(Axis("ratings", 0, 1000), PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    Figure(
        key="10",
        compute=bits_of_a_film,
        axes=(Axis("rank of the film", log=True, form="~s"), Axis("bits")),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
    ),
    _attack_figure("11", _facts, _popularity),
    Figure(
        key="12",
        compute=nearest_neighbours,
        axes=(Axis("similarity", 0, 0.75), SHARE_OF_PEOPLE),
        chart="curves",
        reference_series=PAPER,
        attacks=False,
        seconds=NEIGHBOUR_SECONDS,
    ),
    Figure(key="table", compute=films_outside_top, axes=(SHARE_OF_PEOPLE,), attacks=False),
    _attack_figure("sp10", _wrong_films, _right_facts),
    Figure(
        key="imdb",
        compute=profile_eccentricities,
        axes=(Axis("eccentricity, σ", 0, 60), SHARE_OF_PEOPLE),
        chart="curves",
        reference_series=("absent",),
        settings=tuple(PROFILES.values()),
        absent=True,
    ),
)


def select_figures(only: str | list[str] | None) -> tuple[Figure, ...]:
    """The figures with these keys, like "1,4,12"; default: all.

    >>> [figure.key for figure in select_figures("12,1")]
    ['1', '12']
    """
    if only is None:
        return FIGURES
    keys = [str(key).strip().lower() for key in (only.split(",") if isinstance(only, str) else only)]
    known = [figure.key for figure in FIGURES]
    for key in keys:
        if key not in known:
            raise ParameterError(f"only must name figures among {', '.join(known)}, got {key!r}")
    return tuple(figure for figure in FIGURES if figure.key in keys)
