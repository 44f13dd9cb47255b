"""Who knows which cells of a person's row, and how inaccurately."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Bools, Floats, Ints, offsets
from standout.core.errors import ParameterError, whole_number
from standout.core.rng import key, uniforms
from standout.data.column import Column, near_levels
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import KnownFacts

__all__ = ["ColumnChoice", "RowFacts", "TableAdversary", "typed_facts"]

# What an adversary knows about rows of a table: cells by column and level.


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


def typed_facts(table: Release, known: Mapping[str, float | str | date]) -> RowFacts:
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
        position = table.column_position(name)
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


ColumnChoice = Literal["any", "rarest"]


@dataclass(frozen=True, slots=True)
class TableAdversary:
    """An adversary who knows some attributes of a person.

    Parameters
    ----------
    knows : int, optional
        Number of known attributes. Default: all of `columns`.
    columns : tuple of str, optional
        Attributes that may be known, such as quasi-identifiers. Default: all.
    choose : str
        "any": known attributes are drawn at random; "rarest": those whose value fewest people share.
    wrong : int
        Number of known attributes whose value is wrong, by more than the error.
    error : float
        How inaccurate the others are, as a multiple of each column's own error: 0 is exact.
    errors : mapping, optional
        Errors of single columns, in their units, instead.
    entries : Adversary, optional
        What is also known of the person's history.

    Examples
    --------
    >>> TableAdversary(knows=6, wrong=1).error_of(Column("age", "number", np.arange(3.0),
    ...     np.zeros(1, np.uint8), error=2.0))
    2.0
    """

    knows: int | None = None
    columns: tuple[str, ...] | None = None
    choose: ColumnChoice = "any"
    wrong: int = 0
    error: float = 1.0
    errors: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    entries: Adversary | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.knows is None and not self.columns:
            raise ParameterError("knows or columns must be given")
        whole_number("knows", self.most, 1)
        whole_number("wrong", self.wrong, 0)
        if self.wrong > self.most:
            raise ParameterError(f"wrong must be at most knows = {self.most}, got {self.wrong}")
        if self.choose not in ("any", "rarest"):
            raise ParameterError(f'choose must be "any" or "rarest", got {self.choose!r}')
        for name, error in (("error", self.error), *self.errors.items()):
            if isinstance(error, bool) or not (isinstance(error, (int, float)) and 0 <= error < np.inf):
                raise ParameterError(f"the error of {name} must be a finite number ≥ 0, got {error!r}")

    @property
    def most(self) -> int:
        """Number of known attributes."""
        return len(self.columns or ()) if self.knows is None else self.knows

    def error_of(self, column: Column) -> float:
        """The largest error of a right fact about a column.

        Parameters
        ----------
        column : Column
            The column.

        Returns
        -------
        float
            The error in the units of the column.
        """
        return float(self.errors.get(column.name, self.error * column.error))

    def eligible(self, table: Release, rows: Ints) -> Bools:
        """Which rows have enough attributes that are not missing.

        Parameters
        ----------
        table : Release
            The original table.
        rows : array of int
            Positions of rows.

        Returns
        -------
        ndarray of bool
            One element for each row.
        """
        enough = np.asarray(self._known(table, rows).sum(axis=1) >= self.most)
        if self.entries is None:
            return enough
        _check_entries(table)
        return np.asarray(enough & (table.lengths[rows] > 0) & self.entries.eligible(table, rows))

    def observe(self, table: Release, rows: Ints, seed: int = 0) -> RowFacts:
        """Draw what the adversary knows about these rows.

        The draws of a row depend on (seed, row) only. An attribute of several columns is known as a whole.

        Parameters
        ----------
        table : Release
            The original table.
        rows : array of int
            Positions of the targets, which must be eligible.
        seed : int
            Seed of the draws.

        Returns
        -------
        RowFacts
            The known cells of each target, in the order in which they are learned.
        """
        attributes = self._attributes(table)
        order = self._order(table, rows, seed)[:, : self.most]
        wrong = self._wrong(rows, seed)
        parts = [np.array(table.attributes[name]) for name in attributes]
        query, column, is_wrong = _spread(order, wrong, parts)
        kept = ~_missing(table, rows[query], column)
        query, column, is_wrong = query[kept], column[kept], is_wrong[kept]
        first = np.append(0, np.cumsum(np.bincount(query, minlength=len(rows))))
        streams = np.array([key(seed, "known cells", row) for row in rows.tolist()], np.uint64)
        draws = uniforms(streams, 2 * table.n_columns) if len(rows) else np.empty((0, 0))
        code = np.zeros(len(column), np.int64)
        for position in np.unique(column):
            facts = np.flatnonzero(column == position)
            target = query[facts]
            uniform = draws[target][:, [2 * position, 2 * position + 1]]
            code[facts] = self._believed(table.columns[position], rows[target], is_wrong[facts], uniform)
        return RowFacts(first, column, code, np.asarray(rows, np.int64), self._known_entries(table, rows, seed))

    def _known_entries(self, table: Release, rows: Ints, seed: int) -> KnownFacts | None:
        if self.entries is None:
            return None
        _check_entries(table)
        return self.entries.observe_all(table, rows, seed)

    def _attributes(self, table: Release) -> tuple[str, ...]:
        """The attributes that may be known; a name of a column stands for its attribute."""
        if self.columns is None:
            return tuple(table.attributes)
        names = [name if name in table.attributes else table.column(name).attribute for name in self.columns]
        return tuple(dict.fromkeys(names))

    def _known(self, table: Release, rows: Ints) -> Bools:
        """For each row, which attributes have a cell that is not missing."""
        columns = [
            np.any([~table.columns[i].is_missing[rows] for i in table.attributes[name]], axis=0)
            for name in self._attributes(table)
        ]
        return np.column_stack(columns)

    def _order(self, table: Release, rows: Ints, seed: int) -> Ints:
        """For each row, its attributes in the order in which they become known."""
        known = self._known(table, rows)
        streams = np.array([key(seed, "attributes", row) for row in rows.tolist()], np.uint64)
        rank = uniforms(streams, known.shape[1]) if len(rows) else np.empty((0, known.shape[1]))
        if self.choose == "rarest":
            rank = rank * 1e-9 + self._shares(table, rows)
        return np.argsort(np.where(known, rank, np.inf), axis=1, kind="stable")

    def _shares(self, table: Release, rows: Ints) -> Floats:
        """For each row and attribute, the share of people with the same value; of a tuple, of its rarest."""
        shares = []
        for name in self._attributes(table):
            parts = [_value_shares(table.columns[i], rows) for i in table.attributes[name]]
            shares.append(np.min(parts, axis=0))
        return np.column_stack(shares)

    def _wrong(self, rows: Ints, seed: int) -> Bools:
        """For each row, which of its known attributes are wrong: random ones."""
        streams = np.array([key(seed, "wrong", row) for row in rows.tolist()], np.uint64)
        if not len(rows):
            return np.zeros((0, self.most), np.bool_)
        rank = np.argsort(np.argsort(uniforms(streams, self.most), axis=1), axis=1)
        return np.asarray(rank < self.wrong)

    def _believed(self, column: Column, rows: Ints, wrong: Bools, uniform: NDArray[np.float64]) -> Ints:
        """The level that the adversary believes each cell to have."""
        if column.starts is not None:
            return _believed_members(column, rows, wrong, uniform)
        true: Ints = column.codes[rows].astype(np.int64)
        near = near_levels(column, self.error_of(column))
        low, high = near.low[true], near.high[true]
        width = high - low
        right = low + np.minimum((uniform[:, 0] * width).astype(np.int64), width - 1)
        rest = column.n_levels - width
        beyond = np.minimum((uniform[:, 0] * rest).astype(np.int64), np.maximum(rest - 1, 0))
        beyond = np.where(beyond < low, beyond, beyond + width)
        return np.asarray(np.where(wrong & (rest > 0), beyond, right), np.int64)


def _check_entries(table: Release) -> None:
    if not table.n_items:
        raise ParameterError("entries must be None, because the table has no history")


def _value_shares(column: Column, rows: Ints) -> Floats:
    """The share of rows that have the same value as each of these; of a set, as its rarest member."""
    shares = column.counts / column.n_rows
    if column.starts is None:
        return np.where(column.is_missing[rows], np.inf, shares[column.codes[rows]])
    members = [shares[column.codes[a:b]].min(initial=np.inf) for a, b in _ends(column, rows)]
    return np.array(members)


def _ends(column: Column, rows: Ints) -> list[tuple[int, int]]:
    assert column.starts is not None
    return list(zip(column.starts[rows].tolist(), column.starts[rows + 1].tolist(), strict=True))


def _believed_members(column: Column, rows: Ints, wrong: Bools, uniform: NDArray[np.float64]) -> Ints:
    """One member of each set, or a category that is not in it."""
    believed = np.empty(len(rows), np.int64)
    for i, (begin, end) in enumerate(_ends(column, rows)):
        members = column.codes[begin:end].astype(np.int64)
        chosen = members
        if wrong[i] and len(members) < column.n_levels:
            chosen = np.setdiff1d(np.arange(column.n_levels), members)
        believed[i] = chosen[min(int(uniform[i, 0] * len(chosen)), len(chosen) - 1)]
    return believed


def _spread(order: Ints, wrong: Bools, parts: list[Ints]) -> tuple[Ints, Ints, Bools]:
    """(query, column, is wrong) of each known column, attribute by attribute."""
    width = np.array([len(part) for part in parts])
    table = np.full((len(parts), int(width.max(initial=1))), -1)
    for row, part in enumerate(parts):
        table[row, : len(part)] = part
    spread = table[order]
    query = np.broadcast_to(np.arange(len(order))[:, None, None], spread.shape)
    flag = np.broadcast_to(wrong[:, :, None], spread.shape)
    column = spread.reshape(-1)
    used = column >= 0
    return query.reshape(-1)[used], column[used], flag.reshape(-1)[used]


def _missing(table: Release, rows: Ints, column: Ints) -> Bools:
    """Which of these cells are empty."""
    empty = np.zeros(len(rows), np.bool_)
    for position in np.unique(column):
        facts = column == position
        empty[facts] = table.columns[position].is_missing[rows[facts]]
    return empty
