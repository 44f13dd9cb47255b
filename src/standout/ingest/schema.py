"""What the user says about the columns of a table: types, similarities, errors, roles, hierarchies."""

import csv
import io
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from standout.core.errors import ColumnError, ParameterError, SourceError, did_you_mean, not_one_of
from standout.core.files import write_content
from standout.core.json_files import read_toml
from standout.core.text import escaped_json
from standout.data.column import KINDS, ROLES, SIMILARITIES, Column, ColumnKind, ColumnRole, Hierarchy, SimilarityName
from standout.data.release import Release
from standout.ingest.times import check_pattern
from standout.ingest.tokens import WINDOWS

HierarchySource = str | tuple[float, ...] | tuple[tuple[str, ...], ...]
"""prefix, the path of a CSV file, the widths of bands, or rows: a value, then its groups, narrow to wide."""
PREFIX, REST = "prefix", "*"
LONGEST_CODE = 32
TEXTS = ("attribute", "separator", "date_format")
NUMBERS = ("scale", "error")
LISTS = ("levels", "missing")
CHOICES: dict[str, tuple[str, ...]] = {"kind": KINDS, "similarity": SIMILARITIES, "role": ROLES}
LARGEST = 1e300


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSchema:
    """What the user says about one column; None: it is inferred.

    Parameters
    ----------
    kind : str, optional
        number, ordered, category, date, boolean or set.
    similarity : str, optional
        equal, within, decay, ordered or hierarchy.
    scale : float, optional
        Largest distance for within, distance at which similarity is 1/e for decay.
    error : float, optional
        How far an imprecise adversary is off, at most: in units of a number, days, steps of ordered levels,
        or heights of a hierarchy.
    role : str, optional
        quasi-identifier, sensitive or other.
    levels : tuple of str, optional
        Of an ordered column all levels in their order; of a boolean the texts for false and true.
    hierarchy : str or tuple, optional
        Path of a CSV file, "prefix", widths of bands, or rows (a value, then its groups).
    attribute : str, optional
        Attribute that this column is part of. Columns with the same attribute are a tuple.
    missing : tuple of str, optional
        Texts that mean an empty cell; default: usual ones such as NA.
    separator : str, optional
        Separator of the members of a set.
    date_format : str, optional
        "iso" or a pattern of strptime.
    ignore : bool
        Whether the column is left out on purpose.

    Examples
    --------
    >>> ColumnSchema(kind="category", hierarchy="prefix").hierarchy
    'prefix'
    """

    kind: ColumnKind | None = None
    similarity: SimilarityName | None = None
    scale: float | None = None
    error: float | None = None
    role: ColumnRole | None = None
    levels: tuple[str, ...] | None = None
    hierarchy: HierarchySource | None = None
    attribute: str | None = None
    missing: tuple[str, ...] | None = None
    separator: str | None = None
    date_format: str | None = None
    ignore: bool = False


KEYS = tuple(field.name for field in fields(ColumnSchema))


