"""Turn batches of rows from any reader into coded entries."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import SourceError
from standout.core.jit import Array, Flag, Int, kernel
from standout.core.progress import Progress
from standout.data.build import IN_MEMORY, CodeBlocks, CodedEntries, MemoryPlan, build_release
from standout.data.build_kernels import NONE
from standout.data.entries import Repeats, repeated_rows
from standout.data.labels import Labels, Provenance
from standout.data.release import Release
from standout.ingest.interner import Interner
from standout.ingest.item_titles import labels_of_titles
from standout.ingest.options import Options
from standout.ingest.places import PlaceReader
from standout.ingest.rejects import SHOWN, Reason, RejectLog, check_rejects
from standout.ingest.times import TimeReader
from standout.ingest.tokens import Window
from standout.ingest.value_levels import LevelMap

TitleReader = Callable[[Labels], dict[str, str]]


@dataclass(frozen=True, slots=True)
class SourceEntries:
    """Coded entries, how they were read, and what a build needs to know about them.

    `repeat_error` makes the error about a number of repeated rows. `titles` reads the titles of items.
    """

    coded: CodedEntries
    provenance: Provenance
    repeats: Repeats
    repeat_error: Callable[[int], SourceError]
    titles: TitleReader | None = None

    def build(self, progress: Progress) -> Release:
        """Build the release in memory; the blocks of codes are freed."""
        release = build_release(self.coded, self.repeats, self.provenance, progress)
        self.check_repeats(release.provenance.repeats)
        titles = self.titles_of(release.items)
        return release if titles is None else replace(release, titles=titles)

    def check_repeats(self, repeated: int) -> None:
        """Raise an error if there are repeated rows and the user wants none."""
        if self.repeats == "error" and repeated:
            raise self.repeat_error(repeated)

    def titles_of(self, items: Labels) -> Labels | None:
        """Title of each item, or None if there are no titles."""
        return None if self.titles is None else labels_of_titles(items, self.titles(items))


VALUE, TIME = 2, 3
"""Columns of a block of coded entries."""
BAR, BACKSLASH = np.uint8(ord("|")), np.uint8(ord("\\"))


class Spans(NamedTuple):
    """One text per row: row i has buffer[starts[i]:ends[i]]."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


def byte_array(text: str) -> NDArray[np.uint8]:
    """Bytes of a text, which kernels may write to: one type for all of their callers."""
    return np.frombuffer(bytearray(text.encode() or b" "), np.uint8)


def constant_spans(text: str, rows: int) -> Spans:
    """Return the same text for every row."""
    return Spans(byte_array(text), np.zeros(rows, np.int64), np.full(rows, len(text.encode())))


@dataclass(slots=True)
class Batch:
    """Some rows of a source.

    `line` is the line of each row, and `status` the reason why it is unusable (0: it is usable). `time` is
    text, or whole units on the wall clock.
    """

    line: NDArray[np.int64]
    status: NDArray[np.uint8]
    record: Spans
    item: tuple[Spans, ...]
    value: Spans | None
    time: Spans | NDArray[np.uint32] | None


