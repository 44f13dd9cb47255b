"""Checks of the numbers in the findings: they must follow from the outcomes, and so must their intervals.

Everything is computed a second time from the outcomes, by other formulas than those of `estimates`: the ends
of the interval of a rate are inserted into the equation that defines them, and the interval of a mean uses
an expansion of Student's quantile.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from standout.auditing import sentences
from standout.auditing.grids import GridRun
from standout.auditing.run_checks import CheckedRun
from standout.auditing.runs import AdversaryRun
from standout.core.arrays import Bools, Floats
from standout.evaluate.compare import LIKELIHOOD
from standout.evaluate.estimates import Estimate
from standout.evaluate.simulation import SimulationCell
from standout.evaluate.targets import Population
from standout.findings.adversaries import CurvePoint, Measures
from standout.findings.audit import AuditFindings, Check, Trust
from standout.findings.sections import ErrorGrids

Z = 1.959963984540054
"""A normal variable lies within ± Z with probability 0.95."""
CLOSE = 1e-9
NARROWER = 0.97
"""The interval of a mean may be this much narrower than the approximate formula says."""
FEW = 5
"""With fewer degrees of freedom the approximate formula is useless."""
ROUNDING = 1e-5
"""Relative difference up to which two eccentricities may come from the same scores."""


class Measured(NamedTuple):
    """Measures in the findings, the outcomes that they summarise, and which targets are in the release."""

    measures: Measures | CurvePoint
    cell: SimulationCell
    is_present: Bools
    budget: float


class Number(NamedTuple):
    """A number of the findings, what it should be, and what its interval is made from."""

    name: str
    reported: Estimate
    expected: float
    kind: str
    values: Floats


def runs_to_check(runs: Sequence[AdversaryRun], headline: str) -> list[CheckedRun]:
    """The attacks of all adversaries, those of the headline adversary first."""
    ordered = sorted(runs, key=lambda run: run.rung.name != headline)
    return [
        CheckedRun(run.rung.adversary, part.name, part.attack, part.as_named, run.rung.name == headline)
        for run in ordered
        for part in run.attacks
        if part.as_named is not None
    ]


def checked_findings(
    findings: AuditFindings, runs: Sequence[AdversaryRun], grids: Sequence[GridRun], people: Population
) -> AuditFindings:
    """The findings, after a check that their numbers follow from the outcomes of the attacks."""
    measured = list(_measured(findings, runs, people))
    headline_run = next(run for run in runs if run.rung.name == findings.answer.adversary)
    assert findings.error_grids is not None
    in_grids, own_rows = _grid_numbers(findings.error_grids, grids), _own_rows_agree(headline_run, grids)
    checks = (*findings.trust.checks, *_check_numbers(findings, measured, [*in_grids], [*own_rows]))
    trusted = findings.trust.trusted and all(check.passed for check in checks)
    return replace(
        findings, trust=Trust(trusted=trusted, checks=checks), verdict=sentences.verdict_of(findings, trusted)
    )


def _measured(findings: AuditFindings, runs: Sequence[AdversaryRun], people: Population) -> Iterator[Measured]:
    """All measures of the findings with their outcomes."""
    by_name = {run.rung.name: run for run in runs}
    for adversary in findings.adversaries:
        run = by_name[adversary.name]
        parts = {part.name: part for part in run.attacks}
        strongest = adversary.attacks[0]
        assert (strongest.as_named, strongest.curve) == (adversary.as_named, adversary.curve)
        for attack in adversary.attacks:
            part = parts[attack.name]
            named = run.named_cell_of(part)
            assert named is not None
            cells = [named, *(cell for _, cell in run.points_of(part))]
            every: list[Measures | CurvePoint] = [attack.as_named, *attack.curve]
            for measures, cell in zip(every, cells, strict=True):
                is_present = people.record_of(cell.targets) >= 0
                yield Measured(measures, cell, is_present, findings.settings.budget)


def _check_numbers(
    findings: AuditFindings, measured: Sequence[Measured], further: Sequence[Number], agree: Sequence[bool]
) -> list[Check]:
    """The checks "rates" and "intervals"; `agree` says whether other results that must be the same are."""
    numbers = [*(number for part in measured for number in _numbers(part)), *further]
    right = [_is_close(number.reported.value, number.expected) for number in numbers]
    right += [*_summaries(findings), *agree]
    intervals = [_has_its_interval(number) for number in numbers]
    return [
        _counted(
            "rates",
            "Reported numbers follow from the outcomes",
            right,
            "The audit computed the numbers of its findings again from the outcome of each attack.",
        ),
        _counted(
            "intervals",
            "Intervals are as wide as the number of targets requires",
            intervals,
            "The audit compared the intervals in its findings with those of another formula.",
        ),
    ]


def _numbers(part: Measured) -> Iterator[Number]:
    """The numbers of one adversary and attack with one number of facts; those that were not measured are left out."""
    measures, cell = part.measures, part.cell
    outcomes, all_bits = cell.outcomes, math.log2(cell.n_records)
    identified, bits_left = outcomes.identified.mean(axis=1), outcomes.bits_left.mean(axis=1)
    threshold = cell.threshold.strength
    is_claim = outcomes.claim_strength >= threshold
    is_right = np.abs(outcomes.identified - 1.0) < CLOSE
    expected = {
        "identified": ("rate", identified),
        "identified_in_release": ("rate", identified[part.is_present]),
        "in_top": ("rate", outcomes.in_top.mean(axis=1)),
        "correct_claims": ("rate", (is_claim & is_right).mean(axis=1)),
        "wrong_claims": ("rate", (is_claim & ~is_right).mean(axis=1)),
        "absent_claims": ("rate", (outcomes.absent_claim_strength >= threshold).mean(axis=1)),
        "bits_gained": ("mean", all_bits - bits_left),
        "bits_left": ("mean", bits_left),
        "lineup_size": ("median", outcomes.lineup_90[~np.isnan(outcomes.lineup_90)]),
        "revealed": ("mean", outcomes.revealed.mean(axis=1)),
        "revealed_correct": ("mean", outcomes.revealed_correct.mean(axis=1)),
    }
    if outcomes.identified.shape[1] == 1:
        phi = _phi_of_others(cell, part.budget)
        at_budget = ((outcomes.claim_strength[:, 0] >= phi) & is_right[:, 0]).astype(np.float64)
        expected["correct_claims_at_budget"] = ("wider", at_budget)
    for name, (kind, values) in expected.items():
        reported = getattr(measures, name, None)
        if reported is not None:
            value = _middle(values) if kind == "median" else math.fsum(values) / max(len(values), 1)
            yield Number(name, reported, value, kind, values)


def _middle(values: Floats) -> float:
    ordered = sorted(values.tolist())
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _phi_of_others(cell: SimulationCell, budget: float) -> Floats:
    """For each target the threshold that the absent strengths of all others choose within the budget."""
    absent = cell.outcomes.absent_claim_strength[:, 0]
    n, order = len(absent), np.argsort(-absent, kind="stable")
    allowed = max(math.floor(budget * (n + 1) + CLOSE) - 1, 0)
    slack = 0.0 if cell.threshold.by_posterior else 2.0 / max(float(cell.outcomes.candidates.min()), 2.0)
    phi = np.empty(n)
    for place, target in enumerate(order.tolist()):
        others = allowed + 1 if place <= allowed else allowed
        rejected = absent[order[others]] if others < n else -1.0
        phi[target] = np.nextafter(rejected * (1.0 + slack + ROUNDING), np.inf) if rejected >= 0 else 0.0
    return phi


def _summaries(findings: AuditFindings) -> Iterator[bool]:
    """Whether answer, threshold and envelope repeat the numbers of the adversaries."""
    headline = findings.headline
    assert headline is not None
    yield findings.answer.rate == headline.as_named.identified
    if findings.threshold.measured is not None:
        gates = [adversary.as_named for adversary in findings.adversaries if adversary.gate]
        highest = max(measures.identified_in_release.value for measures in gates)
        yield _is_close(findings.threshold.measured.value, highest)
    identified = [
        (measures.facts, measures.identified)
        for adversary in findings.adversaries
        for measures in _all_measures(adversary.as_named, adversary.curve)
    ]
    for point in findings.envelope:
        rates = [rate.value for facts, rate in identified if facts == point.facts]
        yield _is_close(point.identified.value, max(rates))


def _all_measures(as_named: Measures, curve: Sequence[CurvePoint]) -> list[Measures | CurvePoint]:
    return [as_named, *curve]


def _has_its_interval(number: Number) -> bool:
    """Whether an interval is as wide as its number of trials requires, and holds the value."""
    reported, n = number.reported, len(number.values)
    if reported.n != n or not reported.low <= reported.value <= reported.high:
        return False
    if number.kind == "mean":
        return _is_mean_interval(reported, number.values)
    if number.kind == "median":
        return _is_median_interval(reported, number.values)
    if n == 0:
        return (reported.low, reported.high) == (0.0, 1.0)
    exact = number.kind == "rate"
    return _is_rate_end(reported, reported.low, exact) and _is_rate_end(reported, reported.high, exact)


def _is_rate_end(rate: Estimate, end: float, exact: bool) -> bool:
    """Whether the value is Z standard deviations from this end, as computed at the end; or more."""
    distance, allowed = rate.n * (rate.value - end) ** 2, Z * Z * end * (1.0 - end)
    if end in (0.0, 1.0):
        return rate.value == end or not exact
    difference = distance - allowed
    return (abs(difference) if exact else -difference) <= 1e-6 * max(allowed, CLOSE)


def _is_mean_interval(mean: Estimate, values: Floats) -> bool:
    """Whether the interval of a mean is ± t s/√n, with t from its expansion in 1/n."""
    n = len(values)
    if n < 2:
        return not math.isfinite(mean.high) and (mean.low == 0.0 or not math.isfinite(mean.low))
    deviation = math.sqrt(math.fsum((values - math.fsum(values) / n) ** 2) / (n - 1) / n)
    t = Z + (Z**3 + Z) / (4 * (n - 1)) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * (n - 1) ** 2)
    reach, above = (NARROWER * t if n > FEW else Z) * deviation, mean.high - mean.value
    is_high = above >= reach - CLOSE
    widest = max(t / NARROWER if n > FEW else 20.0, 0.0) * deviation + CLOSE
    is_low = mean.value - mean.low >= reach - CLOSE or mean.low == 0.0
    return is_high and is_low and above <= widest


def _is_median_interval(median: Estimate, values: Floats) -> bool:
    """Whether enough values lie on both sides of the ends of a median's interval."""
    outside = len(values) / 2 - Z * math.sqrt(len(values)) / 2 + 1.0
    below, above = np.count_nonzero(values < median.low), np.count_nonzero(values > median.high)
    return bool(below <= max(outside, 0.0) and above <= max(outside, 0.0))


