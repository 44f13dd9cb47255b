"""Sensitive items: how many people would have one revealed that was not known of them.

The file has an item in each line, by its id or title, and behind a tab a category where there is one. Empty
lines and lines that begin with # are left out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import ParameterError, SourceError
from standout.evaluate.estimate_json import estimate_json
from standout.evaluate.estimates import rate
from standout.evaluate.population import Population
from standout.evaluate.simulate import SimulationCell
from standout.facts import KnownFacts
from standout.release.catalogue import Catalogue, printable
from standout.release.model import Release
from standout.release.postings import unpack_item

__all__ = ["ANY", "Listed", "listed", "revealed_by"]

ANY = "any"
"""The row of all categories together; a line without a category is in no other."""
LONGEST = 80
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """Sensitive items: their codes by category, how many lines name one, and how many of those are found."""

    file: str
    lines: int
    found: int
    categories: dict[str, NDArray[np.int64]]

    @property
    def limit(self) -> str:
        """What is to be said of lines that name no item of the release."""
        missing = self.lines - self.found
        return (
            f"{missing:,} of {self.lines:,} lines of {self.file} name no item of the release."
            if missing
            else ""
        )


def listed(path: str | Path, release: Release) -> Listed:
    """The items that a file lists. A title that several items have means all of them."""
    catalogue, lines, found = Catalogue(release), 0, 0
    categories: dict[str, set[int]] = {}
    for text in _lines(Path(path)):
        name, _, category = text.partition("\t")
        codes, lines = _codes(catalogue, name) or _codes(catalogue, name.strip()), lines + 1
        found += bool(codes)
        own = printable(category.strip())[:LONGEST]
        for one in {own or ANY, ANY}:
            categories.setdefault(one, set()).update(codes)
    if not lines:
        raise ParameterError(f"{Path(path).name} lists no item: one in each line, by id or title")
    order = [*sorted({*categories} - {ANY}), ANY]
    return Listed(
        printable(Path(path).name),
        lines,
        found,
        {one: np.array(sorted(categories[one]), np.int64) for one in order},
    )


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a text file in UTF-8") from error
    lines = [line for line in content.split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) > MOST:
        raise SourceError(f"{path} has more than {MOST:,} lines: is it a list of items?")
    return lines


def _codes(catalogue: Catalogue, name: str) -> list[int]:
    code = catalogue.release.items.find(name)
    if code is not None:
        return [code]
    return [] if catalogue.release.titles is None else catalogue.items_with_title(name)


def revealed_by(
    people: Population, some: Listed, cell: SimulationCell, known: KnownFacts, able: NDArray[np.bool_]
) -> list[dict[str, Any]]:  # fmt: skip
    """By category: who has such an item, and of how many the guess is right and tells one that was not known.

    `able` says who can be tried. A rate is of those tried who have one; `people_revealed` is that share of
    all who have one and can be tried. Items, and what is `known`, are the truth's.
    """
    return [_row(people, name, codes, cell, known, able) for name, codes in some.categories.items()]


def _row(
    people: Population,
    name: str,
    codes: NDArray[np.int64],
    cell: SimulationCell,
    known: KnownFacts,
    able: NDArray[np.bool_],
) -> dict[str, Any]:
    having = _having(people.original, codes)
    sensitive = np.zeros(people.original.n_items, np.bool_)
    sensitive[codes] = True
    new = np.array([_tells(people, known, q, int(place), sensitive) for q, place in enumerate(cell.targets)])
    has = having[cell.targets]
    right = cell.outcomes.identified.mean(axis=1)
    hits, n = float(right[has & new].sum()), int(has.sum())
    every, could, share = int(having.sum()), int((having & able).sum()), rate(min(hits, n), n)
    shown = round(share.value * could)
    words = (
        f"Of {every:,} people with such an item {could:,} can be tried; about {shown:,} of them would have "
        "one revealed."
    )
    return {
        "category": name, "items": len(codes), "people_with": every, "revealed": estimate_json(share),
        "people_revealed": shown, "words": words,
    }  # fmt: skip


def _having(release: Release, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which records have at least one of these items."""
    found = np.zeros(release.n_records, np.bool_)
    for code in codes.tolist():
        found[unpack_item(release.by_item, code, release.n_levels, release.span)[0]] = True
    return found


def _tells(people: Population, known: KnownFacts, q: int, place: int, sensitive: NDArray[np.bool_]) -> bool:
    """Whether who stands for a person has a sensitive item of theirs that is not among what is known."""
    side = people.original.by_record
    own = side.item[int(side.start[place]) : int(side.start[place + 1])].astype(np.int64)
    has = own[sensitive[own]]
    new = has[~np.isin(has, known.item[known.first[q] : known.first[q + 1]])]
    return bool(people.items_in_record(place, new).any())
