"""Numbers of values that Parquet files declare: those of good files are right, and others are refused."""

import polars as pl
import pyarrow.parquet as pq
import pytest

import standout as so
from standout.ingest.size_limits import check_parquet_sizes

FRAME = pl.DataFrame(
    {
        "user": [f"a person with a long name {i % 97}" for i in range(3000)],
        "item": [f"i{i % 13}" for i in range(3000)],
        "value": [None if i % 9 == 0 else float(i % 5) for i in range(3000)],
        "empty": pl.Series([None] * 3000, dtype=pl.Int64),
        "tags": [[str(i % 3)] * (i % 4) for i in range(3000)],
        "yes": [i % 2 == 0 for i in range(3000)],
    }
)


def test_good_files_pass_whoever_wrote_them(tmp_path):
    path = tmp_path / "a.parquet"
    for compression in ("uncompressed", "snappy", "zstd", "lz4", "gzip"):
        FRAME.write_parquet(path, compression=compression, row_group_size=700, data_page_size=2000)
        check_parquet_sizes(path)
    for version in ("1.0", "2.0"):
        for dictionary in (False, True):
            pq.write_table(
                FRAME.to_arrow(),
                path,
                data_page_version=version,
                use_dictionary=dictionary,
                data_page_size=900,
                write_page_index=True,
            )
            check_parquet_sizes(path)
    FRAME.clear().write_parquet(path)
    check_parquet_sizes(path)


def test_a_negative_number_of_values_is_refused_in_one_line(tmp_path):
    path = tmp_path / "a.parquet"
    FRAME.head(4).select("user", "item", "value").write_parquet(path, compression="uncompressed")
    good, refused = path.read_bytes(), 0
    header = b"\x2c\x15\x08"  # field 5, the header of a data page; field 1, a number: 4
    at = good.find(header)
    while at >= 0:
        path.write_bytes(good[: at + 2] + b"\x2d" + good[at + 3 :])  # -23
        with pytest.raises(so.SourceError, match="is damaged"):
            so.read(path)
        refused, at = refused + 1, good.find(header, at + 1)
    assert refused == 3


def test_a_changed_file_is_read_or_refused_in_one_line(tmp_path):
    path = tmp_path / "a.parquet"
    FRAME.head(20).select("user", "item", "value").write_parquet(path)
    good, refused = path.read_bytes(), 0
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x2F]) + good[at + 1 :])
        try:
            check_parquet_sizes(path)
        except so.SourceError:
            refused += 1
    assert refused > 20
