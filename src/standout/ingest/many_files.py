"""Read the files of a source one after another, or on workers where there are any (see `file_parts`)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from standout.core.progress import ProgressMeter
from standout.ingest.collector import Collector
from standout.ingest.column_roles import Roles
from standout.ingest.delimited import DelimitedLayout, detect_layout, read_delimited
from standout.ingest.file_parts import merge_files, read_table_file, read_text_file, uses_workers
from standout.ingest.file_records import record_ids
from standout.ingest.formats import RecognisedSource, SourceFile
from standout.ingest.options import Options
from standout.ingest.rejects import RejectLog
from standout.ingest.same_layout import layout_of_further_file
from standout.ingest.sources import Stream, open_stream
from standout.ingest.unused_columns import merge_unused
from standout.ingest.window import text_head
from standout.release.code_blocks import MemoryPlan

__all__ = ["read_table_files", "read_text_files"]

SAMPLED_FILES = 100
"""Largest number of files whose first rows are examined for what their unused columns look like."""


def read_text_files(
    source: RecognisedSource,
    options: Options,
    rejects: RejectLog,
    memory: MemoryPlan | None,
    meter: ProgressMeter,
) -> tuple[Collector, DelimitedLayout]:
    """Read delimited files; returns the layout of the first."""
    files, records = source.files, record_ids(source.files, options.record_from_name)
    step = -(-len(files) // SAMPLED_FILES)
    with _opened(files[0], records[0], options) as stream, meter.part(1):
        first = detect_layout(stream, options, source.kind if source.kind == "MovieLens" else "")
        has_value, has_time = first.roles.value is not None, first.roles.time is not None
        collector = Collector(options, rejects, has_value, has_time, memory=memory)
        read_delimited(stream, first, collector, meter)

    def further_layout(number: int, stream: Stream) -> DelimitedLayout:
        nonlocal first
        first, layout = layout_of_further_file(stream, first, str(files[0].path), options, number % step == 0)
        return layout

    def tasks(low: int) -> Iterator[tuple[Any, ...]]:
        for number in range(low, len(files)):
            with _opened(files[number], records[number], options) as stream:
                layout = further_layout(number, stream)
            yield files[number], records[number], layout

    number = 1
    while number < len(files):
        if uses_workers(collector, files[number:]):
            number += sum(1 for _ in merge_files(collector, read_text_file, tasks(number), meter))
        if number < len(files):
            with _opened(files[number], records[number], options) as stream, meter.part(1):
                read_delimited(stream, further_layout(number, stream), collector, meter)
            number += 1
    return collector, first


@contextmanager
def _opened(file: SourceFile, record: str, options: Options) -> Iterator[Stream]:
    with open_stream(file.path, file.member, options.encoding) as stream:
        text_head(stream)  # in UTF-8, whose lines can be skipped
        stream.skip(options.skip_lines)
        stream.record = record
        yield stream


def read_table_files(
    source: RecognisedSource,
    options: Options,
    rejects: RejectLog,
    memory: MemoryPlan | None,
    meter: ProgressMeter,
) -> tuple[Collector, Roles]:
    """Read files with named columns; returns the role of each column."""
    from standout.ingest.file_tables import open_table
    from standout.ingest.frames import read_frame

    files, records = source.files, record_ids(source.files, options.record_from_name)
    earlier: tuple[Collector, Roles] | None = None
    number = 0
    while number < len(files):
        if earlier is not None and uses_workers(earlier[0], files[number:]):
            collector, roles = earlier
            tasks = ((files[i], records[i], source.kind, roles) for i in range(number, len(files)))
            for part in merge_files(collector, read_table_file, tasks, meter):
                assert part.roles is not None
                earlier = (
                    collector,
                    replace(part.roles, unused=merge_unused(earlier[1].unused, part.roles.unused)),
                )
                number += 1
        if number < len(files):
            with ExitStack() as stack, meter.part(1):
                earlier = read_frame(
                    partial(open_table, source.kind, files[number], options, stack),
                    str(files[number].path),
                    options,
                    rejects,
                    meter,
                    earlier=earlier,
                    memory=memory,
                    record=records[number],
                )
            number += 1
    assert earlier is not None
    return earlier
