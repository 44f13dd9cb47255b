"""The headline adversary with other numbers of facts and other errors: the grids of an audit.

Dates and values vary one at a time. A walk over the release gives all numbers of facts of one adversary, so a
grid costs one walk for each row and attack. There are no claims and no absent targets in a grid, and fewer
targets than elsewhere, so that it takes a small share of the audit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from standout.attack.any_attack import fit_attack
from standout.auditing.adversary_text import time_text
from standout.auditing.ladder import DataSpread, RelativeError, eligible_share
from standout.auditing.runs import AdversaryRun, AuditPlan
from standout.core.arrays import Floats, Ints
from standout.core.progress import Progress, ProgressMeter
from standout.data.release import Release
from standout.evaluate.compare import cross_fit
from standout.evaluate.estimates import rate
from standout.evaluate.simulate import TargetSuccess
from standout.evaluate.targets import random_targets
from standout.findings.sections import ErrorGrid, ErrorGrids, ErrorRow, GridCell
from standout.know.adversary import Adversary, has_own_draws

Varies = Literal["time_error", "value_error"]
GRID_TARGETS = 250
"""Largest number of targets of a grid."""
MOST_SIZES = 8
"""Largest number of columns of a grid."""
DATE_ERRORS = (RelativeError(0.005, at_most=3), RelativeError(0.02, at_most=14), RelativeError(0.1, at_most=60))
"""Shares of the time span: as precise as a public profile, as an acquaintance, and as a season."""
VALUE_ERRORS = (RelativeError(0.1), RelativeError(0.33), RelativeError(0.67))
"""Shares of the value spread: a third is one star of five, as in the default adversaries."""


@dataclass(frozen=True, slots=True)
class ErrorLevel:
    """One row of a grid: an error, None if not known, and the adversary who makes it."""

    error: float | None
    adversary: Adversary


@dataclass(frozen=True, slots=True)
class GridRun:
    """The attacks of one grid.

    `success` has the success by target and number of facts, for each level and each attack.
    """

    varies: Varies
    sizes: tuple[int, ...]
    targets: Ints
    levels: tuple[ErrorLevel, ...]
    success: tuple[Mapping[str, Floats], ...]


@dataclass(frozen=True, slots=True)
class _SameDraws(Adversary):
    """An adversary who knows the same entries as another, with the same random numbers for errors.

    Cells then differ by their facts and errors only, not by the luck of the draw.
    """

    drawn_as: str = ""

    def key(self) -> str:
        return self.drawn_as


def measure_grids(plan: AuditPlan, run: AdversaryRun, progress: Progress) -> tuple[GridRun, ...]:
    """The grids of an adversary: of date errors and of value errors, as far as the data has them."""
    adversary, original = run.rung.adversary, plan.people.original
    if has_own_draws(adversary):
        return ()
    spread = DataSpread(original)
    levels = {varies: error_levels(adversary, original, varies, spread) for varies in _varying(plan.release, original)}
    levels = {varies: rows for varies, rows in levels.items() if len(rows) > 1}
    every = {level.adversary.key(): level.adversary for rows in levels.values() for level in rows}
    targets, sizes = _targets(plan, adversary, [*every.values()]), grid_sizes(plan.facts, adversary.knows)
    if not len(targets):
        return ()
    meter = ProgressMeter("grids", float(len(every) * len(run.attacks)), progress)
    success: dict[str, dict[str, Floats]] = {}
    for key, other in every.items():
        success[key] = {}
        for part in run.attacks:
            with meter.part(1.0):
                drawn = _with_draws_of(adversary, other)
                attacks = TargetSuccess(fit_attack(part.attack, other), drawn, sizes, plan.seed)
                success[key][part.name] = attacks.of(plan.release, targets, plan.threads, meter)
    return tuple(
        GridRun(varies, sizes, targets, rows, tuple(success[level.adversary.key()] for level in rows))
        for varies, rows in levels.items()
    )


def error_levels(adversary: Adversary, original: Release, varies: Varies, spread: DataSpread) -> tuple[ErrorLevel, ...]:
    """The adversary with each error: exact, the default errors on this data, its own, and not known.

    Where neither values nor dates are left in which a fact could be wrong, wrong facts are wrong items, as in
    the ladder. Errors under which no record can be a target are left out.
    """
    if varies == "time_error":
        errors = [spread.time_error(error) for error in DATE_ERRORS]
    else:
        errors = [spread.value_error(error) for error in VALUE_ERRORS]
    own = getattr(adversary, varies)
    known = sorted({0.0, *errors, *([] if own is None else [own])})
    if varies == "value_error" and not isinstance(original.levels, np.ndarray):
        known = [0.0]
    candidates = (_with_error(adversary, original, varies, error) for error in [*known, None])
    return tuple(level for level in candidates if level is not None)


def grid_sizes(facts: Sequence[int], knows: int) -> tuple[int, ...]:
    """Numbers of facts up to all that the adversary knows; a few of them if there are many."""
    sizes = sorted({*(size for size in facts if size < knows), knows})
    places = np.linspace(0, len(sizes) - 1, min(len(sizes), MOST_SIZES))
    return tuple(sizes[place] for place in np.unique(np.rint(places).astype(np.int64)))


def _varying(release: Release, original: Release) -> Iterator[Varies]:
    if release.span and original.span:
        yield "time_error"
    if release.n_levels and original.n_levels:
        yield "value_error"


def _with_error(adversary: Adversary, original: Release, varies: Varies, error: float | None) -> ErrorLevel | None:
    is_time = varies == "time_error"
    other = replace(adversary, time_error=error) if is_time else replace(adversary, value_error=error)
    if eligible_share(other, original):
        return ErrorLevel(error, other)
    with_wrong_items = replace(other, wrong_facts="items")
    return ErrorLevel(error, with_wrong_items) if eligible_share(with_wrong_items, original) else None


def _with_draws_of(adversary: Adversary, other: Adversary) -> Adversary:
    settings = {field.name: getattr(other, field.name) for field in fields(Adversary)}
    return _SameDraws(**settings, drawn_as=adversary.key())


def _targets(plan: AuditPlan, adversary: Adversary, others: Sequence[Adversary]) -> Ints:
    """The first targets of the adversary who are targets of the others as well."""
    original = plan.people.original
    targets = random_targets(original, adversary, plan.seed)[: plan.targets]
    for other in others:
        targets = targets[other.eligible(original, targets)]
    return targets[: min(plan.targets, GRID_TARGETS)]


# From the attacks of the grids to their findings, with what is fixed in words.


def grid_findings(plan: AuditPlan, headline: AdversaryRun, grids: Sequence[GridRun] | None) -> ErrorGrids:
    """The grids of the headline adversary; None if the audit was interrupted before them."""
    adversary, cell = headline.rung.adversary, headline.named_cell
    assert cell is not None
    return ErrorGrids(
        adversary=headline.rung.name,
        at_least=adversary.knows,
        too_few_items=cell.too_few_items,
        grids=tuple(_grid(plan, adversary, grid) for grid in grids or ()),
        note=_note(plan, adversary, grids),
    )


def _grid(plan: AuditPlan, adversary: Adversary, grid: GridRun) -> ErrorGrid:
    return ErrorGrid(
        varies=grid.varies,
        fixed=_fixed(plan.people.original, adversary, grid),
        targets=len(grid.targets),
        rows=tuple(
            ErrorRow(
                error=level.error,
                label=_label(level.error, grid.varies),
                is_own=level.error == getattr(adversary, grid.varies),
                cells=tuple(
                    _cell(size, {name: of[:, column] for name, of in success.items()}, plan.release.n_records)
                    for column, size in enumerate(grid.sizes)
                ),
            )
            for level, success in zip(grid.levels, grid.success, strict=True)
        ),
    )


def _cell(facts: int, successes: dict[str, Floats], records: int) -> GridCell:
    """Success of the strongest attack, chosen for each half of the targets on the other half."""
    strongest = cross_fit(successes)
    n = len(strongest.success)
    identified = rate(min(float(strongest.success.sum()), n), n, 1 / records)
    return GridCell(facts=facts, identified=identified, attack=strongest.name)


def _label(error: float | None, varies: Varies) -> str:
    if error is None:
        return "not known"
    if not error:
        return "exact"
    return f"± {time_text(error) if varies == 'time_error' else f'{error:g}'}"


def _fixed(original: Release, adversary: Adversary, grid: GridRun) -> str:
    """What is the same in all cells: the other error, the wrong facts, and which items are known."""
    parts = [_other_error(original, adversary, grid.varies)]
    if adversary.wrong:
        parts.append(
            f"{adversary.wrong} of {adversary.knows} facts are wrong, and on average the same share of fewer "
            f"facts{_wrong_items(adversary, grid.levels)}"
        )
    kinds = {"popular": "popular items", "rarest": "the rarest items", "recent": "the latest items"}
    kinds |= {"burst": "items close in time"}
    choice = str(adversary.items)
    if choice != "any":
        parts.append(f"the facts are about {kinds.get(choice, choice.replace('_', ' '))}")
    return "; ".join(filter(None, parts))


def _other_error(original: Release, adversary: Adversary, varies: Varies) -> str:
    if varies == "time_error" and original.n_levels:
        error = adversary.value_error
        return f"values are {_in_a_sentence(error, 'value_error')}"
    if varies == "value_error" and original.span:
        return f"dates are {_in_a_sentence(adversary.time_error, 'time_error')}"
    return ""


def _in_a_sentence(error: float | None, varies: Varies) -> str:
    label = _label(error, varies)
    return f"known to {label}" if error else label if error is None else "known exactly"


def _wrong_items(adversary: Adversary, levels: Sequence[ErrorLevel]) -> str:
    changed = [level for level in levels if level.adversary.wrong_facts != adversary.wrong_facts]
    return "; where nothing but items is known, a wrong fact is an item that the record lacks" if changed else ""


def _note(plan: AuditPlan, adversary: Adversary, grids: Sequence[GridRun] | None) -> str:
    """Why a grid is missing."""
    if grids is None:
        return "The audit was interrupted before the grids."
    if has_own_draws(adversary):
        return "The adversary draws its facts in a way of its own, so its errors cannot be varied."
    original, release = plan.people.original, plan.release
    missing = [
        noun
        for noun, codes in (
            ("dates", min(original.span, release.span)),
            ("values", min(original.n_levels, release.n_levels)),
        )
        if not codes
    ]
    if not missing:
        return ""
    if len(missing) == 2:
        return (
            "The data has neither dates nor values, so there are no grids of their errors. Only the number "
            "of facts varies: see the chart by number of known facts."
        )
    return f"The data has no {missing[0]}, so there is no grid of their errors."
