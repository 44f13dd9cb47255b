"""Amounts of memory: as people write them, and what a machine or container has left."""

import pytest

from standout.core.errors import ParameterError
from standout.core.threads import UNKNOWN, available_memory, memory_limit, parse_size, size_text


def test_a_size_has_a_unit_in_tens_or_twos():
    for text, size in [
        ("500MB", 500_000_000),
        ("4GB", 4_000_000_000),
        ("2GiB", 2 << 30),
        ("1.5 gib", 3 << 29),
        (" 7kb ", 7_000),
        ("1", 1),
        (12, 12),
    ]:
        assert parse_size(text) == size == memory_limit(text)


def test_anything_else_is_refused():
    for text in ["", "GB", "-1GB", "0", "4 XB", "1e9", "4GB4", "9" * 99, True, None, 1.5]:
        with pytest.raises(ParameterError, match="memory must be a size such as 500MB, 4GB or 2GiB, got"):
            parse_size(text)


@pytest.mark.parametrize("size", [1, 10**6, 1_000_001, 999_999_999, 4 * 10**9, 5_432_100_000])
def test_a_size_for_people_suffices_when_it_is_given_back(size):
    assert size <= parse_size(size_text(size)) <= max(1.1 * size, 10**5)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_the_smallest_limit_counts(tmp_path):
    assert available_memory(tmp_path) == UNKNOWN
    write(tmp_path / "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    assert available_memory(tmp_path) == 8_192_000
    write(tmp_path / "proc/self/cgroup", "0::/outer/inner\n")
    inner, outer = tmp_path / "sys/fs/cgroup/outer/inner", tmp_path / "sys/fs/cgroup/outer"
    write(inner / "memory.max", "max\n")
    write(outer / "memory.max", "5000000\n")
    write(outer / "memory.current", "3000000\n")
    assert available_memory(tmp_path) == 2_000_000
    write(outer / "memory.stat", "anon 5\ninactive_file 1500000\n")
    assert available_memory(tmp_path) == 3_500_000


def test_limits_of_old_control_groups_count_too(tmp_path):
    write(tmp_path / "proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/job\n")
    group = tmp_path / "sys/fs/cgroup/memory/job"
    write(group / "memory.limit_in_bytes", "7000\n")
    write(group / "memory.usage_in_bytes", "2000\n")
    assert available_memory(tmp_path) == 5_000


def test_a_group_that_is_over_its_limit_has_nothing_left(tmp_path):
    write(tmp_path / "sys/fs/cgroup/memory.max", "1000")
    write(tmp_path / "sys/fs/cgroup/memory.current", "2000")
    assert available_memory(tmp_path) == 0
