"""What is measured besides attacks: of entries their sparsity, of columns their classes, and what a row shows.

Sparsity comes with what Theorems 1 and 3 conclude from it [section 4], and with a yardstick for the main result.
"""

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from standout.auditing.ladder import eligible_share, with_enough_facts, with_facts
from standout.auditing.runs import AdversaryRun, AuditPlan
from standout.auditing.sentences import describe_adversary
from standout.core import elementary
from standout.core.errors import ParameterError
from standout.core.progress import Progress
from standout.core.text import interval_text
from standout.core.text import percent as percent_yardstick
from standout.data.release import Release
from standout.evaluate.estimates import Estimate, mean, percent
from standout.evaluate.outcomes import infer_column
from standout.findings.sections import (
    Bound,
    Classes,
    ClassSize,
    ColumnSet,
    Disclosure,
    Diversity,
    Learned,
    PopulationEstimate,
    RiskAbove,
    SmallClasses,
    SparsityPoint,
    Theory,
    Yardstick,
)
from standout.findings.sections import Sparsity as SparsityFindings
from standout.know.adversary import Adversary
from standout.know.similarity import Equal, Similarity, Within
from standout.measure.bounds import facts_for_lineup, facts_needed
from standout.measure.classes import attribute_disclosure
from standout.measure.column_sets import find_keys
from standout.measure.equivalence import IdentityRisk, identity_risk
from standout.measure.population import population_risk
from standout.measure.sparsity import Sparsity

CURVE = tuple(i / 20 for i in range(1, 21))
EPSILON, HALF, LINEUP = 0.05, 0.5, 10


def theory_findings(
    release: Release, similarity: Similarity, measured: Sparsity | None, runs: Sequence[AdversaryRun]
) -> Theory:
    """The sparsity curve, and the bounds of the theorems next to what was measured."""
    description = "the same items"
    if isinstance(similarity, Equal):
        description = "the same items with the same values"
    elif isinstance(similarity, Within):
        value = None if similarity.value is None else f"values within {similarity.value:g}"
        time = None if similarity.time is None else f"dates within {similarity.time:g} days"
        description = " and ".join(filter(None, [value, time]))
    if measured is None:
        return Theory(sparsity=SparsityFindings(similarity=description, n=0, curve=()), bounds=())
    curve = tuple(SparsityPoint(epsilon=point, share=measured.survival(point)) for point in CURVE)
    found = SparsityFindings(similarity=description, n=len(measured.records), curve=curve)
    n = release.n_records
    if n < 2:
        return Theory(sparsity=found, bounds=())
    facts = facts_needed(n, EPSILON, HALF)
    first = Bound(
        theorem="Theorem 1",
        statement=(
            f"With {facts} exact facts about a person, a record that matches all of them is at least "
            f"{percent(1 - EPSILON - HALF)} similar to that person's record, in {percent(1 - EPSILON)} of cases. "
            "This holds for any data."
        ),
        bound=facts,
        measured=_fewest_facts(runs, "identified", 1 - EPSILON),
        setting=f"ε = {EPSILON:g}, δ = {HALF:g}",
    )
    nearest = float(np.quantile(measured.nearest, 1 - EPSILON, method="inverted_cdf"))
    delta = round(1 - EPSILON - nearest, 12)
    third = Bound(
        theorem="Theorem 3",
        statement=(
            "The theorem does not apply: it needs records without a similar neighbour, and one in "
            f"{1 / EPSILON:.0f} records here has one."
        ),
        bound=None,
        measured="",
        setting=f"the nearest neighbour is more similar than {nearest:.2f}",
    )
    if delta > 0:
        facts, share = max(facts_for_lineup(n, LINEUP, delta), 0), percent(measured.delta(nearest).value)
        third = Bound(
            theorem="Theorem 3",
            statement=f"{facts} exact facts about a person narrow the data down to at most {LINEUP} records.",
            bound=facts,
            measured=_fewest_facts(runs, "in_top", HALF),
            setting=f"ε = {EPSILON:g}, δ = {delta:.3g}: {share} of the records have a neighbour more similar than "
            f"{nearest:.2f}",
        )
    return Theory(sparsity=found, bounds=(first, third))


