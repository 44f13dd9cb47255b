"""Risk measures of an audited table: classes, column sets, disclosure, and what the right row shows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from standout.auditing.adversary_text import describe_adversary
from standout.auditing.ladder import with_enough_cells, with_facts
from standout.auditing.runs import AuditPlan
from standout.auditing.table_runs import TableRun
from standout.core import elementary
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.data.column import Column
from standout.data.release import Release
from standout.evaluate.estimates import mean
from standout.evaluate.outcomes import infer_column
from standout.findings.sections import (
    Classes,
    ClassSize,
    ColumnSet,
    Disclosure,
    Diversity,
    Learned,
    PopulationEstimate,
    RiskAbove,
    SmallClasses,
)
from standout.know.adversary import Adversary
from standout.know.sanitized import original_of, representatives_of
from standout.measure.column_sets import find_keys
from standout.measure.disclosure import attribute_disclosure
from standout.measure.equivalence import IdentityRisk, identity_risk
from standout.measure.population import population_risk

BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
MOST_VOTES = 20_000_000
"""Number of (target, value) pairs that are kept at once when a column is guessed."""
FEWEST_TARGETS = 100
LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class RiskResults:
    """What was counted and guessed on columns."""

    classes: Classes | None = None
    column_sets: tuple[ColumnSet, ...] = ()
    disclosure: tuple[Disclosure, ...] = ()
    learned: Learned | None = None
    population: PopulationEstimate | None = None


def measure_risks(
    plan: AuditPlan, quasi_identifiers: Sequence[str], sensitive: Sequence[str], headline: TableRun, progress: Progress
) -> RiskResults:
    """Classes, column sets, disclosure, what the right row shows, and the population."""
    identity = identity_findings(plan.release, quasi_identifiers)
    others = [name for name in plan.release.column_names if name not in sensitive]
    return RiskResults(
        classes=None if identity is None else identity[0],
        column_sets=column_sets(plan, others, progress),
        disclosure=tuple(
            _disclosure(plan, headline.rung.adversary, name, quasi_identifiers, progress) for name in sensitive
        ),
        learned=learned(plan.release, headline),
        population=population_findings(None if identity is None else identity[1], plan.population, plan.seed),
    )


def identity_findings(table: Release, columns: Sequence[str]) -> tuple[Classes, IdentityRisk] | None:
    """Classes of the quasi-identifiers; None if the table has none of them."""
    known = [name for name in columns if name in table.column_names]
    if not known:
        return None
    risk = identity_risk(table, known)
    has_gaps = any(int(table.column(name).counts[-1]) for name in known)
    with_gaps = _with_gaps(table, known, risk) if has_gaps else risk
    classes = sum(count.rows // count.size for count in risk.sizes)
    findings = Classes(
        columns=tuple(known),
        k=risk.k,
        classes=classes,
        unique=risk.unique.value,
        smaller=tuple(SmallClasses(size=size, share=share.value) for size, share in risk.smaller),
        highest=risk.highest.value,
        mean=risk.mean.value,
        above=tuple(RiskAbove(risk=limit, share=share.value) for limit, share in risk.above),
        sizes=class_sizes(risk),
        k_with_gaps=with_gaps.k,
        unique_with_gaps=with_gaps.unique.value,
    )
    return findings, risk


def _with_gaps(table: Release, known: Sequence[str], risk: IdentityRisk) -> IdentityRisk:
    """The risk if an empty cell may be any value; the stricter count if there are too many kinds of gaps."""
    try:
        return identity_risk(table, known, "any")
    except ParameterError:
        return risk


def class_sizes(risk: IdentityRisk) -> tuple[ClassSize, ...]:
    """Numbers of rows by size of their class, in bands."""
    return tuple(
        ClassSize(
            low=low,
            high=high,
            rows=sum(count.rows for count in risk.sizes if low <= count.size and (high is None or count.size <= high)),
        )
        for low, high in BANDS
    )


def column_sets(plan: AuditPlan, columns: Sequence[str], progress: Progress) -> tuple[ColumnSet, ...]:
    """For each size, the set of columns that makes most rows unique."""
    known = [name for name in columns if name in plan.release.column_names]
    if not known:
        return ()
    search = find_keys(plan.release, known, threads=plan.threads, progress=progress)
    return tuple(
        ColumnSet(
            columns=found.columns, unique=found.unique.value, exhaustive=found.search == "exhaustive", tried=found.tried
        )
        for found in search.sets
    )


def _disclosure(
    plan: AuditPlan, adversary: Adversary, name: str, quasi_identifiers: Sequence[str], progress: Progress
) -> Disclosure:
    column = plan.original.column(name)
    counts = column.counts[:-1]
    nothing = Disclosure(
        column=name,
        guessed=None,
        control=None,
        baseline=float(counts.max(initial=0)) / max(int(counts.sum()), 1),
        adversary="",
        diversity=None,
        note="",
    )
    if name not in plan.release.column_names:
        return replace(nothing, note="the table lacks this column")
    if not len(counts) or not plan.release.column(name).counts[:-1].sum():
        return replace(nothing, note="the column has no values")
    findings = replace(nothing, diversity=_diversity(plan.release, name, quasi_identifiers))
    others = _without(adversary, column, plan.original)
    targets = min(plan.targets, MOST_VOTES // (plan.release.column(name).n_levels + 1))
    if column.starts is not None:
        return replace(findings, note="a set is not guessed")
    if others is None or targets < min(plan.targets, FEWEST_TARGETS):
        reason = "no other column can be known" if others is None else "it has too many different values"
        return replace(findings, note=f"not guessed: {reason}")
    inference = infer_column(
        plan.release, others, name, targets=targets, seed=plan.seed, threads=plan.threads, progress=progress
    )
    return replace(
        findings,
        guessed=inference.guessed,
        control=inference.control,
        baseline=inference.baseline,
        adversary=f"Knows {describe_adversary(others, plan.original)}.",
    )


def _diversity(table: Release, name: str, quasi_identifiers: Sequence[str]) -> Diversity | None:
    known = [column for column in quasi_identifiers if column in table.column_names and column != name]
    if not known:
        return None
    found = attribute_disclosure(table, known, name)
    return Diversity(
        distinct=found.distinct_l, entropy=found.entropy_l, same_value=found.certain.value, t_closeness=found.t
    )


def _without(adversary: Adversary, hidden: Column, table: Release) -> Adversary | None:
    """The adversary who knows as many attributes as before, but not the hidden one; None if none is left."""
    allowed = table.attributes if adversary.columns is None else adversary.columns
    others = tuple(name for name in allowed if name not in (hidden.name, hidden.attribute))
    if not others:
        return None
    most = min(adversary.knows, len(others))
    fewer = adversary if most == adversary.knows else with_facts(adversary, most)
    return with_enough_cells(replace(fewer, columns=others, knows=most), table)


def learned(table: Release, run: TableRun) -> Learned:
    """What the right row shows that the adversary did not know: columns, and bits of each.

    A set counts as a column, but has no bits.
    """
    released, original, facts = representatives_of(table)[run.facts.cells.target], original_of(table), run.facts
    targets = np.flatnonzero(released >= 0)
    is_known = np.zeros((len(facts), original.n_columns), np.bool_)
    is_known[np.repeat(np.arange(len(facts)), np.diff(facts.cells.first)), facts.cells.column] = True
    further, with_bits, bits = (np.zeros(len(targets)) for _ in range(3))
    for column in table.columns:
        rows = released[targets]
        shows = ~column.is_missing[rows] & ~is_known[targets, original.column_position(column.name)]
        further += shows
        if column.starts is None:
            share = np.maximum(column.counts[column.codes[rows]] / column.n_rows, 1e-300)
            bits -= np.where(shows, elementary.log(share) / LN2, 0.0)
            with_bits += shows
    return Learned(columns=mean(further), bits=mean(bits / np.maximum(with_bits, 1.0)))


def population_findings(risk: IdentityRisk | None, population: int | None, seed: int) -> PopulationEstimate | None:
    """The quasi-identifiers in the population."""
    if population is None or risk is None:
        return None
    found = population_risk(risk, population, seed)
    names = ", ".join(model.model.title() for model in found.models)
    return PopulationEstimate(
        population=population,
        unique=found.unique,
        journalist=found.mean,
        method=f"the highest estimate of these models counts ({names})" if names else "the table is the population",
    )
