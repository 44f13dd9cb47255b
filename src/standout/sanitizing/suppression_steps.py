"""Steps that leave something out: items, entries, records."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from standout.core.checks import whole_number
from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress, no_progress
from standout.release.catalogue import Catalogue
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing import entry_kernels as kernels
from standout.sanitizing.draft import Draft, Flags, Ints
from standout.sanitizing.step import Step, StepResult, number, portion, text
from standout.sanitizing.step_noise import Noise

__all__ = ["CapRecords", "DropEntries", "DropItems", "DropRareItems", "DropTopItems", "SampleRecords"]


@dataclass(frozen=True)
class DropRareItems(Step):
    """Items that fewer than so many records have are left out.

    >>> str(DropRareItems(below=10))
    'drop-rare-items 10'
    """

    name = "drop-rare-items"
    syntax = "BELOW"
    summary = "leave out items that fewer than BELOW records have"
    parsers = (number,)

    below: int

    def __post_init__(self) -> None:
        self._set(below=whole_number("below", self.below, 1))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        why = f"no item has {self.below:,} records; the most popular has {int(draft.support.max()):,}"
        return StepResult(_with_items(draft, draft.support >= self.below, why))


@dataclass(frozen=True)
class DropTopItems(Step):
    """The most popular items are left out, so many of them.

    >>> str(DropTopItems(100))
    'drop-top-items 100'
    """

    name = "drop-top-items"
    syntax = "COUNT"
    summary = "leave out the COUNT most popular items"
    parsers = (number,)

    count: int

    def __post_init__(self) -> None:
        self._set(count=whole_number("count", self.count, 1))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        why = f"there are {draft.n_items:,} items in all"
        return StepResult(_with_items(draft, draft.rank >= self.count, why))


@dataclass(frozen=True)
class DropItems(Step):
    """Listed items are left out: by id or title, or one in each line of a file.

    In a file empty lines, lines that begin with # and what stands behind a tab do not count. A title that
    several items have means all of them, and a name that is an id and a title both. A name that no item of
    the release has is an error: what is meant would be published.

    >>> str(DropItems(("17", "Bent (1996)"))), str(DropItems(file="sensitive.txt"))
    ("drop-items 17 'Bent (1996)'", 'drop-items @sensitive.txt')
    """

    name = "drop-items"
    syntax = "ITEM … | @FILE"
    summary = "leave out these items, by id or title; or those that a file lists"

    items: tuple[str, ...] = ()
    file: str | None = None

    def __post_init__(self) -> None:
        listed = (self.items,) if isinstance(self.items, str) else self.items
        given = tuple(listed) if isinstance(listed, Iterable) else (None,)
        if not all(isinstance(name, str) and name for name in given):
            raise ParameterError("items are named by id or title, as text")
        if bool(given) == bool(self.file):
            raise ParameterError("drop-items takes items, or a file that lists them")
        self._set(items=given, file=None if self.file is None else str(self.file))

    def parameter_words(self) -> tuple[str, ...]:
        if self.file is not None:
            return (f"@{self.file}",)
        return tuple(f"@{name}" if name.startswith("@") else name for name in self.items)

    @classmethod
    def from_words(cls, *words: str) -> Self:
        if len(words) == 1 and words[0].startswith("@") and not words[0].startswith("@@"):
            return cls(file=words[0][1:])
        return cls(tuple(name[1:] if name.startswith("@@") else name for name in words))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        names = self.items or _lines(Path(str(self.file)))
        original = draft.source.original if isinstance(draft.source, Sanitized) else draft.source
        gone = _found(original, names, self)
        if isinstance(draft.source, Sanitized):
            now = draft.source.mapping.item_codes[gone]
            gone = now[now >= 0]
        keep = ~np.isin(draft.things, gone)
        made = _with_items(draft, keep, "every item is on the list")
        return StepResult(made, {"items listed": len(names)})


@dataclass(frozen=True)
class DropEntries(Step):
    """Each entry is left out with this probability, whatever it is.

    >>> str(DropEntries(0.25))
    'drop-entries 0.25'
    """

    name = "drop-entries"
    syntax = "SHARE"
    summary = "leave out each entry with the probability SHARE"
    parsers = (number,)

    share: float

    def __post_init__(self) -> None:
        self._set(share=portion("share", self.share))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        return StepResult(draft.kept(noise.uniforms() >= self.share, f"{self} left out every entry"))


@dataclass(frozen=True)
class CapRecords(Step):
    """Of records that have more entries than this, so many are kept at random.

    >>> str(CapRecords(most=50))
    'cap-records 50'
    """

    name = "cap-records"
    syntax = "MOST"
    summary = "keep MOST entries, at random, of records that have more"
    parsers = (number,)

    most: int

    def __post_init__(self) -> None:
        self._set(most=whole_number("most", self.most, 1))

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        draws, keep = noise.uniforms(), np.zeros(draft.n_entries, np.bool_)
        most = min(self.most, draft.n_entries)
        draft.by_pieces(lambda low, high: kernels.cap(draft.side.start, draws, low, high, most, keep))
        capped = int(np.count_nonzero(draft.lengths > self.most))
        return StepResult(draft.kept(keep, "no entry is kept"), {"records cut": capped})


@dataclass(frozen=True)
class SampleRecords(Step):
    """Some of the records at random: a share of them, rounded, or so many.

    >>> str(SampleRecords(0.1)), str(SampleRecords(count=500))
    ('sample-records 0.1', 'sample-records 500')
    """

    name = "sample-records"
    syntax = "SHARE | COUNT"
    summary = "keep a share of the records, below 1, or so many, at random"

    share: float | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        if (self.share is None) == (self.count is None):
            raise ParameterError("sample-records takes a share or a count")
        if self.share is not None:
            self._set(share=portion("share", self.share))
        else:
            self._set(count=whole_number("count", self.count, 1))

    def parameter_words(self) -> tuple[str, ...]:
        return (text(self.count if self.share is None else self.share),)

    @classmethod
    def from_words(cls, *words: str) -> Self:
        if len(words) != 1:
            raise ParameterError(f"written like this: {cls.name} {cls.syntax}")
        given = number(words[0])
        return cls(count=given) if isinstance(given, int) else cls(share=given)

    def apply(self, draft: Draft, noise: Noise, progress: Progress = no_progress) -> StepResult:
        wanted = self.count if self.share is None else round(self.share * draft.n_records)
        assert wanted is not None
        if not 1 <= wanted <= draft.n_records:
            raise ParameterError(f"{self} would keep {wanted:,} of {draft.n_records:,} records")
        keep = np.zeros(draft.n_records, np.bool_)
        keep[np.argsort(noise.records, kind="stable")[:wanted]] = True
        return StepResult(draft.with_records(keep))


def _with_items(draft: Draft, keep: Flags, otherwise: str) -> Draft:
    return draft.kept(keep[draft.side.item], otherwise)


def _lines(path: Path) -> tuple[str, ...]:
    """The items that a file names."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a text file in UTF-8") from error
    names = (line.partition("\t")[0] for line in lines if line.strip() and not line.startswith("#"))
    if found := tuple(name for name in names if name.strip()):
        return found
    raise ParameterError(f"{path.name} lists no item: one in each line, by id or title")


def _found(release: Release, names: tuple[str, ...], step: Step) -> Ints:
    """The codes of the items of these names."""
    catalogue = Catalogue(release)
    codes = [_codes(catalogue, name) or _codes(catalogue, name.strip()) for name in names]
    if unknown := sum(not found for found in codes):
        raise ParameterError(
            f"{step.name}: {unknown:,} of {len(names):,} names are no item of the release: "
            "what is meant would be published"
        )
    return np.array(sorted({code for found in codes for code in found}), np.int64)


def _codes(catalogue: Catalogue, name: str) -> list[int]:
    """The item of this id and those of this title: 300 is an id, and a film."""
    code = catalogue.release.items.find(name)
    titled = [] if catalogue.release.titles is None else catalogue.items_with_title(name)
    return titled if code is None else [code, *titled]
