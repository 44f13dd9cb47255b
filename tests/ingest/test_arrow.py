"""Arrow: files, streams and objects in memory give the same release as the same data in a frame."""

import gzip
import io
import sys
from datetime import date

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import standout as so
from conftest import content
from standout.ingest.sources import zstd

TABLE = {
    "user": ["007", "7", "7"],
    "item": ["a", "a", "b"],
    "rating": [4.0, 0.5, None],
    "time": [date(2005, 3, 1), date(2005, 3, 2), None],
}
FRAME = pl.DataFrame(TABLE)


def ipc(frame=FRAME, compression="uncompressed"):
    file = io.BytesIO()
    frame.write_ipc(file, compression=compression)
    return file.getvalue()


def ipc_stream(frame=FRAME):
    file = io.BytesIO()
    frame.write_ipc_stream(file)
    return file.getvalue()


def test_arrow_files_and_streams_are_read_whatever_their_name_and_compression(put):
    for data in [ipc(), ipc(compression="zstd"), ipc_stream()]:
        for pack in (bytes, gzip.compress, zstd.compress):
            release = so.read(put(pack(data), "data.bin"))
            assert content(release) == content(so.read(FRAME))
            assert release.provenance.format == "Arrow"


def test_a_compressed_parquet_file_is_read(put):
    file = io.BytesIO()
    FRAME.write_parquet(file)
    assert content(so.read(put(gzip.compress(file.getvalue()), "x.parquet.gz"))) == content(so.read(FRAME))


class Stream:
    """An object of which only the Arrow C stream interface is known."""

    def __init__(self, source):
        self.source = source

    def __arrow_c_stream__(self, requested_schema=None):
        return self.source.__arrow_c_stream__(requested_schema)


def arrow_objects():
    table = pa.table(TABLE)
    database = duckdb.connect()
    return [
        table,
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1)),
        Stream(FRAME),
        Stream(pa.concat_tables([table.slice(0, 1), table.slice(1)])),
        database.from_arrow(table),
        FRAME.lazy().filter(pl.col("user").is_not_null()),
    ]


def test_arrow_objects_and_relations_are_the_release_that_their_frame_is():
    for made in arrow_objects():
        assert content(so.read(made)) == content(so.read(FRAME))


def test_arrow_objects_are_read_without_pyarrow(monkeypatch):
    made = arrow_objects()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for source in made:
        assert content(so.read(source)) == content(so.read(FRAME))


def test_nested_columns_of_arrow_objects_are_refused_if_they_are_used():
    table = pa.table({"user": ["u"], "item": [["x"]], "note": ["s"]})
    with pytest.raises(so.ColumnError, match="'item' has type List"):
        so.read(table)
    assert so.read(table, item="note", ignore="item").n_entries == 1


def test_other_objects_are_refused():
    for source in [3, object(), {"user": ["u"]}, None, b"x.csv"]:
        with pytest.raises(so.ParameterError, match="source must be a path, a URL"):
            so.read(source)


def test_options_for_files_are_refused_for_frames():
    for option in [{"skip_lines": 1}, {"sql_table": "t"}, {"record_from_name": "x"}]:
        with pytest.raises(so.ParameterError, match="cannot be set for a frame"):
            so.read(FRAME, **option)
