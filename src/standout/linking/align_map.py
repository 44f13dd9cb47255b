"""Items paired by hand: a file or a dict that says which public item is which of the release."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from standout.core.errors import ParameterError, SourceError
from standout.linking.small_csv import read_cells
from standout.release.catalogue import printable

__all__ = ["Codes", "Mapped", "mapped", "refuse_twice"]

Codes = Mapping[str, int]
PUBLIC = ("public", "publicitem", "publicid", "from")
RELEASE = ("release", "releaseitem", "releaseid", "to")
AMBIGUOUS = 0.1
"""With this share of rows that fit the other way round as well, a file must name its columns."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Pairs of codes, and how many rows there were, named items that the public data does not have, or that
    the release does not have."""

    pairs: dict[int, int]
    rows: int
    unknown_public: int
    unknown_release: int


def mapped(given: Mapping[str, str] | str | PathLike[str], public: Codes, release: Codes) -> Mapped:
    """What a map says of items that both sides have. Ids are text: 0114709 and 114709 are two."""
    if isinstance(given, Mapping):
        if not all(isinstance(text, str) for pair in given.items() for text in pair):
            raise ParameterError("a map of items is from text to text: ids are text")
        rows, name = list(given.items()), "the map of items"
    else:
        rows, name = _read(Path(given), public, release), str(given)
    rows = list(dict.fromkeys(row for row in rows if all(row)))
    both = [(public[one], release[two]) for one, two in rows if one in public and two in release]
    if not both:
        turned = any(one in release and two in public for one, two in rows)
        how = "it goes from public to release" if turned else "ids are text, so 0114709 is not 114709"
        raise ParameterError(f"{name} names no item of the public data beside one of the release: {how}")
    refuse_twice(both, list(public), list(release), name)
    unknown = sum(one not in public for one, _ in rows), sum(two not in release for _, two in rows)
    return Mapped(dict(both), len(rows), *unknown)


def refuse_twice(pairs: Iterable[tuple[int, int]], public: list[str], release: list[str], name: str) -> None:
    """An error if a public item has two in the release, or one there has two public ones."""
    pairs = list(dict.fromkeys(pairs))
    split = _repeated(one for one, _ in pairs)
    joined = _repeated(two for _, two in pairs)
    said = []
    if split:
        said.append(f"{_several(split, public, 'public item')} to several of the release")
    if joined:
        said.append(f"several public items to {_several(joined, release, 'item')} of the release")
    if said:
        raise ParameterError(f"{name} sends {' and '.join(said)}: keep one row of each")


def _repeated(codes: Iterable[int]) -> list[int]:
    seen: dict[int, int] = {}
    for code in codes:
        seen[code] = seen.get(code, 0) + 1
    return [code for code, count in seen.items() if count > 1]


def _several(codes: list[int], ids: list[str], what: str) -> str:
    some = ", ".join(printable(ids[code]) for code in codes[:3]) + (", …" if len(codes) > 3 else "")
    return f"{len(codes):,} {what}{'s' if len(codes) > 1 else ''} ({some})"


def _read(path: Path, public: Codes, release: Codes) -> list[tuple[str, str]]:
    """(public item, release item) of each row: by the columns' names, else the first two as they fit."""
    header, rows = read_cells(path)
    plain = [re.sub("[^a-z]", "", name.lower()) for name in header]
    named = [[at for at, name in enumerate(plain) if name in names] for names in (PUBLIC, RELEASE)]
    if all(len(found) == 1 for found in named):
        (one,), (two,) = named
        return [(cells[one], cells[two]) for _, cells in rows]
    if all(name in public or name in release for name in header[:2]):
        raise SourceError(f"{path}: the first line names the columns, such as public,release")
    pairs = [(cells[0], cells[1]) for _, cells in rows]
    ahead = sum(one in public and two in release for one, two in pairs)
    back = sum(two in public and one in release for one, two in pairs)
    if min(ahead, back) > AMBIGUOUS * max(ahead, back):
        raise SourceError(
            f"{path} fits both ways ({ahead:,} rows and {back:,}): call its columns public and release"
        )
    return pairs if ahead >= back else [(two, one) for one, two in pairs]
