"""Which candidates are tried: each kind of step in several strengths, then the combinations that promise most."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from standout.core.json_files import JsonObject
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.findings.link_and_advise import Among, Stage
from standout.know.adversary import Adversary
from standout.sanitizing import column_steps
from standout.sanitizing.column_utility import column_bits
from standout.sanitizing.step import Step, parameter_text
from standout.sanitizing.steps import step as step_of
from standout.sanitizing.utility import Utility

Steps: TypeAlias = tuple[Step, ...]
UNTOUCHED = "as it is"
"""Name of the candidate without steps."""


class IdentificationRisk(NamedTuple):
    """Share of targets whom the strongest attack identifies: of all, and of those whom a record represents."""

    everybody: Estimate
    released: Estimate
    attack: str


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A combination of steps (none: the untouched release), its risk, and the utility that is left."""

    steps: Steps
    risk: IdentificationRisk
    utility: Utility
    stage: Stage
    among: Among = "released"

    @property
    def rate(self) -> Estimate:
        """Share of identified people that is compared with the limit."""
        return self.risk.everybody if self.among == "everybody" else self.risk.released

    @property
    def name(self) -> str:
        """The steps as one text: round-time month + drop-entries 0.5."""
        return steps_text(self.steps)

    @property
    def utility_kept(self) -> float:
        """Share of the utility that is left; 1 if the untouched release has no utility either."""
        return 1.0 if self.utility.kept is None else self.utility.kept.value

    def to_checkpoint(self) -> JsonObject:
        """The numbers as plain values, infinities included."""
        utility: JsonObject = {name: asdict(estimate) for name, estimate in self.utility.measures()}
        risk: JsonObject = {name: asdict(getattr(self.risk, name)) for name in ("everybody", "released")}
        return {"stage": self.stage, "attack": self.risk.attack, "risk": risk, "utility": utility}

    @classmethod
    def from_checkpoint(cls, numbers: Any, steps: Steps, among: Among) -> "Candidate":
        """The candidate whose numbers `to_checkpoint` returned; `numbers` is their parsed JSON."""
        utility, risk = ({k: Estimate(**v) for k, v in numbers[part].items()} for part in ("utility", "risk"))
        risks = IdentificationRisk(risk["everybody"], risk["released"], numbers["attack"])
        return cls(steps, risks, Utility(steps=tuple(map(str, steps)), estimates=utility), numbers["stage"], among)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as one text, or `UNTOUCHED` if there are none."""
    return " + ".join(map(str, steps)) or UNTOUCHED


# Single steps. Steps of one family are alternatives: they are not combined with each other.


FAMILIES = {
    **dict.fromkeys(("round-time", "perturb-time"), "times"),
    **dict.fromkeys(("round-value", "perturb-value", "randomized-response"), "values"),
    **dict.fromkeys(("drop-rare-items", "drop-top-items", "km-suppress"), "items"),
    "merge-repeats": "repeats",
    **dict.fromkeys(("drop-entries", "cap-records"), "entries"),
    **dict.fromkeys(("sample-records", "cluster-records"), "records"),
    **dict.fromkeys(("suppress-to-k", "drop-rows"), "classes"),
}
SAFE_SAMPLE, MIN_SAMPLE = 0.6, 10
"""A sample of this share of the limit meets it even if everybody in it is identified; its minimum size."""
MAX_KM_ENTRIES = 20_000_000
"""On larger releases kᵐ-suppression is not tried, because it counts pairs of items."""
MOST_STEPS, MOST_DROPS = 64, 40
"""Number of single steps on columns, and of columns whose removal is tried, at most."""
CLASS_COLUMNS, CLASS_SIZES = 5, (3, 10)
"""Number of columns that form classes (with more, nearly every row is alone), and least numbers of their rows."""
BANDS = (16, 8, 4)
"""Numbers are rounded to about this many values between the 5 % and the 95 % quantile."""
TAIL = 0.02
"""Share of the rows beyond each bound of top-coding."""
RARE_SHARES, FEWEST = (0.01, 0.05), 3
"""Values that a smaller share of the rows has are emptied; those of fewer rows than this always."""
SWAPPED, FEWEST_TO_SWAP = (0.2, 0.5), 20
"""Shares of the rows that are swapped, and the fewest rows with which it is tried."""


def step_columns(step: Step) -> tuple[str, ...]:
    """Names of the columns that a step names."""
    return tuple(getattr(step, "columns", ())) or tuple(filter(None, [getattr(step, "column", "")]))


def step_family(step: Step) -> str:
    """What a step changes."""
    columns = step_columns(step)
    return FAMILIES.get(step.name) or (",".join(["column", *columns]) if columns else step.name)


def built_in_steps(release: Release, adversary: Adversary, limit: float) -> list[Step]:
    """Single steps that suit the release and the adversary, weak ones first in each family."""
    return _table_steps(release, adversary) if release.columns else list(map(step_of, _history_steps(release, limit)))


def _history_steps(release: Release, limit: float) -> Iterator[str]:
    """Steps on entries; one sample is so small that it meets the limit even if everybody in it is identified."""
    levels, median = release.levels, int(np.median(release.lengths))
    if release.span:
        yield from (f"round-time {to}" for to in ("month", "year", "none"))
        yield from (f"perturb-time {days}" for days in (90, 365))
    if levels is not None and len(levels) > 1:
        if isinstance(levels, tuple):
            yield "perturb-value none 0.5"
        else:
            quarter, smallest_gap = float(levels[-1] - levels[0]) / 4, float(np.diff(levels).min())
            yield from (f"round-value bins {bins}" for bins in (3, 2))
            yield from (f"perturb-value {max(part * quarter, smallest_gap)!r} {part / 2}" for part in (1, 2))
        yield from ("randomized-response 3", "randomized-response 1", "round-value none")
    for k in (3, 10, 50):
        rare = release.support < k
        if rare.any() and float(release.item_entries[rare].sum()) < release.n_entries / 2:
            yield f"drop-rare-items {k}"
    yield from (f"drop-top-items {k}" for k in sorted({release.n_items // 200, release.n_items // 50} - {0}))
    if release.n_entries <= MAX_KM_ENTRIES:
        yield "km-suppress 2 2"
    if release.has_repeats:
        yield "merge-repeats last"
    yield from (f"drop-entries {share}" for share in (0.25, 0.5, 0.75, 0.9))
    yield from (f"cap-records {most}" for most in sorted({median // 4, median}, reverse=True) if most >= 2)
    samples = (0.5, 0.2, round(SAFE_SAMPLE * limit, 4))
    yield from (f"sample-records {share!r}" for share in samples if share * release.n_records >= MIN_SAMPLE)
    yield from (f"cluster-records {k}" for k in (2, 5, 10, 25) if 4 * k <= release.n_records)


def _table_steps(table: Release, adversary: Adversary) -> list[Step]:
    """Steps on columns that vary and may be known, at most 64: quasi-identifiers first, then those with many bits."""
    known = None if adversary.columns is None else set(adversary.columns)
    columns = [column for column in table.columns if known is None or known & {column.name, column.attribute}]
    columns = [column for column in columns if column_bits(column) > 0]
    columns.sort(key=lambda column: (column.role != "quasi-identifier", -column_bits(column)))
    drops: list[Step] = [column_steps.DropColumn(column.name) for column in columns[:MOST_DROPS]]
    if len(columns) == table.n_columns == 1:
        drops = []
    names, classes = tuple(column.name for column in columns[:CLASS_COLUMNS]), list[Step]()
    if len(names) >= 2:
        sizes = [k for k in CLASS_SIZES if 2 * k <= table.n_records]
        classes = [
            *(column_steps.SuppressToK(names, k) for k in sizes),
            *(column_steps.DropRows(names, k) for k in sizes[:1]),
        ]
    steps: list[Step] = []
    for column in columns:
        weaker = list(_column_steps(column))
        if len(steps) + len(weaker) + len(drops) + len(classes) <= MOST_STEPS:
            steps += weaker
    return [*steps, *drops, *classes]


def _column_steps(column: Column) -> Iterator[Step]:
    """Steps on one column, weak ones first; none that would change nothing."""
    counts = column.counts[:-1]
    occurs = np.flatnonzero(counts)
    for step in _level_steps(column):
        if len(np.unique(step.change(column).lookup[occurs])) < len(occurs):
            yield step
    if column.kind in ("category", "set") and column.hierarchy is None:
        useful: dict[int, int] = {}
        for share in RARE_SHARES:
            below = max(FEWEST, math.ceil(share * column.n_rows))
            kept = int(np.count_nonzero(counts >= below))
            if 2 <= kept < len(occurs):  # some values are rare, and at least two are not
                useful.setdefault(kept, below)
        yield from (column_steps.SuppressCells(column.name, below) for below in useful.values())
    if column.n_rows >= FEWEST_TO_SWAP:
        yield from (column_steps.SwapColumn((column.name,), share) for share in SWAPPED)


def _level_steps(column: Column) -> Iterator[column_steps.LevelStep]:
    """Steps that map the values of a column."""
    name, tree, left = column.name, column.hierarchy, column.n_levels
    if tree is not None:
        for height in range(1, tree.height + 1):
            groups = len(np.unique(tree.group_of(height)))
            if 2 <= groups < left:  # fewer are left than below
                yield column_steps.GeneralizeColumn(name, height)
                left = groups
    elif column.kind == "number" and column.n_levels >= 3:
        levels = np.asarray(column.levels, np.float64)
        counts = np.cumsum(column.counts[:-1])
        shares = np.array([TAIL, 0.05, 0.95, 1 - TAIL])
        bottom, low, high, top = levels[np.searchsorted(counts, shares * counts[-1])].tolist()
        if bottom < top:
            yield column_steps.TopCode(name, f"{parameter_text(bottom)}..{parameter_text(top)}")
        span = high - low or float(levels[-1] - levels[0])
        widths = (_round_number(span / bands) for bands in BANDS)
        yield from (column_steps.RoundColumn(name, width) for width in dict.fromkeys(widths))
    elif column.kind == "date":
        yield from (column_steps.GeneralizeColumn(name, "month"), column_steps.GeneralizeColumn(name, "year"))
    elif column.kind == "ordered":
        yield from (column_steps.GeneralizeColumn(name, size) for size in (2, 4) if column.n_levels >= 2 * size)


def _round_number(number: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, on a logarithmic scale.

    >>> [_round_number(number) for number in (0.23, 3.0, 8.0)]
    [0.2, 2.0, 10.0]
    """
    exponent = math.floor(math.log10(number))
    choices = [float(f"{digit}e{power}") for power in (exponent, exponent + 1) for digit in (1, 2, 5)]
    return min(choices, key=lambda choice: abs(math.log(choice / number)))


