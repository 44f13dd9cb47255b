"""Turn batches of rows from any reader into coded entries, here or on workers, and build a release of them."""

from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.jit import Array, Flag, kernel
from standout.core.progress import Progress
from standout.data.build import IN_MEMORY, CodeBlocks, CodedEntries, MemoryPlan, build_release
from standout.data.build_kernels import NONE
from standout.data.labels import Labels, Provenance
from standout.data.release import Release
from standout.ingest.cells import MOST_VALUES, too_many_values, value_levels
from standout.ingest.formats import Options
from standout.ingest.places import PlaceReader
from standout.ingest.report import Reason, RejectLog, check_rejects
from standout.ingest.roles import Roles
from standout.ingest.tokens import Interner

RECORD, ITEM, VALUE, TIME = range(4)
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
    """Some rows of a source; `status` is the reason why a row is unusable (0: it is usable)."""

    line: NDArray[np.int64]
    status: NDArray[np.uint8]
    record: Spans
    item: tuple[Spans, ...]
    value: Spans | None
    time: Spans | NDArray[np.uint32] | None


class LineMap:
    """Source and line of every used row; stored only where the line numbers jump."""

    def __init__(self) -> None:
        self.rows, self.jumps = 0, [np.empty((0, 3), np.int64)]  # row, its line, its source

    def add(self, source: int, lines: NDArray[np.int64]) -> None:
        """Append the lines of some rows."""
        at = np.flatnonzero(np.append(True, np.diff(lines) != 1)[: len(lines)])
        self.jumps.append(np.column_stack([self.rows + at, lines[at], np.full(len(at), source)]))
        self.rows += len(lines)

    def locate(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the source and the line of each row."""
        jumps = np.concatenate(self.jumps)
        first, line, source = jumps[np.searchsorted(jumps[:, 0], rows, side="right") - 1].T
        return source, line + rows - first

    def extend(self, more: "LineMap", sources: int) -> None:
        """Append the lines of another map, whose sources are numbered from `sources` on here."""
        self.jumps += [jumps + np.array((self.rows, 0, sources)) for jumps in more.jumps]
        self.rows += more.rows


class Collector:
    """Codes the usable rows of batches and counts the others."""

    def __init__(
        self, options: Options, rejects: RejectLog, roles: Roles, unit: str = "line", memory: MemoryPlan | None = None
    ) -> None:
        self.options, self.rejects, self.roles, self.unit = options, rejects, roles, unit
        self.records, self.items = Interner(), Interner()
        self.values = None if roles.value is None else Interner()
        self.times = None if roles.time is None else options.time_reader()
        self.places = None if options.places is None else PlaceReader(options.places)
        self.sources: list[str] = []
        self.lines = LineMap()
        self.blocks = CodeBlocks(memory or IN_MEMORY)

    def add(self, batch: Batch) -> None:
        """Code a batch of rows."""
        status, rows = batch.status, len(batch.status)
        if self.places is not None:
            numbers = self.places.read(batch.item[0], batch.item[1], status)  # an item is the 8 bytes of its number
            starts = 8 * np.arange(rows)
            item = Spans(numbers.view(np.uint8), starts, starts + 8)
        else:
            item = batch.item[0] if len(batch.item) == 1 else join_columns(batch.item)
        for spans, reason in ((batch.record, Reason.NO_RECORD), (item, Reason.NO_ITEM)):
            status[(spans.starts == spans.ends) & (status == 0)] = reason
        times, values = np.zeros(rows, np.uint32), np.full(rows, NONE)
        if self.times is not None and batch.time is not None:
            times = self.times.read(*batch.time, status) if isinstance(batch.time, Spans) else batch.time
        if self.values is not None and batch.value is not None:
            values = self.values.codes(*batch.value, status)
        records, items = self.records.codes(*batch.record, status), self.items.codes(*item, status)
        self.add_codes(batch.line, status, records, items, values, times)

    def add_codes(self, line: Array, status: Array, records: Array, items: Array, values: Array, times: Array) -> None:
        """Add rows that are already coded; rows with a status other than 0 are only counted."""
        if self.options.bin is not None and not (self.times is not None and self.times.coded):
            times = self.options.bin.round_codes(times)
        used = status == 0
        count = int(np.count_nonzero(used))
        block = self.blocks.reserve(count)
        for column, codes in enumerate((records, items, values, times)):
            block[:, column] = codes if count == len(status) else codes[used]
        self.blocks.take(count)
        self._make_room()
        self.rejects.rows += len(status)
        self.rejects.add(self.sources[-1], line, status)
        self.lines.add(len(self.sources) - 1, line if count == len(status) else line[used])

    def _make_room(self) -> None:
        """Keep within the memory; stop early if a column has far too many distinct values."""
        if self.values is not None and len(self.values) > 16 * MOST_VALUES and self.options.value_bin is None:
            raise too_many_values(len(self.values))
        self.blocks.make_room(self.records.build_bytes + self.items.build_bytes)

    def finish(self, provenance: Provenance, progress: Progress) -> Release:
        """Build the release of all entries; raise an error if too many rows are unusable."""
        if self.times is not None and self.times.coded:
            code, status = self.times.resolve()
            self._reject_codes(TIME, status)
            code = code if self.options.bin is None else self.options.bin.round_codes(code)

            def with_times(block: NDArray[np.uint32]) -> NDArray[np.uint32]:
                block[:, TIME] = code[block[:, TIME]]
                return block

            self.blocks = self.blocks.rewrite(with_times)
        levels, level = None, None
        if self.values is not None:
            levels, level, status = value_levels(self.values.labels(), self.options.value_type, self.options.value_bin)
            self._reject_codes(VALUE, np.append(status, np.uint8(0)))  # the last is for rows without a value
        rivals = () if self.times is None else self.times.rivals
        check_rejects(self.rejects, self.options.limit, self.unit, provenance, rivals)
        items = self.items.labels()
        if self.places is not None:
            items = Labels.of(self.places.cells.names(items.data.copy().view(np.int64)))
        coded = CodedEntries(
            blocks=self.blocks,
            records=self.records.labels(),
            items=items,
            levels=levels,
            level=level,
            unit=self.options.unit,
            zone=None if self.times is None else self.times.zone,
        )
        provenance = replace(provenance, **self.rejects.provenance(self.unit))
        self.blocks = CodeBlocks()  # the build frees them
        return build_release(coded, self.options.repeats, provenance, progress)

    def _reject_codes(self, column: int, status_of: NDArray[np.uint8]) -> None:
        """Reject the rows whose code in a column has a status other than 0."""
        if not status_of.any():
            return
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

    # Files that workers read, each with codes of its own, are merged in the order of files: ids get their codes in
    # the order in which they appear, so the result is that of reading all files one after another.

    def fresh(self) -> "Collector":
        """A collector with the same settings, also of times, that has read nothing."""
        new = Collector(self.options, RejectLog(), self.roles, self.unit)
        if self.times is not None:
            new.times = copy(self.times)
            new.times.texts = Interner()
        return new

    def packed(self) -> "Collector":
        """The same with all codes in one small block, to be sent."""
        codes = np.concatenate([np.empty((0, 4), np.uint32), *self.blocks])
        self.blocks = CodeBlocks(full=[codes], rows=len(codes))
        return self

    def merge(self, part: "Collector") -> bool:
        """Add files that another collector has read; False if it reads times in another format than this one."""
        ours, theirs = self.times, part.times
        if ours is not None and theirs is not None and (theirs.format, theirs.coded) != (ours.format, ours.coded):
            return False
        self.lines.extend(part.lines, len(self.sources))
        self.sources += part.sources
        self.rejects.extend(part.rejects)
        codes = self.blocks.reserve(part.blocks.rows)
        codes[:] = part.blocks.full[0]
        _recode(codes[:, RECORD], self.records, part.records)
        _recode(codes[:, ITEM], self.items, part.items)
        if self.values is not None and part.values is not None:
            _recode(codes[:, VALUE], self.values, part.values)
        if self.times is not None and part.times is not None and self.times.coded:
            _recode(codes[:, TIME], self.times.texts, part.times.texts, first=1)
        self.blocks.take(len(codes))
        self._make_room()
        return True


def _recode(codes: NDArray[np.uint32], interner: Interner, part: Interner, first: int = 0) -> None:
    """Replace the codes of a part by those of all files; codes count from `first`."""
    code = interner.codes_of(part.labels())
    is_known = (codes != NONE) & (codes >= first)
    codes[is_known] = code[codes[is_known] - first] + first


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
