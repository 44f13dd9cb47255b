"""The cache of compiled kernels: in a private folder only, and never a reason to stop."""

import os
import shutil
import textwrap
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import pytest

from standout.attack.kernels import block_scores
from standout.core import kernel_cache
from standout.core.kernel_cache import cache_folder

pytestmark = [pytest.mark.once, pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")]

SOURCE = """
    from standout.core.jit import kernel

    @kernel
    def doubled(x):
        return 2 * x
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """load() imports a module with one kernel as a new process would, and runs the kernel."""
    path = tmp_path / "doubling.py"
    path.write_text(textwrap.dedent(SOURCE))

    def load():
        cache_folder.cache_clear()
        kernel_cache._warn_once.cache_clear()
        spec = spec_from_file_location("doubling", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.doubled(21) == 42
        return module.doubled

    yield load
    cache_folder.cache_clear()


def hits(function):
    return sum(function.stats.cache_hits.values())


def code_files(tmp_path):
    return sorted((tmp_path / "__pycache__").glob("doubling*.nbc"))


def test_a_kernel_is_compiled_once_and_then_loaded(load):
    assert hits(load()) == 0
    assert hits(load()) == 1


def test_a_damaged_file_of_the_cache_only_means_that_the_kernel_is_compiled_again(load, tmp_path):
    load()
    for suffix in ("nbc", "nbi"):
        for damage in (b"", b"\x80", b"\x00" * 100, None):
            (path,) = (tmp_path / "__pycache__").glob(f"doubling*.{suffix}")
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2] if damage is None else damage)
            assert hits(load()) == 0
            assert hits(load()) == 1


def test_changed_code_is_not_run(load, tmp_path):
    load()
    (path,) = code_files(tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert hits(load()) == 0


def test_the_sources_of_a_kernel_are_its_file_and_what_is_compiled_into_it():
    names = {path.name for path in kernel_cache._sources(Path(block_scores.__file__))}
    assert {"block_scores.py", "query_arrays.py", "exp_sum.py", "simd.py", "postings.py"} <= names
    assert "audit.py" not in names


def test_a_kernel_is_compiled_again_if_a_file_changed_that_it_imports(load, tmp_path, monkeypatch):
    load()
    assert hits(load()) == 1
    before = kernel_cache._content
    monkeypatch.setattr(
        kernel_cache, "_content", lambda path: before(path) + (b"#" if path.name == "jit.py" else b"")
    )
    assert hits(load()) == 0


def test_a_folder_that_others_can_write_or_that_is_a_link_is_not_used(load, tmp_path, monkeypatch):
    cache = tmp_path / "elsewhere"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "__pycache__").mkdir(mode=0o777)
    (tmp_path / "__pycache__").chmod(0o777)
    load()
    assert not code_files(tmp_path)
    assert list(cache.rglob("*.nbc"))
    shutil.rmtree(tmp_path / "__pycache__")
    (tmp_path / "target").mkdir()
    (tmp_path / "__pycache__").symlink_to(tmp_path / "target")
    load()
    assert not list((tmp_path / "target").glob("*.nb?"))


def test_a_folder_of_another_user_is_not_used(load, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert not kernel_cache._is_usable(tmp_path / "cache")


def test_without_any_folder_kernels_run_and_one_warning_says_so(load, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_is_usable", lambda folder: False)
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR") as warned:
        assert hits(load()) == 0
    assert len(warned) == 1


def test_a_full_disk_does_not_stop_a_kernel(load, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache._CheckedFile, "_save_data", full)
    assert hits(load()) == 0
    assert not code_files(tmp_path)
