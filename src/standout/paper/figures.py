"""All figures and tables of the paper, with the numbers of the 2007 version, and the attacks that they show."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core import elementary
from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError
from standout.core.progress import ProgressMeter
from standout.core.rng import generator
from standout.data.describe import outside_top
from standout.data.release import Release
from standout.evaluate.estimates import median
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.know.similarity import ROUNDING, Present, Similarity, Within, days_per_unit
from standout.measure.sparsity import sparsity
from standout.paper.calibration import Survey, date_bits, value_bits
from standout.paper.netflix import HELD_BACK
from standout.paper.published import (
    PEOPLE,
    TARGETS,
    Bar,
    ComparisonRow,
    Setting,
    Unit,
    bars,
    exact,
    neighbours,
    published,
    published_lengths,
    published_support,
    texts,
)
from standout.paper.synthesize import is_standin
from standout.report.charts import Axis, Point

PHI, POSTERIOR = 1.5, 0.95
"""Minimum strength of a claim: eccentricity in the paper's attack, posterior in the Bayesian one."""
AttackName = Literal["paper", "likelihood"]
ATTACKS: dict[AttackName, AnyAttack] = {"paper": ScoreboardRH(), "likelihood": Likelihood()}
NEIGHBOUR_SECONDS = 12.0
"""Approximate time of the search for nearest neighbours at the paper's size."""
NEIGHBOUR_SAMPLE = 1000
"""Number of records whose nearest neighbours are searched."""


@dataclass(eq=False)
class AttackRunner:
    """Attacks on one release; each runs only once even if several figures show it.

    folder         folder for checkpoints; None: no checkpoints
    qualifying     number of the contest's test entries of each record, if known
    meter          shows the progress of the whole reproduction
    """

    release: Release
    targets: int = 1000
    seed: int = 0
    threads: int | None = None
    folder: Path | None = None
    qualifying: Ints | None = None
    meter: ProgressMeter = field(default_factory=ProgressMeter)
    simulations: dict[tuple[Setting, bool, AttackName], Simulation | str] = field(default_factory=dict)

    def run(self, setting: Setting, absent: bool = False, attack: AttackName = "paper") -> Simulation | str:
        """The simulation of an attack, with absent targets if `absent`; or the reason why it is not possible."""
        key = setting, absent, attack
        if key not in self.simulations:
            self.simulations[key] = self._simulate(setting, absent, attack)
        return self.simulations[key]

    def _simulate(self, setting: Setting, absent: bool, attack: AttackName) -> Simulation | str:
        if not self.release.n_levels:
            return "the data has no values"
        if setting.time_error is not None and not self.release.span:
            return "the data has no dates"
        try:
            with self.meter.part(self.seconds(absent)):
                simulation = simulate(
                    self.release,
                    setting.adversary,
                    attack=ATTACKS[attack],
                    targets=self.targets,
                    phi=PHI,
                    posterior=POSTERIOR,
                    absent=absent,
                    seed=self.seed,
                    threads=self.threads,
                    progress=self.meter,
                    save=None if self.folder is None else self.folder / "attack",
                )
        except ParameterError as error:
            return str(error)
        if not simulation.complete:
            raise KeyboardInterrupt
        return simulation

    def seconds(self, absent: bool) -> float:
        """Approximate time of an attack at the paper's size on two cores."""
        return 4.0 + (6.0 if absent else 4.0) * self.targets / 1000

    def compare_bar(self, bar: Bar, panel: str, label: str) -> ComparisonRow:
        """A bar of the paper compared with our measurement, and what the Bayesian attack reaches."""
        unit: Unit = "bits" if bar.measure == "bits_gained" else "rate"
        row = ComparisonRow(panel, label, bar.measure, unit, bar.paper, None, paper_targets=TARGETS)
        simulation = self.run(bar.setting, bar.is_claim)
        if isinstance(simulation, str):
            return replace(row, note=simulation)
        cell, stronger = simulation.cell(), self.run(bar.setting, bar.is_claim, "likelihood")
        bits, reached = cell.outcomes.bits_left.mean(axis=1), None
        if not isinstance(stronger, str):
            reached = stronger.estimate(bar.measure, stronger.threshold.setting if bar.is_claim else "")
        return replace(
            row,
            ours=simulation.estimate(bar.measure, f"phi={PHI:g}" if bar.is_claim else ""),
            spread=0.0 if unit == "rate" else float(bits.std(ddof=1)) if len(bits) > 1 else math.nan,
            too_few_items=cell.too_few_items,
            likelihood=reached,
        )

    @property
    def test_entries(self) -> Ints:
        """Number of the contest's test entries of each record, drawn if they are not known."""
        return draw_qualifying(self.release.lengths, self.seed) if self.qualifying is None else self.qualifying


