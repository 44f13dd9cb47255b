"""What theory says: how sparse the release is, and what Theorems 1 and 3 conclude from it [section 4]."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.adversary_text import describe_precision
from standout.auditing.ladder import eligible_share
from standout.auditing.runs import AdversaryRun
from standout.core.progress import Progress
from standout.core.text import interval_text
from standout.core.text import percent as percent_yardstick
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER, choose_strongest
from standout.evaluate.estimates import Estimate, percent, rate
from standout.evaluate.simulate import TargetSuccess
from standout.evaluate.targets import random_targets
from standout.findings.sections import Bound, SparsityPoint, Theory, Yardstick
from standout.findings.sections import Sparsity as SparsityFindings
from standout.know.adversary import Adversary
from standout.know.similarity import Equal, Similarity, Within
from standout.measure.sparsity import Sparsity, sparsity
from standout.measure.theorem_bounds import facts_for_lineup, facts_needed

RECORDS, QUICK_RECORDS = 1000, 200
"""Number of records whose nearest neighbours are searched."""
CURVE = tuple(i / 20 for i in range(1, 21))
EPSILON, LINEUP = 0.05, 10
HALF = 0.5


def measure_sparsity(
    release: Release, similarity: Similarity, *, quick: bool, seed: int, threads: int | None, progress: Progress
) -> Sparsity:
    """Nearest neighbours of a sample of records among all records."""
    count = QUICK_RECORDS if quick else RECORDS
    sample = count if release.n_records > count else None
    return sparsity(release, similarity, sample=sample, seed=seed, threads=threads, progress=progress)


def theory_findings(
    release: Release, similarity: Similarity, measured: Sparsity | None, runs: Sequence[AdversaryRun]
) -> Theory:
    """The sparsity curve, and the bounds of the theorems next to what was measured."""
    description = describe_similarity(similarity)
    if measured is None:
        return Theory(sparsity=SparsityFindings(similarity=description, n=0, curve=()), bounds=())
    curve = tuple(SparsityPoint(epsilon=point, share=measured.survival(point)) for point in CURVE)
    bounds = _bounds(release.n_records, measured, runs) if release.n_records > 1 else ()
    n = len(measured.records)
    return Theory(sparsity=SparsityFindings(similarity=description, n=n, curve=curve), bounds=bounds)


def describe_similarity(similarity: Similarity) -> str:
    """When two entries of the same item count as similar."""
    if isinstance(similarity, Equal):
        return "the same items with the same values"
    if isinstance(similarity, Within):
        value = None if similarity.value is None else f"values within {similarity.value:g}"
        time = None if similarity.time is None else f"dates within {similarity.time:g} days"
        return " and ".join(filter(None, [value, time]))
    return "the same items"


def _bounds(n: int, measured: Sparsity, runs: Sequence[AdversaryRun]) -> tuple[Bound, ...]:
    return (_theorem_1(n, runs), _theorem_3(n, measured, runs))


def _theorem_1(n: int, runs: Sequence[AdversaryRun]) -> Bound:
    facts = facts_needed(n, EPSILON, HALF)
    similarity = 1 - EPSILON - HALF
    return Bound(
        theorem="Theorem 1",
        statement=(
            f"With {facts} exact facts about a person, a record that matches all of them is at least "
            f"{percent(similarity)} similar to that person's record, in {percent(1 - EPSILON)} of cases. "
            "This holds for any data."
        ),
        bound=facts,
        measured=_fewest_facts(runs, "identified", 1 - EPSILON),
        setting=f"ε = {EPSILON:g}, δ = {HALF:g}",
    )


def _theorem_3(n: int, measured: Sparsity, runs: Sequence[AdversaryRun]) -> Bound:
    nearest = float(np.quantile(measured.nearest, 1 - EPSILON, method="inverted_cdf"))
    delta = round(1 - EPSILON - nearest, 12)
    if delta <= 0:
        return Bound(
            theorem="Theorem 3",
            statement=(
                "The theorem does not apply: it needs records without a similar neighbour, and one in "
                f"{1 / EPSILON:.0f} records here has one."
            ),
            bound=None,
            measured="",
            setting=f"the nearest neighbour is more similar than {nearest:.2f}",
        )
    facts = max(facts_for_lineup(n, LINEUP, delta), 0)
    share = percent(measured.delta(nearest).value)
    return Bound(
        theorem="Theorem 3",
        statement=f"{facts} exact facts about a person narrow the data down to at most {LINEUP} records.",
        bound=facts,
        measured=_fewest_facts(runs, "in_top", HALF),
        setting=(
            f"ε = {EPSILON:g}, δ = {delta:.3g}: {share} of the records have a neighbour more similar than {nearest:.2f}"
        ),
    )


def _fewest_facts(runs: Sequence[AdversaryRun], measure: Literal["identified", "in_top"], goal: float) -> str:
    """With how few facts the adversary closest to the theorem's (any items, fewest wrong) reaches a goal."""
    with_curve = [run for run in runs if run.curve_cells]
    candidates = [run for run in with_curve if str(run.rung.adversary.items) == "any"] or with_curve
    if not candidates:
        return "not measured"
    run = min(candidates, key=lambda run: run.rung.adversary.wrong)
    rates = [
        (cell.facts, float((cell.outcomes.identified if measure == "identified" else cell.outcomes.in_top).mean()))
        for cell in run.curve_cells
    ]
    facts, rate = next(((facts, rate) for facts, rate in rates if rate >= goal), rates[-1])
    most = "" if rate >= goal else " (the most that were tried)"
    noun = "fact" if facts == 1 else "facts"
    result = (
        f"identifies {percent(rate)} of targets"
        if measure == "identified"
        else f"has the right record among the top {LINEUP} for {percent(rate)} of targets"
    )
    return f"With {facts} {noun}{most}, “{run.rung.name}” {result}."


