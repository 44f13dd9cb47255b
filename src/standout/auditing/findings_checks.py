"""Checks of the numbers in the findings: they must follow from the outcomes, and so must their intervals.

Everything is computed a second time from the outcomes, by other formulas than those of `estimates`: the ends
of the interval of a rate are inserted into the equation that defines them, and the interval of a mean uses
an expansion of Student's quantile.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Bools, Floats
from standout.evaluate.cell import SimulationCell
from standout.evaluate.estimates import Estimate
from standout.findings.adversaries import CurvePoint, Measures
from standout.findings.audit import AuditFindings, Check

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


def check_findings(
    findings: AuditFindings, measured: Sequence[Measured], further: Sequence[Number] = (), agree: Sequence[bool] = ()
) -> list[Check]:
    """Check the numbers of the findings and their intervals.

    Parameters
    ----------
    findings
        What the audit reports.
    measured
        The measures of every adversary and attack with the outcomes that they summarise.
    further
        Further numbers of the findings.
    agree
        Whether other results that must be the same are.

    Returns
    -------
    list of Check
        The checks "rates" and "intervals".
    """
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


def rate_number(name: str, reported: Estimate, successes: Floats) -> Number:
    """A rate of the findings, and what it should be by the success of each trial."""
    return Number(name, reported, math.fsum(successes) / max(len(successes), 1), "rate", successes)


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
