"""Checks of the numbers in the findings, which must follow from the outcomes.

Everything is computed a second time from the outcomes, by other formulas than those of `estimates`: the ends
of the interval of a rate are inserted into the equation that defines them, and the interval of a mean uses
an expansion of Student's quantile. Classes of rows are counted a second time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from standout.auditing import sentences
from standout.auditing.runs import AdversaryRun, AuditPlan, GridRun
from standout.core.arrays import Bools, Floats
from standout.evaluate.compare import LIKELIHOOD
from standout.evaluate.estimates import Estimate, percent
from standout.evaluate.simulation import SimulationCell
from standout.findings.audit import AuditFindings, Check, Trust
from standout.findings.sections import Classes, CurvePoint, Measures

Z = 1.959963984540054
"""A normal variable lies within ± Z with probability 0.95."""
CLOSE = 1e-9
NARROWER = 0.97
"""The interval of a mean may be this much narrower than the approximate formula says."""
FEW = 5
"""With fewer degrees of freedom the approximate formula is useless."""
ROUNDING = 1e-5
"""Relative difference up to which two eccentricities may come from the same scores."""


class Number(NamedTuple):
    """A number of the findings, what it should be, and what its interval is made from."""

    reported: Estimate
    expected: float
    kind: str
    values: Floats


def checked_findings(
    findings: AuditFindings, plan: AuditPlan, runs: Mapping[str, AdversaryRun], grids: Sequence[GridRun]
) -> AuditFindings:
    """The findings, after a check that their numbers follow from the outcomes of the attacks."""
    numbers: list[Number] = []
    for adversary in findings.adversaries:
        parts, strongest = {part.name: part for part in runs[adversary.name].attacks}, adversary.attacks[0]
        assert (strongest.as_named, strongest.curve) == (adversary.as_named, adversary.curve)
        for attack in adversary.attacks:
            part = parts[attack.name]
            assert part.cell is not None
            every: list[Measures | CurvePoint] = [attack.as_named, *attack.curve]
            for measures, cell in zip(every, [part.cell, *part.curve, *part.further], strict=True):
                numbers += _numbers(measures, cell, plan.people.record_of(cell.targets) >= 0, findings.settings.budget)
    if findings.error_grids is not None:
        for grid, run in zip(findings.error_grids.grids, grids, strict=True):
            for row, success in zip(grid.rows, run.success, strict=True):
                for column, point in enumerate(row.cells):
                    chosen = _by_halves({name: of[:, column] for name, of in success.items()})
                    numbers.append(Number(point.identified, math.fsum(chosen) / len(chosen), "rate", chosen))
    right = [_is_close(number.reported.value, number.expected) for number in numbers]
    right += [*_summaries(findings), *_own_rows_agree(runs[findings.answer.adversary], grids)]
    checks = [
        *findings.trust.checks,
        _counted(
            "rates",
            "Reported numbers follow from the outcomes",
            right,
            "The audit computed the numbers of its findings again from the outcome of each attack.",
        ),
        _counted(
            "intervals",
            "Intervals are as wide as the number of targets requires",
            [_has_its_interval(number) for number in numbers],
            "The audit compared the intervals in its findings with those of another formula.",
        ),
        *([] if findings.classes is None else [_check_classes(findings.classes, plan)]),
    ]
    trusted = findings.trust.trusted and all(check.passed for check in checks)
    verdict = sentences.verdict(findings, trusted)
    return replace(findings, trust=Trust(trusted=trusted, checks=tuple(checks)), verdict=verdict)


def _numbers(
    measures: Measures | CurvePoint, cell: SimulationCell, is_present: Bools, budget: float
) -> Iterator[Number]:
    """The numbers of one adversary and attack with one number of facts; those that were not measured are left out."""
    outcomes, all_bits = cell.outcomes, math.log2(cell.n_records)
    identified, bits_left = outcomes.identified.mean(axis=1), outcomes.bits_left.mean(axis=1)
    threshold = cell.threshold.strength
    is_claim = outcomes.claim_strength >= threshold
    is_right = np.abs(outcomes.identified - 1.0) < CLOSE
    expected = {
        "identified": ("rate", identified),
        "identified_in_release": ("rate", identified[is_present]),
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
        phi = _phi_of_others(cell, budget)
        at_budget = ((outcomes.claim_strength[:, 0] >= phi) & is_right[:, 0]).astype(np.float64)
        expected["correct_claims_at_budget"] = ("wider", at_budget)
    for name, (kind, values) in expected.items():
        reported = getattr(measures, name, None)
        if reported is not None:
            value = math.fsum(values) / max(len(values), 1)
            if kind == "median":
                ordered = sorted(values.tolist())
                value = float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
            yield Number(reported, value, kind, values)


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
    rates: dict[int, list[float]] = {}
    for adversary in findings.adversaries:
        points: list[Measures | CurvePoint] = [adversary.as_named, *adversary.curve]
        for each in points:
            rates.setdefault(each.facts, []).append(each.identified.value)
    for point in findings.envelope:
        yield _is_close(point.identified.value, max(rates[point.facts]))


def _by_halves(successes: Mapping[str, Floats]) -> Floats:
    """Success by target: every second target has the attack that is best for the others."""
    chosen = np.zeros(len(next(iter(successes.values()))))
    for half in (0, 1):
        others = {name: math.fsum(success[1 - half :: 2]) for name, success in successes.items()}
        best = max(others, key=lambda name: (others[name], name == LIKELIHOOD))
        chosen[half::2] = successes[best][half::2]
    return chosen


def _own_rows_agree(headline: AdversaryRun, grids: Sequence[GridRun]) -> Iterator[bool]:
    """Whether the row of the adversary's own error in a grid repeats what its own attacks achieved.

    They have the same targets with the same facts, but were attacked in another run.
    """
    for run in grids:
        for level, success in zip(run.levels, run.success, strict=True):
            for part in headline.attacks if level.adversary == headline.rung.adversary else ():
                assert part.cell is not None
                place = {int(target): at for at, target in enumerate(part.cell.targets)}
                at = [place[int(target)] for target in run.targets]
                yield bool(np.array_equal(part.cell.outcomes.identified[at, 0], success[part.name][:, -1]))


def _has_its_interval(number: Number) -> bool:
    """Whether an interval is as wide as its number of trials requires, and holds the value."""
    reported, n = number.reported, len(number.values)
    if reported.n != n or not reported.low <= reported.value <= reported.high:
        return False
    if number.kind == "mean":
        return _is_mean_interval(reported, number.values)
    if number.kind == "median":  # enough values lie on both sides of the ends
        outside = max(n / 2 - Z * math.sqrt(n) / 2 + 1.0, 0.0)
        below, above = np.count_nonzero(number.values < reported.low), np.count_nonzero(number.values > reported.high)
        return bool(below <= outside and above <= outside)
    if n == 0:
        return (reported.low, reported.high) == (0.0, 1.0)
    for end in (reported.low, reported.high):  # the value is Z standard deviations from it, as computed there; or more
        exact, allowed = number.kind == "rate", Z * Z * end * (1.0 - end)
        difference = n * (reported.value - end) ** 2 - allowed
        if end in (0.0, 1.0):
            is_end = reported.value == end or not exact
        else:
            is_end = (abs(difference) if exact else -difference) <= 1e-6 * max(allowed, CLOSE)
        if not is_end:
            return False
    return True


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


def _check_classes(reported: Classes, plan: AuditPlan) -> Check:
    """k, unique rows and classes, counted again by another library."""
    cells, n = list[pl.Series](), plan.release.n_records
    for column in map(plan.release.column, reported.columns):
        codes = pl.Series(column.name, column.codes)
        if column.starts is not None:  # a set is its members, one after the other
            owner = pl.Series(np.repeat(np.arange(n), np.diff(column.starts)))
            members = pl.DataFrame({"row": owner, "code": codes}).group_by("row").agg("code")
            codes = pl.DataFrame({"row": np.arange(n)}).join(members, "row", "left", maintain_order="left")["code"]
            codes = codes.list.eval(pl.element().cast(pl.String)).list.join(" ").alias(column.name)
        cells.append(codes)
    sizes = pl.DataFrame(cells).group_by(pl.all()).len()["len"].to_numpy()
    unique, k, classes = float((sizes == 1).sum()) / n, int(sizes.min()), len(sizes)
    is_equal = math.isclose(reported.unique, unique, abs_tol=1e-12) and (reported.k, reported.classes) == (k, classes)
    return Check(
        name="classes",
        title="Classes are counted correctly",
        expected=f"k = {reported.k:,}, {reported.classes:,} classes, {percent(reported.unique)} unique",
        observed=f"k = {k:,}, {classes:,} classes, {percent(unique)} unique",
        passed=is_equal and sum(band.rows for band in reported.sizes) == n,
        explanation="Rows with equal quasi-identifiers were counted a second time, by comparing their cells.",
    )
