"""The audit: how many people adversaries identify, who is exposed, and what is learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from standout.attack.any_attack import AnyAttack, attacks_by_name, check_attack, checkpoint_key
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.assemble_findings import AuditResults, assemble_findings
from standout.auditing.data_measures import measure_columns
from standout.auditing.exposure import read_sensitive_list, risk_table
from standout.auditing.ladder import Ladder, LadderSource, fit_ladder, resolve_ladder
from standout.auditing.runs import (
    AdversaryRun,
    AuditPlan,
    attack_original,
    built_in_attacks,
    measure_grids,
    run_adversary,
)
from standout.auditing.selfcheck import check_attack as check_attack_on_sample
from standout.auditing.selfcheck import check_runs
from standout.cluster.workers import on_client
from standout.core.errors import ParameterError, check_share, did_you_mean, finite_number, not_one_of, whole_number
from standout.core.files import make_folder, write_atomically, write_content
from standout.core.json_files import JsonObject
from standout.core.progress import Progress, ProgressMeter, ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed
from standout.core.text import printable
from standout.core.threads import thread_count
from standout.data.export import FrameExport, ResultView, inert
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER
from standout.evaluate.targets import Population
from standout.findings.audit import AuditFindings, Settings, answer_line
from standout.findings.json_types import json_text, to_json_object
from standout.findings.link_and_advise import AdviceFindings
from standout.ingest.read import as_release, read
from standout.ingest.report import require_no_overlooked
from standout.know.adversary import Adversary
from standout.measure.equivalence import KnownColumns, known_columns
from standout.measure.sparsity import sparsity

FACTS, MOST_KNOWN, QUICK_FACTS = (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 3, 4, 6, 8, 10, 12), (1, 2, 4, 8)
"""Numbers of facts in the curves: of entries, of attributes, and of a quick audit."""
MOST_FACTS = 1000
QUICK_TARGETS, TOP = 200, 10
NEIGHBOURS, QUICK_NEIGHBOURS = 1000, 200
"""Number of records whose nearest neighbours are searched."""
CHECKS_COST, ADVERSARY_COST, SECTIONS_COST, ORIGINAL_COST = 0.3, 1.0, 0.6, 0.5
"""Approximate relative costs of the parts of an audit, for its progress; the last is for each adversary."""


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
        from standout.report.exports import result_frames

        return result_frames(self.findings)

    def _frame(self) -> pl.DataFrame:
        return self.tables["adversaries"]

    def _shown(self) -> AuditFindings:
        return self.findings

    def finished_at(self, time: str) -> "Audit":
        """The audit with the time, in ISO 8601, at which its report is written."""
        return replace(self, findings=self.findings.finished_at(time))

    def to_dict(self) -> JsonObject:
        """The findings as plain JSON values: the content of findings.json."""
        return to_json_object(self.findings)

    def to_json(self, path: str | Path) -> None:
        """Write findings.json; an existing file is replaced."""
        write_content(Path(path), json_text(self.findings))

    @with_progress
    def to_html(self, path: str | Path, *, progress: ProgressOption = no_progress) -> None:
        """Write the report as one HTML file; an existing file is replaced."""
        from standout.report.audit_page import audit_page

        write_content(Path(path), audit_page(self.findings))

    def to_csv(self, folder: str | Path) -> None:
        """Write every frame of `tables` as a CSV file of the same name; the folder is created if it is missing."""
        target = make_folder(Path(folder))
        for name, frame in self.tables.items():
            write_atomically(target / f"{name}.csv", inert(frame).write_csv)

    def with_advice(self, advice: AdviceFindings) -> "Audit":
        """The audit with advice on what would help (`Advice.findings`), which the report then shows."""
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
        """Risk of each person: the probability of being identified by one adversary, default the headline's.

        Facts are drawn `draws` times for each of all `records`, or of a random sample of so many. `facts` are the
        numbers of facts that are tried for facts_needed. The columns are record, length, facts_needed, probability,
        low and high. A file at `path` (.csv or .parquet) is readable only by its owner.
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

    Each adversary attacks targets whose records are known, with the paper's attack [Algorithm 1B], with
    `Likelihood` and, in columns, by exact matching. The strongest counts; it is chosen on other targets. If the
    release was sanitized (`standout.sanitize`), targets and known facts come from the original; sparsity and the
    theorems are about the release itself. Ctrl-C ends the audit with the results so far, and `complete` is False.

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
    columns = bool(release.columns)
    if columns and sensitive is not None:
        raise ParameterError("sensitive must be None for a table: it is for histories only")
    of_tables = {"quasi_identifiers": quasi_identifiers, "sensitive_columns": sensitive_columns}
    for parameter, value in (of_tables | {"population": population}).items():
        if value is not None and not columns:
            raise ParameterError(f"{parameter} is for tables with one row per person: read the data with kind='table'")
    resolved = resolve_ladder(ladder, headline)
    if fail_above is not None:
        fail_above = check_share("fail_above", fail_above, zero=True)
        if not columns:
            require_no_overlooked(release.provenance)
    budget, targets = check_share("budget", budget, one=False), whole_number("targets", targets, 1)
    truth = Population.of(release.check()).original.check()
    if columns and release.n_records < 2:
        raise ParameterError(f"the table must have at least 2 rows to be audited, got {release.n_records}")
    known = known_columns(truth, quasi_identifiers, sensitive_columns) if columns else KnownColumns((), (), "")
    reason, source = known.reason, truth.provenance
    if quasi_identifiers is None and truth.columns_with_role("quasi-identifier"):
        reason = "recognised by their names" if source.column_notes else "by their roles"
        if "schema" in source.settings:
            reason = "by their roles, in the schema or recognised by their names"
    fitted = fit_ladder(resolved, truth, known.quasi_identifiers)
    if fail_above is not None and not any(rung.gate for rung in fitted.rungs):
        raise ParameterError(
            "fail_above must have an adversary that counts for the threshold: set gate = true in the ladder"
        )
    named_attacks = _own_attacks(attacks, work is not None)
    names = (*built_in_attacks(release), *named_attacks)
    if isinstance(attack, str) and attack not in names:
        raise ParameterError(
            f"attack must be one of {', '.join(names)}, or an attack, got {attack!r}{did_you_mean(attack, names)}"
        )
    only, limits = attack if attack is None or isinstance(attack, str) else check_attack(attack), fitted.limits
    if only is not None:
        tried = printable(only if isinstance(only, str) else type(only).__name__)
        limits += (f"The audit tried one attack only ({tried}). Another attack may identify more people.",)
    settings = Settings(
        targets=min(targets, QUICK_TARGETS) if quick else targets,
        facts=_fact_counts(facts, quick, MOST_KNOWN if columns else FACTS),
        phi=finite_number("phi", phi),
        posterior=check_share("posterior", posterior),
        budget=budget,
        top=TOP,
        quick=bool(quick),
        fail_above=fail_above,
        headline=fitted.headline,
        ladder=resolved.source,
        quasi_identifiers=known.quasi_identifiers,
        quasi_identifiers_reason=reason,
        sensitive=known.sensitive,
        population=None if population is None else whole_number("population", population, 1),
    )
    if settings.population is not None and settings.population < truth.n_records:
        raise ParameterError(
            f"population must be at least the number of rows, {truth.n_records:,}, got {settings.population:,}"
        )
    plan = AuditPlan(
        release=release,
        settings=settings,
        seed=check_seed(seed),
        threads=thread_count(threads),
        work=None if work is None else make_folder(Path(work), private=True),
        own_attacks=named_attacks,
        only=only,
        name=printable(str(name)),
        limits=limits,
        sensitive=None if sensitive is None else read_sensitive_list(sensitive, truth),
    )
    results = _run(plan, fitted, progress)
    return Audit(
        release,
        assemble_findings(plan, results),
        {rung.name: rung.adversary for rung in fitted.rungs},
        results.complete,
        plan.seed,
        plan.threads,
        {name: run.strongest.attack for name, run in results.runs.items()},
    )