@dataclass(frozen=True, slots=True)
class Schema:
    """What the user says about a table; what it leaves open is inferred.

    Parameters
    ----------
    columns : mapping
        By column name, a `ColumnSchema`.
    id : str, False or None
        Column with the ids of the rows; False: there is none; None: it is recognised.
    folder : Path
        Folder to which the paths of hierarchies are relative.
    name : str
        Name of its file, if it was read from one.

    Examples
    --------
    >>> import polars as pl, standout as so
    >>> frame = pl.DataFrame({"zip": [1097, 10115], "size": ["small", "big"]})
    >>> schema = so.Schema.of_dict({"size": {"kind": "ordered", "levels": ["small", "big"]}})
    >>> so.read(frame, schema=schema, ignore="zip").column("size").levels
    ('small', 'big')
    """

    columns: Mapping[str, ColumnSchema] = field(default_factory=dict)
    id: str | bool | None = None
    folder: Path = Path()
    name: str = field(default="", compare=False)

    @classmethod
    def of(cls, table: Release) -> "Schema":
        """The schema of a table that was read: its columns as they are.

        Parameters
        ----------
        table : Release
            The table.

        Returns
        -------
        Schema
            The schema.
        """
        columns = {column.name: schema_of(column) for column in table.columns}
        columns |= {column.name: ColumnSchema(ignore=True) for column in table.provenance.unused}
        return cls(columns, table.provenance.columns.get("record", False))

    @classmethod
    def of_dict(
        cls,
        columns: Mapping[str, Any],
        id: str | bool | None = None,  # noqa: A002  (its key in the file)
        folder: Path = Path(),
    ) -> "Schema":
        """Make a schema of plain values, as they are in a file.

        Parameters
        ----------
        columns : mapping
            By column name, a mapping with the keys of `ColumnSchema`.
        id : str, False or None
            Column with the ids of the rows.
        folder : Path
            Folder to which the paths of hierarchies are relative.

        Returns
        -------
        Schema
            The schema.
        """
        if id is True or not isinstance(id, (str, bool, type(None))):
            raise ParameterError("schema: id must be the name of a column, or false")
        return cls({name: _column(name, keys) for name, keys in columns.items()}, id, folder)

    @classmethod
    def read(cls, path: str | Path) -> "Schema":
        """Read a schema file.

        Parameters
        ----------
        path : str or Path
            A TOML file, as `write` makes it.

        Returns
        -------
        Schema
            The schema.
        """
        path = Path(path)
        content = read_toml(path)
        if unknown := sorted({*content} - {"id", "columns"}):
            raise ParameterError(f"{path}: unknown key {unknown[0]!r}; a schema has id and sections [columns.NAME]")
        columns = content.get("columns", {})
        if not isinstance(columns, dict):
            raise ParameterError(f"{path}: columns must be sections [columns.NAME]")
        return replace(cls.of_dict(columns, content.get("id"), path.parent), name=path.name)

    def write(self, path: str | Path) -> None:
        """Write the schema to a TOML file, with comments that explain it.

        Hierarchies that are no file are written next to it, one CSV file each.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        path, lines = Path(path), [HEAD]
        if self.id is not None:
            lines.append(f"id = {_value(self.id)}\n")
        for name, column in self.columns.items():
            keys, source = {key: getattr(column, key) for key in KEYS}, column.hierarchy
            if isinstance(source, tuple) and isinstance(source[0], tuple):
                keys["hierarchy"] = file = f"{path.stem}-{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}.csv"
                text = io.StringIO()
                csv.writer(text, delimiter=";", lineterminator="\n").writerows(source)
                write_content(path.with_name(file), text.getvalue())
            elif isinstance(source, str) and source != PREFIX:
                keys["hierarchy"] = Path(os.path.relpath(self.folder / source, path.parent)).as_posix()
            lines.append(f"[columns.{name if BARE.fullmatch(name) else _value(name)}]")
            lines += [f"{key} = {_value(own)}" for key, own in keys.items() if own is not None and own is not False]
            lines.append("")
        write_content(path, "\n".join(lines))


def schema_of(column: Column) -> ColumnSchema:
    """The schema of one column."""
    levels = column.levels if column.kind == "ordered" and isinstance(column.levels, tuple) else None
    return ColumnSchema(
        kind=column.kind,
        similarity=column.similarity.name,
        scale=column.similarity.scale,
        error=column.error,
        role=column.role,
        levels=levels,
        hierarchy=None if column.hierarchy is None else hierarchy_rows(column),
        attribute=None if column.attribute == column.name else column.attribute,
    )


def _column(name: str, keys: Any) -> ColumnSchema:
    """Check the keys of one column."""
    where = f"schema, column {name!r}"
    if isinstance(keys, ColumnSchema):
        return keys
    if not isinstance(keys, Mapping):
        raise ParameterError(f"{where}: must be a section with keys such as kind and role")
    checked: dict[str, Any] = dict(keys)
    for key, value in keys.items():
        if key not in KEYS:
            meant = did_you_mean(str(key), KEYS) or f"; the keys are {', '.join(KEYS)}"
            raise ParameterError(f"{where}: unknown key {str(key)!r}{meant}")
        if key in CHOICES and value not in CHOICES[key]:
            raise ParameterError(not_one_of(f"{where}: {key}", value, CHOICES[key]))
        if key in TEXTS and not (isinstance(value, str) and value):
            raise ParameterError(f"{where}: {key} must be a text that is not empty")
        if key in NUMBERS and not _is_number(value):
            raise ParameterError(f"{where}: {key} must be a number below 1e300")
        if key in LISTS:
            checked[key] = different_texts(value, f"{where}: {key}")
        if key == "date_format" and value != "iso":
            check_pattern(f"{where}: date_format", value)
        if key == "ignore" and not isinstance(value, bool):
            raise ParameterError(f"{where}: ignore must be true or false")
        if key == "hierarchy":
            checked[key] = _hierarchy(value, where)
    return ColumnSchema(**checked)


def different_texts(values: Any, where: str) -> tuple[str, ...]:
    """Check for a list of different texts."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{where} must be a list of texts")
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts) or len(set(texts)) < len(texts):
        raise ParameterError(f"{where} must be a list of different texts")
    try:  # an argument of a command may have bytes that are not UTF-8
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where} must be texts in UTF-8") from None
    return texts


