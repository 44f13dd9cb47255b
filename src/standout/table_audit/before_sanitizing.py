"""What the adversaries of an audit identify in the original table, to compare with the sanitized one."""

from dataclasses import replace

from standout.core.progress import Progress
from standout.findings.before_after import AdversaryBeforeAfter, Successes, compare_before_after
from standout.table_audit.table_runs import TablePlan, TableRun, strongest_verdicts

__all__ = ["attack_original_table"]


def attack_original_table(plan: TablePlan, run: TableRun, progress: Progress) -> AdversaryBeforeAfter:
    """Attack the original table with the same targets and facts as the sanitized one.

    The attack is the strongest on the original, chosen on other targets, as it is for the sanitized table.
    """
    before_plan = replace(plan, table=plan.original)
    name, before = strongest_verdicts(before_plan, run.rung.known, run.facts, progress)
    after = run.strongest.simulation.verdicts
    return compare_before_after(
        run.rung.name,
        Successes(attack=name, success=before.found, baseline=1 / before.candidates),
        Successes(attack=run.strongest.name, success=after.found, baseline=1 / after.candidates),
        run.strongest.is_present,
    )
