"""Files that are mapped next to one another are one array, wherever their borders lie in pages."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from standout.core import memory as address_ranges
from standout.core.memory import STEP, AddressRange

pytestmark = pytest.mark.once
SIZES = [[1], [5, 7, 1], [4_095, 2, 4_096], [STEP, STEP], [STEP - 1, 3, 0, STEP + 1], [1, 2 * STEP + 17, 1, 3]]


@pytest.fixture(params=["mapped", "read into memory"])
def method(request, monkeypatch):
    if request.param != "mapped":
        monkeypatch.setattr(address_ranges, "_can_map", lambda: False)
    return request.param


def join(folder, parts):
    """Map the parts next to one another, each from a file that begins with the lead that its place needs."""
    whole, at = AddressRange(sum(map(len, parts))), 0
    for number, part in enumerate(parts):
        path = folder / str(number)
        path.write_bytes(bytes(at % STEP) + part)
        file = os.open(path, os.O_RDONLY)
        whole.place(file, at, len(part), at % STEP)
        os.close(file)
        at += len(part)
    return whole


@pytest.mark.parametrize("sizes", SIZES)
def test_parts_in_files_are_the_whole_however_they_are_cut(method, tmp_path, sizes):
    parts = [np.random.default_rng(size).bytes(size) for size in sizes]
    joined = join(tmp_path, parts).array("u1")
    assert joined.tobytes() == b"".join(parts)
    assert not joined.flags.writeable and joined.flags.aligned


def test_bytes_between_files_are_0(method, tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    whole = AddressRange(2 * STEP + 3)
    file = os.open(tmp_path / "file", os.O_RDONLY)
    for at in (0, 2 * STEP):
        whole.place(file, at, 3)
    os.close(file)
    joined = whole.array("u1")
    assert joined[:3].tobytes() == joined[-3:].tobytes() == b"abc" and not joined[3:-3].any()


def test_a_file_whose_lead_does_not_fit_its_place_is_refused(method, tmp_path):
    (tmp_path / "file").write_bytes(bytes(10))
    file = os.open(tmp_path / "file", os.O_RDONLY)
    with pytest.raises(ValueError, match="multiple of STEP"):
        AddressRange(10).place(file, 3, 4, skip=2)
    os.close(file)


PROCESS = Path("/proc/self")


def count_descriptors():
    return len(list((PROCESS / "fd").iterdir()))


@pytest.mark.skipif(not PROCESS.exists(), reason="the system does not list mapped files")
def test_files_stay_mapped_as_long_as_an_array_uses_them_and_keep_no_descriptor(tmp_path):
    descriptors = count_descriptors()
    whole = join(tmp_path, [bytes(STEP), b"xyz"])
    assert count_descriptors() == descriptors
    part = whole.array("u1")[-2:]
    del whole
    gc.collect()
    assert part.tobytes() == b"yz" and str(tmp_path) in (PROCESS / "maps").read_text()
    del part
    gc.collect()
    assert str(tmp_path) not in (PROCESS / "maps").read_text()