def _is_number(value: Any) -> bool:
    """Whether a value is a number that is finite, also as a float."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def _hierarchy(source: Any, where: str) -> HierarchySource:
    if isinstance(source, str) and source:
        return source
    values = tuple(source) if isinstance(source, (list, tuple)) else ()
    if values and all(map(_is_number, values)):
        return tuple(float(value) for value in values)
    if values and all(isinstance(row, (list, tuple)) for row in values):
        return tuple(tuple(map(str, row)) for row in values)
    raise ParameterError(f'{where}: hierarchy must be the path of a CSV file, "prefix", or widths such as [5, 10, 20]')


# The text of a schema file: TOML with comments in plain words.

HEAD = """\
# What each column of a table is, and how it is compared. Change what is wrong. Delete a line to have it
# inferred.
#
# id          column with the ids of the rows; false if there is none
# kind        number, ordered, category, date, boolean, or set (of categories)
# similarity  how alike two values are: equal, within, decay, ordered, or hierarchy
# scale       within: the largest distance; decay: the distance at which similarity is 37 %. In units or days
# error       how far an imprecise adversary is off, at most: in units, days, or steps of ordered levels;
#             with a hierarchy, its height
# role        quasi-identifier (others may know it), sensitive (must not be learned), or other.
#             Roles are guessed from names: please check them
# levels      ordered: all levels in their order; boolean: the texts for false and for true
# hierarchy   a tree of values: a CSV file with a value and its groups in each row (path relative to this
#             file), "prefix" for codes such as ZIP codes, or widths of bands of numbers such as [5, 10, 20]
# attribute   columns with the same attribute are parts of one, such as a value, its date and its place
# missing     texts that mean an empty cell, instead of the usual ones (NA, ?, …)
# separator   set: what separates its members
# date_format date: iso, or a pattern such as %d.%m.%Y
# ignore      true leaves the column out on purpose
"""
BARE = re.compile(r"[A-Za-z0-9_-]+")


def _value(value: Any) -> str:
    """A value in TOML, which writes texts, numbers and lists as JSON does; whole numbers have no decimal point."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return escaped_json(int(value) if is_whole else value)


# Make hierarchies: from a CSV file, from the prefixes of codes, or from bands of numbers.


def with_hierarchy(column: Column, source: HierarchySource, folder: Path) -> Column:
    """Give a column a hierarchy; categories are put in the order of its groups."""
    if column.kind in ("set", "boolean", "date"):
        raise ColumnError(f"column {column.name!r} is a {column.kind}, which has no hierarchy: leave it out")
    if source == PREFIX:
        return _with_rows(column, _prefix_rows(column), "its prefixes")
    if isinstance(source, str):
        return _with_rows(column, read_rows(folder / source), Path(source).name)
    if source and isinstance(source[0], tuple):
        return _with_rows(column, [row for row in source if isinstance(row, tuple)], "the hierarchy")
    return replace(column, hierarchy=_bands(column, [float(width) for width in source]))  # type: ignore[arg-type]


def hierarchy_rows(column: Column) -> tuple[tuple[str, ...], ...]:
    """The hierarchy of a column as rows: a value, then the names of its groups."""
    assert column.hierarchy is not None
    groups, labels = column.hierarchy.groups, column.hierarchy.labels
    return tuple(
        (level, *(names[group] for names, group in zip(labels, groups[:, code], strict=True)))
        for code, level in enumerate(_level_texts(column))
    )


