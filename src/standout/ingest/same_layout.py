"""Several delimited files with one layout: of each further file, only the first lines are checked."""

from dataclasses import replace

from standout.core.errors import SourceError
from standout.ingest.delimited import DelimitedLayout, decoded_head, split_lines
from standout.ingest.encodings import without_marks
from standout.ingest.header import is_header
from standout.ingest.options import Options
from standout.ingest.sources import Stream
from standout.ingest.unused_columns import merge_unused
from standout.ingest.window import text_head

__all__ = ["layout_of_further_file"]

SAMPLE = 50


def layout_of_further_file(
    stream: Stream, first: DelimitedLayout, first_name: str, options: Options, examine: bool
) -> tuple[DelimitedLayout, DelimitedLayout]:
    """Return the layout of the first file and of this one, whose columns may be in another order.

    A file with a header needs the same column names. A file without one needs the same number of columns,
    and its first line must not be a header. `examine` says whether to find out what the unused columns look
    like in this file; the layout of the first file then remembers it.
    """
    rows = _first_rows(stream, first, SAMPLE if examine else 2)
    if not rows:
        raise SourceError(f"{stream.name} is empty: check the file")
    layout = _layout(rows, first, options)
    if layout is None:
        raise SourceError(f"{stream.name} has another layout than {first_name}: read them one by one")
    if examine and first.roles.unused:
        sample = rows if first.header is None else rows[1:]
        unused = merge_unused(first.roles.unused, first.roles.unused_in(layout.roles.names, sample))
        first = replace(first, roles=replace(first.roles, unused=unused))
    return first, layout


def _layout(rows: list[list[str]], first: DelimitedLayout, options: Options) -> DelimitedLayout | None:
    names = tuple(rows[0])
    if names == first.header:
        return first
    if first.header is not None:
        is_same = sorted(names) == sorted(first.header) and len(set(names)) == len(names)
        return replace(first, header=names, roles=first.roles.reordered(names)) if is_same else None
    is_data = options.header is not None or len(rows) == 1 or not is_header(rows[0], rows[1], options)
    return first if is_data and len(names) == len(first.roles.names) else None


def _first_rows(stream: Stream, layout: DelimitedLayout, count: int) -> list[list[str]]:
    """Return the first rows; one with a line end inside quotes is incomplete, which changes nothing."""
    head, end = without_marks(text_head(stream)).lstrip(b"\r\n"), 0
    for _ in range(count):
        end = head.find(b"\n", end) + 1 or len(head)
    lines = decoded_head(head[:end]).replace("\0", "").splitlines()
    return split_lines([line for line in lines if line.strip()], layout.separator, layout.quote)
