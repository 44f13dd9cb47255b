"""What an adversary knows about rows of a table: cells by column and level."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from standout.core.arrays import Ints, offsets
from standout.core.errors import ParameterError
from standout.facts import KnownFacts
from standout.tables.model import Table

__all__ = ["RowFacts", "typed_facts"]


@dataclass(frozen=True, eq=False, slots=True)
class RowFacts:
    """Facts about some people: query q owns column[first[q] : first[q + 1]] and their codes.

    `column` is a position in the original table and `code` a level of that column, as the adversary believes
    it to be; of a set it is one member. `target` is the row that the facts are about, or -1. `entries` is
    what is known of the history, if anything.
    """

    first: Ints
    column: Ints
    code: Ints
    target: Ints
    entries: KnownFacts | None = None

    def __len__(self) -> int:
        return len(self.target)

    def without(self, column: int) -> "RowFacts":
        """The facts that are not about this column."""
        kept = self.column != column
        first = offsets(kept)[self.first]
        return RowFacts(first, self.column[kept], self.code[kept], self.target, self.entries)


def typed_facts(table: Table, known: Mapping[str, float | str | date]) -> RowFacts:
    """Facts that a user typed: a value for some columns, in the words of the table.

    Raises
    ------
    ParameterError
        If a value is not in its column; a number or date that no row has stands for the nearest one.
    """
    if not known:
        raise ParameterError("known must have at least one column")
    columns, codes = [], []
    for name, value in known.items():
        position = table.position(name)
        column = table.columns[position]
        if column.kind in ("number", "date"):
            code = column.nearest_code(value)
        else:
            found = column.code(value)
            if found is None:
                raise ParameterError(f"no row has this value in column {name!r}: check its spelling")
            code = found
        columns.append(position)
        codes.append(code)
    count = np.array([0, len(columns)])
    return RowFacts(count, np.array(columns), np.array(codes), np.array([-1]))
