"""`standout lineup` on a table: which rows a few known cells point to, and why."""

import math
from datetime import date
from typing import TYPE_CHECKING

from standout.cli.console import borderless_table, console, number_columns, print_json, print_text, progress
from standout.core.errors import ParameterError
from standout.core.formatting import count, percent

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from standout.cli.source_options import SourceOptions
    from standout.cli.table_options import TableOptions
    from standout.table_attack.table_lineup import TableCandidate, TableLineup
    from standout.tables.column import Column
    from standout.tables.model import Table

__all__ = ["lineup_of_table", "refuse_options_of_histories"]


def lineup_of_table(
    data: str,
    source: "SourceOptions",
    table: "TableOptions",
    knows: tuple[str, ...],
    wrong: int | None,
    population: int | None,
    top: int,
    as_json: bool,
) -> None:
    """Read the table, rank its rows, and print them."""
    from standout.table_attack.table_adversary import TableAdversary
    from standout.table_attack.table_lineup import table_lineup

    typed = [_split(fact) for fact in knows]
    if not typed:
        raise ParameterError("--knows is missing: name a column and its value, such as --knows age=34")
    with progress() as report:
        rows = table.read([data], source, report)
    known = {name: _value(rows.column(name), value) for name, value in typed}
    if len(known) < len(typed):
        raise ParameterError("--knows names a column twice: a person has one value of each")
    adversary = None if wrong is None else TableAdversary(knows=len(known), wrong=wrong)
    found = table_lineup(rows, known, adversary=adversary, population=population, top=top)
    if as_json:
        print_json(_as_json(found, rows, population))
    else:
        _show(found, rows)


def _split(fact: str) -> tuple[str, str]:
    name, separator, value = fact.partition("=")
    if not separator or not name or not value:
        raise ParameterError("--knows must be COLUMN=VALUE for a table, such as age=34")
    return name, value


def _value(column: "Column", text: str) -> float | str | date:
    """A typed value as the column has it."""
    if column.kind == "number":
        try:
            return float(text)
        except ValueError:
            raise ParameterError(f"--knows: the value of column {column.name!r} must be a number") from None
    if column.kind == "date":
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise ParameterError(
                f"--knows: the value of column {column.name!r} must be a date like 2005-03-01"
            ) from None
    return text


def _show(lineup: "TableLineup", table: "Table") -> None:
    screen, best = console(), lineup.candidates[0]
    screen.print(_candidates(lineup, table))
    tied = f"{count(lineup.ties, 'row', 'rows')} fit equally well. " if lineup.ties > 1 else ""
    nobody = (
        f" The person is not in the table with a probability of {percent(lineup.nobody)}."
        if lineup.nobody > 0
        else ""
    )
    print_text(
        "",
        f"{tied}The first row has a probability of {percent(best.probability)}; "
        f"{lineup.bits_left:.1f} bits are missing to identify the person.{nobody}",
        "",
        f"Why {_label(best, table)} is first: how much likelier each known value is for it than for anybody",
    )
    screen.print(_reasons(best))


def _label(candidate: "TableCandidate", table: "Table") -> str:
    from standout.core.foreign_text import printable

    return f"row {candidate.row + 1:,}" if candidate.id is None else printable(candidate.id)


def _candidates(lineup: "TableLineup", table: "Table") -> "RichTable":
    screen = borderless_table()
    screen.add_column("Row", no_wrap=True)
    number_columns(screen, "Probability", "Score")
    for each in lineup.candidates:
        screen.add_row(_label(each, table), f"{each.probability:.3g}", f"{each.score:.2f}")
    return screen


def _reasons(best: "TableCandidate") -> "RichTable":
    from standout.core.foreign_text import printable

    screen = borderless_table()
    screen.add_column("Column", no_wrap=True)
    number_columns(screen, "Times", "Logarithm")
    for name, part in best.parts.items():
        screen.add_row(printable(name), f"× {math.exp(part):.3g}", f"{part:+.2f}")
    return screen


def _as_json(lineup: "TableLineup", table: "Table", population: int | None) -> dict[str, object]:
    from standout._version import __version__

    rows = [
        {
            "row": each.row + 1,
            "id": each.id,
            "probability": each.probability,
            "score": each.score,
            "parts": each.parts,
        }
        for each in lineup.candidates
    ]
    return {
        "lineup": rows,
        "ties": lineup.ties,
        "nobody": lineup.nobody,
        "bits_left": lineup.bits_left,
        "rows": table.n_rows,
        "population": population,
        "fingerprint": table.fingerprint,
        "version": __version__,
    }


def refuse_options_of_histories(given: dict[str, object]) -> None:
    """Refuse options that say nothing about a table."""
    for option, value in given.items():
        if value:
            raise ParameterError(f"{option} is for histories, and the data is a table: leave it out")
