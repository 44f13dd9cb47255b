"""Open a file of any format with named columns as a table."""

from contextlib import ExitStack
from pathlib import Path

from standout.core.new_files import temporary_folder
from standout.ingest.formats import Kind, SourceFile
from standout.ingest.options import Options
from standout.ingest.sources import first_bytes, is_packed, open_stream
from standout.ingest.tables import Table, parquet_table

__all__ = ["open_table"]

COPY = 1 << 20


def open_table(kind: Kind, file: SourceFile, options: Options, stack: ExitStack) -> Table:
    """Open a file as a table; `stack` removes what must be removed after reading."""
    name = str(file.path)
    if kind in ("JSON lines", "JSON array"):
        from standout.ingest.json_lines import json_table

        return json_table(
            name,
            lambda: open_stream(file.path, file.member, options.encoding),
            "lines" if kind == "JSON lines" else "array",
        )
    path = _local(file, stack)
    if kind == "Parquet":
        return parquet_table(path)
    if kind == "Arrow":
        from standout.ingest.arrow import ipc_table

        return ipc_table(path)
    from standout.ingest.databases import duckdb_table, sqlite_table

    return (sqlite_table if kind == "SQLite" else duckdb_table)(path, options.sql_table, name)


def _local(file: SourceFile, stack: ExitStack) -> Path:
    """Return a local, decompressed file: the file itself, or a copy in a private folder."""
    if isinstance(file.path, Path) and file.member is None and not is_packed(first_bytes(file.path)):
        return file.path
    folder = stack.enter_context(temporary_folder())
    with open_stream(file.path, file.member) as stream, (folder / "source").open("xb") as copy:
        room = memoryview(bytearray(COPY))
        while count := stream.fill(room):
            copy.write(room[:count])
    return folder / "source"
