"""Steps that remove items, entries or records."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, SourceError, whole_number
from standout.core.progress import Progress, no_progress
from standout.data.labels import StepReport
from standout.data.release import Codes, Release
from standout.data.search import Catalogue
from standout.know.sanitized import ReleaseNoise, Sanitized
from standout.sanitizing import entry_kernels
from standout.sanitizing.draft import Draft, count_replaced, replacement_noise
from standout.sanitizing.step import Step, StepNoise, StepResult, check_share, number, parameter_text


@dataclass(frozen=True)
class DropRareItems(Step):
    """Remove items that fewer than `below` records have, however many entries there are of them."""

    name = "drop-rare-items"
    syntax = "BELOW"
    summary = "remove items that fewer than BELOW records have"
    parsers = (number,)

    below: int

    def __post_init__(self) -> None:
        self._set(below=whole_number("below", self.below, 1))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        most = int(draft.support.max())
        reason = f"no item has {self.below:,} records; the most popular one has {most:,}"
        return StepResult(draft.keep_items(draft.support >= self.below, reason))


@dataclass(frozen=True)
class DropTopItems(Step):
    """Remove the `count` most popular items; ties go by the order of ids."""

    name = "drop-top-items"
    syntax = "COUNT"
    summary = "remove the COUNT most popular items"
    parsers = (number,)

    count: int

    def __post_init__(self) -> None:
        self._set(count=whole_number("count", self.count, 1))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        reason = f"the release has only {draft.n_items:,} items"
        return StepResult(draft.keep_items(draft.popularity_rank >= self.count, reason))


@dataclass(frozen=True)
class DropItems(Step):
    """Remove listed items, by id or title, or those that a file lists.

    A title that several items share means all of them. A name that is both an id and a title means both. A
    name that no item of the release has is an error, because the intended item would be published. The text file has
    one id or title per line. Empty lines, lines that begin with # and text after a tab are ignored.
    """

    name = "drop-items"
    syntax = "ITEM … | @FILE"
    summary = "remove these items, by id or title, or those that a file lists"

    items: tuple[str, ...] = ()
    file: str | None = None

    def __post_init__(self) -> None:
        listed = (self.items,) if isinstance(self.items, str) else self.items
        names = tuple(listed) if isinstance(listed, Iterable) else (None,)
        if not all(isinstance(name, str) and name for name in names):
            raise ParameterError("items must be ids or titles, as text")
        if bool(names) == bool(self.file):
            raise ParameterError("drop-items takes either items or a file that lists them")
        self._set(items=names, file=None if self.file is None else str(self.file))

    def parameter_words(self) -> tuple[str, ...]:
        if self.file is not None:
            return (f"@{self.file}",)
        return tuple(f"@{name}" if name.startswith("@") else name for name in self.items)

    @classmethod
    def from_words(cls, *words: str) -> Self:
        if len(words) == 1 and words[0].startswith("@") and not words[0].startswith("@@"):
            return cls(file=words[0][1:])
        return cls(tuple(name[1:] if name.startswith("@@") else name for name in words))

    def public_text(self) -> str:
        """The step without the folder of the file that it names."""
        return str(self if self.file is None else DropItems(file=Path(self.file).name))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        names = self.items or _read_names(Path(str(self.file)))
        source = draft.source
        removed = self._find_items(source.original if isinstance(source, Sanitized) else source, names)
        if isinstance(source, Sanitized):
            removed = source.mapping.item_codes[removed]
            removed = removed[removed >= 0]
        keep = ~np.isin(draft.source_items, removed)
        return StepResult(draft.keep_items(keep, "every item is listed"), {"items listed": len(names)})

    def _find_items(self, release: Release, names: tuple[str, ...]) -> Ints:
        """Codes of the items with these names."""
        catalogue = Catalogue(release)
        codes = [_item_codes(catalogue, name) or _item_codes(catalogue, name.strip()) for name in names]
        if unknown := sum(not matches for matches in codes):
            raise ParameterError(
                f"{self.name}: {unknown:,} of {len(names):,} names match no item of the release: correct "
                "them, or those items would be published"
            )
        return np.array(sorted({code for matches in codes for code in matches}), np.int64)


@dataclass(frozen=True)
class DropEntries(Step):
    """Remove each entry with probability `share`; repeated entries of a record and item on their own."""

    name = "drop-entries"
    syntax = "SHARE"
    summary = "remove each entry with probability SHARE"
    parsers = (number,)

    share: float

    def __post_init__(self) -> None:
        self._set(share=check_share("share", self.share))

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that an entry stays, or that its item does where entries repeat."""
        return replacement_noise(report) or ReleaseNoise(kept=1 - self.share)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        keep = noise.uniforms() >= self.share
        return StepResult(draft.keep_entries(keep, f"{self} removed every entry"), _replaced(draft, keep))