# Combinations. There may be many families, so there are too many combinations to look at each. Log-odds of being
# identified add up if steps work independently, and shares of utility multiply. So the frontier of all expected
# combinations is built family by family, and keeps only what is not dominated.


LIMIT_FACTORS = (1.25, 1.0, 0.75, 0.5)
"""Combinations are proposed below each of these multiples of the limit: expectations err to both sides."""
DIGITS = 9
"""Utilities are compared to this many digits, because the others differ between processors."""
STANDARD_ERRORS = 2.0
"""Distance from a rate to the upper end of its interval, approximately."""
WIDEST = 300
"""Number of combinations that are kept from one family to the next, at most."""
NEIGHBOURS_OF = 12
"""Number of tried candidates near the limit whose neighbours are considered."""
SATURATED = 0.8
"""Above this risk, the effect of a single step hardly shows: its lost bits say more."""
LEAST_RISK = 0.2
"""Multiple of the limit: combinations with less risk cost utility for nothing."""
LEAST_UTILITY = 1e-3
SLOPES = 0.25, 4.0
"""Bounds of the ratio of a measured effect to the expected one."""

Tried = Mapping[Steps, Candidate]


class Point(NamedTuple):
    """Measured or expected risk and utility of steps: as shares, or as log-odds and logarithm."""

    steps: Steps
    risk: float
    utility: float

    def plus(self, effect: "Point") -> "Point":
        """The point after a further step with this effect."""
        return Point((*self.steps, *effect.steps), self.risk + effect.risk, self.utility + effect.utility)

    def shares(self) -> "Point":
        """Log-odds and logarithm as shares."""
        return Point(self.steps, 1.0 / (1.0 + math.exp(-self.risk)), min(math.exp(self.utility), 1.0))


