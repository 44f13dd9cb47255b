"""What `standout simulate` prints: what an adversary achieves, in rows that say what they are."""

import math
from typing import Any

from rich.table import Table

from standout.cli import show
from standout.evaluate.estimates import Estimate
from standout.evaluate.simulate import Cell, Simulation

__all__ = ["show_simulation"]

LABELS, COLUMN = 36, 22  # characters: what a row is called and what guessing gives; a number and its interval

RATES = {
    "identified": "best guess right", "in_top": "in lineup", "similar": "guess similar",
    "correct_claims": "claimed right", "wrong_claims": "claimed wrong",
    "no_claim": "not claimed", "absent_claims": "absent claimed", "equal_error": "equal error rate",
    "revealed_correct_share": "… share right",
}  # fmt: skip
NUMBERS = {
    "phi": "φ", "bits_left": "bits left", "bits_gained": "bits gained", "lineup": "median lineup",
    "revealed": "new items in the guess", "revealed_correct": "… right",
}  # fmt: skip


def show_simulation(done: Simulation, as_json: bool) -> None:
    """The measures, for machines or for people."""
    if as_json:
        show.print_json(_told(done))
        return
    screen = show.console()
    for adversary in dict.fromkeys(cell.adversary for cell in done.cells):
        cells = [cell for cell in done.cells if cell.adversary == adversary]
        some = max(1, (screen.width - LABELS) // COLUMN)
        for first in range(0, len(cells), some):
            screen.print(_table(done, adversary, cells[first : first + some]))
            screen.print()
        screen.print(_left_out(done, cells[0]), soft_wrap=True)
    if not done.cells:
        screen.print("Cut short before the first targets were done.")
    else:
        screen.print(
            "95 % intervals in brackets. Nobody is called safe: others are not found by this adversary.",
            soft_wrap=True,
        )


def _table(done: Simulation, adversary: str, cells: list[Cell]) -> Table:
    table = Table(title=adversary, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for cell in cells:
        table.add_column(f"{cell.facts} fact{'s' * (cell.facts != 1)}", justify="right", no_wrap=True)
    table.add_column("guess", justify="right", no_wrap=True)
    columns = [list(cell.rows(done.question, done.phi, done.budget)) for cell in cells]
    for rows in zip(*columns, strict=True):
        name, setting, first = rows[0]
        if name not in RATES and name not in NUMBERS:
            continue
        words = RATES.get(name) or NUMBERS[name]
        label = f"{words} ({_setting(setting)})" if setting else words
        label = f"{words}, {_setting(setting)}" if "<=" in setting else label
        table.add_row(
            label,
            *(_number(name, estimate) for _, _, estimate in rows),
            "" if first.baseline is None else _short(name, first.baseline),
        )
    return table


WORDS = {
    "absent_claims<=": "false ≤ ", "equal_error": "equal errors", "phi=": "φ = ", "theta=": "Sim ≥ ",
    "top=": "first ", "mass=": "", "mixed": "or guess",
}  # fmt: skip


def _setting(setting: str) -> str:
    for name, words in WORDS.items():
        setting = setting.replace(name, words)
    return setting


def _number(name: str, estimate: Estimate) -> str:
    value = _short(name, estimate.value)
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        low, high = (_short(name, end).removesuffix(" %") for end in (estimate.low, estimate.high))
        value += f" ({low}–{high})"
    return value


def _short(name: str, value: float) -> str:
    if name in RATES:
        return f"{100 * value:.1f} %" if value >= 0.001 or value == 0 else f"{100 * value:.1g} %"
    if abs(value) >= 10_000:
        return f"{value / 1000:,.1f}k"
    whole = abs(value) >= 100 or (name == "lineup" and value == int(value))
    return f"{value:,.0f}" if whole else f"{value:.2f}"


def _left_out(done: Simulation, cell: Cell) -> str:
    tried, others = len(cell.outcomes), cell.left_out
    told = f"{tried:,} targets tried"
    told += "" if done.complete else " (cut short)"
    told += f"; {others:,} of {cell.asked:,} records have too few items to be one."
    if done.original is not None:
        told += (
            " They are people of the original, and so is what is known of them; no record of the data stands "
            f"for {round((1 - cell.present) * tried):,} of them."
        )
    return f"{told}\n"


def _told(done: Simulation) -> dict[str, Any]:
    return {
        "complete": done.complete,
        "original": done.original,
        "present": done.cells[0].present if done.cells else None,
        "table": done.table.to_dicts(),
        "curves": [
            {"adversary": cell.adversary, "facts": cell.facts, "curve": cell.tradeoff.curve().to_dicts(),
             "calibration": cell.calibration().to_dicts()}
            for cell in done.cells
        ],
    }  # fmt: skip