def _fact_counts(facts: Sequence[int] | None, quick: bool, default: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of facts in the curves, ascending."""
    if facts is None:
        return QUICK_FACTS if quick else default
    if isinstance(facts, str) or not isinstance(facts, Sequence) or not facts:
        raise ParameterError(f"facts must be a list of whole numbers such as [1, 2, 4, 8], got {facts!r}")
    counts = tuple(sorted({whole_number("facts", count, 1) for count in facts}))
    if counts[-1] > MOST_FACTS:
        raise ParameterError(f"facts must be at most {MOST_FACTS:,}, got {counts[-1]:,}")
    return counts


def _own_attacks(attacks: Any, has_checkpoints: bool) -> dict[str, AnyAttack]:
    """Attacks of the user's own by name. The names of the built-in ones stay theirs.

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


def _run(plan: AuditPlan, fitted: Ladder, progress: Progress) -> AuditResults:
    """Run the headline adversary, the others, the checks, the measures of the data, and attacks on an original.

    An interruption before the first result of the headline adversary is raised again.
    """
    done, name = AuditResults(), fitted.headline
    order = sorted(fitted.rungs, key=lambda rung: rung.name != name)
    originals = order if plan.people.is_sanitized else []
    cost = CHECKS_COST + ADVERSARY_COST * len(order) + SECTIONS_COST + ORIGINAL_COST * len(originals)
    meter, runs = ProgressMeter("auditing", cost, progress), dict[str, AdversaryRun]()
    try:
        with meter.part(CHECKS_COST):
            done.checks = check_attack_on_sample(plan, order[0])
        for rung in order:
            with meter.part(ADVERSARY_COST):
                # attacks on columns read all rows for each number of facts, so only the headline has a curve
                runs[rung.name] = run_adversary(plan, rung, meter, not plan.release.columns or rung.name == name)
            if not runs[rung.name].complete:
                raise KeyboardInterrupt
        done.checks += check_runs(plan, [*runs.values()], name)
        if plan.release.columns:
            with meter.part(SECTIONS_COST):
                done.of_columns = measure_columns(plan, runs[name], meter)
        else:
            with meter.part(SECTIONS_COST / 2):
                done.grids = measure_grids(plan, runs[name], meter)
            with meter.part(SECTIONS_COST / 2):
                count = QUICK_NEIGHBOURS if plan.settings.quick else NEIGHBOURS
                done.sparsity = sparsity(
                    plan.release,
                    runs[name].strongest.simulation.criteria.similarity,
                    sample=count if plan.release.n_records > count else None,
                    seed=plan.seed,
                    threads=plan.threads,
                    progress=meter,
                )
        for rung in fitted.rungs if originals else ():
            with meter.part(ORIGINAL_COST):
                done.before.append(attack_original(plan, runs[rung.name], meter))
        done.complete = True
    except KeyboardInterrupt:
        if name not in runs or runs[name].strongest.cell is None:
            raise
    done.runs = {rung.name: runs[rung.name] for rung in fitted.rungs if rung.name in runs}
    return done