class FigureResult(NamedTuple):
    """The result of a figure: numbers compared with the paper's, points of curves, notes on this run."""

    rows: tuple[ComparisonRow, ...]
    points: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()


class Figure(NamedTuple):
    """A figure of the paper; its texts are in `about`.

    key                1 to 12, table, sp10 or imdb
    reference_series   the curves that ours are compared with
    settings, absent   the attacks that it shows, if any; whether they are also run on absent targets
    seconds            approximate time at the paper's size, without the attacks

    Figures of bars run every attack twice: that of the paper, and the Bayesian one.
    """

    key: str
    compute: Callable[[AttackRunner], FigureResult]
    axes: tuple[Axis, ...]
    chart: Literal["bars", "columns", "curves"] = "bars"
    reference_series: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    absent: bool = False
    seconds: float = 0.0

    @property
    def about(self) -> dict[str, Any]:
        """Its name, title, description, numbers in both versions, and the settings that the paper leaves open."""
        about: dict[str, Any] = texts()["figures"][self.key]
        return about


# Figures of attacks.


PROFILES = {
    "50 films, dates ± 14 days": Setting(50, 50, 1.0, 14.0, None, None, "values"),
    "50 outside the top 500, dates ± 14 days": Setting(50, 50, 1.0, 14.0, 500, None, "values"),
    "50 outside the top 500, no dates": Setting(50, 50, 1.0, None, 500, None, "values"),
    "100 outside the top 1,000, dates ± 14 days": Setting(100, 100, 1.0, 14.0, 1000, None, "values"),
}
"""Public profiles (the paper's section on IMDb) with and without dates, of popular and of unpopular films. The paper
does not state how long its profiles are. People with fewer films cannot be targets."""
PAPER_IDENTIFIED, PAPER_OTHERS = 15.0, 2.0
"""The lower of the two eccentricities (28 and 15) with which the paper identified people, and the highest one of
nearly all other profiles, whose people may have been absent."""
CLAIMS = {"correct_claims": "present, correct claims", "absent_rejected": "absent, no claim"}


def _attack_figure(key: str, panel: str, label: str = "{facts}", axis: Axis | None = None) -> Figure:
    """A figure of attacks: the paper's bars compared with ours. Panel and label are formats of a setting's words."""

    def compute(runner: AttackRunner) -> FigureResult:
        rows = []
        for bar in bars(key):
            words = bar.setting.words | {"claim": CLAIMS.get(bar.measure, "")}
            rows.append(runner.compare_bar(bar, panel.format(**words), label.format(**words)))
        return FigureResult(tuple(rows))

    settings = tuple(dict.fromkeys(bar.setting for bar in bars(key)))
    axes = (axis or Axis("share of targets", 0, 1),)
    return Figure(key, compute, axes, settings=settings, absent=bars(key)[0].is_claim)


