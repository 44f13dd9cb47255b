"""What `standout simulate` prints: the measures of one attack or of several, side by side."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import polars as pl
from rich.table import Table

from standout.attack.any_attack import AnyAttack
from standout.cli.console import borderless_table, console, number_columns, percent, print_table, print_text
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.simulation import Measurement, Simulation, SimulationCell
from standout.findings.gate import measure_titles

__all__ = ["SimulationsByAttack", "show_simulations"]

LABEL_WIDTH, COLUMN_WIDTH = 36, 22
"""Characters of the titles with the baseline, and of a number with its interval."""
RATES = {
    "identified",
    "in_top",
    "similar",
    "correct_claims",
    "wrong_claims",
    "no_claim",
    "absent_claims",
    "equal_error_rate",
    "revealed_correct_share",
}
WITHOUT_SETTING = ("identified", "bits_left", "bits_gained", "revealed", "revealed_correct", "revealed_correct_share")
NOTE = (
    "95 % intervals in brackets. The last column is the baseline: guessing without knowledge. "
    "People whom this adversary does not identify may be identified by another."
)
STRONGER = "The risk is that of the stronger attack. Both attacked the same targets with the same facts. "


class Column(NamedTuple):
    """A column of numbers: the attack, its simulation, and the cell of an adversary and number of facts."""

    attack: str
    simulation: Simulation
    cell: SimulationCell


@dataclass(frozen=True, eq=False)
class SimulationsByAttack:
    """The simulations of one adversary with one or several attacks, by the name of the attack."""

    simulations: Mapping[str, Simulation]
    attacks: Mapping[str, AnyAttack]

    @property
    def complete(self) -> bool:
        """Whether all attacks attacked all targets."""
        return all(name in self.simulations and self.simulations[name].complete for name in self.attacks)

    @cached_property
    def columns(self) -> list[Column]:
        """The columns in the order of the screen: by adversary and number of facts, then by attack."""
        columns = [
            Column(name, simulation, cell) for name, simulation in self.simulations.items() for cell in simulation.cells
        ]
        return sorted(columns, key=lambda column: column.cell.facts)

    @property
    def threshold(self) -> ClaimThreshold | None:
        """When a record is claimed; None if that differs between the attacks."""
        thresholds = {column.simulation.threshold for column in self.columns}
        return thresholds.pop() if len(thresholds) == 1 else None

    @property
    def table(self) -> pl.DataFrame:
        """The tables of all simulations, with the attack as a further column."""
        return pl.concat(
            simulation.table.select(pl.lit(name).alias("attack"), pl.all())
            for name, simulation in self.simulations.items()
        )

    def to_dict(self) -> dict[str, object]:
        """Return the JSON output."""
        first = next(iter(self.simulations.values()))
        thresholds = {name: one.threshold for name, one in self.simulations.items()}
        return {
            "complete": self.complete,
            "original": first.original,
            "present": first.cells[0].present if first.cells else None,
            "attacks": {
                name: {"attack": repr(self.attacks[name]), "threshold": threshold.setting}
                for name, threshold in thresholds.items()
            },
            "table": self.table.to_dicts(),
            "curves": [
                {
                    "attack": name,
                    "adversary": cell.adversary,
                    "facts": cell.facts,
                    "curve": _curve(cell).to_dicts(),
                    "calibration": cell.calibration().to_dicts(),
                }
                for name, simulation in self.simulations.items()
                for cell in simulation.cells
            ],
        }


def show_simulations(result: SimulationsByAttack) -> None:
    """Print the simulations for people."""
    if not result.columns:
        print_text("Interrupted before the first targets were attacked.")
        return
    several = len(result.simulations) > 1
    width = max(1, (console().width - LABEL_WIDTH) // COLUMN_WIDTH)
    width = max(1, width - width % len(result.simulations)) if several else width
    for first in range(0, len(result.columns), width):
        shown = result.columns[first : first + width]
        print_table(_table(result, shown), shown[0].cell.adversary)
        print_text("")
    print_text(_targets_note(result))
    print_text((STRONGER if several else "") + NOTE)


def _curve(cell: SimulationCell) -> pl.DataFrame:
    """The claim rates by the threshold as users state it."""
    curve, threshold = cell.claim_rates.curve(), cell.threshold
    stated = [threshold.stated(strength) for strength in curve["phi"]]
    return curve.select(pl.Series(threshold.measure, stated), pl.exclude("phi"))


def _table(result: SimulationsByAttack, columns: list[Column]) -> Table:
    table = borderless_table()
    table.add_column("")
    several = len(result.simulations) > 1
    number_columns(table, *(_header(column, several) for column in columns), "Baseline")
    if result.threshold is None:
        table.add_row("Threshold of claims", *(_threshold_text(column) for column in columns), "")
    titles = [_titles(column.simulation, result.threshold) for column in columns]
    measurements = [column.simulation.measurements(column.cell) for column in columns]
    for rows in zip(*measurements, strict=True):
        title = titles[0].get(rows[0][:2])
        if title is None:
            continue
        assert all(by_setting.get(row[:2]) == title for by_setting, row in zip(titles, rows, strict=True))
        baseline = rows[0].estimate.baseline
        last = "" if baseline is None else _number(rows[0].measure, baseline)
        table.add_row(title, *map(_with_interval, rows), last)
    return table


def _header(column: Column, several: bool) -> str:
    facts = f"{column.cell.facts} fact{'s' * (column.cell.facts != 1)}"
    return f"{facts}\n{column.attack}" if several else facts


def _threshold_text(column: Column) -> str:
    return column.simulation.threshold.text.replace("=", "≥")


def _titles(simulation: Simulation, shared: ClaimThreshold | None) -> dict[tuple[str, str], str]:
    """Return the title of each row to show, by measure and setting."""
    threshold, budget, criteria = simulation.threshold, simulation.budget, simulation.criteria
    titles = measure_titles(shared, budget=budget, top=criteria.top)
    at, symbol = ("the threshold", "Threshold") if shared is None else (shared.text, shared.symbol)
    at_phi, at_theta = threshold.setting, f"theta={criteria.theta:g}"
    at_budget, measure = f"absent_claims<={budget:g}", threshold.measure
    claims = {(name, at_phi): titles[name] for name in ("correct_claims", "wrong_claims", "absent_claims")}
    return {
        **{(name, ""): titles[name] for name in WITHOUT_SETTING},
        **claims,
        **{("lineup_size", f"mass={mass} %"): f"Median lineup ({mass} %)" for mass in (50, 90, 99)},
        ("in_top", f"top={criteria.top}"): titles["in_top"],
        ("similar", at_theta): f"Similar best guess (Sim ≥ {criteria.theta:g})",
        ("no_claim", at_phi): f"No claim at {at}",
        ("equal_error_rate", ""): "Equal error rate",
        (measure, "equal_error_rate"): f"{symbol if symbol == 'φ' else symbol.capitalize()} at equal errors",
        (measure, at_budget): titles["threshold_at_budget"],
        ("correct_claims", at_budget): titles["correct_claims_at_budget"],
        ("absent_claims", at_budget): titles["absent_claims_at_budget"],
        ("correct_claims", f"{at_phi}, {at_theta}"): f"Correct claims, Sim ≥ {criteria.theta:g}",
        ("wrong_claims", f"{at_phi}, {at_theta}"): f"Wrong claims, Sim < {criteria.theta:g}",
        ("equal_error_rate", at_theta): f"Equal error rate, Sim ≥ {criteria.theta:g}",
        ("bits_left", at_theta): "Bits missing to a similar record",
        ("bits_left", "mixed_with_uniform"): "Bits missing, mixed with a guess",
        ("bits_left", "not identified"): "Bits missing where the guess is wrong",
    }


def _with_interval(row: Measurement) -> str:
    measure, _, estimate = row
    if not estimate.n:
        return "–"
    value = _number(measure, estimate.value)
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return value
    low, high = (_number(measure, end).removesuffix(" %") for end in (estimate.low, estimate.high))
    return f"{value} ({low}–{high})"


def _number(measure: str, value: float) -> str:
    if measure in RATES:
        return percent(value) if value >= 0.001 or value == 0 else f"{100 * value:.1g} %"
    if measure == "posterior":
        return f"{value:.4g}" if value <= 0.9999 else f"1 − {1 - value:.0e}" if value < 1 else "1"
    if abs(value) >= 10_000:
        return f"{value / 1000:,.1f}k"
    is_whole = abs(value) >= 100 or (measure == "lineup_size" and value == int(value))
    return f"{value:,.0f}" if is_whole else f"{value:.2f}"


def _targets_note(result: SimulationsByAttack) -> str:
    _, simulation, cell = result.columns[-1]
    targets = len(cell.outcomes)
    interrupted = "" if result.complete else " (interrupted)"
    note = (
        f"{targets:,} targets{interrupted}; {cell.too_few_items:,} of {cell.n_considered:,} records have too "
        "few entries."
    )
    if simulation.original is not None:
        missing = round((1 - cell.present) * targets)
        note += (
            " Targets and known facts are those of the original; "
            f"the release does not represent {missing:,} of the targets."
        )
    return f"{note}\n"
