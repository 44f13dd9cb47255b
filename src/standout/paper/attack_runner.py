"""Where the paper's attacks are run: each once, whichever figures show it, and kept for the next run."""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError
from standout.core.progress import ProgressMeter
from standout.evaluate.estimates import Estimate
from standout.evaluate.simulate import Simulation, SimulationCell, simulate
from standout.paper.paper_results import PEOPLE, TRIES, Bar, Setting
from standout.paper.rows import Row, Unit, row
from standout.release.model import Release
from standout.similarity.attributes import Similarity
from standout.theory.sparsity import Sparsity, sparsity

__all__ = ["EXAMINED", "NEAREST", "Lab", "exactly"]

PHI = 1.5
NEAREST = 12.0
"""Seconds that the search for nearest neighbours takes, about."""
EXAMINED = 1000
"""Records whose nearest neighbours are looked for."""


@dataclass(eq=False)
class Lab:
    """One release under attack.

    folder       where outcomes are kept; None: nowhere
    qualifying   the contest's test entries of each record, where they are known
    meter        told how far all of it is
    """

    release: Release
    targets: int = 1000
    seed: int = 0
    threads: int | None = None
    folder: Path | None = None
    qualifying: NDArray[np.int64] | None = None
    meter: ProgressMeter = field(default_factory=ProgressMeter)
    done: dict[tuple[Setting, bool], Simulation | str] = field(default_factory=dict)
    found: dict[Similarity, Sparsity] = field(default_factory=dict)

    def attacked(self, setting: Setting, absent: bool = False) -> Simulation | str:
        """What becomes of the attack; or why it cannot be tried on this release."""
        asked = setting, absent
        if lacking := self._lacking(setting):
            return lacking
        if asked not in self.done:
            try:
                with self.meter.part(self.cost(absent)):
                    found = self._tried(setting, absent)
            except ParameterError as error:
                self.done[asked] = str(error)
            else:
                if not found.complete:
                    raise KeyboardInterrupt
                self.done[asked] = found
        return self.done[asked]

    def _lacking(self, setting: Setting) -> str:
        """What the attack needs and the release does not have."""
        if not self.release.n_levels:
            return "the data has no values"
        return "the data has no dates" if setting.time_error is not None and not self.release.span else ""

    def _tried(self, setting: Setting, absent: bool) -> Simulation:
        save = None if self.folder is None else self.folder / "attack"
        return simulate(
            self.release, setting.adversary, targets=self.targets, phi=PHI, absent=absent, seed=self.seed,
            threads=self.threads, progress=self.meter, save=save,
        )  # fmt: skip

    def cost(self, absent: bool) -> float:
        """About how long an attack takes, in seconds at the paper's size on two cores."""
        return 4.0 + (6.0 if absent else 4.0) * self.targets / 1000

    def cell(self, setting: Setting) -> SimulationCell | None:
        """The outcomes of an attack, None if it cannot be tried."""
        found = self.attacked(setting)
        return None if isinstance(found, str) else found.cell()

    def row(self, bar: Bar, panel: str, label: str) -> Row:
        """A bar of the paper beside ours."""
        unit: Unit = "bits" if bar.measure == "bits_gained" else "rate"
        absent = bar.measure in ("correct_claims", "absent_rejected")
        found = self.attacked(bar.setting, absent)
        if isinstance(found, str):
            return Row(panel, label, bar.measure, unit, bar.paper, None, tries=TRIES, note=found)
        cell, setting = found.cell(), f"phi={PHI:g}" if absent else ""
        return row(
            panel, label, bar.measure, unit, bar.paper, found.estimate(bar.measure, setting), tries=TRIES,
            spread=_spread(cell) if unit == "bits" else 0.0, left_out=cell.too_few_items,
        )  # fmt: skip

    def nearest(self, similarity: Similarity) -> Sparsity:
        """The nearest neighbours of some records among all."""
        if similarity not in self.found:
            sample = EXAMINED if self.release.n_records > EXAMINED else None
            with self.meter.part(NEAREST / 2):
                self.found[similarity] = sparsity(
                    self.release, similarity, sample=sample, seed=self.seed, threads=self.threads,
                    progress=self.meter,
                )  # fmt: skip
        return self.found[similarity]

    @property
    def whole(self) -> bool:
        """Whether there are as many people as in the paper."""
        return self.release.n_records == PEOPLE


def _spread(cell: SimulationCell) -> float:
    """The standard deviation of bits between targets."""
    bits = cell.outcomes.bits_left.mean(axis=1)
    return float(bits.std(ddof=1)) if len(bits) > 1 else math.nan


def exactly(value: float, n: int) -> Estimate:
    """A number that is not from a sample."""
    return Estimate(value, value, value, n)
