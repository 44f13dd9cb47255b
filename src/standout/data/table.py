"""The table: one row per person, and the sanitized version of one."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import NotFoundError, ParameterError, did_you_mean
from standout.core.results import FrameExport, ResultView
from standout.data.column import Column
from standout.data.labels import Labels, Provenance, StepReport
from standout.data.release import Release

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Channel", "SanitizedTable", "Table"]


@dataclass(frozen=True, eq=False, repr=False)
class Table(ResultView, FrameExport):
    """An immutable table with one row per person  [the paper's N × M database].

    Make one with `standout.read_table`.

    Attributes
    ----------
    columns : tuple of Column
        The attributes.
    ids : Labels or None
        Ids of the rows, in the order of the rows; None if the source has none.
    history : Release or None
        Entries of the same people, such as ratings or purchases.
    history_record : ndarray or None
        For each row the position of its record in the history; -1 if it has none.
    provenance : Provenance
        How the source was read.

    Examples
    --------
    >>> sex = Column("sex", "category", ("f", "m"), np.array([0, 1, 1], np.uint8))
    >>> Table((sex,))
    <Table: 3 rows × 1 column>
    """

    columns: tuple[Column, ...]
    ids: Labels | None = None
    history: Release | None = None
    history_record: Ints | None = None
    provenance: Provenance = field(default_factory=lambda: Provenance("columns"))

    def __post_init__(self) -> None:
        if not self.columns:
            raise ParameterError("columns must have at least one column")
        if len({column.n_rows for column in self.columns}) > 1:
            raise ParameterError("columns must have equally many rows")
        if len(set(self.names)) < len(self.columns):
            raise ParameterError("columns must have different names")

    @property
    def n_rows(self) -> int:
        """Number of rows, N."""
        return self.columns[0].n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns, M."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def position(self, name: str) -> int:
        """Position of a column.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        int
            Its position in `columns`.

        Raises
        ------
        NotFoundError
            If the table has no column of this name.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise NotFoundError(
                f"the table has no column {name!r}; it has {', '.join(self.names)}{did_you_mean(name, self.names)}"
            ) from None

    def column(self, name: str) -> Column:
        """The column of this name.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        Column
            The column.
        """
        return self.columns[self.position(name)]

    @cached_property
    def attributes(self) -> Mapping[str, tuple[int, ...]]:
        """Positions of the columns of each attribute: one, or several of a tuple."""
        found: dict[str, list[int]] = {}
        for position, column in enumerate(self.columns):
            found.setdefault(column.attribute, []).append(position)
        return {name: tuple(positions) for name, positions in found.items()}

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of the columns that others may know."""
        return tuple(column.name for column in self.columns if column.role == "quasi-identifier")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the columns that must not be learned."""
        return tuple(column.name for column in self.columns if column.role == "sensitive")

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content: names, kinds, levels and cells in the order of the rows; ids do not count."""
        digest = hashlib.blake2b(digest_size=16)
        for column in self.columns:
            levels = column.levels
            digest.update(repr((column.name, column.kind, len(levels))).encode())
            digest.update(repr(levels).encode() if isinstance(levels, tuple) else levels.tobytes())
            digest.update(column.codes.tobytes())
            digest.update(b"" if column.starts is None else column.starts.tobytes())
        digest.update(b"" if self.history is None else self.history.fingerprint.encode())
        return digest.hexdigest()

    def rows(self, rows: Ints) -> "Table":
        """The table with these rows only.

        Parameters
        ----------
        rows : array of int
            Positions of the rows.

        Returns
        -------
        Table
            A table with the same columns.
        """
        return replace(
            self,
            columns=tuple(column.rows(rows) for column in self.columns),
            ids=None if self.ids is None else Labels.of(self.ids[row] for row in rows),
            history_record=None if self.history_record is None else self.history_record[rows],
        )

    def with_columns(self, columns: Sequence[Column]) -> "Table":
        """The table with other columns.

        Parameters
        ----------
        columns : sequence of Column
            Columns with as many rows.

        Returns
        -------
        Table
            A table with the same ids and history.
        """
        return replace(self, columns=tuple(columns))

    def to_frame(self) -> "pl.DataFrame":
        """All columns as a Polars frame.

        Returns
        -------
        polars.DataFrame
            The ids, if there are some, and the columns.
        """
        import polars as pl

        frame = pl.DataFrame([column.to_series() for column in self.columns])
        if self.ids is None:
            return frame
        name = self.provenance.columns.get("record", "id")
        return frame.insert_column(0, pl.Series(name, list(self.ids)))

    def _frame(self) -> "pl.DataFrame":
        return self.to_frame()

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        columns = f"{self.n_columns:,} column{'s' if self.n_columns != 1 else ''}"
        history = "" if self.history is None else f", with a history of {self.history.n_entries:,} entries"
        return f"<Table: {self.n_rows:,} rows × {columns}{history}>"


@dataclass(frozen=True, eq=False)
class Channel:
    """What sanitizing did to one column: how a cell of the original becomes one of the released table.

    A cell with level x becomes released[x], a code of the released column (its `missing` code if the value is
    suppressed). Before that, it is emptied with probability `suppressed`, and replaced by a value that is
    drawn from all cells of the column with probability `replaced`.
    """

    released: Ints
    replaced: float = 0.0
    suppressed: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class SanitizedTable(Table):
    """A sanitized table together with its original.

    Attributes
    ----------
    original : Table
        The table before sanitizing; adversaries know facts about its people.
    channels : mapping
        By column name, what was done to a column. A column without a channel is unchanged, and one that the
        released table lacks was dropped.
    original_row : ndarray
        For each row of the released table, the row of the original that it comes from.
    step_reports : tuple of StepReport
        The steps that it was made with, and what each changed: counts only.

    Examples
    --------
    >>> age = Column("age", "number", np.array([34.0, 38.0]), np.array([0, 1], np.uint8))
    >>> band = Column("age", "category", ("30-39",), np.zeros(2, np.uint8))
    >>> SanitizedTable((band,), original=Table((age,)), channels={"age": Channel(np.zeros(2, np.int64))},
    ...                original_row=np.arange(2))
    <Table: 2 rows × 1 column>
    """

    original: Table = None  # type: ignore[assignment]
    channels: Mapping[str, Channel] = field(default_factory=dict)
    original_row: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    step_reports: tuple[StepReport, ...] = ()
