"""Sizes that an Arrow file declares: those of good files are right, and others are refused before Polars."""

import struct

import polars as pl
import pytest

import standout as so
from standout.ingest.size_limits import check_arrow_sizes

FRAME = pl.DataFrame(
    {
        "user": [f"a person with a long name {i % 7}" for i in range(400)],
        "item": pl.Series([f"i{i % 13}" for i in range(400)]).cast(pl.Categorical),
        "value": [float(i % 5) for i in range(400)],
    }
)


def written(path, *, stream, compression):
    (FRAME.write_ipc_stream if stream else FRAME.write_ipc)(path, compression=compression)
    return path.read_bytes()


@pytest.mark.parametrize("stream", [False, True])
def test_good_files_are_read_whatever_their_compression(tmp_path, stream):
    fingerprints = set()
    for compression in ("uncompressed", "lz4", "zstd"):
        path = tmp_path / f"{compression}.arrow"
        written(path, stream=stream, compression=compression)
        fingerprints.add(so.read(path, repeats="last").fingerprint)
    assert len(fingerprints) == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_a_huge_size_is_refused_wherever_it_is(tmp_path, stream, compression):
    path = tmp_path / "a.arrow"
    good, refused = written(path, stream=stream, compression=compression), 0
    for at in range(0, len(good) - 8, 8):
        if struct.unpack_from("<q", good, at)[0] in range(8, len(good) * 8):
            path.write_bytes(good[:at] + struct.pack("<q", 1 << 61) + good[at + 8 :])
            try:
                check_arrow_sizes(path)
            except so.SourceError:
                refused += 1
    assert refused >= 5


def test_a_cut_file_is_refused_in_one_line(tmp_path):
    path = tmp_path / "a.arrow"
    for stream in (False, True):
        good = written(path, stream=stream, compression="uncompressed")
        for length in range(100, len(good) - 16, 331):
            path.write_bytes(good[:length])
            with pytest.raises(so.SourceError):
                so.read(path, repeats="last")
