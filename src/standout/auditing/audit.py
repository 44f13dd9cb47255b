"""The audit: how many people adversaries identify, who is exposed, and what is learned."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from standout.attack.any_attack import AnyAttack, attacks_by_name, check_attack, checkpoint_key
from standout.attack.column_scores import attack_named
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.attack.verdict import check_phi
from standout.auditing.assemble_findings import AuditRequest, AuditResults, assemble_findings
from standout.auditing.exposure import read_sensitive_list
from standout.auditing.findings_checks import checked_findings, runs_to_check
from standout.auditing.grids import measure_grids
from standout.auditing.ladder import FittedLadder, LadderSource, fit_ladder, resolve_ladder
from standout.auditing.risk_table import risk_table
from standout.auditing.run_checks import check_runs
from standout.auditing.runs import AdversaryRun, AuditPlan, attack_original, run_adversary
from standout.auditing.selfcheck import SelfCheck
from standout.auditing.table_checks import check_table_findings, check_table_runs
from standout.auditing.table_measures import measure_risks
from standout.auditing.table_runs import ATTACKS, TableRun, attack_original_table, run_curve, run_table_adversary
from standout.auditing.theory_section import measure_sparsity
from standout.cluster.workers import on_client
from standout.core.errors import ParameterError, did_you_mean, not_one_of, positive_share, whole_number
from standout.core.files import make_folder, write_atomically
from standout.core.json_files import JsonObject
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.export import FrameExport, ResultView, inert
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER
from standout.evaluate.targets import Population
from standout.findings.adversaries import AdversaryBeforeAfter
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings
from standout.findings.gate import answer_line
from standout.findings.json_types import json_text, to_json_object
from standout.ingest.diagnosis import PYTHON, require_no_overlooked
from standout.ingest.read import as_release, read
from standout.know.adversary import Adversary
from standout.measure.equivalence import KnownColumns, known_columns

# Checks of an audit's parameters.


FACTS, MOST_KNOWN, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 3, 4, 6, 8, 10, 12), (1, 2, 4, 8)
"""Numbers of facts in the curves: of entries, of attributes, and of a quick audit."""
MOST_FACTS = 1000


def fact_counts(facts: Sequence[int] | None, quick: bool, default: tuple[int, ...] = FACTS) -> tuple[int, ...]:
    """The numbers of facts in the curves, ascending."""
    if facts is None:
        return QUICK_FACTS if quick else default
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
class Audit(ResultView, FrameExport):
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

    def __repr__(self) -> str:
        return f"<Audit: {answer_line(self.findings)}>"

    @property
    def trusted(self) -> bool:
        """Whether the audit passed its self-check."""
        return self.findings.trust.trusted

    @property
    def exceeded(self) -> bool | None:
        """Whether the share of identified people may be above `fail_above`; None without a threshold."""
        return self.findings.threshold.exceeded

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The findings as frames by name: `adversaries`, `curves`, `checks` and others."""
        from standout.report.frames import result_frames

        return result_frames(self.findings)

    def _frame(self) -> pl.DataFrame:
        return self.tables["adversaries"]

    def _shown(self) -> AuditFindings:
        return self.findings

    def finished_at(self, time: str) -> "Audit":
        """The audit with the time at which its report is written.

        Parameters
        ----------
        time : str
            A time in ISO 8601.

        Returns
        -------
        Audit
            A copy with `findings.run.finished_at` set.
        """
        return replace(self, findings=self.findings.finished_at(time))

    def to_dict(self) -> JsonObject:
        """The findings as plain JSON values.

        Returns
        -------
        dict
            The content of findings.json.
        """
        return to_json_object(self.findings)

    def to_json(self, path: str | Path) -> None:
        """Write findings.json.

        Parameters
        ----------
        path : str or Path
            The file; an existing file is replaced.
        """
        text = json_text(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    @with_progress
    def to_html(self, path: str | Path, *, progress: ProgressOption = no_progress) -> None:
        """Write the report as one HTML file.

        Parameters
        ----------
        path : str or Path
            The file; an existing file is replaced.
        progress : bool or callable, optional
            True shows a bar while the charts are drawn.
        """
        from standout.report.audit_page import audit_page

        text = audit_page(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def to_csv(self, folder: str | Path) -> None:
        """Write every frame of `tables` as a CSV file of the same name.

        Parameters
        ----------
        folder : str or Path
            The folder; it is created if it is missing.
        """
        target = make_folder(Path(folder))
        for name, frame in self.tables.items():
            write_atomically(target / f"{name}.csv", inert(frame).write_csv)

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
CHECKS_COST, SPARSITY_COST, ADVERSARY_COST, GRIDS_COST, RISK_COST = 0.3, 0.3, 1.0, 0.3, 0.5
"""Approximate relative costs of the parts of an audit, for its progress."""
ORIGINAL_COST = 0.5
"""The same for one adversary on the original of a sanitized release."""
NO_COLUMNS = KnownColumns((), (), "")


@with_progress
@on_client
def audit(
    release: Release | Any,
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
) -> Audit:
    """Audit a release: how many people adversaries identify, what they learn, and how certain this is.

    Each adversary attacks targets whose records are known, with the paper's attack [Algorithm 1B] and with
    `Likelihood`. The stronger one counts; it is chosen on other targets. If the release was sanitized
    (`standout.sanitize`), targets and known facts come from the original; sparsity and the theorems are about
    the release itself. Ctrl-C ends the audit with the results so far, and `complete` is False.

    Parameters
    ----------
    release : Release, path or frame
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
        The only attack to try: "paper", "likelihood", a name of `attacks`, or an attack; of columns, also
        "exact match". Default: all of them, and the strongest counts.
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
    Audit
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
        only_for_releases({"attacks": attacks, "sensitive": sensitive, "work": work})
        if attack not in (None, *ATTACKS):
            raise ParameterError(not_one_of("attack", attack, ATTACKS))
    else:
        only_for_tables(
            {"quasi_identifiers": quasi_identifiers, "sensitive_columns": sensitive_columns, "population": population}
        )
    resolved = resolve_ladder(ladder, headline)
    if fail_above is not None and not is_share(fail_above):
        raise ParameterError(f"fail_above must be a number from 0 to 1, got {fail_above!r}")
    if fail_above is not None and not release.columns:
        require_no_overlooked(release.provenance, PYTHON)
    if not is_share(budget) or not 0 < budget < 1:
        raise ParameterError(f"budget must be above 0 and below 1, got {budget!r}")
    targets = whole_number("targets", targets, 1)
    truth = Population.of(release.check()).original.check()
    if release.columns and release.n_records < 2:
        raise ParameterError(f"the table must have at least 2 rows to be audited, got {release.n_records}")
    columns = known_columns(truth, quasi_identifiers, sensitive_columns) if release.columns else NO_COLUMNS
    fitted = fit_ladder(resolved, truth, columns.quasi_identifiers)
    if fail_above is not None and not any(rung.gate for rung in fitted.rungs):
        raise ParameterError(
            "fail_above must have an adversary that counts for the threshold: set gate = true in the ladder"
        )
    named_attacks = own_attacks(attacks, work is not None)
    plan = AuditPlan(
        release=release,
        targets=min(targets, QUICK_TARGETS) if quick else targets,
        facts=fact_counts(facts, quick, MOST_KNOWN if release.columns else FACTS),
        phi=check_phi(phi),
        posterior=positive_share("posterior", posterior),
        budget=float(budget),
        top=TOP,
        seed=check_seed(seed),
        threads=thread_count(threads),
        work=None if work is None else make_folder(Path(work), private=True),
        own_attacks=named_attacks,
        only=attack if release.columns else only_attack(attack, named_attacks),
        population=_population(truth, population),
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
        quasi_identifiers=columns.quasi_identifiers,
        quasi_identifiers_reason=_reason(truth, quasi_identifiers) or columns.reason,
        sensitive_columns=columns.sensitive,
    )
    results = _run_columns(request, fitted, progress) if release.columns else _run_entries(request, fitted, progress)
    findings = assemble_findings(request, results)
    if release.columns:
        findings = check_table_findings(findings, request, results)
    else:
        findings = checked_findings(findings, list(results.runs.values()), results.grids or (), plan.people)
    return Audit(
        release,
        findings,
        {rung.name: rung.adversary for rung in fitted.rungs},
        results.complete,
        plan.seed,
        plan.threads,
        {name: run.strongest.attack for name, run in results.runs.items()}
        | {name: attack_named(run.strongest.name, run.rung.adversary) for name, run in results.table_runs.items()},
    )


def _population(original: Release, population: int | None) -> int | None:
    if population is None:
        return None
    people = whole_number("population", population, 1)
    if people < original.n_records:
        raise ParameterError(f"population must be at least the number of rows, {original.n_records:,}, got {people:,}")
    return people


def _reason(original: Release, named: Sequence[str] | None) -> str:
    """Why columns are quasi-identifiers if their roles say so; empty otherwise."""
    if named is not None or not original.columns_with_role("quasi-identifier"):
        return ""
    source = original.provenance
    if "schema" in source.settings:
        return "by their roles, in the schema or recognised by their names"
    return "recognised by their names" if source.column_notes else "by their roles"


def _run_entries(request: AuditRequest, fitted: FittedLadder, progress: Progress) -> AuditResults:
    """Run the self-check, the headline adversary, the others, the grids and the nearest-neighbour search.

    An interruption before the first result of the headline adversary is raised again.
    """
    plan, done = request.plan, AuditResults()
    order = sorted(fitted.rungs, key=lambda rung: rung.name != request.headline)
    cost = CHECKS_COST + ADVERSARY_COST * len(order) + GRIDS_COST + SPARSITY_COST
    meter, runs = ProgressMeter("auditing", cost, progress), dict[str, AdversaryRun]()
    try:
        with meter.part(CHECKS_COST):
            done.checks = SelfCheck.of(plan.release, order[0], plan.budget, plan.seed, plan.threads).run(meter)
        for rung in order:
            with meter.part(ADVERSARY_COST):
                runs[rung.name] = run_adversary(plan, rung, meter)
            if not runs[rung.name].complete:
                raise KeyboardInterrupt
        done.checks += check_runs(plan.release, runs_to_check([*runs.values()], request.headline), plan.threads)
        with meter.part(GRIDS_COST):
            done.grids = measure_grids(plan, runs[request.headline], meter)
        with meter.part(SPARSITY_COST):
            simulation = runs[request.headline].as_named
            assert simulation is not None
            done.sparsity = measure_sparsity(
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
    done.runs = {rung.name: runs[rung.name] for rung in fitted.rungs if rung.name in runs}
    if done.sparsity is not None:
        done.before, done.complete = _attack_original(plan, list(done.runs.values()), progress)
    return done


def _run_columns(request: AuditRequest, fitted: FittedLadder, progress: Progress) -> AuditResults:
    """Run the headline adversary, its checks, the other adversaries, the curve and the risk measures.

    An interruption before the checks of the headline adversary is raised again.
    """
    plan, done = request.plan, AuditResults()
    order = sorted(fitted.rungs, key=lambda rung: rung.name != request.headline)
    originals = fitted.rungs if plan.people.is_sanitized else ()
    cost = ADVERSARY_COST * (len(order) + 1) + CHECKS_COST + RISK_COST + ORIGINAL_COST * len(originals)
    meter, runs = ProgressMeter("auditing", cost, progress), dict[str, TableRun]()
    try:
        for rung in order:
            with meter.part(ADVERSARY_COST):
                runs[rung.name] = run_table_adversary(plan, rung, meter)
            if rung.name == request.headline:
                with meter.part(CHECKS_COST):
                    done.checks = check_table_runs(plan, runs[rung.name])
        headline = runs[request.headline]
        with meter.part(ADVERSARY_COST):
            done.curve = run_curve(plan, headline.rung.adversary, meter)
        with meter.part(RISK_COST):
            done.risks = measure_risks(plan, request.quasi_identifiers, request.sensitive_columns, headline, meter)
        for rung in originals:
            with meter.part(ORIGINAL_COST):
                done.before.append(attack_original_table(plan, runs[rung.name], meter))
        done.complete = True
    except KeyboardInterrupt:
        if not done.checks:
            raise
    done.table_runs = {rung.name: runs[rung.name] for rung in fitted.rungs if rung.name in runs}
    return done


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