def profile_eccentricities(runner: AttackRunner) -> FigureResult:
    """The eccentricity of the best guess, for targets who are present and for absent ones."""
    rows: list[ComparisonRow] = []
    points: list[Point] = []
    for panel, setting in PROFILES.items():
        simulation = runner.run(setting, absent=True)
        if isinstance(simulation, str):
            rows.append(ComparisonRow(panel, "eccentricity", "eccentricity", "number", None, None, note=simulation))
            continue
        outcomes = simulation.cell().outcomes
        present, absent = outcomes.claim_strength.ravel(), outcomes.absent_claim_strength.ravel()
        low, high = float(np.quantile(present, 0.1)), float(np.quantile(absent, 0.9))
        for label, estimate, paper in (
            ("targets present, median", median(present), PAPER_IDENTIFIED),
            ("targets present, 10 % quantile", exact(low, len(present)), None),
            ("targets absent, median", median(absent), None),
            ("targets absent, 90 % quantile", exact(high, len(absent)), PAPER_OTHERS),
        ):
            rows.append(ComparisonRow(panel, label, "eccentricity", "number", paper, estimate))
        for series, strength in (("present", present), ("absent", absent)):
            points += [Point(series, x, float((strength >= x).mean()), panel=panel) for x in range(61)]
    return FigureResult(tuple(rows), tuple(points))


# Figures about the data.


NEIGHBOUR_PANELS: tuple[tuple[str, str, Similarity], ...] = (
    ("sets", "sets of films", Present()),
    ("ratings", "films with the same rating", Within(value=0, time=None)),
)
SIMILARITIES = (0.05, 0.1, 0.2, 0.3, 0.5)
COUNTED_WITH_TESTS = 100
"""The published counts, which seem to include test entries, end at this number of ratings."""
CURVE_POINTS = 120


