"""A map of items made by hand: a file or a dict that pairs public items with items of the release."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from standout.core.errors import ParameterError, SourceError
from standout.core.foreign_text import printable
from standout.linking.small_csv import read_rows

__all__ = ["Codes", "ItemMap", "read_item_map", "refuse_duplicates"]

Codes = Mapping[str, int]
PUBLIC = ("public", "publicitem", "publicid", "from")
RELEASE = ("release", "releaseitem", "releaseid", "to")
AMBIGUOUS = 0.1
"""If this share of rows fits in the other direction too, the file must name its columns."""


@dataclass(frozen=True, slots=True)
class ItemMap:
    """Pairs of item codes, the number of rows, and how many name an item that one data set does not have."""

    pairs: dict[int, int]
    rows: int
    unknown_public: int
    unknown_release: int


def read_item_map(source: Mapping[str, str] | str | PathLike[str], public: Codes, release: Codes) -> ItemMap:
    """Return the pairs of items that both data sets have. Ids are text: 0114709 and 114709 differ."""
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            raise ParameterError("items must map text to text: convert the ids with str()")
        rows, name = list(source.items()), "the map of items"
    else:
        rows, name = _read(Path(source), public, release), str(source)
    rows = list(dict.fromkeys(row for row in rows if all(row)))
    pairs = [(public[ours], release[theirs]) for ours, theirs in rows if ours in public and theirs in release]
    if not pairs:
        reversed_map = any(ours in release and theirs in public for ours, theirs in rows)
        hint = (
            "it must map public items to items of the release"
            if reversed_map
            else "ids are text, so 0114709 is not 114709"
        )
        raise ParameterError(f"{name} pairs no public item with an item of the release: {hint}")
    refuse_duplicates(pairs, list(public), list(release), name)
    unknown_public = sum(ours not in public for ours, _ in rows)
    unknown_release = sum(theirs not in release for _, theirs in rows)
    return ItemMap(dict(pairs), len(rows), unknown_public, unknown_release)


def refuse_duplicates(
    pairs: Iterable[tuple[int, int]], public: list[str], release: list[str], name: str
) -> None:
    """Raise a ParameterError if a public item has two partners, or an item of the release has two."""
    pairs = list(dict.fromkeys(pairs))
    split = _repeated(public_item for public_item, _ in pairs)
    merged = _repeated(release_item for _, release_item in pairs)
    problems = []
    if split:
        problems.append(f"{_listed(split, public, 'public item')} to several items of the release")
    if merged:
        problems.append(f"several public items to {_listed(merged, release, 'item')} of the release")
    if problems:
        raise ParameterError(f"{name} maps {' and '.join(problems)}: keep one row for each item")


def _repeated(codes: Iterable[int]) -> list[int]:
    counts: dict[int, int] = {}
    for code in codes:
        counts[code] = counts.get(code, 0) + 1
    return [code for code, count in counts.items() if count > 1]


def _listed(codes: list[int], ids: list[str], noun: str) -> str:
    some = ", ".join(printable(ids[code]) for code in codes[:3]) + (", …" if len(codes) > 3 else "")
    return f"{len(codes):,} {noun}{'s' if len(codes) > 1 else ''} ({some})"


def _read(path: Path, public: Codes, release: Codes) -> list[tuple[str, str]]:
    """(public item, release item) of each row: by the column names, else the first two as they fit."""
    header, rows = read_rows(path)
    plain = [re.sub("[^a-z]", "", name.lower()) for name in header]
    named = [[at for at, name in enumerate(plain) if name in names] for names in (PUBLIC, RELEASE)]
    if all(len(columns) == 1 for columns in named):
        (public_column,), (release_column,) = named
        return [(cells[public_column], cells[release_column]) for _, cells in rows]
    if all(name in public or name in release for name in header[:2]):
        raise SourceError(f"{path}: the first line must name the columns, for example public,release")
    pairs = [(cells[0], cells[1]) for _, cells in rows]
    forward = sum(first in public and second in release for first, second in pairs)
    backward = sum(second in public and first in release for first, second in pairs)
    if min(forward, backward) > AMBIGUOUS * max(forward, backward):
        raise SourceError(
            f"{path} fits in both directions ({forward:,} and {backward:,} rows): "
            "name its columns public and release"
        )
    return pairs if forward >= backward else [(second, first) for first, second in pairs]
