"""`standout simulate`: attack records whose owner is known, and measure the adversary's success."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from standout.cli import options
from standout.cli.attack_options import BOTH, AttackOptions, adversary_options, attack_options, within
from standout.cli.console import console, percent, print_json, print_table, print_text, reading_json
from standout.cli.error_lines import INTERRUPTED
from standout.cli.options import option
from standout.cli.reading import Original, Source, data_command, original_options
from standout.core.progress import progress_bar as progress
from standout.core.text import count

if TYPE_CHECKING:
    from standout.attack.any_attack import AnyAttack
    from standout.evaluate.claims import ClaimThreshold
    from standout.evaluate.simulation import Measurement, Simulation, SimulationCell
    from standout.know.adversary import Adversary

ATTACKS = (BOTH, "likelihood", "paper", "algorithm-1a")
ATTACK_HELP = (
    "likelihood (Bayesian), paper (Algorithm 1B), both, or algorithm-1a: match everything within "
    "--value-error and --time-error."
)
LABEL_WIDTH, COLUMN_WIDTH = 36, 22
"""Characters of the titles with the baseline, and of a number with its interval."""
RATES = {
    "identified", "in_top", "similar", "correct_claims", "wrong_claims", "no_claim", "absent_claims",
    "equal_error_rate", "revealed_correct_share"
}  # fmt: skip
WITHOUT_SETTING = ("identified", "bits_left", "bits_gained", "revealed", "revealed_correct", "revealed_correct_share")
NOTE = (
    "95 % intervals in brackets. The last column is the baseline: guessing without knowledge. "
    "People whom this adversary does not identify may be identified by another."
)
STRONGER = "The risk is that of the stronger attack. Both attacked the same targets with the same facts. "


@data_command
@adversary_options
@attack_options(ATTACKS, BOTH, ATTACK_HELP)
@option("--facts", "N,…", "Numbers of known facts to attack with: 4, or 2,4,8, or 2-10.", show_default="all")
@option("--targets", "N|all", "Number of targets.", default="1000")
@option("--precision", "SHARE", "Stop when the share identified is known to ± SHARE.", show_default="use all targets")
@option("--draws", "N", "Draws of known facts per target.", default=1)
@options.budget_option
@option("--theta", "FLOAT", "Minimum similarity to count a wrong record as similar to the target.", default=0.5)
@option("--top", "N", "Length of the lineup.", default=10)
@option("--absent/--no-absent", "", "Also attack without the target in the data, to count false claims.", default=True)
@options.seed_option
@options.worker_options
@options.table_option
@option("--save", "FILE", "Name of the checkpoint files. An interrupted run resumes from them.")
@original_options
def simulate(
    data: str,
    source: Source,
    original: Original,
    adversary: "Adversary",
    attack: AttackOptions,
    output: Path | None,
    save: Path | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Measure how well an adversary identifies people.

    Targets are drawn at random. The adversary knows a few facts about each, as
    inaccurate as the options say, and attacks: with likelihood, which knows how
    inaccurate they are and claims a record of a posterior of at least --posterior,
    and with the paper's attack, which claims one of an eccentricity of at least
    --phi. The risk is that of the stronger one. The output shows how often the best
    guess is right, how often claims are correct, wrong or about absent people, and
    how much is revealed.

    Measure a sanitized release with --original: the targets and the known facts are
    then those of the original, and the options for reading are about it.

    \b
    Example:
      standout simulate ratings.csv --knows 8 --wrong 2 --facts 2,4,8
      standout simulate ratings.index --targets all --items rarest --json
      standout simulate ratings.csv --attack paper --phi 2 --time-scale 60

    Exit code 3: interrupted; the numbers are about the targets attacked so far.
    """
    import polars as pl

    from standout.evaluate.simulate import simulate as run_simulation
    from standout.evaluate.simulation import write_table

    if save is not None:
        options.output_file(save.with_name(f"{save.name}.{12 * '0'}.checkpoint"), "--save")
    simulations: dict[str, Simulation] = {}
    with progress() as report:
        release = original.read(data, source, report)
        similarity = within(release, adversary.value_error, adversary.time_error)
        attacks = {name: attack.built(name, similarity) for name in attack.names}
        common: dict[str, Any] = {**settings, **attack.claims, "progress": report, "save": save}
        for name, built in attacks.items():
            simulations[name] = run_simulation(release, adversary, attack=built, **common)
            if not simulations[name].complete:
                break
    is_complete = len(simulations) == len(attacks) and all(each.complete for each in simulations.values())
    table = pl.concat(each.table.select(pl.lit(name).alias("attack"), pl.all()) for name, each in simulations.items())
    if output is not None:
        write_table(table, output)
    if as_json:
        content = _to_dict(simulations, attacks)
        print_json({"complete": is_complete, **content, "table": table.to_dicts(), "read": reading_json(release)})
    else:
        _show(simulations, is_complete)
    return 0 if is_complete else INTERRUPTED