@dataclass(slots=True)
class LineMap:
    """Source and line of every used row; stored only where the line numbers jump."""

    rows: int = 0
    first: list[NDArray[np.int64]] = field(default_factory=list)
    shift: list[NDArray[np.int64]] = field(default_factory=list)
    source: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, source: int, lines: NDArray[np.int64]) -> None:
        """Append the lines of some rows."""
        if not len(lines):
            return
        first, shift = np.empty(len(lines), np.int64), np.empty(len(lines), np.int64)
        jumps = _jumps(lines, self.rows, first, shift)
        self.first.append(first[:jumps].copy())
        self.shift.append(shift[:jumps].copy())
        self.source.append(np.full(jumps, source))
        self.rows += len(lines)

    def locate(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the source and the line of each row."""
        jump = np.searchsorted(np.concatenate(self.first), rows, side="right") - 1
        return np.concatenate(self.source)[jump], rows + np.concatenate(self.shift)[jump]


class Collector:
    """Codes the usable rows of batches and counts the others."""

    def __init__(
        self,
        options: Options,
        rejects: RejectLog,
        has_value: bool,
        has_time: bool,
        unit: str = "line",
        memory: MemoryPlan | None = None,
    ) -> None:
        self.options = options
        self.records = Interner()
        self.items = Interner()
        self.values = Interner() if has_value else None
        self.times: TimeReader | None = options.time_reader() if has_time else None
        self.reader = options.value_reader()
        self.places = None if options.places is None else PlaceReader(options.places)
        self.unit = unit
        self.sources: list[str] = []
        self.encodings: set[str] = set()
        self.rejects = rejects
        self.lines = LineMap()
        self.blocks = CodeBlocks(memory or IN_MEMORY)

    def begin_source(self, name: str) -> None:
        """Name the source of the following batches."""
        self.sources.append(name)

    def note_encoding(self, window: Window) -> None:
        """Note in which encoding a source was read, and where it is not valid."""
        self.encodings.add(window.stream.encoding)
        if window.decoder.invalid_line is not None:
            self.rejects.invalid_text.append((self.sources[-1], window.decoder.invalid_line))

    def add(self, batch: Batch) -> None:
        """Code a batch of rows."""
        status = batch.status
        item = self._items(batch)
        _require(batch.record, status, Reason.NO_RECORD)
        _require(item, status, Reason.NO_ITEM)
        times = np.zeros(len(status), np.uint32)
        if self.times is not None and isinstance(batch.time, Spans):
            times = self.times.read(*batch.time, status)
        elif batch.time is not None and not isinstance(batch.time, Spans):
            times = batch.time
        values = np.full(len(status), NONE)
        if self.values is not None and batch.value is not None:
            values = self.values.codes(*batch.value, status)
            self.reader.check(len(self.values))
        records = self.records.codes(*batch.record, status)
        items = self.items.codes(*item, status)
        self.add_codes(batch.line, status, records, items, values, times)

    def _items(self, batch: Batch) -> Spans:
        """Item of each row: a column, several joined columns, or the place of a latitude and a longitude."""
        if self.places is not None:
            latitude, longitude = batch.item
            return Spans(*self.places.read(latitude, longitude, batch.status))
        return batch.item[0] if len(batch.item) == 1 else join_columns(batch.item)

    def add_codes(
        self,
        line: NDArray[np.int64],
        status: NDArray[np.uint8],
        records: NDArray[np.uint32],
        items: NDArray[np.uint32],
        values: NDArray[np.uint32],
        times: NDArray[np.uint32],
    ) -> None:
        """Add rows that are already coded; rows with a status other than 0 are only counted."""
        if self.options.bin is not None and not (self.times is not None and self.times.deferred):
            times = self.options.bin.round_codes(times)
        used = _pack(records, items, values, times, status, self.blocks.reserve(len(status)))
        self.blocks.take(used)
        self.rejects.rows += len(status)
        if used != len(status):
            self.rejects.add(self.sources[-1], line, status)
            line = line[status == 0]
        self.lines.add(len(self.sources) - 1, line)
        self.blocks.make_room(self.records.build_bytes + self.items.build_bytes)

    def finish(self, provenance: Provenance) -> SourceEntries:
        """Return all entries and how they were read; raise an error if too many rows are unusable."""
        self._resolve_times()
        level_map = None if self.values is None else self._levels(self.values)
        check_rejects(self.rejects, self.options.limit, self.unit, provenance, self.times)
        coded = CodedEntries(
            blocks=self._blocks_to_build(),
            records=self.records.labels(),
            items=self.items.labels(),
            levels=None if level_map is None else level_map.levels,
            level=None if level_map is None else level_map.level,
            unit=self.options.unit,
            zone=None if self.times is None else self.times.zone_name,
        )
        provenance = replace(provenance, **self.rejects.provenance(self.unit))
        return SourceEntries(coded, provenance, self.options.repeats, self._repeat_error)

    def _blocks_to_build(self) -> CodeBlocks:
        """Return the blocks for a build, which frees them; the message about repeats needs a copy."""
        blocks = self.blocks
        if self.options.repeats == "error" and not blocks.memory.on_disk:
            return blocks.copy()
        self.blocks = CodeBlocks()
        return blocks

    def _repeat_error(self, count: int) -> SourceError:
        """Error that lists the rows with the record and item of an earlier row, if they are in memory."""
        blocks = [block[:, 0].astype(np.uint64) << np.uint64(32) | block[:, 1] for block in self.blocks]
        rows = ""
        if blocks:
            keys = np.concatenate(blocks)
            order = np.argsort(keys, kind="stable")
            later = np.sort(order[1:][keys[order][1:] == keys[order][:-1]])[:SHOWN]
            source, line = self.lines.locate(later)
            places = zip(source, line, strict=True)
            more = ", …" if count > SHOWN else ""
            rows = f" ({', '.join(f'{self.sources[s]} {self.unit} {n}' for s, n in places)}{more})"
        return SourceError(repeated_rows(count, rows))

    def _levels(self, values: Interner) -> LevelMap:
        """Return the levels of the values; reject the rows whose value is not valid."""
        level_map = self.reader.levels(values.labels())
        if level_map.status.any():
            missing = np.uint8(0)  # the last element is for rows without a value
            self._reject_codes(VALUE, np.append(level_map.status, missing))
        return level_map

    def _resolve_times(self) -> None:
        """Convert deferred times; reject the rows whose time is not valid."""
        if self.times is None or not self.times.deferred:
            return
        code, status = self.times.resolve(block[:, TIME] for block in self.blocks)
        if status.any():
            self._reject_codes(TIME, status)
        code = code if self.options.bin is None else self.options.bin.round_codes(code)

        def with_times(block: NDArray[np.uint32]) -> NDArray[np.uint32]:
            block[:, TIME] = code[block[:, TIME]]
            return block

        self.blocks = self.blocks.rewrite(with_times)

    def _reject_codes(self, column: int, status_of: NDArray[np.uint8]) -> None:
        """Reject the rows whose code in a column has a status other than 0."""
        lines, row = self.lines, 0
        self.lines = LineMap()

        def usable(block: NDArray[np.uint32]) -> NDArray[np.uint32]:
            nonlocal row
            status = status_of[np.minimum(block[:, column], len(status_of) - 1)]
            sources, line = lines.locate(row + np.arange(len(block)))
            for source in np.unique(sources):
                is_from = sources == source
                self.rejects.add(self.sources[source], line[is_from], status[is_from])
                self.lines.add(int(source), line[is_from & (status == 0)])
            row += len(block)
            return np.asarray(block[status == 0])

        self.blocks = self.blocks.rewrite(usable)


def join_columns(parts: tuple[Spans, ...]) -> Spans:
    r"""Join several columns as a|b; a | or \ inside a part is escaped by \, so that no two items merge.

    The result is empty if all parts are.
    """
    sizes = np.sum([part.ends - part.starts for part in parts], axis=0)
    empty = sizes == 0
    room = 2 * sizes + len(parts) - 1  # every byte may need an escape
    starts = np.cumsum(room) - room
    out, ends = np.empty(int(room.sum()), np.uint8), starts.copy()
    for i, part in enumerate(parts):
        _append_part(part, i > 0, out, ends)
    ends[empty] = starts[empty]
    return Spans(out, starts, ends)


def _require(spans: Spans, status: Array, reason: Reason) -> None:
    empty = (spans.starts == spans.ends) & (status == 0)
    if empty.any():
        status[empty] = reason


@kernel
def _jumps(lines: Array, row: Int, first: Array, shift: Array) -> Int:
    """Store where line - row changes, and its new value; return the number of changes, with the first."""
    n = 0
    for i in range(len(lines)):
        if i == 0 or lines[i] != lines[i - 1] + 1:
            first[n] = row + i
            shift[n] = lines[i] - (row + i)
            n += 1
    return n


@kernel
def _pack(records: Array, items: Array, values: Array, times: Array, status: Array, out: Array) -> Int:
    """Write the usable rows one after another; return their number."""
    n = 0
    for i in range(len(status)):
        if status[i] != 0:
            continue
        out[n, 0] = records[i]
        out[n, 1] = items[i]
        out[n, 2] = values[i]
        out[n, 3] = times[i]
        n += 1
    return n


@kernel
def _append_part(part: Spans, bar: Flag, out: Array, cursor: Array) -> None:
    """Write each row's part at its cursor."""
    for row in range(len(cursor)):
        at = cursor[row]
        if bar:
            out[at] = BAR
            at += 1
        for i in range(part.starts[row], part.ends[row]):
            byte = part.buffer[i]
            if byte == BAR or byte == BACKSLASH:  # noqa: SIM109
                out[at] = BACKSLASH
                at += 1
            out[at] = byte
            at += 1
        cursor[row] = at