def _fewest_facts(runs: Sequence[AdversaryRun], measure: Literal["identified", "in_top"], goal: float) -> str:
    """With how few facts the adversary closest to the theorem's (any items, fewest wrong) reaches a goal."""
    with_curve = [run for run in runs if run.strongest.curve]
    candidates = [run for run in with_curve if str(run.rung.adversary.items) == "any"] or with_curve
    if not candidates:
        return "not measured"
    run = min(candidates, key=lambda run: run.rung.adversary.wrong)
    rates = [(cell.facts, float(getattr(cell.outcomes, measure).mean())) for cell in run.strongest.curve]
    facts, share = next(((facts, share) for facts, share in rates if share >= goal), rates[-1])
    most = "" if share >= goal else " (the most that were tried)"
    result = (
        f"identifies {percent(share)} of targets"
        if measure == "identified"
        else f"has the right record among the top {LINEUP} for {percent(share)} of targets"
    )
    return f"With {facts} {'fact' if facts == 1 else 'facts'}{most}, “{run.rung.name}” {result}."


# The yardstick of an audit: the same adversary on a stand-in of the Netflix Prize data.
#
# The numbers are in yardstick.json. `python -m tools.yardstick` measures them in the way of an audit.


FILE = "yardstick.json"


def yardstick(name: str, adversary: Adversary, original: Release) -> Yardstick | None:
    """The yardstick of an adversary of the default ladder; None if it knows other facts there."""
    content = json.loads(files("standout.auditing").joinpath(FILE).read_text(encoding="utf-8"))
    wanted = (name, bool(original.n_levels), bool(original.span), adversary.knows, adversary.wrong)
    keys = ("adversary", "values", "dates", "knows", "wrong")
    row = next((row for row in content["rows"] if tuple(row[key] for key in keys) == wanted), None)
    if row is None:
        return None
    identified = Estimate(**row["identified"])
    ends = interval_text(identified)
    return Yardstick(
        data=content["data"],
        records=content["records"],
        entries=content["entries"],
        precision=row["precision"],
        identified=identified,
        command="; ".join(content["commands"]),
        sentence=(
            f"On {content['data']} ({content['records']:,} people, {content['entries']:,} entries), attacked "
            f"in the same way ({row['precision']}), this adversary identifies {percent_yardstick(identified.value)} of "
            f"people{f' ({ends})' if ends else ''}."
        ),
    )


# Columns: classes, sets of columns that single out rows, disclosure, what the right row shows, the population.


BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
MOST_VOTES = 20_000_000
"""Number of (target, value) pairs that are kept at once when a column is guessed."""
FEWEST_TARGETS = 100
LN2 = math.log(2.0)


def measure_columns(plan: AuditPlan, headline: AdversaryRun, progress: Progress) -> dict[str, Any]:
    """The findings about columns, by their names: classes, column sets, disclosure, what is learned, population."""
    release, settings, identity = plan.release, plan.settings, None
    known = [name for name in settings.quasi_identifiers if name in release.column_names]
    found: dict[str, Any] = {"learned": learned(plan, headline)}
    if known:
        identity = identity_risk(release, known)
        found["classes"] = class_findings(release, known, identity)
    others = [name for name in release.column_names if name not in settings.sensitive]
    found["column_sets"] = tuple(
        ColumnSet(
            columns=each.columns, unique=each.unique.value, exhaustive=each.search == "exhaustive", tried=each.tried
        )
        for each in (find_keys(release, others, threads=plan.threads, progress=progress).sets if others else ())
    )
    if settings.population is not None and identity is not None:
        risk = population_risk(identity, settings.population, plan.seed)
        names = ", ".join(model.model.title() for model in risk.models)
        found["population"] = PopulationEstimate(
            population=settings.population,
            unique=risk.unique,
            journalist=risk.mean,
            method=f"the highest estimate of these models counts ({names})" if names else "the table is the population",
        )
    adversary = headline.rung.adversary
    found["disclosure"] = tuple(_disclosure(plan, adversary, name, known, progress) for name in settings.sensitive)
    return found


