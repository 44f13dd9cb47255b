"""The cells of the grids once more: from the success of each attack, and from the adversary as named."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from standout.auditing.adversary_runs import AdversaryRun
from standout.auditing.error_grids import GridRun
from standout.auditing.findings_checks import Number, rate_number
from standout.core.arrays import Floats
from standout.evaluate.candidate_attacks import LIKELIHOOD
from standout.findings.error_grids import ErrorGrids

__all__ = ["grid_numbers", "own_rows_agree"]


def grid_numbers(findings: ErrorGrids, grids: Sequence[GridRun]) -> Iterator[Number]:
    """Every cell of the findings, and what it should be."""
    for grid, run in zip(findings.grids, grids, strict=True):
        for row, success in zip(grid.rows, run.success, strict=True):
            for column, cell in enumerate(row.cells):
                chosen = _by_halves({name: of[:, column] for name, of in success.items()})
                yield rate_number("cell of a grid", cell.identified, chosen)


def _by_halves(successes: Mapping[str, Floats]) -> Floats:
    """Success by target: every second target has the attack that is best for the others."""
    chosen = np.zeros(len(next(iter(successes.values()))))
    for half in (0, 1):
        others = {name: math.fsum(success[1 - half :: 2]) for name, success in successes.items()}
        best = max(others, key=lambda name: (others[name], name == LIKELIHOOD))
        chosen[half::2] = successes[best][half::2]
    return chosen


def own_rows_agree(headline: AdversaryRun, grids: Sequence[GridRun]) -> Iterator[bool]:
    """Whether the row of the adversary's own error repeats what its own attacks achieved.

    They have the same targets with the same facts, but were attacked in another run.
    """
    own = headline.rung.adversary
    for run in grids:
        for level, success in zip(run.levels, run.success, strict=True):
            for part in headline.attacks if level.adversary == own else ():
                cell = headline.named_cell_of(part)
                assert cell is not None
                place = {int(target): at for at, target in enumerate(cell.targets)}
                at = [place[int(target)] for target in run.targets]
                yield bool(np.array_equal(cell.outcomes.identified[at, 0], success[part.name][:, -1]))
