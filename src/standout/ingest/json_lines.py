"""Read JSON: one object for each line, or an array of objects, in blocks of constant memory."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.errors import ColumnError, SourceError
from standout.core.jit import Array, Int, kernel
from standout.ingest.formats import Kind, has_long_number, is_object
from standout.ingest.frames import SAMPLE_ROWS, FrameSource
from standout.ingest.sources import Stream
from standout.ingest.tokens import without_marks

BLOCK = 1 << 23
LARGEST_OBJECT = 1 << 28
NEWLINE, QUOTE, BACKSLASH, COMMA = ord("\n"), ord('"'), ord("\\"), ord(",")
OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = ord("{"), ord("}"), ord("["), ord("]")
# States between the objects of an array.
START, FIRST, NEXT, INSIDE, AFTER, END, BAD = range(7)


@dataclass(frozen=True, slots=True)
class _Source:
    """A JSON source that can be read several times."""

    name: str
    open: Callable[[], AbstractContextManager[Stream]]
    kind: Kind

    def blocks(self) -> Iterator[tuple[int, bytes, Stream]]:
        """Yield blocks of complete lines, the number of lines before them, and the stream."""
        with self.open() as stream:
            stream.head = without_marks(stream.peek())
            before, rest = 0, b""
            splitter = ArraySplitter(self.name) if self.kind == "JSON array" else None
            buffer = np.empty(BLOCK, np.uint8)
            while count := stream.fill(buffer.data):
                part = buffer[:count] if splitter is None else splitter.split(buffer[:count])
                content = rest + part.tobytes()
                cut = content.rfind(b"\n") + 1
                rest = content[cut:]
                if len(rest) > LARGEST_OBJECT:
                    raise SourceError(f"{self.name} has an object of more than {LARGEST_OBJECT >> 20} MB")
                if cut:
                    yield before, content[:cut], stream
                    before += content.count(b"\n", 0, cut)
            if splitter is not None:
                splitter.finish()
            if rest.strip():
                yield before, rest, stream

    def damaged(self, before: int, block: bytes) -> SourceError:
        """Error that names the first bad line, or the object of an array, and never its content."""
        unit = "line" if self.kind == "JSON lines" else "object"
        for number, line in enumerate(block.split(b"\n"), start=before + 1):
            if line.strip() and not is_object(line):
                return SourceError(f"{self.name} {unit} {number} is not a JSON object: check the file")
            if line.strip() and has_long_number(line):
                return SourceError(
                    f"{self.name} {unit} {number} has a number with more digits than a number can have: put "
                    "it in quotes if it is an id"
                )
        lines = block.rstrip().count(b"\n") + 1
        return SourceError(f"{self.name} is not valid JSON in {unit}s {before + 1} to {before + lines}")


def json_source(name: str, open_stream: Callable[[], AbstractContextManager[Stream]], kind: Kind) -> FrameSource:
    """Open a JSON source; it is read once for its fields, and once for its rows."""
    source = _Source(name, open_stream, kind)
    fields: dict[str, bool] = {}
    for before, block, _ in source.blocks():
        for field, is_nested in _fields(source, before, block).items():
            fields[field] = fields.get(field, False) or is_nested
    names = tuple(fields)
    state = [0, 0]

    def batches(positions: list[int]) -> Iterator[pl.DataFrame]:
        for position in positions:
            if fields[names[position]]:
                raise ColumnError(
                    f"column {names[position]!r} has nested fields: choose another column, "
                    "or write the fields that you need as columns of their own"
                )
        for before, block, stream in source.blocks():
            yield _read(source, before, block, {names[i]: str(i) for i in positions})
            state[:] = stream.done, stream.total

    def sample() -> pl.DataFrame:
        for before, block, _ in source.blocks():
            lines = b"\n".join(block.split(b"\n", SAMPLE_ROWS)[:SAMPLE_ROWS])
            return _read(source, before, lines, {name: str(i) for i, name in enumerate(names)})
        return pl.DataFrame()

    return FrameSource(names, batches, sample, position=lambda: (state[0], state[1]))


def _fields(source: _Source, before: int, block: bytes) -> dict[str, bool]:
    """Return the fields of all objects, and whether they are nested."""
    try:
        schema = pl.scan_ndjson(io.BytesIO(block), infer_schema_length=None).collect_schema()
        return {field: dtype.is_nested() for field, dtype in schema.items()}
    except pl.exceptions.SchemaError:  # a field is a list in one object and an object in another
        return _fields_one_by_one(source, before, block)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise source.damaged(before, block) from error


def _fields_one_by_one(source: _Source, before: int, block: bytes) -> dict[str, bool]:
    fields: dict[str, bool] = {}
    for line in block.split(b"\n"):
        if not line.strip():
            continue
        if not is_object(line):
            raise source.damaged(before, block)
        for field, cell in json.loads(line, parse_int=str).items():
            fields[field] = fields.get(field, False) or isinstance(cell, (list, dict))
    return fields


def _read(source: _Source, before: int, block: bytes, columns: dict[str, str]) -> pl.DataFrame:
    """Read some fields of all objects as text, so that 007 and 7 stay different ids."""
    try:
        schema = dict.fromkeys(columns, pl.String)
        return pl.read_ndjson(io.BytesIO(block), schema=schema).select(
            pl.col(name).alias(alias) for name, alias in columns.items()
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise source.damaged(before, block) from error


class ArraySplitter:
    """Turns an array of objects into one object for each line, part by part."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = np.array([START, 0, 0, 0])  # state, depth, inside a string, after a backslash

    def split(self, part: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the objects in a part of the text, with a line end after each."""
        out = np.empty(len(part), np.uint8)
        count = _split_array(part, out, self.state)
        if self.state[0] == BAD:
            raise SourceError(f"{self.name} is not a valid JSON array of objects: check the file")
        return out[:count]

    def finish(self) -> None:
        """Check that the array is complete."""
        if self.state[0] != END:
            raise SourceError(f"{self.name} is truncated: the JSON array does not end; copy or download it again")


@kernel
def _split_array(part: Array, out: Array, state: Array) -> Int:
    """Copy the objects of an array, with line ends instead of commas; return the number of bytes."""
    where, depth, in_string, escaped = state[0], state[1], state[2], state[3]
    n = 0
    for i in range(len(part)):
        byte = part[i]
        if where == INSIDE:
            out[n] = 32 if byte == NEWLINE else byte
            n += 1
            if in_string:
                if escaped:
                    escaped = 0
                elif byte == BACKSLASH:
                    escaped = 1
                elif byte == QUOTE:
                    in_string = 0
            elif byte == QUOTE:
                in_string = 1
            elif byte == OPEN or byte == OPEN_LIST:  # noqa: SIM109
                depth += 1
            elif byte == CLOSE or byte == CLOSE_LIST:  # noqa: SIM109
                depth -= 1
                if depth == 0:
                    where = AFTER
        elif byte == 32 or byte == NEWLINE or byte == 13 or byte == 9:
            continue
        elif where == START and byte == OPEN_LIST:
            where = FIRST
        elif (where == FIRST or where == NEXT) and byte == OPEN:  # noqa: SIM109
            where, depth = INSIDE, 1
            out[n] = byte
            n += 1
        elif where == AFTER and byte == COMMA:
            where = NEXT
            out[n] = NEWLINE
            n += 1
        elif (where == FIRST or where == AFTER) and byte == CLOSE_LIST:  # noqa: SIM109
            where = END
        else:
            where = BAD
            break
    state[0], state[1], state[2], state[3] = where, depth, in_string, escaped
    return n