def read_rows(path: Path) -> list[tuple[str, ...]]:
    """Rows of a CSV file: a value, then its groups from narrow to wide; commas or semicolons, no header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}; check hierarchy in the schema") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode(WINDOWS, "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    separator = ";" if lines and ";" in lines[0] else ","
    rows = [tuple(cell.strip() for cell in row) for row in csv.reader(lines, delimiter=separator)]
    if not rows or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        raise SourceError(f"{path} must have a value and its groups in each row, equally many in all rows")
    return rows


def _prefix_rows(column: Column) -> list[tuple[str, ...]]:
    """Each text with its prefixes, from the longest to none: 01099, 0109*, 010** and so on."""
    texts = _level_texts(column)
    longest = max(map(len, texts), default=0)
    if longest > LONGEST_CODE:
        raise ColumnError(f"column {column.name!r} has texts longer than {LONGEST_CODE}, and prefixes are for codes")
    return [(text, *(text[:kept] + REST * (longest - kept) for kept in range(longest - 1, -1, -1))) for text in texts]


def _with_rows(column: Column, rows: Sequence[tuple[str, ...]], source: str) -> Column:
    groups_of = {row[0]: row[1:] for row in rows}
    texts = _level_texts(column)
    absent = [code for code, text in enumerate(texts) if text not in groups_of]
    if absent:
        cells = int(column.counts[absent].sum())
        raise ColumnError(
            f"column {column.name!r}: {len(absent):,} of {column.n_levels:,} values ({cells:,} cells) are "
            f"not in {source}: add a row for each of them"
        )
    paths = {text: groups_of[text] for text in texts}
    for height, (narrow, wide) in enumerate(pairwise(zip(*paths.values(), strict=True)), start=1):
        if split := len({*zip(narrow, wide, strict=True)}) - len({*narrow}):
            raise ColumnError(
                f"column {column.name!r}: {split:,} groups at height {height} of {source} are part of several "
                f"groups at height {height + 1}: each group must be part of one"
            )
    if column.kind == "category":
        texts = sorted(texts, key=lambda text: (*paths[text][::-1], text))
    by_height = list(zip(*(paths[text] for text in texts), strict=True))
    # a name that occurs at several places, with others between them
    if any(sum(a != b for a, b in pairwise(names)) + 1 > len({*names}) for names in by_height):
        raise ColumnError(
            f"column {column.name!r} is {column.kind}, and {source} has groups that are not neighbours "
            'in its order: change them, or set kind = "category"'
        )
    labels, groups = [], []
    for names in by_height:  # groups in the order in which they first occur, side by side
        place = {name: number for number, name in enumerate(dict.fromkeys(names))}
        labels.append(tuple(place))
        groups.append([place[name] for name in names])
    if column.kind == "category":
        new = {text: code for code, text in enumerate(texts)}
        codes = np.array([*(new[text] for text in _level_texts(column)), column.missing], column.codes.dtype)
        column = replace(column, levels=tuple(texts), codes=codes[column.codes])
    return replace(
        column, hierarchy=Hierarchy(tuple(labels), np.array(groups, np.int64).reshape(len(labels), len(texts)))
    )


def _bands(column: Column, widths: list[float]) -> Hierarchy:
    """Bands of numbers: [5, 10, 20] puts 23 into 20 – 24, 20 – 29 and 20 – 39."""
    if column.kind != "number" or not isinstance(column.levels, np.ndarray):
        raise ColumnError(f"column {column.name!r} is a {column.kind}: bands are for numbers")
    positive = bool(widths) and all(0 < width < math.inf for width in widths)
    if not positive or not all(wide > narrow and (wide / narrow).is_integer() for narrow, wide in pairwise(widths)):
        raise ParameterError(
            f"hierarchy of column {column.name!r} must be widths > 0, each a multiple of the one before"
        )
    whole = bool((column.levels == np.floor(column.levels)).all()) and float(widths[0]).is_integer()
    labels, groups = [], []
    for width in widths:
        lower, group = np.unique(np.floor(column.levels / width), return_inverse=True)
        lows = [low * width for low in lower.tolist()]
        if whole:
            ends = (f"-{int(low + width - 1)}" * (width > 1) for low in lows)
            labels.append(tuple(f"{int(low)}{end}" for low, end in zip(lows, ends, strict=True)))
        else:
            labels.append(tuple(f"[{low:g}, {low + width:g})" for low in lows))
        groups.append(group)
    return Hierarchy(tuple(labels), np.array(groups, np.int64).reshape(len(widths), column.n_levels))


def _level_texts(column: Column) -> list[str]:
    """Levels as the texts of a file; whole numbers have no decimal point."""
    if isinstance(column.levels, tuple):
        return list(column.levels)
    return [f"{int(level)}" if level.is_integer() else f"{level!r}" for level in column.levels.tolist()]