def class_findings(release: Release, known: Sequence[str], risk: IdentityRisk) -> Classes:
    """The classes of the quasi-identifiers."""
    with_gaps = risk
    if any(int(release.column(name).counts[-1]) for name in known):
        with suppress(ParameterError):  # with too many kinds of gaps, the stricter count stays
            with_gaps = identity_risk(release, known, "any")
    rows = {band: sum(c.rows for c in risk.sizes if band[0] <= c.size <= (band[1] or math.inf)) for band in BANDS}
    return Classes(
        columns=tuple(known),
        k=risk.k,
        classes=sum(count.rows // count.size for count in risk.sizes),
        unique=risk.unique.value,
        smaller=tuple(SmallClasses(size=size, share=share.value) for size, share in risk.smaller),
        highest=risk.highest.value,
        mean=risk.mean.value,
        above=tuple(RiskAbove(risk=limit, share=share.value) for limit, share in risk.above),
        sizes=tuple(ClassSize(low=low, high=high, rows=count) for (low, high), count in rows.items()),
        k_with_gaps=with_gaps.k,
        unique_with_gaps=with_gaps.unique.value,
    )


def _disclosure(
    plan: AuditPlan, adversary: Adversary, name: str, quasi_identifiers: Sequence[str], progress: Progress
) -> Disclosure:
    release, original = plan.release, plan.people.original
    column = original.column(name)
    counts = column.counts[:-1]
    findings = Disclosure(
        column=name,
        guessed=None,
        control=None,
        baseline=float(counts.max(initial=0)) / max(int(counts.sum()), 1),
        adversary="",
        diversity=None,
        note="",
    )
    if name not in release.column_names:
        return replace(findings, note="the table lacks this column")
    if not len(counts) or not release.column(name).counts[:-1].sum():
        return replace(findings, note="the column has no values")
    if known := [other for other in quasi_identifiers if other != name]:
        found = attribute_disclosure(release, known, name)
        diversity = Diversity(
            distinct=found.distinct_l, entropy=found.entropy_l, same_value=found.certain.value, t_closeness=found.t
        )
        findings = replace(findings, diversity=diversity)
    # the adversary who knows as many attributes as before, but not the hidden one; None if none is left
    allowed = original.attributes if adversary.columns is None else adversary.columns
    names, others = tuple(other for other in allowed if other not in (name, column.attribute)), None
    if names:
        most = min(adversary.knows, len(names))
        fewer = adversary if most == adversary.knows else with_facts(adversary, most)
        others = with_enough_facts(replace(fewer, columns=names, knows=most), original)
        others = others if eligible_share(others, original) else None
    targets = min(plan.settings.targets, MOST_VOTES // (release.column(name).n_levels + 1))
    if column.starts is not None:
        return replace(findings, note="a set is not guessed")
    if others is None or targets < min(plan.settings.targets, FEWEST_TARGETS):
        reason = "no other column can be known" if others is None else "it has too many different values"
        return replace(findings, note=f"not guessed: {reason}")
    inference = infer_column(
        release, others, name, targets=targets, seed=plan.seed, threads=plan.threads, progress=progress
    )
    return replace(
        findings,
        guessed=inference.guessed,
        control=inference.control,
        baseline=inference.baseline,
        adversary=f"Knows {describe_adversary(others, original)}.",
    )


def learned(plan: AuditPlan, run: AdversaryRun) -> Learned:
    """What the right row shows that the adversary did not know: columns, and bits of each.

    A set counts as a column, but has no bits.
    """
    assert run.strongest.cell is not None
    release, original, targets = plan.release, plan.people.original, run.strongest.cell.targets
    rows, cells = plan.people.record_of(targets), run.rung.adversary.observe_all(original, targets, plan.seed).cells
    is_known = np.zeros((len(targets), original.n_columns), np.bool_)
    is_known[np.repeat(np.arange(len(targets)), np.diff(cells.first)), cells.column] = True
    rows, is_known = rows[rows >= 0], is_known[rows >= 0]
    further, with_bits, bits = (np.zeros(len(rows)) for _ in range(3))
    for column in release.columns:
        shows = ~column.is_missing[rows] & ~is_known[:, original.column_position(column.name)]
        further += shows
        if column.starts is None:
            share = np.maximum(column.counts[column.codes[rows]] / column.n_rows, 1e-300)
            bits -= np.where(shows, elementary.log(share) / LN2, 0.0)
            with_bits += shows
    return Learned(columns=mean(further), bits=mean(bits / np.maximum(with_bits, 1.0)))
