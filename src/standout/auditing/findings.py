"""What an audit found, as one plain object: findings.json, whose schema is docs/findings.schema.json."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from standout._version import __version__
from standout.auditing import sentences as words
from standout.auditing.attacks import Attacked, Measures, Plan, measures
from standout.auditing.exposure import by_joined, by_length, by_popularity, facts_needed
from standout.auditing.ladder import words_of
from standout.auditing.selfcheck import Check
from standout.auditing.sensitive import Listed, revealed_by
from standout.auditing.theory_section import theory
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimates import rate
from standout.evaluate.population import Population
from standout.evaluate.simulate import Simulation, SimulationCell
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.theory.sparsity import Sparsity

__all__ = ["SCHEMA", "SCHEMA_VERSION", "Asked", "Worked", "findings"]

SCHEMA, SCHEMA_VERSION = "standout-findings", 2
MASS = 0.9


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of the audit."""

    plan: Plan
    headline: str
    ladder: str
    quick: bool
    fail_above: float | None
    name: str
    limits: tuple[str, ...]
    sensitive: Listed | None


@dataclass(frozen=True, slots=True)
class Worked:
    """What was worked out: adversaries in the order of the ladder, checks, nearest neighbours."""

    tried: Sequence[Attacked]
    checks: Sequence[Check]
    sparsity: Sparsity | None
    complete: bool


def findings(asked: Asked, worked: Worked) -> dict[str, Any]:
    """The findings of an audit, in plain values."""
    plan, release = asked.plan, asked.plan.release
    people, original = plan.people.original.n_records, _original(release, plan.allowing)
    tried = [one for one in worked.tried if one.at is not None]
    head = next(one for one in tried if one.rung.name == asked.headline)
    seen = {one.rung.name: _seen(one.named, one.at, plan) for one in tried}
    trusted = bool(worked.checks) and all(check.passed for check in worked.checks)
    more = [*asked.limits, *filter(None, [asked.sensitive.limit if asked.sensitive else ""])]
    assert head.named is not None
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "complete": worked.complete,
        "made": {"by": f"standout {__version__}", "at": None, "seed": plan.seed, "seconds": None},
        "data": {"name": asked.name} | _data(release),
        "original": original,
        "settings": {
            "targets": plan.targets, "facts": list(plan.facts), "phi": plan.phi, "budget": plan.budget,
            "top": plan.top, "quick": asked.quick, "fail_above": asked.fail_above, "headline": asked.headline,
            "ladder": asked.ladder,
        },
        "trust": {"trusted": trusted, "checks": [check.to_dict() for check in worked.checks]},
        "answer": words.answer(head, seen[asked.headline], people, original),
        "adversaries": [_adversary(one, seen[one.rung.name], plan) for one in tried],
        "exposure": _exposure(head, asked),
        "theory": theory(release, head.named.criteria.similarity, worked.sparsity, tried),
        "verdict": words.verdict(head, seen, tried, plan.phi, plan.budget, trusted),
        "threshold": words.threshold(asked.fail_above, seen, tried),
        "limits": words.limits(head, people, worked.complete, asked.quick, more, original),
        "versions": _versions(),
    }  # fmt: skip


def _seen(simulation: Simulation | None, cell: SimulationCell | None, plan: Plan) -> Measures:
    """All measures of an adversary; `identified_in_release` is of those only for whom a record stands."""
    assert simulation is not None and cell is not None
    there = plan.people.record_of(cell.targets) >= 0
    right, n = cell.outcomes.identified.mean(axis=1)[there], int(there.sum())
    released = rate(min(float(right.sum()), n), n, 1 / plan.release.n_records)
    return measures(simulation, cell) | {("identified_in_release", ""): released}


def _data(release: Release) -> dict[str, Any]:
    ends = release.time_range
    return {
        "fingerprint": release.fingerprint, "records": release.n_records,
        "items": release.n_items, "entries": release.n_entries, "has_values": release.n_levels > 0,
        "has_times": release.span > 0, "levels": release.n_levels,
        "first": None if ends is None else _day(ends[0]), "last": None if ends is None else _day(ends[1]),
        "median_length": float(np.median(release.lengths)),
        "rows_rejected": sum(release.provenance.rejected.values()),
        "synthetic": Population.of(release).original.provenance.format == "synthetic",
    }  # fmt: skip


def _original(release: Release, allowing: str) -> dict[str, Any] | None:
    """What the release was made from, and how."""
    if not isinstance(release, Sanitized):
        return None
    stands = release.mapping.representatives
    told = {
        "not_in_release": int(np.count_nonzero(stands < 0)),
        "records_of_several": int(np.count_nonzero(np.bincount(stands[stands >= 0]) > 1)),
        "done": [{"step": one.step, "counts": one.counts} for one in release.step_reports],
        "attack": allowing,
    }
    return _data(release.original) | told | {"words": words.made_from(release.original.n_records, told)}