def draw_qualifying(lengths: Ints, seed: int = 0) -> Ints:
    """Random numbers of test entries for records of these lengths, if the true ones are not known.

    The contest held out the latest 9 of a person's T ratings, or half of them if T < 18. Each fell at random
    to probe, quiz or test. Probe is published with the rest. So a binomial (h, 2/3) number of h = min(9, T/2)
    ratings is missing. A person with n ratings left had T ≈ 3n/2 ratings, hence h = min(9, 3n/4).

    >>> draw_qualifying(np.array([1, 8, 12, 500]), seed=1).tolist()
    [1, 4, 6, 7]
    """
    held_out = np.minimum(HELD_BACK, (3 * lengths + 2) // 4)
    return np.asarray(generator(seed, "held back").binomial(held_out, 2 / 3), np.int64)


def _qualifying_per_person(runner: AttackRunner) -> FigureResult:
    """Figure 7: number of people by number of test entries."""
    counts, sizes = runner.test_entries, published()["sizes"]
    numbers = (
        ("mean", "mean", sizes["qualifying"] / sizes["records"], counts.mean()),
        ("maximum", "most", float(HELD_BACK), counts.max()),
    )
    rows = tuple(
        ComparisonRow("", f"test entries per person, {name}", measure, "number", paper, exact(float(ours), len(counts)))
        for name, measure, paper, ours in numbers
    )
    points = tuple(Point("people", entries, float(count)) for entries, count in enumerate(np.bincount(counts)))
    origin = "drawn" if runner.qualifying is None else "standin" if is_standin(runner.release) else "file"
    return FigureResult(rows, points, (texts()["qualifying"][origin],))


def _record_lengths(most: int, compared: tuple[int, ...]) -> Callable[[AttackRunner], FigureResult]:
    """Figures 8 and 9: number of people with exactly k ratings, for each k up to `most`.

    `compared` are the numbers of ratings whose counts are compared with the paper's.
    """

    def compute(runner: AttackRunner) -> FigureResult:
        release, people = runner.release, runner.release.n_records
        series = {"ours": release.lengths}
        if most <= COUNTED_WITH_TESTS:
            series["ours with test entries"] = release.lengths + runner.test_entries
        points = [
            Point(name, k, float(count) * (PEOPLE / people))
            for name, lengths in series.items()
            for k, count in enumerate(np.bincount(lengths, minlength=most + 1)[1 : most + 1], 1)
        ]
        points += [Point("paper", float(k), float(count)) for k, count in zip(*published_lengths(), strict=True)]
        count_of = {(point.series, point.x): point.y for point in points}
        rows = tuple(
            ComparisonRow(name, f"{k} ratings", "people", "number", count_of["paper", k], exact(count_of[name, k]))
            for name in series
            for k in compared
        )
        note = f"Counts are scaled from {people:,} to the paper's {PEOPLE:,} people."
        return FigureResult(rows, tuple(points), () if people == PEOPLE else (note,))

    return compute


class ItemBits(NamedTuple):
    """Bits that one item gives away about a person who has it, by popularity rank, most popular first."""

    alone: Floats
    with_value: Floats
    with_time: Floats


def bits_by_rank(release: Release, value: float = 1, time: float = 14) -> ItemBits:
    """Bits of each item: −log2 of the share of people who have it  [Figure 10].

    `with_value` adds −log2 of the share of the item's other entries whose values are within `value`,
    `with_time` that of the entries whose times are within `time` days. Both are means over the people who
    have the item. Categories are near each other only if they are equal.
    """
    order = np.argsort(release.check().rank, kind="stable")
    alone = elementary.log2(release.n_records / release.support[order])
    with_value, with_time, levels = alone, alone, release.levels
    if levels is not None:
        near = np.eye(len(levels), dtype=np.bool_)
        if isinstance(levels, np.ndarray):
            near = np.abs(levels[:, None] - levels) <= value + ROUNDING
        with_value = alone + value_bits(Survey(release).level_counts[1][order], near)
    if release.span:
        reach = int(min(time / days_per_unit(release) + ROUNDING, release.span))
        with_time = alone + date_bits(release, order, reach)
    return ItemBits(alone, with_value, with_time)


def _bits_of_a_film(runner: AttackRunner) -> FigureResult:
    """Figure 10: bits that one film gives away by its rank: alone, with its rating, with its date."""
    bits, section, n_items = bits_by_rank(runner.release, 1, 14), published()["bits"], runner.release.n_items
    ranks = np.unique(np.geomspace(1, n_items, CURVE_POINTS).astype(np.int64)).tolist()
    points = [
        Point(name, low, float(column[low - 1 : high - 1].mean()))
        for name, column in zip(("film", "with rating", "with date"), bits, strict=True)
        for low, high in pairwise([*ranks, n_items + 1])
    ]
    paper = elementary.log2(PEOPLE / published_support())
    points += [Point("paper", rank, float(paper[rank - 1])) for rank in ranks if rank <= len(paper)]
    rows = [
        ComparisonRow("film alone", f"rank {rank:,}", "bits", "number", reference, exact(float(bits.alone[rank - 1])))
        for rank, reference in zip(section["ranks"], section["film"], strict=True)
        if rank <= n_items
    ]
    for name, column in (("rating", bits.with_value), ("date", bits.with_time)):
        for kind, part in (("popular", slice(0, 100)), ("rare", slice(5000, None))):
            added, reference = (column - bits.alone)[part], section[f"{name}_{kind}"]
            if len(added):
                ours = exact(float(added.mean()), len(added))
                rows.append(ComparisonRow(f"added by a {name}", f"{kind} films", "bits", "number", reference, ours))
    return FigureResult(tuple(rows), tuple(points))


def _nearest_neighbours(runner: AttackRunner) -> FigureResult:
    """Figure 12: similarity of the nearest neighbour, of a sample of records among all records."""
    rows: list[ComparisonRow] = []
    points: list[Point] = []
    release = runner.release
    common: dict[str, Any] = {"seed": runner.seed, "threads": runner.threads, "progress": runner.meter}
    sample = NEIGHBOUR_SAMPLE if release.n_records > NEIGHBOUR_SAMPLE else None
    for name, panel, similarity in NEIGHBOUR_PANELS:
        if name == "ratings" and release.levels is None:
            continue
        with runner.meter.part(NEIGHBOUR_SECONDS / 2):
            nearest, curve = sparsity(release, similarity, sample=sample, **common), neighbours(name)
        points += [Point("paper", x, y, panel=panel) for x, y in curve.items()]
        for x in [i / 100 for i in range(76)]:
            share = nearest.survival(x)
            points.append(Point("ours", x, share.value, share.low, share.high, panel))
        rows += [
            ComparisonRow(panel, f"at least {x:.2f}", "share", "rate", curve[x], nearest.survival(x))
            for x in SIMILARITIES
        ]
    return FigureResult(tuple(rows), tuple(points))


def _films_outside_top(runner: AttackRunner) -> FigureResult:
    """The table of the appendix: people with films outside the most rated ones."""
    shares, rows = outside_top(runner.release), []
    for bar in bars("table"):
        top, least = bar.setting.outside_top or 0, bar.setting.right
        ours = exact(shares[top][least], runner.release.n_records) if top in shares else None
        note = "" if ours else f"the release has no more than {top} items"
        panel, label = f"outside the top {top}", f"at least {least}"
        rows.append(ComparisonRow(panel, label, "share", "rate", bar.paper, ours, note=note))
    return FigureResult(tuple(rows))


PAPER = ("paper",)
PEOPLE_AXIS, SHARE_OF_PEOPLE = Axis("people"), Axis("share of people", 0, 1)
BITS = Axis("bits gained", 0, 20, form=".1f")
RANKS = Axis("rank of the film", log=True, form="~s")
RATINGS = partial(Axis, "ratings", 0)
SIMILARITY, ECCENTRICITY = Axis("similarity", 0, 0.75), Axis("eccentricity, σ", 0, 60)


@cache
def all_figures() -> tuple[Figure, ...]:
    """All figures; made when first asked for, because reading the paper's numbers starts threads."""
    return (
        _attack_figure("1", "{dates}"),
        _attack_figure("2", "{claim}, {dates}"),
        _attack_figure("3", "{dates}", axis=BITS),
        _attack_figure("4", "{films}"),
        _attack_figure("5", "{films}", axis=BITS),
        _attack_figure("6", "{length}"),
        Figure("7", _qualifying_per_person, (Axis("test entries"), Axis("people", form="~s")), "columns"),
        Figure(
            "8", _record_lengths(100, (10, 19, 20, 50, 100)), (Axis("ratings", 0, 100), PEOPLE_AXIS), "curves", PAPER
        ),
        Figure("9", _record_lengths(1000, (20, 100)), (Axis("ratings", 0, 1000), PEOPLE_AXIS), "curves", PAPER),
        Figure("10", _bits_of_a_film, (RANKS, Axis("bits")), "curves", PAPER),
        _attack_figure("11", "{facts}", "{popularity}"),
        Figure("12", _nearest_neighbours, (SIMILARITY, SHARE_OF_PEOPLE), "curves", PAPER, seconds=NEIGHBOUR_SECONDS),
        Figure("table", _films_outside_top, (SHARE_OF_PEOPLE,)),
        _attack_figure("sp10", "{wrong_films}", "{of}"),
        Figure(
            "imdb",
            profile_eccentricities,
            (ECCENTRICITY, SHARE_OF_PEOPLE),
            "curves",
            ("absent",),
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
        return all_figures()
    keys = [str(key).strip().lower() for key in (only.split(",") if isinstance(only, str) else only)]
    known = [figure.key for figure in all_figures()]
    for key in keys:
        if key not in known:
            raise ParameterError(f"only must name figures among {', '.join(known)}, got {key!r}")
    return tuple(figure for figure in all_figures() if figure.key in keys)
