"""The text of a schema file: TOML with comments in plain words."""

import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from standout.core.atomic_files import write_content
from standout.core.foreign_text import escaped_json
from standout.tables.hierarchy_sources import PREFIX
from standout.tables.schema import KEYS, ColumnSchema, Schema

__all__ = ["schema_text", "write_schema"]

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


def schema_text(schema: Schema) -> str:
    """The content of a schema file."""
    lines = [HEAD]
    if schema.id is not None:
        lines.append(f"id = {_value(schema.id)}\n")
    for name, column in schema.columns.items():
        lines.append(f"[columns.{name if BARE.fullmatch(name) else _value(name)}]")
        lines += [*_keys(column), ""]
    return "\n".join(lines)


def write_schema(schema: Schema, path: Path) -> None:
    """Write a schema file, and a CSV file for each hierarchy that is none yet."""
    columns: dict[str, ColumnSchema] = {}
    for name, column in schema.columns.items():
        if isinstance(column.hierarchy, tuple) and isinstance(column.hierarchy[0], tuple):
            file = f"{path.stem}-{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}.csv"
            text = io.StringIO()
            csv.writer(text, delimiter=";", lineterminator="\n").writerows(column.hierarchy)
            write_content(path.with_name(file), text.getvalue())
            columns[name] = _replace(column, hierarchy=file)
        elif isinstance(column.hierarchy, str) and column.hierarchy != PREFIX:
            moved = os.path.relpath(schema.folder / column.hierarchy, path.parent)
            columns[name] = _replace(column, hierarchy=Path(moved).as_posix())
        else:
            columns[name] = column
    write_content(path, schema_text(Schema(columns, schema.id, path.parent)))


def _replace(column: ColumnSchema, **changes: Any) -> ColumnSchema:
    return ColumnSchema(**{key: getattr(column, key) for key in KEYS} | changes)


def _keys(column: ColumnSchema) -> Iterator[str]:
    for key in KEYS:
        value = getattr(column, key)
        if value is not None and value is not False:
            yield f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{int(value)}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return escaped_json(str(value))
