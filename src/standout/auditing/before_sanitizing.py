"""What the adversaries of an audit identify in the original, to compare with the sanitized release."""

from dataclasses import replace

from standout.auditing.adversary_runs import AdversaryRun, AuditPlan, strongest_attack
from standout.core.progress import Progress
from standout.evaluate.cell import SimulationCell
from standout.findings.before_after import AdversaryBeforeAfter, Successes, compare_before_after

__all__ = ["attack_original"]


def attack_original(plan: AuditPlan, run: AdversaryRun, progress: Progress) -> AdversaryBeforeAfter:
    """Attack the original with the same targets and facts as the sanitized release.

    The attack is the strongest on the original, chosen on other targets, as it is for the release.
    """
    after, adversary = run.named_cell, run.rung.adversary
    assert after is not None
    before_plan = replace(plan, release=plan.people.original)
    name, attack = strongest_attack(before_plan, adversary)
    simulation = before_plan.simulate(attack, adversary, [adversary.knows], progress, absent=False)
    if not simulation.complete:
        raise KeyboardInterrupt
    before = simulation.cells[0]
    assert (before.targets == after.targets).all()
    return compare_before_after(
        run.rung.name,
        _successes(name, before),
        _successes(run.strongest.name, after),
        plan.people.record_of(after.targets) >= 0,
    )


def _successes(attack: str, cell: SimulationCell) -> Successes:
    return Successes(
        attack=attack, success=cell.outcomes.identified.mean(axis=1), baseline=1 / cell.n_records
    )
