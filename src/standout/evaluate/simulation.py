"""The result of `simulate`: outcomes by adversary and number of facts, and a table of all measures."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from standout._version import __version__
from standout.core.errors import NotFoundError, did_you_mean
from standout.core.results import ResultView
from standout.core.text import estimate_line
from standout.evaluate.cell import EstimateResult, EstimateRow, Measurement, SimulationCell, estimate_table
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate
from standout.evaluate.outcomes import Criteria

__all__ = ["Simulation"]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(ResultView, EstimateResult):
    """The result of `simulate`: one cell for each adversary and number of facts, and a table of all measures.

    Attributes
    ----------
    cells
        The outcomes by adversary and number of facts.
    criteria, threshold, budget, seed
        The settings; a record is claimed from `threshold` on.
    fingerprint
        The fingerprint of the release.
    complete
        False if the run was interrupted; the numbers are then about the targets attacked so far.
    original
        The fingerprint of the original if the release is sanitized.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=500, items=200, entries=10_000, seed=7)
    >>> simulation = so.simulate(release, so.Adversary(knows=4), targets=40)
    >>> simulation
    <Simulation: 1 cell, 40 attacks; identified 100 % (91.2 to 100 %)>
    >>> simulation.table.columns[:5]
    ['adversary', 'facts', 'measure', 'setting', 'estimate']
    """

    cells: tuple[SimulationCell, ...]
    criteria: Criteria
    threshold: ClaimThreshold
    budget: float
    seed: int
    fingerprint: str
    complete: bool
    original: str | None = None

    def __repr__(self) -> str:
        cells = "1 cell" if len(self.cells) == 1 else f"{len(self.cells)} cells"
        attacks = sum(len(cell.outcomes) for cell in self.cells)
        state = "" if self.complete else ", interrupted"
        return f"<Simulation: {cells}, {attacks:,} attacks{state}; {self._identified}>"

    @property
    def _identified(self) -> str:
        """The main result: the share of targets identified, or its range over the cells."""
        rates = sorted((cell.identified for cell in self.cells), key=lambda rate: rate.value)
        if not rates:
            return "no result"
        shown = list(dict.fromkeys(map(estimate_line, (rates[0], rates[-1]))))
        return f"identified {' to '.join(shown) if len(rates) > 1 else shown[0]}"

    def cell(self, adversary: str | None = None, facts: int | None = None) -> SimulationCell:
        """The cell of an adversary and a number of facts.

        Raises
        ------
        NotFoundError
            If no cell fits, or more than one.
        """
        fitting = [cell for cell in self.cells if adversary in (None, cell.adversary) and facts in (None, cell.facts)]
        if len(fitting) != 1:
            known = ", ".join(f"{cell.adversary!r} with {cell.facts} facts" for cell in self.cells)
            count = "no cell fits" if not fitting else "more than one cell fits"
            names = {cell.adversary for cell in self.cells}
            near = "" if fitting or adversary in names else did_you_mean(adversary, names)
            raise NotFoundError(f"{count}: give adversary and facts; there are {known or 'no cells'}{near}")
        return fitting[0]

    def estimate(
        self, measure: str, setting: str | None = None, adversary: str | None = None, facts: int | None = None
    ) -> Estimate:
        """One number of the table.

        Raises
        ------
        NotFoundError
            If there is no such measure, setting or cell.
        """
        measurements = self.measurements(self.cell(adversary, facts))
        for measurement in measurements:
            if measurement.measure == measure and setting in (None, measurement.setting):
                return measurement.estimate
        raise _no_measure(measure, setting, measurements)

    def measurements(self, cell: SimulationCell) -> list[Measurement]:
        """All measures of a cell, in the order of the table."""
        return list(cell.measurements(self.criteria, self.budget))

    @cached_property
    def table(self) -> pl.DataFrame:
        """All measures of all cells; see docs/measures.md."""
        rows = [
            EstimateRow(cell.adversary, cell.facts, *measurement, cell.too_few_items)
            for cell in self.cells
            for measurement in self.measurements(cell)
        ]
        return estimate_table(rows, self.seed, self.fingerprint, __version__)


def _no_measure(measure: str, setting: str | None, measurements: Iterable[Measurement]) -> NotFoundError:
    """The error about a measure or a setting that a cell does not have, with what it has."""
    settings: dict[str, list[str]] = {}
    for measurement in measurements:
        settings.setdefault(measurement.measure, []).append(measurement.setting)
    if measure not in settings:
        near = did_you_mean(measure, settings) or f"; there are {', '.join(settings)}"
        return NotFoundError(f"no measure {measure!r:.60}{near}")
    known = ", ".join(filter(None, settings[measure])) or "none"
    near = did_you_mean(setting, settings[measure]) or f"; its settings: {known}"
    return NotFoundError(f"no measure {measure!r} with setting {setting!r:.60}{near}")
