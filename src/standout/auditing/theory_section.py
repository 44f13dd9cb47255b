"""The theory beside it: how sparse a release is, and what Theorems 1 and 3 make of that  [section 4]."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from standout.auditing.attacks import Attacked
from standout.core.progress import Progress
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimate_text import percent
from standout.release.model import Release
from standout.similarity.attributes import Equal, Similarity, Within
from standout.theory.bounds import facts_for_lineup, facts_needed
from standout.theory.sparsity import Sparsity, sparsity

__all__ = ["measured_sparsity", "similarity_words", "theory"]

EXAMINED, QUICK = 1000, 200
"""Records whose nearest neighbours are looked for."""
CURVE = tuple(i / 20 for i in range(1, 21))
EPSILON, LINEUP = 0.05, 10
HALF = 0.5


def measured_sparsity(
    release: Release, similarity: Similarity, quick: bool, seed: int, threads: int | None, progress: Progress
) -> Sparsity:
    """The nearest neighbours of some records among all."""
    count = QUICK if quick else EXAMINED
    sample = count if release.n_records > count else None
    return sparsity(release, similarity, sample=sample, seed=seed, threads=threads, progress=progress)


def theory(
    release: Release, similarity: Similarity, found: Sparsity | None, tried: Sequence[Attacked]
) -> dict[str, Any]:  # fmt: skip
    """The sparsity curve, and the bounds beside what was measured."""
    words = similarity_words(similarity)
    if found is None:
        return {"sparsity": {"similarity": words, "n": 0, "curve": []}, "bounds": []}
    curve = [{"epsilon": point, "share": estimate_json(found.survival(point))} for point in CURVE]
    return {
        "sparsity": {"similarity": words, "n": len(found.records), "curve": curve},
        "bounds": _bounds(release.n_records, found, tried) if release.n_records > 1 else [],
    }


def similarity_words(similarity: Similarity) -> str:
    """By what two entries of the same item are alike."""
    if isinstance(similarity, Equal):
        return "the same items with the same values"
    if isinstance(similarity, Within):
        value = None if similarity.value is None else f"values within {similarity.value:g}"
        time = None if similarity.time is None else f"dates within {similarity.time:g} days"
        return " and ".join(filter(None, [value, time]))
    return "the same items"


def _bounds(n: int, found: Sparsity, tried: Sequence[Attacked]) -> list[dict[str, Any]]:
    rows = [_theorem1(n, tried)]
    near = float(np.quantile(found.nearest, 1 - EPSILON, method="inverted_cdf"))
    delta = round(1 - EPSILON - near, 12)
    setting = (
        f"ε = {EPSILON:g}, δ = {delta:.3g}: {percent(found.delta(near).value)} of the records have a "
        f"neighbour more similar than {near:.2f}"
    )  # fmt: skip
    if delta <= 0:
        says = (
            f"Nothing: it needs records without a near neighbour, and here one in {1 / EPSILON:.0f} has one."
        )
        return [
            *rows,
            _row("Theorem 3", says, None, "", f"the nearest neighbour is more similar than {near:.2f}"),
        ]
    facts = max(facts_for_lineup(n, LINEUP, delta), 0)
    says = f"{facts} exact facts about a person are enough to narrow the data down to a lineup of {LINEUP}."
    rows.append(_row("Theorem 3", says, facts, _measured(tried, "in_top", HALF), setting))
    return rows


def _theorem1(n: int, tried: Sequence[Attacked]) -> dict[str, Any]:
    facts = facts_needed(n, EPSILON, HALF)
    like = 1 - EPSILON - HALF
    says = (
        f"With {facts} exact facts about a person, whoever matches them is at least {percent(like)} like "
        f"that person, in {percent(1 - EPSILON)} of the cases, whatever the data."
    )  # fmt: skip
    return _row(
        "Theorem 1", says, facts, _measured(tried, "found", 1 - EPSILON), f"ε = {EPSILON:g}, δ = {HALF:g}"
    )


def _row(theorem: str, says: str, bound: int | None, measured: str, setting: str) -> dict[str, Any]:
    return {"theorem": theorem, "says": says, "bound": bound, "measured": measured, "setting": setting}


def _measured(tried: Sequence[Attacked], measure: str, goal: float) -> str:
    """With how few facts the adversary most like the theorem's reaches so much: any items, few wrong."""
    fit = [one for one in tried if one.cells and str(one.rung.adversary.items) == "any"] or [
        one for one in tried if one.cells
    ]
    if not fit:
        return "not measured"
    one = min(fit, key=lambda one: one.rung.adversary.wrong)
    what = "the best guess is right" if measure == "found" else f"the person is among the {LINEUP} likeliest"
    reached = [
        (cell.facts, float(values.mean()))
        for cell in one.cells
        for values in [cell.outcomes.identified if measure == "found" else cell.outcomes.in_top]
    ]
    for facts, share in reached:
        if share >= goal:
            told = f"{facts} {'fact' if facts == 1 else 'facts'}"
            return f"With {told}, “{one.rung.name}”: {what} for {percent(share)}."
    facts, share = reached[-1]
    return f"With {facts} facts, the most that was tried, “{one.rung.name}”: {what} for {percent(share)}."
