"""Findings of an audit together with the checks of their numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from standout.auditing import sentences
from standout.auditing.findings_checks import Measured, check_findings
from standout.auditing.grids import GridRun, grid_numbers, own_rows_agree
from standout.auditing.run_checks import CheckedRun
from standout.auditing.runs import AdversaryRun
from standout.evaluate.targets import Population
from standout.findings.adversaries import CurvePoint, Measures
from standout.findings.audit import AuditFindings, Trust

__all__ = ["checked_findings", "runs_to_check"]


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
    in_grids, own_rows = grid_numbers(findings.error_grids, grids), own_rows_agree(headline_run, grids)
    checks = (*findings.trust.checks, *check_findings(findings, measured, [*in_grids], [*own_rows]))
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
