"""Runs the attacks of the paper, each only once even if several figures show it."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.core.progress import ProgressMeter
from standout.data.release import Release
from standout.evaluate.cell import SimulationCell
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation
from standout.know.similarity import Similarity
from standout.measure.sparsity import Sparsity, sparsity
from standout.paper.comparison_rows import (
    PEOPLE,
    TARGETS,
    Bar,
    ComparisonRow,
    Setting,
    Unit,
    comparison_row,
    with_likelihood,
)

__all__ = ["NEIGHBOUR_SAMPLE", "NEIGHBOUR_SECONDS", "AttackRunner", "NotPossible"]

PHI, POSTERIOR = 1.5, 0.95
"""Minimum strength of a claim: eccentricity in the paper's attack, posterior in the Bayesian one."""
AttackName = Literal["paper", "likelihood"]
ATTACKS: dict[AttackName, AnyAttack] = {"paper": ScoreboardRH(), "likelihood": Likelihood()}
NEIGHBOUR_SECONDS = 12.0
"""Approximate time of the search for nearest neighbours at the paper's size."""
NEIGHBOUR_SAMPLE = 1000
"""Number of records whose nearest neighbours are searched."""


@dataclass(frozen=True)
class NotPossible:
    """The reason why an attack cannot be run on a release."""

    reason: str


@dataclass(eq=False)
class AttackRunner:
    """Attacks on one release.

    folder         folder for checkpoints; None: no checkpoints
    qualifying     number of the contest's test entries of each record, if known
    meter          shows the progress of the whole reproduction
    """

    release: Release
    targets: int = 1000
    seed: int = 0
    threads: int | None = None
    folder: Path | None = None
    qualifying: Ints | None = None
    meter: ProgressMeter = field(default_factory=ProgressMeter)
    simulations: dict[tuple[Setting, bool, AttackName], Simulation | NotPossible] = field(default_factory=dict)
    neighbours: dict[Similarity, Sparsity] = field(default_factory=dict)

    def run(self, setting: Setting, absent: bool = False, attack: AttackName = "paper") -> Simulation | NotPossible:
        """The simulation of an attack, with absent targets if `absent`; or why it is not possible."""
        key = setting, absent, attack
        if reason := self._missing_data(setting):
            return NotPossible(reason)
        if key not in self.simulations:
            self.simulations[key] = self._simulate_or_reason(setting, absent, attack)
        return self.simulations[key]

    def _missing_data(self, setting: Setting) -> str:
        """Data that the attack needs and the release lacks; empty if it lacks none."""
        if not self.release.n_levels:
            return "the data has no values"
        return "the data has no dates" if setting.time_error is not None and not self.release.span else ""

    def _simulate_or_reason(self, setting: Setting, absent: bool, attack: AttackName) -> Simulation | NotPossible:
        try:
            with self.meter.part(self.seconds(absent)):
                simulation = self._simulate(setting, absent, attack)
        except ParameterError as error:
            return NotPossible(str(error))
        if not simulation.complete:
            raise KeyboardInterrupt
        return simulation

    def _simulate(self, setting: Setting, absent: bool, attack: AttackName) -> Simulation:
        return simulate(
            self.release,
            setting.adversary,
            attack=ATTACKS[attack],
            targets=self.targets,
            phi=PHI,
            posterior=POSTERIOR,
            absent=absent,
            seed=self.seed,
            threads=self.threads,
            progress=self.meter,
            save=None if self.folder is None else self.folder / "attack",
        )

    def seconds(self, absent: bool) -> float:
        """Approximate time of an attack at the paper's size on two cores."""
        return 4.0 + (6.0 if absent else 4.0) * self.targets / 1000

    def cell(self, setting: Setting) -> SimulationCell | None:
        """The outcomes of an attack; None if it is not possible."""
        simulation = self.run(setting)
        return None if isinstance(simulation, NotPossible) else simulation.cell()

    def compare_bar(self, bar: Bar, panel: str, label: str) -> ComparisonRow:
        """A bar of the paper compared with our measurement, and what the Bayesian attack reaches."""
        row = self._reproduced_bar(bar, panel, label)
        stronger = self.run(bar.setting, _needs_absent(bar), "likelihood")
        if row.measured is None or isinstance(stronger, NotPossible):
            return row
        reached = stronger.estimate(bar.measure, stronger.threshold.setting if _needs_absent(bar) else "")
        return with_likelihood(row, reached)

    def _reproduced_bar(self, bar: Bar, panel: str, label: str) -> ComparisonRow:
        """A bar of the paper compared with ours, of the same attack."""
        unit: Unit = "bits" if bar.measure == "bits_gained" else "rate"
        absent = _needs_absent(bar)
        simulation = self.run(bar.setting, absent)
        if isinstance(simulation, NotPossible):
            return ComparisonRow(
                panel=panel,
                label=label,
                measure=bar.measure,
                unit=unit,
                paper=bar.paper,
                measured=None,
                paper_targets=TARGETS,
                note=simulation.reason,
            )
        cell = simulation.cell()
        return comparison_row(
            panel,
            label,
            bar.measure,
            unit,
            bar.paper,
            estimate=simulation.estimate(bar.measure, f"phi={PHI:g}" if absent else ""),
            paper_targets=TARGETS,
            spread=_deviation_of_bits(cell) if unit == "bits" else 0.0,
            too_few_items=cell.too_few_items,
        )

    def nearest_neighbours(self, similarity: Similarity) -> Sparsity:
        """The nearest neighbours of a sample of records among all records."""
        if similarity not in self.neighbours:
            sample = NEIGHBOUR_SAMPLE if self.release.n_records > NEIGHBOUR_SAMPLE else None
            with self.meter.part(NEIGHBOUR_SECONDS / 2):
                self.neighbours[similarity] = sparsity(
                    self.release, similarity, sample=sample, seed=self.seed, threads=self.threads, progress=self.meter
                )
        return self.neighbours[similarity]

    @property
    def has_full_size(self) -> bool:
        """Whether the release has as many people as the paper's data."""
        return self.release.n_records == PEOPLE


def _needs_absent(bar: Bar) -> bool:
    """Whether a bar is about claims, which are also made about absent targets."""
    return bar.measure in ("correct_claims", "absent_rejected")


def _deviation_of_bits(cell: SimulationCell) -> float:
    """Standard deviation of bits between targets."""
    bits = cell.outcomes.bits_left.mean(axis=1)
    return float(bits.std(ddof=1)) if len(bits) > 1 else math.nan
