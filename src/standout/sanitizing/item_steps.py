"""Steps that remove items, entries or records."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError
from standout.core.json_files import read_text
from standout.core.progress import Progress
from standout.data.entries import first_entries
from standout.data.labels import SECONDS, StepReport
from standout.data.search import Catalogue
from standout.know.sanitized import ReleaseNoise, Sanitized, TimeSpread, ValueSpread
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step, StepNoise, StepResult, names_of, one_of, parameter, positive, whole
from standout.sanitizing.value_steps import NO_VALUES, draw_entries


@dataclass(frozen=True)
class DropRareItems(Step):
    """Remove items that fewer than `below` records have, however many entries there are of them."""

    name = "drop-rare-items"
    syntax = "BELOW"
    summary = "remove items that fewer than BELOW records have"

    below: int = parameter(whole(1))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        reason = f"no item has {self.below:,} records; the most popular one has {int(draft.support.max()):,}"
        return StepResult(draft.keep_items(draft.support >= self.below, reason))


@dataclass(frozen=True)
class DropTopItems(Step):
    """Remove the `count` most popular items; ties go by the order of ids."""

    name = "drop-top-items"
    syntax = "COUNT"
    summary = "remove the COUNT most popular items"

    count: int = parameter(whole(1))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        reason = f"the release has only {draft.n_items:,} items"
        return StepResult(draft.keep_items(draft.popularity_rank >= self.count, reason))


@dataclass(frozen=True)
class DropItems(Step):
    """Remove listed items, by id or title, or those that a file lists.

    A name means all items with this id or title. One that no item has is an error, because the intended item would be
    published. @FILE alone names a file, and @@ begins a name with @. In the file, empty lines, lines that begin with #
    and text after a tab are ignored.
    """

    name = "drop-items"
    syntax = "ITEM … | @FILE"
    summary = "remove these items, by id or title, or those that a file lists"

    items: tuple[str, ...] = parameter(names_of("different ids or titles, as text"), tuple, several=True)

    @property
    def file(self) -> Path | None:
        """The file that lists the items, if there is one."""
        first = self.items[0]
        return Path(first[1:]) if len(self.items) == 1 and first[0] == "@" != first[1:2] else None

    def public_text(self) -> str:
        return str(self if self.file is None else replace(self, items=(f"@{self.file.name}",)))

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        source, listed = draft.source, (name[1:] if name.startswith("@@") else name for name in self.items)
        names = tuple(listed) if self.file is None else _read_names(self.file)
        catalogue = Catalogue(source.original if isinstance(source, Sanitized) else source)
        ids, has_titles = catalogue.release.items, catalogue.release.titles is not None

        def codes_of(name: str) -> list[int]:  # of the id and of the title: 300 is an id and a film
            code, titled = ids.find(name), catalogue.items_with_title(name) if has_titles else []
            return titled if code is None else [code, *titled]

        codes = [codes_of(name) or codes_of(name.strip()) for name in names]
        if unknown := sum(not matches for matches in codes):
            raise ParameterError(
                f"{self.name}: {unknown:,} of {len(names):,} names match no item of the release: correct "
                "them, or those items would be published"
            )
        removed = np.array(sorted({code for matches in codes for code in matches}), np.int64)
        if isinstance(source, Sanitized):
            removed = source.mapping.item_codes[removed]
        keep = ~np.isin(draft.source_items, removed)
        return StepResult(draft.keep_items(keep, "every item is listed"), {"items listed": len(names)})


def _read_names(path: Path) -> tuple[str, ...]:
    """Names that a file lists."""
    lines = (line for line in read_text(path).splitlines() if not line.startswith("#"))
    cells = (line.partition("\t")[0] for line in lines)
    if names := tuple(name for name in cells if name.strip()):
        return names
    raise ParameterError(f"{path.name} lists no items: write one id or title per line")


@dataclass(frozen=True)
class DropEntries(Step):
    """Remove each entry with probability `share`; repeated entries of a record and item on their own."""

    name = "drop-entries"
    syntax = "SHARE"
    summary = "remove each entry with probability SHARE"

    share: float = parameter(positive(below=1))

    def noise(self, report: StepReport) -> ReleaseNoise:
        return _replacement_noise(report) or ReleaseNoise(kept=1 - self.share)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        keep = np.empty(draft.n_entries, np.bool_)

        def decide(entries: slice, draws: Floats) -> None:
            keep[entries] = draws[0] >= self.share

        draw_entries(draft, noise, decide)
        return StepResult(draft.keep_entries(keep, f"{self} removed every entry"), _removed_but_left(draft, keep))


@dataclass(frozen=True)
class CapRecords(Step):
    """Limit the number of entries per record to `most`; longer records keep a random selection."""

    name = "cap-records"
    syntax = "MOST"
    summary = "keep at most MOST entries of each record, chosen at random"

    most: int = parameter(whole(1))

    def noise(self, report: StepReport) -> ReleaseNoise:
        kept = report.counts["entries"] / report.counts["entries before"]
        return _replacement_noise(report) or ReleaseNoise(kept=kept)

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        keep, record = np.empty(draft.n_entries, np.bool_), np.repeat(np.arange(draft.n_records), draft.lengths)

        def decide(entries: slice, draws: Floats) -> None:  # the lowest draws of each record
            owner = record[entries]
            rank = np.arange(len(owner)) - (draft.by_record.start[owner] - entries.start)
            keep[entries.start + np.lexsort((draws[0], owner))] = rank < self.most

        draw_entries(draft, noise, decide)
        counts = {"records cut": int(np.count_nonzero(draft.lengths > self.most))} | _removed_but_left(draft, keep)
        return StepResult(draft.keep_entries(keep, "no entry is kept"), counts)


@dataclass(frozen=True)
class SampleRecords(Step):
    """Keep a random sample of the records: a share below 1 (the number is rounded), or a count."""

    name = "sample-records"
    syntax = "SHARE | COUNT"
    summary = "keep a random sample of the records: a SHARE below 1, or COUNT of them"
    about = "records"

    size: float = parameter(whole(1) | positive(below=1))

    def noise(self, report: StepReport) -> ReleaseNoise:
        return ReleaseNoise(present=report.counts["records"] / report.counts["records before"])

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        size = int(self.size) if self.size >= 1 else round(self.size * draft.n_records)
        if not 1 <= size <= draft.n_records:
            raise ParameterError(f"{self} would keep {size:,} of {draft.n_records:,} records")
        keep = np.zeros(draft.n_records, np.bool_)
        keep[np.argsort(noise.record_keys, kind="stable")[:size]] = True
        return StepResult(draft.keep_records(keep))


# Entries that are gone while their record still has the item: what an adversary who knows one finds instead.
#
# A known entry that was removed or merged is not lost for the adversary if another entry of its record and item
# is left. To an attack it looks as if its value was replaced and its time had moved. Calling it lost would make
# the attack weaker: on purchases of which half were dropped, two facts would identify 72 % instead of 78 %.


ITEM_LEFT = "removed or merged entries whose item is left"
VALUES, TIMES, DAYS = "values replaced", "times replaced", "mean days moved"


def _count_replaced(draft: Draft, replacement: Ints) -> dict[str, float]:
    """Count entries with another replacement than themselves, and whose value or time differs from it."""
    gone = np.flatnonzero((replacement >= 0) & (replacement != np.arange(draft.n_entries)))
    other, counts = replacement[gone], {ITEM_LEFT: float(len(gone))}
    value, time, clock = draft.by_record.value, draft.by_record.time, draft.clock
    if value is not None and draft.n_levels:
        counts[VALUES] = int(np.count_nonzero(value[gone] != value[other]))
    if time is not None and clock is not None and clock.span:
        old, new = time[gone].astype(np.int64), time[other].astype(np.int64)
        counts[TIMES] = int(np.count_nonzero(old != new))
        moved = np.abs(new - old)[(new != old) & (old < clock.span) & (new < clock.span)]
        if len(moved):
            counts[DAYS] = float(moved.mean()) * SECONDS[clock.unit] / SECONDS["day"]
    return counts


def _removed_but_left(draft: Draft, keep: Bools) -> dict[str, float]:
    """Counts about removed entries whose item is left: the first kept one of it; none without repeats."""
    if not draft.has_repeats:
        return {}
    group, kept = draft.distinct_index, np.flatnonzero(keep)
    first = np.full(len(draft.distinct.item), -1)
    first[group[kept[::-1]]] = kept[::-1]  # the last assignment wins
    return _count_replaced(draft, np.where(keep, np.arange(draft.n_entries), first[group]))


def _replacement_noise(report: StepReport) -> ReleaseNoise | None:
    """Noise by the counts of replaced entries, times moving by up to twice the mean; None if none was replaced."""
    counts = report.counts
    if not counts.get(ITEM_LEFT):
        return None
    left = counts["entries"] + counts[ITEM_LEFT]
    values, times = counts.get(VALUES, 0) / left, counts.get(TIMES, 0) / left
    return ReleaseNoise(
        kept=left / counts["entries before"],
        values=(ValueSpread(None, values),) if values else (),
        times=(TimeSpread(2 * counts.get(DAYS, 0.0), times),) if times else (),
    )


@dataclass(frozen=True)
class MergeRepeats(Step):
    """Keep one entry of each record and item: the last, the first, or the largest value.

    A known value or time beats none. Of equally late entries the larger value is kept, of equal values the later one.
    """

    name = "merge-repeats"
    syntax = "[last | first | max]"
    summary = "keep one entry of each record and item: the last (default), the first, or the largest value"

    keep: Literal["last", "first", "max"] = parameter(one_of("last", "first", "max"), str, default="last")

    def noise(self, report: StepReport) -> ReleaseNoise:
        """The chance that a known entry was merged into one with another value or time.

        The item of a merged entry is still in the record. So the step removes no entry from the adversary's
        view: it changes the value and moves the time, by as much as repeats of an item differ on average.
        """
        return _replacement_noise(report) or ReleaseNoise()

    def apply(self, draft: Draft, noise: StepNoise, progress: Progress) -> StepResult:
        if self.keep == "max":
            self._require(draft.n_levels > 0, NO_VALUES)
            is_number = not isinstance(draft.levels, tuple)
            self._require(is_number, "values are categories, which have no largest: keep last or first")
        first = np.flatnonzero(first_entries(draft.by_record))  # by time, then by value
        group, chosen = draft.distinct_index, first.copy()
        if self.keep != "first":
            repeated = np.flatnonzero(np.bincount(group)[group] > 1)
            missing = draft.n_levels, 0 if draft.clock is None else draft.clock.span
            value, time = (
                np.zeros(len(repeated)) if codes is None else np.where(codes[repeated] == none, -1.0, codes[repeated])
                for codes, none in zip((draft.by_record.value, draft.by_record.time), missing, strict=True)
            )
            order = repeated[np.lexsort((*((time, value) if self.keep == "max" else (value, time)), group[repeated]))]
            chosen[group[order]] = order  # the last assignment wins
        keep = np.zeros(draft.n_entries, np.bool_)
        keep[chosen] = True
        return StepResult(draft.merge_entries(keep), _count_replaced(draft, chosen[group]))
