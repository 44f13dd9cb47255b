"""A table between two steps: its columns, its rows, and what the steps did to each column so far."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError
from standout.core.suggestions import did_you_mean
from standout.table_sanitizing.level_change import LevelChange, recode
from standout.tables.column import Column
from standout.tables.model import Channel, Table

__all__ = ["TableDraft", "either"]


@dataclass(frozen=True, eq=False)
class TableDraft:
    """A table being sanitized. Its rows are in the order of the original until the last step is done.

    original   the table before all steps
    columns    the columns that are left, with all levels of the steps so far, even if no cell has them
    rows       for each row, its row in the original, ascending
    channels   by column name, what happened to its cells
    """

    original: Table
    columns: tuple[Column, ...]
    rows: Ints
    channels: Mapping[str, Channel]

    @classmethod
    def of(cls, table: Table) -> "TableDraft":
        """Draft of a table before any step."""
        return cls(table, table.columns, np.arange(table.n_rows), {})

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that are left."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of this name, as the steps left it; a ParameterError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        dropped = name in self.original.names
        others = f"is not one of {', '.join(self.names)}{did_you_mean(name, self.names)}"
        raise ParameterError(f"column {name!r} {'was dropped by an earlier step' if dropped else others}")

    def channel(self, name: str) -> Channel:
        """What happened to a column so far."""
        none = Channel(np.arange(self.original.column(name).n_levels))
        return self.channels.get(name, none)

    def with_levels(self, name: str, change: LevelChange) -> "TableDraft":
        """Change the levels of a column, and all its cells with them."""
        channel = self.channel(name)
        channel = replace(channel, released=change.lookup[channel.released].astype(np.int64))
        return self._replace(recode(self.column(name), change), channel)

    def with_cells(self, column: Column, replaced: float = 0.0, suppressed: float = 0.0) -> "TableDraft":
        """Change cells of a column; the levels stay.

        Parameters
        ----------
        column
            The new column.
        replaced
            Probability that a cell was replaced by one that is drawn from all cells of the column.
        suppressed
            Probability that a cell was emptied.
        """
        channel = self.channel(column.name)
        channel = replace(
            channel,
            replaced=either(channel.replaced, replaced),
            suppressed=either(channel.suppressed, suppressed),
        )
        return self._replace(column, channel)

    def keep_rows(self, keep: Bools) -> "TableDraft":
        """Keep these rows only."""
        if not keep.any():
            raise ParameterError("no row would be left: generalize the columns first, or ask for less")
        if keep.all():
            return self
        kept = np.flatnonzero(keep)
        return replace(
            self, columns=tuple(column.rows(kept) for column in self.columns), rows=self.rows[kept]
        )

    def without_column(self, name: str) -> "TableDraft":
        """Remove a column."""
        self.column(name)
        if len(self.columns) == 1:
            raise ParameterError(f"column {name!r} is the last one: a table must have a column")
        columns = tuple(column for column in self.columns if column.name != name)
        channels = {other: channel for other, channel in self.channels.items() if other != name}
        return replace(self, columns=columns, channels=channels)

    def _replace(self, column: Column, channel: Channel) -> "TableDraft":
        columns = tuple(column if old.name == column.name else old for old in self.columns)
        return replace(self, columns=columns, channels={**self.channels, column.name: channel})


def either(first: float, second: float) -> float:
    """Probability that at least one of two independent things happens."""
    return 1.0 - (1.0 - first) * (1.0 - second)