def _is_close(reported: float, expected: float) -> bool:
    return math.isclose(reported, expected, rel_tol=1e-9, abs_tol=CLOSE)


def _counted(name: str, title: str, results: Sequence[bool], explanation: str) -> Check:
    right, n = sum(results), len(results)
    return Check(
        name=name,
        title=title,
        expected=f"{n:,} of {n:,} numbers",
        observed=f"{right:,} of {n:,} numbers",
        passed=right == n,
        explanation=f"{explanation} {'All agree' if right == n else f'{n - right:,} do not agree'}.",
    )


# The cells of the grids once more: from the success of each attack, and from the adversary as named.


def _grid_numbers(findings: ErrorGrids, grids: Sequence[GridRun]) -> Iterator[Number]:
    """Every cell of the findings, and what it should be."""
    for grid, run in zip(findings.grids, grids, strict=True):
        for row, success in zip(grid.rows, run.success, strict=True):
            for column, cell in enumerate(row.cells):
                chosen = _by_halves({name: of[:, column] for name, of in success.items()})
                yield Number("cell of a grid", cell.identified, math.fsum(chosen) / len(chosen), "rate", chosen)


def _by_halves(successes: Mapping[str, Floats]) -> Floats:
    """Success by target: every second target has the attack that is best for the others."""
    chosen = np.zeros(len(next(iter(successes.values()))))
    for half in (0, 1):
        others = {name: math.fsum(success[1 - half :: 2]) for name, success in successes.items()}
        best = max(others, key=lambda name: (others[name], name == LIKELIHOOD))
        chosen[half::2] = successes[best][half::2]
    return chosen


def _own_rows_agree(headline: AdversaryRun, grids: Sequence[GridRun]) -> Iterator[bool]:
    """Whether the row of the adversary's own error repeats what its own attacks achieved.

    They have the same targets with the same facts, but were attacked in another run.
    """
    own = headline.rung.adversary
    for run in grids:
        for level, success in zip(run.levels, run.success, strict=True):
            for part in headline.attacks if level.adversary == own else ():
                cell = headline.named_cell_of(part)
                assert cell is not None
                place = {int(target): at for at, target in enumerate(cell.targets)}
                at = [place[int(target)] for target in run.targets]
                yield bool(np.array_equal(cell.outcomes.identified[at, 0], success[part.name][:, -1]))
