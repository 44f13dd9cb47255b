"""Columns that a release does not use: warnings about them, and what a gate requires.

This module is light, because it is also used for an index that is opened without the readers of raw files.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from standout.core.errors import ColumnError
from standout.data.labels import ColumnKind, Provenance, UnusedColumn
from standout.ingest.column_names import place_roles

if TYPE_CHECKING:
    from standout.data.release import Release

USES: dict[ColumnKind, tuple[str, ...]] = {"date": ("time",), "number": ("value",), "id": ("record", "item")}
"""Roles that a column of each kind may have; the name of a coordinate says more."""
LOOKS = {"date": "a date", "number": "a number", "coordinate": "a coordinate", "id": "an id"}
STRENGTH: tuple[ColumnKind, ...] = ("empty", "text", "number", "id", "nested", "coordinate", "date", "quasi-identifier")
UNIQUE, ENOUGH_ENTRIES, FIRST_ITEMS = 0.9, 100, 100
"""Nearly every item is unique if more than this share of entries has an item of its own."""
DEGREES = re.compile(r"[+-]?\d{1,3}\.\d{2,}")
WARNINGS: dict[ColumnKind, str] = {
    "quasi-identifier": "is a quasi-identifier: it helps to identify people, and an audit does not measure that risk. "
    "Remove it before you publish, or add {ignore}",
    "empty": "is empty in the first rows and is not used: name it if later rows matter, or add {ignore}",
    "nested": "has nested or binary data and is not used: write what matters in it as columns of their own, "
    "or add {ignore}",
}
REFUSALS: dict[ColumnKind, str] = {
    "quasi-identifier": "is a quasi-identifier, whose risk this audit does not measure",
    "empty": "is empty in the first rows, and later rows were not looked at",
    "nested": "has nested or binary data, which was not looked at",
}


@dataclass(frozen=True, slots=True)
class Wording:
    """How messages write a setting: as a parameter in Python, or as an option with a prefix."""

    options: bool = False
    prefix: str = ""

    def use(self, role: str, column: str) -> str:
        """Setting that uses a column.

        >>> Wording().use("time", "when"), Wording(options=True).use("time", "column 3")
        ('time="when"', '--time 3')
        """
        name = column_id(column)
        if not self.options:
            return f"{role}={_literal(name)}"
        if not self.prefix and role in ("record", "item", "value", "time"):
            return f"--{role} {shlex.quote(name)}"
        return f"--{self.prefix}read {shlex.quote(f'{role}={name}')}"

    def ignore(self, columns: Sequence[str]) -> str:
        """Setting that waives columns.

        >>> Wording().ignore(["when", "age"]), Wording(options=True).ignore(["when", "age"])
        ('ignore=["when", "age"]', '--read ignore=when --read ignore=age')
        """
        if self.options:
            return " ".join(self.use("ignore", column) for column in columns)
        return f"ignore=[{', '.join(_literal(column_id(column)) for column in columns)}]"

    def flag(self, name: str, example: str) -> str:
        """Any other setting."""
        return f"--{self.prefix}read {name}={example}" if self.options else f"{name}={example}"

    def uses(self, column: UnusedColumn, provenance: Provenance) -> str:
        """Settings that would use a column, with the column that it would replace."""
        if column.kind == "coordinate":
            roles = " or ".join(self.use(role, column.name) for role in place_roles(column.name))
            return f"{roles} with {self.flag('grid', '0.01')}"
        settings = []
        for role in USES[column.kind]:
            present = provenance.columns.get(role) if role in ("value", "time") else None
            instead = f" (instead of {column_id(present)})" if present else ""
            settings.append(self.use(role, column.name) + instead)
        return " or ".join(settings)


PYTHON = Wording()
"""Messages for Python."""


def column_id(label: str) -> str:
    """Name or number with which a column is given: "column 3" is 3."""
    numbered = re.fullmatch(r"column (\d+)", label)
    return numbered[1] if numbered else label


def _literal(name: str) -> str:
    return name if name.isdecimal() else json.dumps(name, ensure_ascii=False)


def overlooked(provenance: Provenance) -> list[UnusedColumn]:
    """Columns that are neither used nor ignored, and may identify people: all but text."""
    return [column for column in provenance.unused if not column.ignored and column.kind != "text"]


def reading_warnings(release: "Release", wording: Wording) -> Iterator[str]:
    """Yield what a user should know about how a release was read."""
    for column in overlooked(release.provenance):
        name, ignore = column_id(column.name), wording.ignore([column.name])
        shown = f"column {name if name != column.name else repr(name)}"
        if column.kind in WARNINGS:
            yield f"{shown} {WARNINGS[column.kind].format(ignore=ignore)}"
        else:
            use = wording.uses(column, release.provenance)
            yield f"{shown} looks like {LOOKS[column.kind]} and is not used: add {use}, or {ignore}"
    if release.provenance.format == "synthetic" or release.n_entries < ENOUGH_ENTRIES:
        return
    grid = f"{wording.flag('grid', '0.01')} or {wording.flag('geohash', '6')}"
    first = (release.items[item] for item in range(min(release.n_items, FIRST_ITEMS)))
    unique = int((release.item_entries == 1).sum())
    if all(DEGREES.fullmatch(part) and abs(float(part)) <= 180 for item in first for part in item.split("|")):
        yield f"the items look like coordinates: make places of them with {grid}"
    elif release.n_records > 1 and unique > UNIQUE * release.n_entries:
        yield (
            f"{unique:,} of {release.n_entries:,} entries have an item that no other entry has: check the "
            f"item column. Items that nobody shares say little (for coordinates: {grid})"
        )


def require_no_overlooked(provenance: Provenance, wording: Wording) -> None:
    """Raise an error if a column is neither used nor ignored: a gate must not pass because of it."""
    columns = overlooked(provenance)
    if not columns:
        return
    listed = []
    for column in columns:
        name = column.name if column_id(column.name) != column.name else repr(column.name)
        looks = f"looks like {LOOKS.get(column.kind, '')}"
        uses = "" if column.kind in REFUSALS else f" ({wording.uses(column, provenance)})"
        listed.append(f"{name} {REFUSALS.get(column.kind, looks)}{uses}")
    every = wording.ignore([column.name for column in columns])
    waive = "it" if len(columns) == 1 else "them"
    removable = [column.kind == "quasi-identifier" for column in columns]
    use = "Remove" if all(removable) else "Use or remove" if any(removable) else "Use"
    raise ColumnError(
        f"the threshold cannot be checked while columns are overlooked: {'; '.join(listed)}. "
        f"{use} {waive}, or waive {waive} with {every}"
    )


def waive_columns(release: "Release", columns: Iterable[str | int]) -> "Release":
    """Mark unused columns of an index as ignored."""
    wanted = {str(column) for column in columns}
    provenance = release.provenance
    names_of = {column.name: {column.name, column_id(column.name)} for column in provenance.unused}
    if unknown := sorted(wanted - {name for names in names_of.values() for name in names}):
        names = ", ".join(names_of) or "none"
        raise ColumnError(
            f"column {unknown[0]!r} is not an unused column of the index; the unused columns are: {names}"
        )
    if not wanted:
        return release
    unused = tuple(
        replace(column, ignored=column.ignored or bool(names_of[column.name] & wanted)) for column in provenance.unused
    )
    return replace(release, provenance=replace(provenance, unused=unused))


def merge_unused(columns: tuple[UnusedColumn, ...], others: tuple[UnusedColumn, ...]) -> tuple[UnusedColumn, ...]:
    """Unused columns of several files: each has the most telling kind that it has in any file."""
    if not columns:
        return others
    pairs = zip(columns, others, strict=True)
    return tuple(max(pair, key=lambda column: STRENGTH.index(column.kind)) for pair in pairs)