@dataclass(frozen=True)
class CapRecords(Step):
    """Limit the number of entries per record to `most`; longer records keep a random selection."""

    name = "cap-records"
    syntax = "MOST"
    summary = "keep at most MOST entries of each record, chosen at random"
    parsers = (number,)

    most: int

    def __post_init__(self) -> None:
        self._set(most=whole_number("most", self.most, 1))

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The share of entries that stay, short records included, or whose item does where entries repeat."""
        kept = report.counts["entries"] / report.counts["entries before"]
        return replacement_noise(report) or ReleaseNoise(kept=kept)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        draws, keep = noise.uniforms(), np.zeros(draft.n_entries, np.bool_)
        start, most = draft.by_record.start, min(self.most, draft.n_entries)
        draft.run_by_records(lambda low, high: entry_kernels.cap(start, draws, low, high, most, keep))
        capped = int(np.count_nonzero(draft.lengths > self.most))
        counts = {"records cut": capped} | _replaced(draft, keep)
        return StepResult(draft.keep_entries(keep, "no entry is kept"), counts)


@dataclass(frozen=True)
class SampleRecords(Step):
    """Keep a random sample of the records: a share below 1 (the number is rounded), or a count."""

    name = "sample-records"
    syntax = "SHARE | COUNT"
    summary = "keep a random sample of the records: a SHARE below 1, or COUNT of them"
    about = "records"

    share: float | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        if (self.share is None) == (self.count is None):
            raise ParameterError("sample-records takes either a share or a count")
        if self.share is not None:
            self._set(share=check_share("share", self.share))
        else:
            self._set(count=whole_number("count", self.count, 1))

    def parameter_words(self) -> tuple[str, ...]:
        return (parameter_text(self.count if self.share is None else self.share),)

    @classmethod
    def from_words(cls, *words: str) -> Self:
        if len(words) != 1:
            raise cls._syntax_error()
        size = number(words[0])
        return cls(count=size) if isinstance(size, int) else cls(share=size)

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a record stays."""
        return ReleaseNoise(present=report.counts["records"] / report.counts["records before"])

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        size = self.count if self.share is None else round(self.share * draft.n_records)
        assert size is not None
        if not 1 <= size <= draft.n_records:
            raise ParameterError(f"{self} would keep {size:,} of {draft.n_records:,} records")
        keep = np.zeros(draft.n_records, np.bool_)
        keep[np.argsort(noise.record_keys, kind="stable")[:size]] = True
        return StepResult(draft.keep_records(keep))


def _replaced(draft: Draft, keep: Bools) -> dict[str, float]:
    """Counts about removed entries whose item is left: the first kept one of it; none without repeats."""
    if not draft.has_repeats:
        return {}
    group, kept = draft.distinct_index, np.flatnonzero(keep)
    first = np.full(len(draft.distinct.item), -1)
    first[group[kept[::-1]]] = kept[::-1]  # the last assignment wins
    return count_replaced(draft, np.where(keep, np.arange(draft.n_entries), first[group]))


def _read_names(path: Path) -> tuple[str, ...]:
    """Names that a file lists."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a text file in UTF-8") from error
    cells = (line.partition("\t")[0] for line in lines if line.strip() and not line.startswith("#"))
    if names := tuple(name for name in cells if name.strip()):
        return names
    raise ParameterError(f"{path.name} lists no items: write one id or title per line")


def _item_codes(catalogue: Catalogue, name: str) -> list[int]:
    """Codes of the item with this id and of those with this title: 300 is an id and a film."""
    code = catalogue.release.items.find(name)
    titled = [] if catalogue.release.titles is None else catalogue.items_with_title(name)
    return titled if code is None else [code, *titled]


# A step that keeps one entry of each record and item.


Kept = Literal["last", "first", "max"]
POLICY = {"last": 0, "first": entry_kernels.FIRST, "max": entry_kernels.MAX}
NO_CODES: Codes = np.empty(0, np.uint8)


@dataclass(frozen=True)
class MergeRepeats(Step):
    """Keep one entry of each record and item, so that the release does not show how often and when.

    An entry with a time is preferred to one without, and likewise for values. "last" and "first" go by time; "max"
    keeps the largest value, the latest of several. Entries of the same time go by value: "last" and "max" keep the
    largest, "first" the smallest.
    """

    name = "merge-repeats"
    syntax = "[last | first | max]"
    summary = "keep one entry of each record and item: the last (default), the first, or the largest value"
    parsers = (str,)

    keep: Kept = "last"

    def __post_init__(self) -> None:
        if self.keep not in get_args(Kept):
            raise ParameterError(f"keep must be last, first or max, got {self.keep!r}")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a known entry was merged into one with another value or time.

        The item of a merged entry is still in the record. So the step removes no entry from the adversary's
        view: it changes the value and moves the time, by as much as repeats of an item differ on average.
        """
        return replacement_noise(report) or ReleaseNoise()

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress = no_progress) -> StepResult:
        if self.keep == "max":
            self._require(draft.n_levels > 0, "values")
            if isinstance(draft.levels, tuple):
                raise ParameterError(f"{self}: values are categories, which have no largest: keep last or first")
        chosen = self._chosen(draft)
        keep = chosen == np.arange(draft.n_entries)
        return StepResult(draft.merge_entries(keep), count_replaced(draft, chosen))

    def _chosen(self, draft: Draft) -> Ints:
        """For each entry, the entry that represents it."""
        start, item, value, time = draft.by_record
        missing = np.array([draft.n_levels, 0 if draft.clock is None else draft.clock.span])
        chosen = np.empty(draft.n_entries, np.int64)
        value, time = (NO_CODES if column is None else column for column in (value, time))
        entry_kernels.choose(start, item, value, time, POLICY[self.keep], missing, chosen)
        return chosen