def undominated(points: Sequence[Point]) -> list[Point]:
    """Those for which no other has less risk and at least as much utility, or more utility at equal risk."""
    most, chosen = float("-inf"), []
    for each in sorted(points, key=lambda each: (each.risk, -each.utility, len(each.steps))):
        if each.utility > most:
            most = each.utility
            chosen.append(each)
    return chosen


def _measured(candidate: Candidate) -> Point:
    return Point(candidate.steps, candidate.rate.value, round(candidate.utility_kept, DIGITS))


def frontier(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates for which no other has both less risk and more utility, by decreasing risk."""
    best = {each.steps for each in undominated([_measured(candidate) for candidate in candidates])}
    chosen = (candidate for candidate in candidates if candidate.steps in best)
    return sorted(chosen, key=lambda candidate: -candidate.rate.value)


def select_for_full_stage(candidates: Sequence[Candidate], limit: float, targets: int, count: int) -> list[Candidate]:
    """Half with the highest utility among those whose interval should end below the limit, then the frontier."""
    goal = max(limit - STANDARD_ERRORS * math.sqrt(limit * (1 - limit) / targets), 0.0)
    measured = [_measured(candidate) for candidate in candidates]
    below = sorted((each for each in measured if each.risk <= goal), key=lambda each: -each.utility)
    edge = sorted(undominated(measured), key=lambda each: abs(each.risk - limit))
    order = dict.fromkeys(each.steps for each in [*below[: count // 2], *edge, *below])
    chosen = set(list(order)[:count])
    return [candidate for candidate in candidates if candidate.steps in chosen]


def propose_combinations(tried: Tried, limit: float, count: int, known_share: float = 1.0) -> list[Steps]:
    """Untried combinations: half keep most utility below the limit, the others spread over the expected frontier."""
    effects = step_effects(tried, known_share)
    expected = {each.steps: each for each in expected_frontier(tried, effects)}
    expected |= {each.steps: each for each in _neighbours(tried, effects, limit)}
    untried = [each for steps, each in expected.items() if steps not in tried]
    useful = [each for each in untried if each.risk >= LEAST_RISK * limit] or untried
    best = sorted(useful, key=lambda each: (-each.utility, each.risk))
    near: list[Steps] = []
    for factor in LIMIT_FACTORS:
        below = [each.steps for each in best if each.risk <= factor * limit and each.steps not in near]
        near += below[: max(1, count // (2 * len(LIMIT_FACTORS)))]
    edge = sorted(undominated(useful), key=lambda each: each.risk)
    spread = [edge[at * len(edge) // count].steps for at in range(count)] if edge else []
    return list(dict.fromkeys([*near, *spread]))[:count]


def log_point(candidate: Candidate) -> Point:
    """Log-odds of being identified, with half a person more so that 0 does not stay 0, and log of the utility."""
    n = candidate.rate.n
    risk = (candidate.rate.value * n + 0.5) / (n + 1)
    utility = min(max(round(candidate.utility_kept, DIGITS), LEAST_UTILITY), 1.0)
    return Point(candidate.steps, math.log(risk / (1.0 - risk)), math.log(utility))


def step_effects(tried: Tried, known_share: float) -> dict[Step, Point]:
    """What each single step that was tried adds to the log-odds, and to the log of the utility."""
    untouched = tried[()]
    start, effects = log_point(untouched), {}
    for steps, candidate in tried.items():
        if len(steps) == 1:
            point = log_point(candidate)
            odds = point.risk - start.risk
            if untouched.rate.value > SATURATED:
                before, after = untouched.utility.bits, candidate.utility.bits
                lost = 0.0 if before is None or after is None else before.value - after.value
                odds = min(odds, -math.log(2.0) * lost * known_share)
            effects[steps[0]] = Point(steps, odds, point.utility - start.utility)
    return effects


def families(effects: Mapping[Step, Point]) -> tuple[list[list[Step]], list[Step]]:
    """The steps of each family, and the steps on classes, which look at the columns as they are then."""
    by_name: dict[str, list[Step]] = {}
    for step in effects:
        by_name.setdefault(step_family(step), []).append(step)
    classes = by_name.pop("classes", [])
    return list(by_name.values()), classes


def expected_frontier(tried: Tried, effects: Mapping[Step, Point]) -> list[Point]:
    """The frontier of all combinations of at most one step of each family."""
    start, slope = log_point(tried[()]), effect_slope(tried, effects)
    others, classes = families(effects)
    combinations: list[Point] = []
    for last in (None, *classes):
        points = [Point((), 0.0, 0.0)]
        for family in others:
            fitting = [step for step in family if last is None or _fits([step], last)]
            points = _thinned([*points, *(point.plus(effects[step]) for point in points for step in fitting)])
        combinations += points if last is None else [point.plus(effects[last]) for point in points]
    best = [each for each in _thinned(combinations) if len(each.steps) >= 2]
    return [Point(each.steps, start.risk + slope * each.risk, start.utility + each.utility).shares() for each in best]


def _fits(steps: Sequence[Step], step: Step) -> bool:
    """Whether a step can follow others: a step on classes needs columns that were not dropped."""
    columns = step.columns if isinstance(step, column_steps.ClassStep) else ()
    return not any(isinstance(other, column_steps.DropColumn) and other.column in columns for other in steps)


def _thinned(points: list[Point]) -> list[Point]:
    """Points that no other dominates; evenly spread ones if there are too many."""
    best = undominated(points)
    if len(best) > WIDEST:
        best = [best[at * (len(best) - 1) // (WIDEST - 1)] for at in range(WIDEST)]
    chosen = {each.steps for each in best}
    return [each for each in points if each.steps in chosen]


def effect_slope(tried: Tried, effects: Mapping[Step, Point]) -> float:
    """Measured effect of the combinations so far / the sum of the effects of their steps."""
    start, products, squares = log_point(tried[()]).risk, 0.0, 0.0
    for steps, candidate in tried.items():
        if len(steps) >= 2 and all(step in effects for step in steps):
            expected = math.fsum(effects[step].risk for step in steps)
            products += expected * (log_point(candidate).risk - start)
            squares += expected * expected
    return min(max(products / squares, SLOPES[0]), SLOPES[1]) if squares else 1.0


def _neighbours(tried: Tried, effects: Mapping[Step, Point], limit: float) -> Iterator[Point]:
    """Tried candidates near the limit with one step added, removed or replaced."""
    points = [log_point(each) for steps, each in tried.items() if all(step in effects for step in steps)]
    goal = math.log(limit / (1.0 - limit))
    edge = {each.steps for each in undominated(points)}
    near = sorted((each for each in points if each.steps in edge), key=lambda each: abs(each.risk - goal))
    others, classes = families(effects)
    order = [*(step for family in others for step in family), *classes]
    for point in near[:NEIGHBOURS_OF]:
        own: dict[str, Step | None] = {step_family(step): step for step in point.steps}
        for family, step in [*((family, None) for family in own), *((step_family(step), step) for step in order)]:
            chosen = {**own, family: step}.values()
            steps = tuple(each for each in order if each in chosen)
            if len(steps) >= 2 and all(_fits(steps, each) for each in steps):
                old, new = (effects[each] if each else Point((), 0.0, 0.0) for each in (own.get(family), step))
                yield Point(steps, point.risk + new.risk - old.risk, point.utility + new.utility - old.utility).shares()
