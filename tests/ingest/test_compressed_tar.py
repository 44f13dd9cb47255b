"""A compressed tar is checked to its end."""

import pytest
from tests.fuzzing.seeds import NETFLIX, gzipped, tarred

import standout as so
from standout.ingest import sources


@pytest.mark.parametrize("end", [-1, -4, -8, -20])
@pytest.mark.parametrize("change", ["cut", "flip"])
def test_a_compressed_tar_is_checked_to_its_end(monkeypatch, tmp_path, change, end):
    """The films end before the compressed bytes do, and the checksum is last."""
    data = bytearray(gzipped(tarred(NETFLIX)))
    if change == "cut":
        del data[end:]
    else:
        data[end] ^= 1
    (tmp_path / "films.tar.gz").write_bytes(data)
    monkeypatch.setattr(sources, "HEAD", 1024)  # so that the first bytes of the file do not include its end
    with pytest.raises(so.SourceError, match=r"truncated|damaged"):
        so.read(tmp_path / "films.tar.gz")