# The yardstick of an audit: the same adversary on a stand-in of the Netflix Prize data.
#
# The numbers are in yardstick.json. `python -m tools.yardstick` measures them in the way of an audit.


FILE = "yardstick.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class YardstickRow:
    """One adversary on the data of the yardstick, with or without values and dates."""

    adversary: str
    values: bool
    dates: bool
    knows: int
    wrong: int
    precision: str
    attack: str
    identified: Estimate


def yardstick(name: str, adversary: Adversary, original: Release) -> Yardstick | None:
    """The yardstick of an adversary of the default ladder; None if it knows other facts there."""
    content = _content()
    wanted = (name, bool(original.n_levels), bool(original.span), adversary.knows, adversary.wrong)
    rows = (
        row
        for row in content["rows"]
        if (row["adversary"], row["values"], row["dates"], row["knows"], row["wrong"]) == wanted
    )
    row = next(rows, None)
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


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files("standout.auditing").joinpath(FILE).read_text(encoding="utf-8"))
    return content


def without(adversary: Adversary, release: Release, *, values: bool, dates: bool) -> Adversary:
    """The adversary on data without values or dates, as the ladder would adapt it."""
    fewer = adversary if values else replace(adversary, value_error=None)
    fewer = fewer if dates else replace(fewer, time_error=None, joined_error=None)
    return fewer if eligible_share(fewer, release) else replace(fewer, wrong_facts="items")


def measure_row(
    release: Release, name: str, adversary: Adversary, *, targets: int, seed: int, threads: int | None
) -> YardstickRow:
    """What an audit reports as `identified` of this adversary, without its other measures."""
    chosen = random_targets(release, adversary, seed)[:targets]
    attacks: dict[str, AnyAttack] = {
        title: fit_attack(attack, adversary) for title, attack in ((PAPER, ScoreboardRH()), (LIKELIHOOD, Likelihood()))
    }
    strongest = choose_strongest(release, adversary, attacks, chosen, seed=seed, threads=threads)
    attack = TargetSuccess(attacks[strongest], adversary, (adversary.knows,), seed)
    success = attack.of(release, chosen, threads)
    identified = min(float(np.sum(success)), len(chosen))
    return YardstickRow(
        adversary=name,
        values=adversary.value_error is not None,
        dates=adversary.time_error is not None,
        knows=adversary.knows,
        wrong=adversary.wrong,
        precision=describe_precision(adversary, release),
        attack=strongest,
        identified=rate(identified, len(chosen), 1 / release.n_records),
    )
