# mypy: disable-error-code="no-untyped-call"
"""Compiled kernels on disk: where they may be stored, and how a damaged file is noticed.

Numba's cache is a folder of pickles, so whoever can write it can run code as the user. Kernels are stored
only in a folder that belongs to the user and that nobody else can write. The first of these that works:

1. the folder that NUMBA_CACHE_DIR names;
2. __pycache__ beside the source;
3. the user's cache folder: $XDG_CACHE_HOME/standout, or ~/.cache/standout;
4. a private folder among the temporary files, named after the user.

Without any, kernels are compiled in every process. Neither a damaged file nor a full disk stops a command:
the kernel is compiled again. Every file of code has a digest, because a changed one could do anything. A
kernel is also compiled again if a file changed that it imports from; Numba looks at its own file only.
"""

import hashlib
import os
import pickle
import re
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)

__all__ = ["KernelCache", "cache_folder", "kernel_cache"]

DIGEST = 16
PACKAGE = Path(__file__).parents[1]
IMPORTS = re.compile(rb"^\s*from standout\.([\w.]+) import", re.MULTILINE)
COMPILES = b"standout.core.jit import"
NO_FOLDER = (
    "no folder for compiled code can be written, so every run compiles it again, which takes a minute: "
    "set NUMBA_CACHE_DIR to a folder of your own"
)


def kernel_cache(function: Callable[..., Any], variant: str) -> Any:
    """The cache of one kernel; one that stores nothing if there is no folder for it.

    `variant` keeps kernels apart that have the same source.
    """
    if cache_folder(_folder_of(function.__code__.co_filename)) is None:
        _warn_once()
        return NullCache()
    return KernelCache(function, variant)


def _folder_of(source: str) -> Path:
    return Path(source).absolute().parent


@lru_cache(maxsize=1)
def _warn_once() -> None:
    warnings.warn(NO_FOLDER, RuntimeWarning, stacklevel=2)


@lru_cache(maxsize=256)
def cache_folder(source_folder: Path) -> Path | None:
    """The folder for the kernels of the sources in a folder; None if there is none."""
    return next((folder for folder in _folders(source_folder) if _is_usable(folder)), None)


def _folders(source_folder: Path) -> Iterator[Path]:
    """Where kernels may be stored, the best place first."""
    name = hashlib.blake2b(os.fsencode(source_folder), digest_size=8).hexdigest()
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        yield Path(config.CACHE_DIR) / name  # type: ignore[attr-defined]
    yield source_folder / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with suppress(RuntimeError):  # the user has no home
        if home.expanduser().is_absolute():
            yield home.expanduser() / "standout" / name
    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir()) / f"standout-{user}" / name


def _is_usable(folder: Path) -> bool:
    """Whether the folder, made if it is missing, is the user's own and can be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not all(_is_private(each) for each in (folder, *_own_parents(folder))):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _own_parents(folder: Path) -> list[Path]:
    """Folders above that Standout made: they must be private too."""
    return [folder.parent] if folder.parent.name.startswith("standout") else []


def _is_private(folder: Path) -> bool:
    """Whether a folder is the user's and nobody else can write it; a link to a folder is not."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class _Locator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Says where the kernels of one source file are."""

    def __init__(self, function: Any, source: str) -> None:
        self._py_file = source
        self._lineno = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder."""
        return str(cache_folder(_folder_of(self._py_file)))

    def get_source_stamp(self) -> str:
        """A digest of the source and of what it imports: kernels are compiled into one another."""
        digest = hashlib.blake2b(digest_size=16)
        for path in sorted(_sources(Path(self._py_file).absolute())):
            digest.update(_content(path))
        return digest.hexdigest()


@lru_cache(maxsize=1024)
def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@lru_cache(maxsize=1024)
def _sources(path: Path) -> frozenset[Path]:
    """A file with kernels, the files of this package that it imports, and what those with kernels import."""
    imported = [PACKAGE.joinpath(*name.decode().split(".")) for name in IMPORTS.findall(_content(path))]
    found = {file for each in imported for file in (each.with_suffix(".py"), each / "__init__.py")}
    files = {path, *(file for file in found if file.is_file())}
    for file in files - {path}:
        if COMPILES in _content(file):
            files |= _sources(file)
    return frozenset(files)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class _CheckedFile(IndexDataCacheFile):
    """Files of code that begin with a digest of the rest; one without the right digest counts as missing."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # a damaged pickle can raise anything
            return {}

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.blake2b(content[DIGEST:], digest_size=DIGEST).digest() != content[:DIGEST]:
            raise OSError("damaged")  # as if it were missing
        return pickle.loads(content[DIGEST:])

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.blake2b(content, digest_size=DIGEST).digest() + content)


class KernelCache(FunctionCache):
    """The cache of one kernel. Whatever is wrong with it, the kernel is compiled instead.

    Types that an older version left in it may no longer exist. Numba unpickles them before it compares the
    age of the source.
    """

    _impl_class = _CacheImpl

    def __init__(self, function: Any, variant: str) -> None:
        super().__init__(function)
        old = self._cache_file
        self._variant = variant
        self._cache_file = _CheckedFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=old._source_stamp,
        )

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        key = super()._index_key(signature, codegen)
        return (*key, self._variant) if self._variant else key

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled kernel, or None."""
        try:
            return super().load_overload(signature, target)
        except Exception:
            self._discard()
            return None

    def _discard(self) -> None:
        with suppress(OSError):
            self.flush()

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store a compiled kernel, if there is room."""
        try:
            super().save_overload(signature, data)
        except OSError:
            self._discard()
