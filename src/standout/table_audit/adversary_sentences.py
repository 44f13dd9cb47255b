"""What an adversary of a table knows, in one plain sentence, and how inaccurate it is by column."""

from standout.findings.table_adversaries import ColumnError
from standout.table_attack.table_adversary import TableAdversary
from standout.tables.column import Column
from standout.tables.model import Table

__all__ = ["column_errors", "describe_table_adversary", "error_text", "listed"]

MOST_NAMES = 12
"""Number of columns that a sentence names."""
MOST_ERRORS = 4
"""Number of columns whose error a sentence gives: the report lists all of them in a table."""


def describe_table_adversary(adversary: TableAdversary, table: Table) -> str:
    """What the adversary knows.

    >>> import numpy as np
    >>> age = Column("age", "number", np.arange(90.0), np.zeros(2, np.uint8), error=2.0)
    >>> describe_table_adversary(TableAdversary(knows=1), Table((age,)))
    'Knows the only attribute. Values are imprecise: age ± 2.'
    """
    errors = [f"{error.column} {error.text}" for error in column_errors(adversary, table) if error.error]
    wrong = ""
    if adversary.wrong:
        wrong = f", {adversary.wrong} of them wrong"
    if not errors:
        precision = "Values are exact." if not adversary.wrong else "The other values are exact."
    else:
        others = "The other values are imprecise" if adversary.wrong else "Values are imprecise"
        precision = f"{others}: {listed(errors, MOST_ERRORS)}."
    entries = ""
    if adversary.entries is not None:
        number = adversary.entries.knows
        entries = f" Also knows {number} {'entry' if number == 1 else 'entries'} of the person's history."
    return f"Knows {_what(adversary, table)}{wrong}. {precision}{entries}"


def _what(adversary: TableAdversary, table: Table) -> str:
    n, known = adversary.most, adversary.columns
    total = len(table.attributes) if known is None else len(known)
    if known is not None and n == total:
        return listed(list(known))
    if n == total:
        return "the only attribute" if n == 1 else f"all {total} attributes"
    among = f"{n} of the {total} attributes" if known is None else f"{n} of {listed(list(known))}"
    if adversary.choose == "rarest":
        if n == 1:
            return f"the one{among.removeprefix('1')} whose value the fewest people share"
        return f"the {among} whose values the fewest people share"
    return f"{among}, drawn at random for each person"


def listed(names: list[str], most: int = MOST_NAMES) -> str:
    """Names in a sentence; many are cut short."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def column_errors(adversary: TableAdversary, table: Table) -> tuple[ColumnError, ...]:
    """How inaccurate the adversary's knowledge of each column is."""
    known = None if adversary.columns is None else set(adversary.columns)
    errors = []
    for column in table.columns:
        if known is None or column.name in known or column.attribute in known:
            error = adversary.error_of(column) if column.has_distances else 0.0
            errors.append(ColumnError(column=column.name, error=error, text=error_text(column, error)))
    return tuple(errors)


def error_text(column: Column, error: float) -> str:
    """The error of a column in words.

    >>> error_text(Column("born", "date", [0.0, 1.0], [0]), 14.0)  # doctest: +SKIP
    '± 14 days'
    """
    if not column.has_distances or not error:
        return "exact"
    if column.kind == "date":
        return f"± {error:g} day{'' if error == 1 else 's'}"
    if column.kind == "ordered":
        steps = int(error)
        return f"± {steps} step{'' if steps == 1 else 's'}" if steps else "exact"
    if column.kind == "number":
        return f"± {error:,.6g}".removesuffix(".0")
    return f"within its group at height {int(error)}" if int(error) else "exact"
