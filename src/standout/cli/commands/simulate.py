"""`standout simulate`: attack records whose owner is known, and measure the adversary's success."""

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli.adversary_options import AdversaryOptions, adversary_options
from standout.cli.common_options import (
    check_table_path,
    json_option,
    parse_counts,
    parse_targets,
    seed_option,
    table_option,
    threads_option,
)
from standout.cli.console import (
    borderless_table,
    console,
    number_columns,
    percent,
    print_json,
    print_table,
    print_text,
    progress,
    suggest_index,
)
from standout.cli.exit_codes import INTERRUPTED
from standout.cli.original_options import OriginalOptions, original_options
from standout.cli.source_options import SourceOptions, source_options

if TYPE_CHECKING:
    from rich.table import Table

    from standout.evaluate.cell import SimulationCell
    from standout.evaluate.estimates import Estimate
    from standout.evaluate.simulation import Simulation

__all__ = ["simulate"]

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
WITHOUT_SETTING = (
    "identified",
    "bits_left",
    "bits_gained",
    "revealed",
    "revealed_correct",
    "revealed_correct_share",
)
NOTE = (
    "95 % intervals in brackets. The last column is the baseline: guessing without knowledge. "
    "People whom this adversary does not identify may be identified by another."
)


@click.command()
@click.argument("data")
@adversary_options
@click.option(
    "--facts",
    metavar="N,…",
    help="Numbers of known facts to attack with: 4, or 2,4,8, or 2-10.",
    show_default="all",
)
@click.option("--targets", default="1000", show_default=True, metavar="N|all", help="Number of targets.")
@click.option(
    "--precision",
    type=float,
    metavar="SHARE",
    help="Stop as soon as the interval of the share identified is at most ± SHARE.",
    show_default="use all targets",
)
@click.option("--draws", default=1, show_default=True, metavar="N", help="Draws of known facts per target.")
@click.option(
    "--phi", default=1.5, show_default=True, metavar="FLOAT", help="Minimum eccentricity for a claim."
)
@click.option(
    "--budget",
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="False claim budget: the largest share of absent targets that may be claimed.",
)
@click.option(
    "--theta",
    default=0.5,
    show_default=True,
    metavar="FLOAT",
    help="Minimum similarity to count a wrong record as similar to the target.",
)
@click.option("--top", default=10, show_default=True, metavar="N", help="Length of the lineup.")
@click.option(
    "--absent/--no-absent",
    default=True,
    show_default=True,
    help="Also attack with the target removed from the data, to count false claims.",
)
@seed_option
@threads_option
@table_option
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Name of the checkpoint files. An interrupted run resumes from them.",
)
@original_options
@source_options
@json_option
def simulate(
    data: str,
    source: SourceOptions,
    original: OriginalOptions,
    adversary: AdversaryOptions,
    facts: str | None,
    targets: str,
    precision: float | None,
    draws: int,
    phi: float,
    budget: float,
    theta: float,
    top: int,
    absent: bool,
    seed: int,
    threads: int | None,
    output: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Measure how well an adversary identifies people.

    DATA is an index, or any source that `standout index` reads. Targets are drawn
    at random. The adversary knows a few facts about each, as inaccurate as the
    options say, and attacks with Algorithm 1B of the paper. The output shows how
    often the best guess is right, how often claims are correct or wrong, how much
    is revealed, and how often absent people are claimed.

    Measure a sanitized release with --original: the targets and the known facts are
    then those of the original. The --original-… options say how to read it.

    \b
    Example:
      standout simulate ratings.csv --knows 8 --wrong 2 --facts 2,4,8
      standout simulate ratings.index --targets all --items rarest --json

    \b
    Exit codes:
      0  all targets were attacked
      1  an error
      3  interrupted; the numbers are about the targets attacked so far

    \b
    JSON output:
      complete  whether all targets were attacked
      original  fingerprint of the original, or null
      present   share of targets whom a record of DATA represents
      table     one row per measure: adversary, facts, measure, setting, estimate,
                low, high, n, baseline, too_few_items, seed, fingerprint,
                version
      curves    by adversary and facts: curve (claim rates by phi) and
                calibration (of probabilities)
    """
    from standout.evaluate.result_table import write_table
    from standout.evaluate.simulate import simulate as run_simulation

    described = adversary.adversary()
    fact_counts = None if facts is None else parse_counts("--facts", facts)
    target_count = parse_targets(targets)
    check_table_path(output)
    with progress() as report:
        release = original.read(data, source, report)
        simulation = run_simulation(
            release,
            described,
            facts=fact_counts,
            targets=target_count,
            precision=precision,
            draws=draws,
            phi=phi,
            budget=budget,
            theta=theta,
            top=top,
            absent=absent,
            seed=seed,
            threads=threads,
            progress=report,
            save=save,
        )
    if output is not None:
        write_table(simulation.table, output)
    _show(simulation, as_json)
    suggest_index(release, data)
    if not simulation.complete:
        sys.exit(INTERRUPTED)


def _show(simulation: "Simulation", as_json: bool) -> None:
    if as_json:
        print_json(_to_dict(simulation))
        return
    if not simulation.cells:
        print_text("Interrupted before the first targets were attacked.")
        return
    columns = max(1, (console().width - LABEL_WIDTH) // COLUMN_WIDTH)
    for adversary in dict.fromkeys(cell.adversary for cell in simulation.cells):
        cells = [cell for cell in simulation.cells if cell.adversary == adversary]
        for first in range(0, len(cells), columns):
            print_table(_table(simulation, cells[first : first + columns]), adversary)
            print_text("")
        print_text(_targets_note(simulation, cells[0]))
    print_text(NOTE)


def _table(simulation: "Simulation", cells: "list[SimulationCell]") -> "Table":
    table = borderless_table()
    table.add_column("")
    facts = (f"{cell.facts} fact{'s' * (cell.facts != 1)}" for cell in cells)
    number_columns(table, *facts, "Baseline")
    titles = _titles(simulation)
    columns = [simulation.measurements(cell) for cell in cells]
    for rows in zip(*columns, strict=True):
        measure, setting, first = rows[0]
        title = titles.get((measure, setting))
        if title is None:
            continue
        numbers = (_with_interval(measure, estimate) for _, _, estimate in rows)
        baseline = "" if first.baseline is None else _number(measure, first.baseline)
        table.add_row(title, *numbers, baseline)
    return table


def _titles(simulation: "Simulation") -> dict[tuple[str, str], str]:
    """Return the title of each row to show, by measure and setting."""
    from standout.findings.measure_titles import measure_titles

    threshold, budget, criteria = simulation.threshold, simulation.budget, simulation.criteria
    phi, measure = threshold.value, threshold.measure
    titles = measure_titles(phi=phi, budget=budget, top=criteria.top)
    at_phi, at_theta = threshold.setting, f"theta={criteria.theta:g}"
    at_budget = f"absent_claims<={budget:g}"
    claims = {(name, at_phi): titles[name] for name in ("correct_claims", "wrong_claims", "absent_claims")}
    return {
        **{(name, ""): titles[name] for name in WITHOUT_SETTING},
        **claims,
        **{("lineup_size", f"mass={mass} %"): f"Median lineup ({mass} %)" for mass in (50, 90, 99)},
        ("in_top", f"top={criteria.top}"): titles["in_top"],
        ("similar", at_theta): f"Similar best guess (Sim ≥ {criteria.theta:g})",
        ("no_claim", at_phi): f"No claim at φ = {phi:g}",
        ("equal_error_rate", ""): "Equal error rate",
        (measure, "equal_error_rate"): "φ at equal errors",
        (measure, at_budget): titles["phi_at_budget"],
        ("correct_claims", at_budget): titles["correct_claims_at_budget"],
        ("absent_claims", at_budget): titles["absent_claims_at_budget"],
        ("correct_claims", f"{at_phi}, {at_theta}"): f"Correct claims, Sim ≥ {criteria.theta:g}",
        ("wrong_claims", f"{at_phi}, {at_theta}"): f"Wrong claims, Sim < {criteria.theta:g}",
        ("equal_error_rate", at_theta): f"Equal error rate, Sim ≥ {criteria.theta:g}",
        ("bits_left", at_theta): "Bits missing to a similar record",
        ("bits_left", "mixed_with_uniform"): "Bits missing, mixed with a guess",
        ("bits_left", "not identified"): "Bits missing where the guess is wrong",
    }


def _with_interval(measure: str, estimate: "Estimate") -> str:
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
    if abs(value) >= 10_000:
        return f"{value / 1000:,.1f}k"
    is_whole = abs(value) >= 100 or (measure == "lineup_size" and value == int(value))
    return f"{value:,.0f}" if is_whole else f"{value:.2f}"


def _targets_note(simulation: "Simulation", cell: "SimulationCell") -> str:
    targets = len(cell.outcomes)
    interrupted = "" if simulation.complete else " (interrupted)"
    note = (
        f"{targets:,} targets{interrupted}; {cell.too_few_items:,} of {cell.n_considered:,} records have too "
        "few items."
    )
    if simulation.original is not None:
        missing = round((1 - cell.present) * targets)
        note += (
            " Targets and known facts are those of the original; "
            f"the release does not represent {missing:,} of the targets."
        )
    return f"{note}\n"


def _to_dict(simulation: "Simulation") -> dict[str, object]:
    return {
        "complete": simulation.complete,
        "original": simulation.original,
        "present": simulation.cells[0].present if simulation.cells else None,
        "table": simulation.table.to_dicts(),
        "curves": [
            {
                "adversary": cell.adversary,
                "facts": cell.facts,
                "curve": cell.claim_rates.curve().to_dicts(),
                "calibration": cell.calibration().to_dicts(),
            }
            for cell in simulation.cells
        ],
    }