def _to_dict(simulations: "dict[str, Simulation]", attacks: "dict[str, AnyAttack]") -> dict[str, object]:
    first = next(iter(simulations.values()))
    curves = []
    for name, simulation in simulations.items():
        for cell in simulation.cells:
            rates = cell.claim_rates.curve().to_dicts()  # by the threshold as users state it
            stated = [{cell.threshold.measure: cell.threshold.stated(row.pop("phi")), **row} for row in rates]
            about = {"attack": name, "adversary": cell.adversary, "facts": cell.facts}
            curves.append({**about, "curve": stated, "calibration": cell.calibration().to_dicts()})
    return {
        "original": first.original,
        "present": first.cells[0].present if first.cells else None,
        "attacks": {
            name: {"attack": repr(attacks[name]), "threshold": each.threshold.setting}
            for name, each in simulations.items()
        },
        "curves": curves,
    }


class Column(NamedTuple):
    """A column of numbers: the attack, its simulation, and the cell of an adversary and number of facts."""

    attack: str
    simulation: "Simulation"
    cell: "SimulationCell"


def _show(simulations: "dict[str, Simulation]", is_complete: bool) -> None:
    """Print the simulations for people: columns by number of facts, then by attack."""
    columns = [Column(name, each, cell) for name, each in simulations.items() for cell in each.cells]
    columns.sort(key=lambda column: column.cell.facts)
    if not columns:
        print_text("Interrupted before the first targets were attacked.")
        return
    thresholds, several = {column.simulation.threshold for column in columns}, len(simulations) > 1
    width = max(1, (console().width - LABEL_WIDTH) // COLUMN_WIDTH)
    width = max(1, width - width % len(simulations)) if several else width
    for first in range(0, len(columns), width):
        shown = columns[first : first + width]
        shared = next(iter(thresholds)) if len(thresholds) == 1 else None
        _show_columns(shown, shared, several)
        print_text("")
    _, simulation, cell = columns[-1]
    targets, interrupted = len(cell.outcomes), "" if is_complete else " (interrupted)"
    few = f"{cell.too_few_items:,} of {cell.n_considered:,} records have too few entries."
    note = f"{targets:,} targets{interrupted}; {few}"
    if simulation.original is not None:
        missing = round((1 - cell.present) * targets)
        note += " Targets and known facts are those of the original; "
        note += f"the release does not represent {missing:,} of the targets."
    print_text(f"{note}\n", (STRONGER if several else "") + NOTE)


def _show_columns(columns: list[Column], shared: "ClaimThreshold | None", several: bool) -> None:
    """Print one row per measure; `shared` is when a record is claimed, None if that differs between the attacks."""
    heads = [count(each.cell.facts, "fact", "facts") + (f"\n{each.attack}" if several else "") for each in columns]
    claimed = [column.simulation.threshold.text.replace("=", "≥") for column in columns]
    shown = [] if shared else [("Threshold of claims", *claimed, "")]
    titles = _titles(columns[0].simulation, shared)
    measurements = [column.simulation.measurements(column.cell) for column in columns]
    for rows in zip(*measurements, strict=True):
        title = titles.get(rows[0][:2])
        if title is not None:
            baseline = rows[0].estimate.baseline
            last = "" if baseline is None else _number(rows[0].measure, baseline)
            shown.append((title, *map(_with_interval, rows), last))
    print_table(("", *heads, "Baseline"), shown, columns[0].cell.adversary)


def _titles(simulation: "Simulation", shared: "ClaimThreshold | None") -> dict[tuple[str, str], str]:
    """Return the title of each row to show, by measure and setting."""
    from standout.findings.audit import measure_titles

    threshold, budget, criteria = simulation.threshold, simulation.budget, simulation.criteria
    titles = measure_titles(shared, budget=budget, top=criteria.top)
    at, symbol = ("the threshold", "Threshold") if shared is None else (shared.text, shared.symbol)
    at_phi, at_theta = threshold.setting, f"theta={criteria.theta:g}"
    at_budget, measure = f"absent_claims<={budget:g}", threshold.measure
    similar = f"Sim ≥ {criteria.theta:g}"
    return {
        **{(name, ""): titles[name] for name in WITHOUT_SETTING},
        **{(name, at_phi): titles[name] for name in ("correct_claims", "wrong_claims", "absent_claims")},
        **{("lineup_size", f"mass={mass} %"): f"Median lineup ({mass} %)" for mass in (50, 90, 99)},
        ("in_top", f"top={criteria.top}"): titles["in_top"],
        ("similar", at_theta): f"Similar best guess ({similar})",
        ("no_claim", at_phi): f"No claim at {at}",
        ("equal_error_rate", ""): "Equal error rate",
        (measure, "equal_error_rate"): f"{symbol if symbol == 'φ' else symbol.capitalize()} at equal errors",
        (measure, at_budget): titles["threshold_at_budget"],
        ("correct_claims", at_budget): titles["correct_claims_at_budget"],
        ("absent_claims", at_budget): titles["absent_claims_at_budget"],
        ("correct_claims", f"{at_phi}, {at_theta}"): f"Correct claims, {similar}",
        ("wrong_claims", f"{at_phi}, {at_theta}"): f"Wrong claims, {similar.replace('≥', '<')}",
        ("equal_error_rate", at_theta): f"Equal error rate, {similar}",
        ("bits_left", at_theta): "Bits missing to a similar record",
        ("bits_left", "mixed_with_uniform"): "Bits missing, mixed with a guess",
        ("bits_left", "not identified"): "Bits missing where the guess is wrong",
    }


def _with_interval(row: "Measurement") -> str:
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
