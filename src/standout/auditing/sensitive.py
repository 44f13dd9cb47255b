"""Sensitive items: how many people would have one revealed that the adversary did not know.

Each line of the file names an item by its id or title, optionally followed by a tab and a category. Empty
lines and lines that begin with # are skipped.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, SourceError
from standout.core.foreign_text import printable
from standout.evaluate.cell import SimulationCell
from standout.evaluate.estimates import rate
from standout.evaluate.population import Population
from standout.facts import KnownFacts
from standout.findings.exposure import SensitiveCategory
from standout.release.catalogue import Catalogue
from standout.release.model import Release
from standout.release.postings import unpack_item

__all__ = ["ANY", "SensitiveList", "read_sensitive_list", "revealed_categories"]

ANY = "any"
"""The category of all items together; a line without a category belongs to no other."""
LONGEST_CATEGORY = 80
MOST_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class SensitiveList:
    """Sensitive items of a file.

    Attributes
    ----------
    lines
        Number of lines that name an item.
    matched
        Number of these lines whose item is in the release.
    categories
        Codes of the items by category.
    """

    file: str
    lines: int
    matched: int
    categories: dict[str, Ints]

    @property
    def limit(self) -> str:
        """Sentence about lines that name no item of the release; empty if there are none."""
        missing = self.lines - self.matched
        return (
            f"{missing:,} of {self.lines:,} lines of {self.file} name no item of the release."
            if missing
            else ""
        )


def read_sensitive_list(path: str | Path, release: Release) -> SensitiveList:
    """The sensitive items in a file. A title that several items share means all of them."""
    catalogue, lines, matched = Catalogue(release), 0, 0
    categories: dict[str, set[int]] = {}
    for text in _lines(Path(path)):
        name, _, label = text.partition("\t")
        codes = _codes(catalogue, name) or _codes(catalogue, name.strip())
        lines += 1
        matched += bool(codes)
        category_name = printable(label.strip())[:LONGEST_CATEGORY]
        for category in {category_name or ANY, ANY}:
            categories.setdefault(category, set()).update(codes)
    if not lines:
        raise ParameterError(f"{Path(path).name} names no item: write one item per line, by id or title")
    order = [*sorted({*categories} - {ANY}), ANY]
    codes_of = {category: np.array(sorted(categories[category]), np.int64) for category in order}
    return SensitiveList(printable(Path(path).name), lines, matched, codes_of)


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a text file in UTF-8") from error
    lines = [line for line in content.split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) > MOST_LINES:
        raise SourceError(f"{path} has more than {MOST_LINES:,} lines: is it a list of items?")
    return lines


def _codes(catalogue: Catalogue, name: str) -> list[int]:
    code = catalogue.release.items.find(name)
    if code is not None:
        return [code]
    return [] if catalogue.release.titles is None else catalogue.items_with_title(name)


def revealed_categories(
    people: Population, sensitive: SensitiveList, cell: SimulationCell, known: KnownFacts, eligible: Bools
) -> tuple[SensitiveCategory, ...]:
    """For each category, how many people have such an item and how many would have one revealed.

    `eligible` says who has enough entries to be a target. Item codes and `known` are those of the original.
    """
    return tuple(
        _category(people, name, codes, cell, known, eligible) for name, codes in sensitive.categories.items()
    )


def _category(
    people: Population, name: str, codes: Ints, cell: SimulationCell, known: KnownFacts, eligible: Bools
) -> SensitiveCategory:
    having = _records_with(people.original, codes)
    is_sensitive = np.zeros(people.original.n_items, np.bool_)
    is_sensitive[codes] = True
    has_new = [_has_new_item(people, known, q, int(row), is_sensitive) for q, row in enumerate(cell.targets)]
    has = having[cell.targets]
    correct = cell.outcomes.identified.mean(axis=1)
    hits, n = float(correct[has & np.array(has_new)].sum()), int(has.sum())
    revealed = rate(min(hits, n), n)
    total, targets = int(having.sum()), int((having & eligible).sum())
    people_revealed = round(revealed.value * targets)
    explanation = (
        f"{total:,} people have such an item, and {targets:,} of them have enough entries to be targets. "
        f"About {people_revealed:,} of these would have one revealed."
    )
    return SensitiveCategory(
        category=name,
        items=len(codes),
        people_with=total,
        revealed=revealed,
        people_revealed=people_revealed,
        explanation=explanation,
    )


def _records_with(release: Release, codes: Ints) -> Bools:
    """Which records have at least one of these items."""
    having = np.zeros(release.n_records, np.bool_)
    for code in codes.tolist():
        having[unpack_item(release.by_item, code, release.n_levels, release.span)[0]] = True
    return having


def _has_new_item(people: Population, known: KnownFacts, q: int, row: int, is_sensitive: Bools) -> bool:
    """Whether the record that represents a person shows a sensitive item of theirs that was not known."""
    side = people.original.by_record
    items = side.item[int(side.start[row]) : int(side.start[row + 1])].astype(np.int64)
    sensitive = items[is_sensitive[items]]
    new = sensitive[~np.isin(sensitive, known.item[known.first[q] : known.first[q + 1]])]
    return bool(people.items_in_record(row, new).any())
