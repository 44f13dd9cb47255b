"""The audit: how many people adversaries identify, who is exposed, and what is learned."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from standout.attack.any_attack import AnyAttack, attacks_by_name, check_attack, checkpoint_key
from standout.attack.eccentricity import check_phi
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.assemble_findings import AuditRequest, AuditResults, assemble_findings
from standout.auditing.audit_table import audit_table
from standout.auditing.checked_findings import checked_findings, runs_to_check
from standout.auditing.exposure import read_sensitive_list
from standout.auditing.grids import GridRun, measure_grids
from standout.auditing.ladder import FittedLadder, LadderSource, fit_ladder, resolve_ladder
from standout.auditing.risk_table import risk_table
from standout.auditing.run_checks import check_runs
from standout.auditing.runs import AdversaryRun, AuditPlan, attack_original, run_adversary
from standout.auditing.selfcheck import SelfCheck
from standout.auditing.theory_section import measure_sparsity
from standout.cluster.workers import on_client
from standout.core.errors import ParameterError, did_you_mean, not_one_of, positive_share, whole_number
from standout.core.files import make_folder
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER
from standout.evaluate.targets import Population
from standout.findings.adversaries import AdversaryBeforeAfter
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings, Check
from standout.ingest.diagnosis import PYTHON, require_no_overlooked
from standout.ingest.read import as_release, read
from standout.know.adversary import Adversary
from standout.measure.sparsity import Sparsity
from standout.report.audit_output import AuditOutput

__all__ = [
    "Audit",
    "audit",
    "fact_counts",
    "is_share",
    "only_attack",
    "only_for_releases",
    "only_for_tables",
    "own_attacks",
]

# Checks of an audit's parameters.


FACTS, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8)
MOST_FACTS = 1000


def fact_counts(facts: Sequence[int] | None, quick: bool) -> tuple[int, ...]:
    """The numbers of facts in the curves, ascending."""
    if facts is None:
        return QUICK_FACTS if quick else FACTS
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError(f"facts must be a list of whole numbers such as [1, 2, 4, 8], got {facts!r}")
    counts = tuple(sorted({whole_number("facts", count, 1) for count in facts}))
    if counts[-1] > MOST_FACTS:
        raise ParameterError(f"facts must be at most {MOST_FACTS:,}, got {counts[-1]:,}")
    return counts


def is_share(number: Any) -> bool:
    """Whether a parameter is a number from 0 to 1."""
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and math.isfinite(number) and 0 <= number <= 1


def own_attacks(attacks: Any, has_checkpoints: bool) -> dict[str, AnyAttack]:
    """Attacks of the user's own by name. The names of the two built-in ones stay theirs.

    With checkpoints every attack needs a key, whether or not it turns out to be the strongest.
    """
    named = {} if attacks is None else attacks_by_name(attacks)
    for name, kind in ((PAPER, ScoreboardRH), (LIKELIHOOD, Likelihood)):
        if name in named and not isinstance(named[name], kind):
            raise ParameterError(
                f"attacks may name only a {kind.__name__} {name!r}, got a {type(named[name]).__name__}; "
                "choose another name"
            )
    for attack in named.values() if has_checkpoints else ():
        checkpoint_key(attack, "work")
    return named


def only_attack(attack: Any, own_attacks: Mapping[str, AnyAttack]) -> str | AnyAttack | None:
    """The one attack to try, or its name; None: all."""
    if not isinstance(attack, str):
        return None if attack is None else check_attack(attack)
    names = (PAPER, LIKELIHOOD, *own_attacks)
    if attack not in names:
        raise ParameterError(
            f"attack must be one of {', '.join(names)}, or an attack, got {attack!r}{did_you_mean(attack, names)}"
        )
    return attack


def only_for_releases(parameters: Mapping[str, Any]) -> None:
    """Reject parameters that an audit of a table does not have."""
    for name, value in parameters.items():
        if value is not None:
            raise ParameterError(f"{name} must be None for a table: it is for histories only")


def only_for_tables(parameters: Mapping[str, Any]) -> None:
    """Reject parameters that only an audit of a table has."""
    for name, value in parameters.items():
        if value is not None:
            raise ParameterError(f"{name} is for tables with one row per person: read the data with kind='table'")


# The result of an audit: findings, report, tables, and the risk of each person.


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AuditOutput):
    """Result of an audit.

    Attributes
    ----------
    release : Release
        The release that was audited.
    findings : AuditFindings
        Everything that was found; docs/findings.schema.json describes its JSON form.
    adversaries : Mapping[str, Adversary]
        The adversaries by name, as they were adapted to the release.
    complete : bool
        Whether the audit finished. False if it was interrupted.
    seed : int
        Seed of all random draws.
    threads : int or None
        Number of threads; None for all.
    attacks : mapping
        The strongest attack by adversary, chosen on other targets than those reported.
    """

    release: Release
    findings: AuditFindings
    adversaries: Mapping[str, Adversary]
    complete: bool
    seed: int = 0
    threads: int | None = None
    attacks: Mapping[str, AnyAttack] = field(default_factory=dict)

    def _make_tables(self) -> dict[str, pl.DataFrame]:
        from standout.report.frames import result_frames

        return result_frames(self.findings)

    def _page(self) -> str:
        from standout.report.audit_page import audit_page

        return audit_page(self.findings)

    def with_advice(self, advice: AdviceFindings) -> "Audit":
        """The audit with advice on what would help, which the report then shows.

        Parameters
        ----------
        advice : AdviceFindings
            The findings of `standout.advise`, see `Advice.findings`.

        Returns
        -------
        Audit
            A copy with `findings.advice` set. It is complete if the search is complete too.
        """
        complete = self.complete and advice.complete
        findings = replace(self.findings, advice=advice, complete=complete)
        return replace(self, findings=findings, complete=complete)

    @with_progress
    def risk_table(
        self,
        path: str | Path | None = None,
        *,
        adversary: str | None = None,
        records: str | int = "all",
        draws: int = 8,
        facts: Sequence[int] | None = None,
        progress: ProgressOption = no_progress,
    ) -> pl.DataFrame:
        """Risk of each person: the probability of being identified by one adversary.

        Parameters
        ----------
        path : str or Path, optional
            A .csv or .parquet file to write, readable only by its owner.
        adversary : str, optional
            Name of an adversary of the audit. Default: the headline adversary.
        records : "all" or int
            All records, or a random sample of this size.
        draws : int
            Number of random draws of known facts for each person.
        facts : sequence of int, optional
            Numbers of facts that are tried.
        progress : bool or callable, optional
            True shows a bar; a function is called with (stage, done, total).

        Returns
        -------
        polars.DataFrame
            Columns record, length, facts_needed, probability, low and high.

        Raises
        ------
        ParameterError
            If there is no adversary of this name.
        """
        name = self.findings.settings.headline if adversary is None else adversary
        if name not in self.adversaries:
            raise ParameterError(not_one_of("adversary", name, self.adversaries))
        return risk_table(
            self.release,
            self.adversaries[name],
            records=records,
            draws=draws,
            facts=facts,
            seed=self.seed,
            threads=self.threads,
            progress=progress,
            path=path,
            attack=self.attacks.get(name),
        )


QUICK_TARGETS, TOP = 200, 10
CHECKS_COST, SPARSITY_COST, ADVERSARY_COST, GRIDS_COST = 0.3, 0.3, 1.0, 0.3
"""Approximate relative costs of the parts of an audit, for its progress."""
ORIGINAL_COST = 0.5
"""The same for one adversary on the original of a sanitized release."""


@with_progress
@on_client
def audit(
    release: Release | Release | Any,
    *,
    table: bool = False,
    ladder: LadderSource = None,
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
) -> Any:
    """Audit a release: how many people adversaries identify, what they learn, and how certain this is.

    Each adversary attacks targets whose records are known, with the paper's attack [Algorithm 1B] and with
    `Likelihood`. The stronger one counts; it is chosen on other targets. If the release was sanitized
    (`standout.sanitize`), targets and known facts come from the original; sparsity and the theorems are about
    the release itself. Ctrl-C ends the audit with the results so far, and `complete` is False.

    Parameters
    ----------
    release : Release, Release, path or frame
        The data that would be published. A path or frame is read with the default options of `standout.read`.
    table : bool
        Whether a path or frame is a table with one row per person; default: recognised.
    ladder : str, Path or mapping, optional
        The adversaries: a TOML file (docs/ladder.toml) or adversaries by
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
    release = read(release, kind="table") if table and not isinstance(release, Release) else as_release(release)
    if release.columns:
        only_for_releases({"attacks": attacks, "attack": attack, "sensitive": sensitive, "work": work})
        return audit_table(
            release,
            ladder=ladder,
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
        {"quasi_identifiers": quasi_identifiers, "sensitive_columns": sensitive_columns, "population": population}
    )
    release = as_release(release)
    resolved = resolve_ladder(ladder, headline)
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
