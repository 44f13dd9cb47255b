"""The audit: how many people adversaries identify, who is exposed, and what is learned."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

from standout.attack.any_attack import AnyAttack
from standout.attack.eccentricity import check_phi
from standout.auditing.adversary_runs import AdversaryRun, AuditPlan, run_adversary
from standout.auditing.assemble_findings import AuditRequest, AuditResults, assemble_findings
from standout.auditing.audit_parameters import (
    fact_counts,
    is_share,
    only_attack,
    only_for_releases,
    only_for_tables,
    own_attacks,
)
from standout.auditing.audit_result import Audit
from standout.auditing.before_sanitizing import attack_original
from standout.auditing.checked_findings import checked_findings, runs_to_check
from standout.auditing.error_grids import GridRun, measure_grids
from standout.auditing.ladder import FittedLadder, LadderSource, fit_ladder, resolve_ladder
from standout.auditing.run_checks import check_runs
from standout.auditing.selfcheck import SelfCheck
from standout.auditing.sensitive import read_sensitive_list
from standout.auditing.theory_section import measure_sparsity
from standout.cluster.on_client import on_client
from standout.core.atomic_files import make_folder
from standout.core.checks import positive_share, whole_number
from standout.core.errors import ParameterError
from standout.core.foreign_text import printable
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.threads import thread_count
from standout.evaluate.population import Population
from standout.findings.audit import Check
from standout.findings.before_after import AdversaryBeforeAfter
from standout.ingest.as_release import as_release
from standout.ingest.unused_columns import PYTHON, require_no_overlooked
from standout.release.model import Release
from standout.table_audit.audit_table import TableAudit, audit_table
from standout.table_audit.table_ladder import TableLadderSource
from standout.tables.model import Table
from standout.tables.read_table import read_table
from standout.theory.sparsity import Sparsity

__all__ = ["Audit", "audit"]

QUICK_TARGETS, TOP = 200, 10
CHECKS_COST, SPARSITY_COST, ADVERSARY_COST, GRIDS_COST = 0.3, 0.3, 1.0, 0.3
"""Approximate relative costs of the parts of an audit, for its progress."""
ORIGINAL_COST = 0.5
"""The same for one adversary on the original of a sanitized release."""


@overload
def audit(release: Table, **settings: Any) -> TableAudit: ...


@overload
def audit(release: Any, *, table: Literal[True], **settings: Any) -> TableAudit: ...


@overload
def audit(
    release: Any,
    *,
    table: Literal[False] = ...,
    ladder: LadderSource = ...,
    headline: str | None = ...,
    targets: int = ...,
    facts: Sequence[int] | None = ...,
    attacks: Mapping[str, AnyAttack] | Sequence[AnyAttack] | None = ...,
    attack: str | AnyAttack | None = ...,
    phi: float = ...,
    posterior: float = ...,
    budget: float = ...,
    fail_above: float | None = ...,
    sensitive: str | Path | None = ...,
    quick: bool = ...,
    name: str = ...,
    seed: int = ...,
    threads: int | None = ...,
    progress: ProgressOption = ...,
    work: str | Path | None = ...,
    client: Any = ...,
) -> Audit: ...


@with_progress  # type: ignore[misc]
@on_client
def audit(
    release: Release | Table | Any,
    *,
    table: bool = False,
    ladder: LadderSource | TableLadderSource = None,
    headline: str | None = None,
    targets: int = 1000,
    facts: Sequence[int] | None = None,
    attacks: Mapping[str, AnyAttack] | Sequence[AnyAttack] | None = None,
    attack: str | AnyAttack | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive_columns: Sequence[str] | None = None,
    population: int | None = None,
    phi: float = 1.5,
    posterior: float = 0.95,
    budget: float = 0.01,
    fail_above: float | None = None,
    sensitive: str | Path | None = None,
    quick: bool = False,
    name: str = "",
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = no_progress,
    work: str | Path | None = None,
    client: Any = None,
) -> Audit | TableAudit:
    """Audit a release: how many people adversaries identify, what they learn, and how certain this is.

    Each adversary attacks targets whose records are known, with the paper's attack [Algorithm 1B] and with
    `Likelihood`. The stronger one counts; it is chosen on other targets. If the release was sanitized
    (`standout.sanitize`), targets and known facts come from the original; sparsity and the theorems are about
    the release itself. Ctrl-C ends the audit with the results so far, and `complete` is False.

    Parameters
    ----------
    release : Release, Table, path or frame
        The data that would be published. A path or frame is read with the default options of `standout.read`.
    table : bool
        Whether a path or frame is a table with one row per person; it is then read with
        `standout.read_table`.
    ladder : str, Path or mapping, optional
        The adversaries: a TOML file (docs/ladder.toml; docs/table-ladder.toml for tables) or adversaries by
        name. Default: the five of the default ladder.
    headline : str, optional
        Name of the adversary that the answer is about. Default: acquaintance.
    targets : int
        Largest number of targets for each adversary.
    facts : sequence of int, optional
        Numbers of known facts in the curves; of a table, of known attributes. A curve ends where fewer than
        half of the records have enough.
    attacks : mapping or sequence, optional
        Attacks of your own, by name or several. The strongest of these and the built-in ones counts.
    attack : str or an attack, optional
        The only attack to try: "paper", "likelihood", a name of `attacks`, or an attack. Default: all of
        them, and the strongest counts.
    quasi_identifiers, sensitive_columns : sequence of str, optional
        Of a table: columns that others may know, and columns that must not be learned. Default: by their
        roles.
    population : int, optional
        Of a table: number of people of whom it is a sample.
    phi : float
        Minimum eccentricity for a claim of the paper's attack.
    posterior : float
        Minimum posterior for a claim of Likelihood.
    budget : float
        Largest share of absent targets that may be claimed; decides `threshold_at_budget`.
    fail_above : float, optional
        Largest acceptable share of identified people; decides `Audit.exceeded`. Overlooked columns are then
        an error: name them when you read the data, or waive them with `ignore`.
    sensitive : str or Path, optional
        A file of sensitive items: the audit reports how many people would have one revealed.
    quick : bool
        Use fewer targets and facts.
    name : str
        Name of the data in the report.
    seed : int
        Seed of all random draws. The same seed gives the same findings.
    threads : int, optional
        Number of threads. Default: all processors. It changes no result.
    progress : bool or callable, optional
        True shows a bar; a function is called with (stage, done, total).
    work : str or Path, optional
        Folder for checkpoints. An interrupted audit resumes from there.
    client : distributed.Client, optional
        Its workers attack slices of the targets, if the release is an open index that they can read at the
        same path. It changes no result. Default: threads of this process.

    Returns
    -------
    Audit or TableAudit
        Findings, report and tables.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or no adversary applies to the release.
    SourceError
        If the ladder or the list of sensitive items cannot be read.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=30, items=40, entries=400, seed=7)
    >>> result = audit(release, targets=6, facts=[2])
    >>> result.findings.answer.sentence
    'An acquaintance who knows 8 facts about a person, 2 of them wrong, identifies ...'
    >>> result.trusted, result.exceeded
    (True, None)
    """
    if table or isinstance(release, Table):
        only_for_releases({"attacks": attacks, "attack": attack, "sensitive": sensitive, "work": work})
        return audit_table(
            release if isinstance(release, Table) else read_table(release),
            ladder=ladder,  # type: ignore[arg-type]
            headline=headline,
            targets=targets,
            facts=facts,
            quasi_identifiers=quasi_identifiers,
            sensitive_columns=sensitive_columns,
            population=population,
            phi=phi,
            posterior=posterior,
            budget=budget,
            fail_above=fail_above,
            quick=quick,
            name=name,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    only_for_tables(
        {
            "quasi_identifiers": quasi_identifiers,
            "sensitive_columns": sensitive_columns,
            "population": population,
        }
    )
    release = as_release(release)
    resolved = resolve_ladder(ladder, headline)  # type: ignore[arg-type]
    if fail_above is not None and not is_share(fail_above):
        raise ParameterError(f"fail_above must be a number from 0 to 1, got {fail_above!r}")
    if fail_above is not None:
        require_no_overlooked(release.provenance, PYTHON)
    if not is_share(budget) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    targets = whole_number("targets", targets, 1)
    truth = Population.of(release.check()).original.check()
    fitted = fit_ladder(resolved, truth)
    if fail_above is not None and not any(rung.gate for rung in fitted.rungs):
        raise ParameterError(
            "fail_above must have an adversary that counts for the threshold: set gate = true in the ladder"
        )
    named_attacks = own_attacks(attacks, work is not None)
    plan = AuditPlan(
        release=release,
        targets=min(targets, QUICK_TARGETS) if quick else targets,
        facts=fact_counts(facts, quick),
        phi=check_phi(phi),
        posterior=positive_share("posterior", posterior),
        budget=float(budget),
        top=TOP,
        seed=check_seed(seed),
        threads=thread_count(threads),
        work=None if work is None else make_folder(Path(work), private=True),
        own_attacks=named_attacks,
        only=only_attack(attack, named_attacks),
    )
    request = AuditRequest(
        plan=plan,
        headline=fitted.headline,
        ladder=resolved.source,
        quick=bool(quick),
        fail_above=None if fail_above is None else float(fail_above),
        name=printable(str(name)),
        limits=(*fitted.limits, *plan.limits),
        sensitive=None if sensitive is None else read_sensitive_list(sensitive, truth),
    )
    results = _run(request, fitted, progress)
    return Audit(
        release,
        checked_findings(assemble_findings(request, results), results.runs, results.grids or (), plan.people),
        {rung.name: rung.adversary for rung in fitted.rungs},
        results.complete,
        plan.seed,
        plan.threads,
        {run.rung.name: run.strongest.attack for run in results.runs},
    )


def _run(request: AuditRequest, fitted: FittedLadder, progress: Progress) -> AuditResults:
    """Run the self-check, the headline adversary, the others, the grids and the nearest-neighbour search.

    An interruption before the first result of the headline adversary is raised again.
    """
    plan = request.plan
    order = sorted(fitted.rungs, key=lambda rung: rung.name != request.headline)
    cost = CHECKS_COST + ADVERSARY_COST * len(order) + GRIDS_COST + SPARSITY_COST
    meter = ProgressMeter("auditing", cost, progress)
    checks: list[Check] = []
    runs: dict[str, AdversaryRun] = {}
    grids: tuple[GridRun, ...] | None = None
    nearest: Sparsity | None = None
    try:
        with meter.part(CHECKS_COST):
            selfcheck = SelfCheck.of(plan.release, order[0], plan.budget, plan.seed, plan.threads)
            checks = selfcheck.run(meter)
        for rung in order:
            with meter.part(ADVERSARY_COST):
                runs[rung.name] = run_adversary(plan, rung, meter)
            if not runs[rung.name].complete:
                raise KeyboardInterrupt
        checks += check_runs(plan.release, runs_to_check([*runs.values()], request.headline), plan.threads)
        with meter.part(GRIDS_COST):
            grids = measure_grids(plan, runs[request.headline], meter)
        with meter.part(SPARSITY_COST):
            simulation = runs[request.headline].as_named
            assert simulation is not None
            nearest = measure_sparsity(
                plan.release,
                simulation.criteria.similarity,
                quick=request.quick,
                seed=plan.seed,
                threads=plan.threads,
                progress=meter,
            )
    except KeyboardInterrupt:
        if request.headline not in runs or runs[request.headline].named_cell is None:
            raise
    finished = [runs[rung.name] for rung in fitted.rungs if rung.name in runs]
    before, before_complete = _attack_original(plan, finished, progress) if nearest else ([], False)
    return AuditResults(
        runs=finished, checks=checks, grids=grids, sparsity=nearest, before=before, complete=before_complete
    )


def _attack_original(
    plan: AuditPlan, runs: Sequence[AdversaryRun], progress: Progress
) -> tuple[list[AdversaryBeforeAfter], bool]:
    """Each adversary on the original of a sanitized release, and whether no attack was interrupted."""
    comparisons: list[AdversaryBeforeAfter] = []
    if plan.people.is_sanitized:
        meter = ProgressMeter("attacking the original", ORIGINAL_COST * len(runs), progress)
        try:
            for run in runs:
                with meter.part(ORIGINAL_COST):
                    comparisons.append(attack_original(plan, run, meter))
        except KeyboardInterrupt:
            return comparisons, False
    return comparisons, True
