"""Files of a source read on workers: each with codes of its own, which are then merged in the order of files.

The first file is read here: it decides the columns and the format of times. The result is that of reading
all files one after another, because ids get their codes in the order in which they appear.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standout.core.progress import ProgressMeter, no_progress
from standout.core.threads import current_pool
from standout.data.build_kernels import NONE
from standout.data.labels import Labels
from standout.ingest.collector import Collector, LineMap
from standout.ingest.column_roles import Roles
from standout.ingest.delimited import Layout, open_text, read_delimited
from standout.ingest.formats import Kind, SourceFile
from standout.ingest.interner import Interner
from standout.ingest.options import Options
from standout.ingest.rejects import RejectLog
from standout.ingest.remote import RemotePath
from standout.ingest.sources import file_size
from standout.ingest.times import TimeReader

RECORD, ITEM, VALUE = 0, 1, 2
MOST_BYTES = 1 << 30
"""Largest file that a worker reads: its codes are in the worker's memory."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """What a worker has read of a file: codes, what they mean, and what was rejected."""

    sources: list[str]
    encodings: set[str]
    rejects: RejectLog
    lines: LineMap
    records: Labels
    items: Labels
    values: Labels | None
    codes: NDArray[np.uint32]
    time_format: tuple[str | None, bool]
    times_read: tuple[int, int, Counter[str]]
    roles: Roles | None = None


def uses_workers(collector: Collector, files: Sequence[SourceFile]) -> bool:
    """Whether workers can read these further files: plain files, with times that no later text decides."""
    is_deferred = collector.times is not None and collector.times.deferred
    if current_pool() is None or collector.places is not None or is_deferred:
        return False
    return all(
        (isinstance(file.path, RemotePath) or file.path.is_file()) and file_size(file.path) <= MOST_BYTES
        for file in files
    )


def merge_files(
    collector: Collector, read: Callable[..., FilePart], tasks: Iterator[tuple[Any, ...]], meter: ProgressMeter
) -> Iterator[FilePart]:
    """Read files on workers, and add them to the collector in their order, as long as that is possible.

    It ends at a file with the first times of all files: their format holds for all that follow.
    """
    pool = current_pool()
    assert pool is not None
    settings = collector.options, collector.sources[0], collector.values is not None, _fresh(collector.times)
    for part in pool.map(read, ((settings, *task) for task in tasks)):
        if collector.times is not None and part.time_format != (collector.times.format, False):
            return
        with meter.part(1):
            _merge(collector, part)
        yield part


Settings = tuple[Options, str, bool, TimeReader | None]


def read_text_file(settings: Settings, file: SourceFile, record: str, layout: Layout, roles: Roles) -> FilePart:
    """Read a delimited file on a worker."""
    collector = _new_collector(settings, "line")
    with open_text(file, collector.options, record) as stream:
        read_delimited(stream, layout, roles, collector, no_progress)
    return _part(collector)


def read_frame_file(settings: Settings, file: SourceFile, record: str, kind: Kind, roles: Roles) -> FilePart:
    """Read a file with named columns on a worker."""
    from standout.ingest.frames import open_file, read_frame

    collector = _new_collector(settings, "row")
    with ExitStack() as stack:
        _, roles = read_frame(
            partial(open_file, kind, file, collector.options, stack),
            str(file.path),
            collector.options,
            collector.rejects,
            no_progress,
            earlier=(collector, roles),
            record=record,
        )
    return _part(collector, roles)


def _new_collector(settings: Settings, unit: str) -> Collector:
    options, first_source, has_value, times = settings
    collector = Collector(options, RejectLog(), has_value, times is not None, unit)
    collector.times = _fresh(times)
    collector.sources.append(first_source)  # errors about other columns name it
    return collector


def _fresh(times: TimeReader | None) -> TimeReader | None:
    """A reader for the same format that has read nothing."""
    if times is None:
        return None
    fresh = copy(times)
    fresh.texts, fresh.known = Interner(), np.zeros(0, np.int64)
    fresh.rows_read, fresh.rows_unread, fresh.other_formats = 0, 0, Counter()
    return fresh


def _part(collector: Collector, roles: Roles | None = None) -> FilePart:
    times = collector.times
    return FilePart(
        sources=collector.sources[1:],
        encodings=collector.encodings,
        rejects=collector.rejects,
        lines=collector.lines,
        records=collector.records.labels(),
        items=collector.items.labels(),
        values=None if collector.values is None else collector.values.labels(),
        codes=np.concatenate([np.empty((0, 4), np.uint32), *collector.blocks]),
        time_format=(None, False) if times is None else (times.format, times.deferred),
        times_read=(0, 0, Counter()) if times is None else (times.rows_read, times.rows_unread, times.other_formats),
        roles=roles,
    )


def _merge(collector: Collector, part: FilePart) -> None:
    """Add a file as if it had been read here."""
    _merge_lines(collector.lines, part.lines, len(collector.sources) - 1)
    collector.sources += part.sources
    collector.encodings |= part.encodings
    collector.rejects.rows += part.rejects.rows
    collector.rejects.invalid_text += part.rejects.invalid_text
    collector.rejects.batches += part.rejects.batches
    if collector.times is not None:
        collector.times.rows_read += part.times_read[0]
        collector.times.rows_unread += part.times_read[1]
        collector.times.other_formats.update(part.times_read[2])
    codes = collector.blocks.reserve(len(part.codes))
    codes[:] = part.codes
    _recode(codes, RECORD, collector.records, part.records)
    _recode(codes, ITEM, collector.items, part.items)
    if collector.values is not None and part.values is not None:
        _recode(codes, VALUE, collector.values, part.values)
        collector.reader.check(len(collector.values))
    collector.blocks.take(len(part.codes))
    collector.blocks.make_room(collector.records.build_bytes + collector.items.build_bytes)


def _recode(codes: NDArray[np.uint32], column: int, interner: Interner, labels: Labels) -> None:
    """Replace the codes of a part by those of all files."""
    status = np.zeros(len(labels), np.uint8)
    code = interner.codes(labels.data, labels.offsets[:-1], labels.offsets[1:], status)
    is_known = codes[:, column] != NONE
    codes[is_known, column] = code[codes[is_known, column]]


def _merge_lines(lines: LineMap, more: LineMap, sources: int) -> None:
    """Append the lines of a part, whose first source has the number 1."""
    lines.first += [first + lines.rows for first in more.first]
    lines.shift += [shift - lines.rows for shift in more.shift]
    lines.source += [source + sources for source in more.source]
    lines.rows += more.rows