def _day(moment: date) -> str:
    return moment.isoformat()[:10]


def _adversary(one: Attacked, seen: Measures, plan: Plan) -> dict[str, Any]:
    rung, adversary, cell = one.rung, one.rung.adversary, one.at
    assert cell is not None
    curve = [_point(cell, _seen(one.curve, cell, plan), plan) for cell in one.cells]
    return {
        "name": rung.name, "title": rung.title, "words": words_of(adversary, plan.people.original),
        "gate": rung.gate, "knows": adversary.knows, "wrong": adversary.wrong,
        "wrong_facts": adversary.wrong_facts, "value_error": adversary.value_error,
        "time_error": adversary.time_error, "items": str(adversary.items),
        "length_error": adversary.length_error, "joined_error": adversary.joined_error,
        "note": rung.note, "left_out": cell.too_few_items, "at": _at(cell, seen, plan), "curve": curve,
        "curve_note": _curve_note(one), "curve_left_out": one.cells[0].too_few_items if one.cells else 0,
    }  # fmt: skip


def _curve_note(one: Attacked) -> str:
    if not one.cells:
        return "the curve was not tried: the audit was cut short"
    most, wrong, told = one.more.knows, one.more.wrong, []
    if one.rung.adversary.wrong:
        are = "is" if wrong == 1 else "are"
        told.append(f"of {most} facts {wrong} {are} wrong, and of fewer the same share on average")
    if one.cells[0].too_few_items:
        told.append(f"only people with at least {most} {'item' if most == 1 else 'items'}")
    if most < one.rung.adversary.knows:
        told.append(f"no more than {most} facts, because half of the records have no more items")
    return "; ".join(told)


def _point(cell: SimulationCell, seen: Measures, plan: Plan) -> dict[str, Any]:
    """A point of a curve."""
    names = (
        "identified",
        "correct_claims",
        "absent_claims",
        "phi_at_budget",
        "correct_claims_at_budget",
        "bits_gained",
        "lineup",
    )
    whole = _at(cell, seen, plan)
    return {"facts": cell.facts} | {name: whole[name] for name in names}


def _at(cell: SimulationCell, seen: Measures, plan: Plan) -> dict[str, Any]:
    """The measures of an adversary with one number of facts."""
    phi, within = f"phi={plan.phi:g}", f"absent_claims<={plan.budget:g}"
    lineup = seen.get(("lineup_size", f"mass={MASS:.0%}".replace("%", " %")))
    claims = ("correct_claims", "wrong_claims", "absent_claims")
    plain = ("revealed", "revealed_correct", "revealed_correct_share")
    return {
        "facts": cell.facts, "targets": len(cell.outcomes),
        "identified": estimate_json(seen["identified", ""]),
        "identified_in_release": estimate_json(seen["identified_in_release", ""]),
        "in_top": estimate_json(seen["in_top", f"top={plan.top}"]),
        **{name: estimate_json(seen[name, phi]) for name in claims},
        "phi_at_budget": seen["phi", within].value,
        "correct_claims_at_budget": estimate_json(seen["correct_claims", within]),
        "bits_gained": estimate_json(seen["bits_gained", ""]),
        "bits_left": estimate_json(seen["bits_left", ""]),
        "lineup": None if lineup is None else estimate_json(lineup), "lineup_mass": MASS,
        **{name: estimate_json(seen[name, ""]) for name in plain},
    }  # fmt: skip


def _exposure(head: Attacked, asked: Asked) -> dict[str, Any]:
    """Who is exposed to the headline adversary."""
    people, cell, adversary = asked.plan.people, head.at, head.rung.adversary
    truth = people.original
    assert cell is not None
    known = adversary.observe_all(truth, cell.targets, asked.plan.seed)
    listed = asked.sensitive
    sensitive = None
    if listed is not None:
        able = adversary.eligible(truth, np.arange(truth.n_records))
        sensitive = {
            "file": listed.file, "items_listed": listed.lines, "items_found": listed.found,
            "adversary": head.rung.name, "rows": revealed_by(people, listed, cell, known, able),
        }  # fmt: skip
    return {
        "adversary": head.rung.name,
        "facts_needed": facts_needed(head),
        "by_length": by_length(truth, cell),
        "by_popularity": by_popularity(truth, cell, known),
        "by_joined": by_joined(truth, cell),
        "sensitive": sensitive,
    }


def _versions() -> dict[str, str]:
    found = {"standout": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "polars"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
