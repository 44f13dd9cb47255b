"""From the attacks of the grids to their findings, with what is fixed in words."""

from collections.abc import Sequence

from standout.adversary import Adversary, has_own_draws
from standout.auditing.adversary_runs import AdversaryRun, AuditPlan
from standout.auditing.adversary_text import time_text
from standout.auditing.error_grids import ErrorLevel, GridRun, Varies
from standout.core.arrays import Floats
from standout.evaluate.candidate_attacks import cross_fit
from standout.evaluate.estimates import rate
from standout.findings.error_grids import ErrorGrid, ErrorGrids, ErrorRow, GridCell
from standout.release.model import Release

__all__ = ["grid_findings"]

NOUNS: dict[Varies, str] = {"time_error": "date", "value_error": "value"}


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
        title=f"Identified people, by known facts and {NOUNS[grid.varies]} error",
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
    return (
        "; where nothing but items is known, a wrong fact is an item that the record lacks" if changed else ""
    )


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
