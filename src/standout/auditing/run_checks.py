"""Checks of what the audit reports about each target: the facts, the outcome, the outcome if absent.

Some targets of every adversary and attack are attacked a second time with the reference implementation, with
the same facts. For absent targets, the release is really rebuilt without their records.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from standout.adversary import Adversary
from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.fact_checks import check_facts
from standout.auditing.recomputed import Recomputation, Reported, can_recompute, without_record
from standout.auditing.recomputed_likelihood import has_reference
from standout.core.arrays import Ints
from standout.core.progress import no_progress
from standout.core.threads import run_in_slices
from standout.evaluate.candidate_attacks import LIKELIHOOD, PAPER
from standout.evaluate.cell import SimulationCell
from standout.evaluate.population import Population
from standout.evaluate.simulation import Simulation
from standout.facts import KnownFacts
from standout.findings.audit import Check
from standout.release.model import Release

__all__ = ["CheckedRun", "check_runs"]

TARGETS, ABSENT = 20, 4
"""Number of targets of the headline adversary that are attacked again, present and absent."""
FEW_TARGETS, FEW_ABSENT = 4, 1
"""The same for the other adversaries."""
READ = 2_000_000
"""About this many entries are read again for one Bayesian attack, at most, or a few targets more."""
MOST_ENTRIES = 2_000_000
"""A larger release is not rebuilt: the record is left out of the reference implementation's sums instead."""
RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""Accepted differences: kernels compute σ and sums of probabilities in single precision."""
ABSENT_SLACK = 50.0
"""More is accepted of the Bayesian attack on absent targets: entries without a value count as the average of
the release, and that is taken before the record is removed."""


@dataclass(frozen=True, eq=False, slots=True)
class CheckedRun:
    """One attack of one adversary, by the name that the findings give it, and its outcomes."""

    adversary: Adversary
    name: str
    attack: AnyAttack
    simulation: Simulation
    is_headline: bool

    @property
    def cell(self) -> SimulationCell:
        """The outcomes with most facts."""
        return max(self.simulation.cells, key=lambda cell: cell.facts)

    @property
    def named_attack(self) -> AnyAttack:
        """The attack that the name promises, with the errors of the adversary."""
        built_in: dict[str, AnyAttack] = {PAPER: ScoreboardRH(), LIKELIHOOD: Likelihood()}
        return fit_attack(built_in.get(self.name, self.attack), self.adversary)


def check_runs(release: Release, runs: Sequence[CheckedRun], threads: int | None = None) -> list[Check]:
    """Check the outcomes of attacks, as the audit reports them.

    Parameters
    ----------
    release
        The release that was attacked.
    runs
        Attacks and their outcomes. For each, the cell with most facts is checked.
    threads
        Number of threads; default: all cores.

    Returns
    -------
    list of Check
        The checks "facts", "outcomes" and "absence"; nothing if there are no outcomes.
    """
    runs = [run for run in runs if run.simulation.cells]
    if not runs:
        return []
    agreements = [_Comparison(release, run, threads) for run in runs]
    names = " and ".join(dict.fromkeys(run.name for run in runs))
    return [
        _facts(release, runs),
        _agreement(
            "outcomes",
            "Outcomes are correct",
            [comparison.outcomes() for comparison in agreements],
            f"The audit attacked some targets of every adversary again ({names}), with a second, simpler "
            "implementation. Best guess, lineup, strength of the claim and bits",
        ),
        _agreement(
            "absence",
            "Absent targets are really absent",
            [comparison.absence() for comparison in agreements],
            "The audit removed the records of some targets from the release, one at a time, and attacked the "
            "rest with a second, simpler implementation. The strengths of the claims",
        ),
    ]


def _facts(release: Release, runs: Sequence[CheckedRun]) -> Check:
    """The facts of all adversaries as one check; that of the first failure, if any."""
    adversaries = {run.adversary.key(): run for run in reversed(runs)}
    checks = [
        check_facts(Population.of(release).original, run.adversary, run.cell.targets, run.simulation.seed)
        for run in adversaries.values()
    ]
    failed = [check for check in checks if not check.passed]
    if failed or len(checks) == 1:
        return (failed or checks)[0]
    n = len(checks)
    return replace(
        checks[-1],
        expected=f"{n} of {n} adversaries",
        observed=f"{n} of {n} adversaries",
        explanation=(
            f"The audit compared the known facts of {n} adversaries with the records of the people they are "
            "about. As many are wrong as stated, and right ones are within the stated errors."
        ),
    )


class _Agreement(NamedTuple):
    """How many outcomes agree, and of how many."""

    agreeing: int = 0
    n: int = 0


@dataclass(frozen=True, eq=False)
class _Comparison:
    """One attack of one adversary, and a second implementation of it."""

    release: Release
    run: CheckedRun
    threads: int | None

    @property
    def people(self) -> Population:
        """The people among whom the targets are."""
        return Population.of(self.release)

    def outcomes(self) -> _Agreement:
        """Compare the outcomes of some targets."""
        attack = self.run.named_attack
        if not can_recompute(attack):
            return _Agreement()
        chosen = self._sample(TARGETS if self.run.is_headline else FEW_TARGETS)
        top, known = self.run.simulation.criteria.top, self._known(chosen)
        again = Recomputation(self.release, attack, known, top)
        records = self.people.record_of(self.run.cell.targets[chosen])
        return self._count(
            lambda q: _agree(self._reported(int(chosen[q])), again.outcomes(q, int(records[q]))), len(chosen)
        )

    def _count(self, agrees: Callable[[int], bool], n: int) -> _Agreement:
        """How many of n outcomes agree, each computed again on one of several threads."""
        agreeing = np.zeros(n, np.bool_)

        def work_on(low: int, high: int, _: None) -> None:
            for q in range(low, high):
                agreeing[q] = agrees(q)

        run_in_slices(n, self.threads, lambda: None, work_on, no_progress)
        return _Agreement(int(agreeing.sum()), n)

    def absence(self) -> _Agreement:
        """Compare the strengths of claims about some absent targets."""
        attack, is_bayesian = self.run.named_attack, isinstance(self.run.named_attack, Likelihood)
        is_covered = has_reference(attack, self.release) if is_bayesian else can_recompute(attack)
        if not is_covered or not self.run.simulation.criteria.absent or self.release.n_records < 2:
            return _Agreement()
        chosen = self._sample(ABSENT if self.run.is_headline else FEW_ABSENT)
        known, records = self._known(chosen), self.people.record_of(self.run.cell.targets[chosen])
        rebuilds = isinstance(attack, ScoreboardRH) and self.release.n_entries <= MOST_ENTRIES
        whole = Recomputation(self.release, attack, known, 1)
        slack = ABSENT_SLACK if is_bayesian else 1.0

        def agrees(q: int) -> bool:
            again, removed = whole, int(records[q])
            if rebuilds and removed >= 0:
                release, facts = without_record(self.release, known, removed)
                again, removed = Recomputation(release, attack, facts, 1), -1
            strength = float(self.run.cell.outcomes.absent_claim_strength[chosen[q], 0])
            results = again.outcomes(q, -1, removed)
            return any(_is_close(strength, result.claim_strength, slack) for result in results)

        return self._count(agrees, len(chosen))

    def _sample(self, count: int) -> Ints:
        """Targets spread over the whole run; fewer if a large release is read as a whole for each."""
        if has_reference(self.run.named_attack, self.release):
            count = min(count, max(FEW_TARGETS, READ // self.release.n_entries))
        n = len(self.run.cell.outcomes)
        return np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int64))

    def _known(self, chosen: Ints) -> KnownFacts:
        """The first known facts of each of these targets, as many as the cell is about."""
        run, cell = self.run, self.run.cell
        known = self.people.known_facts(run.adversary, cell.targets[chosen], run.simulation.seed)
        counts = np.minimum(np.diff(known.first), cell.facts)
        first = np.append(0, np.cumsum(counts))
        fact = np.arange(first[-1]) + np.repeat(known.first[:-1] - first[:-1], counts)
        return known.select(np.arange(len(chosen)), fact, first)

    def _reported(self, target: int) -> Reported:
        outcomes = self.run.cell.outcomes
        return Reported(*(float(getattr(outcomes, name)[target, 0]) for name in Reported._fields))


def _agree(reported: Reported, results: Iterable[Reported]) -> bool:
    return any(all(_is_close(a, b) for a, b in zip(reported, result, strict=True)) for result in results)


def _is_close(reported: float, expected: float, slack: float = 1.0) -> bool:
    return math.isclose(reported, expected, rel_tol=slack * RELATIVE, abs_tol=slack * ABSOLUTE)


def _agreement(name: str, title: str, parts: Sequence[_Agreement], explanation: str) -> Check:
    agreeing, n = sum(part.agreeing for part in parts), sum(part.n for part in parts)
    expected, observed = f"{n} of {n}", f"{agreeing} of {n}"
    text = f"{explanation} {'agree' if agreeing == n else 'do not agree'}."
    if not n:
        expected = observed = "not checked: there is no second implementation"
        text = "There is no second implementation of these attacks."
    elif not all(part.n for part in parts):
        text += " Some attacks were not checked, because there is no second implementation for them."
    return Check(
        name=name, title=title, expected=expected, observed=observed, passed=agreeing == n, explanation=text
    )
