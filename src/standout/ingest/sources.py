"""Streams of bytes from files here or at a URL: plain, gzip, zstd, zip or tar, recognised by their first bytes.

URLs (s3://, gs://, https://, …) are read through fsspec. Credentials in a URL are never shown.
"""

import glob
import gzip
import io
import os
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import IO, Any, cast

from standout.core.errors import ParameterError, SourceError, install_command

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Files at a URL.

URL = re.compile(r"(?:[A-Za-z][\w+.-]+::)*[A-Za-z][\w+.-]+://")
PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "http": "aiohttp", "https": "aiohttp", "sftp": "paramiko", "ssh": "paramiko",
    "hdfs": "pyarrow",
}  # fmt: skip
"""Package that fsspec needs for a protocol."""


def is_remote(source: Any) -> bool:
    """Whether a source is a URL."""
    return isinstance(source, str) and URL.match(source) is not None


def public_url(source: str) -> str:
    """Return a URL without user, password, query and fragment; other sources stay as they are."""
    if not is_remote(source):
        return source
    return re.sub(r"://[^/]*@", "://", re.split(r"[?#]", source, maxsplit=1)[0])


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A file or folder behind a URL, with the methods of `pathlib.Path` that readers use; its text is public."""

    shown: str
    path: str = field(repr=False)
    filesystem: Any = field(repr=False, compare=False)

    @classmethod
    def from_url(cls, url: str) -> "RemotePath":
        """Connect to the file system of a URL."""
        shown = public_url(url)
        try:
            import fsspec
        except ImportError:
            raise SourceError(f"{shown} is a remote file: install fsspec with `{install_command('remote')}`") from None
        with remote_errors(shown):
            filesystem, path = fsspec.core.url_to_fs(url)
        return cls(shown, path, filesystem)

    def __str__(self) -> str:
        return self.shown

    @property
    def name(self) -> str:
        """Last part of the path."""
        return PurePosixPath(self.shown).name

    def is_dir(self) -> bool:
        """Whether it is a folder; a web address never is one."""
        with remote_errors(self.shown):
            return not self._is_web and bool(self.filesystem.isdir(self.path))

    def files(self, pattern: bool = False) -> "list[RemotePath]":
        """Return all files below this folder, or those that match this path as a pattern, sorted by path."""
        if pattern and (self._is_web or not re.search(r"[*?\[]", self.path)):
            return []
        scheme = self.shown.partition("://")[0]
        with remote_errors(self.shown):
            found = sorted((self.filesystem.glob if pattern else self.filesystem.find)(self.path))
        return [RemotePath(f"{scheme}://{path.lstrip('/')}", path, self.filesystem) for path in found]

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open the file; a file that a server only sends as a whole is first copied to a temporary file."""
        with remote_errors(self.shown):
            file = self.filesystem.open(self.path, mode)
            if getattr(file, "size", None) is not None:
                return io.BufferedReader(_RemoteFile(file, self.shown))
            copy = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
            try:
                with file:
                    copyfileobj(file, copy)
            except BaseException:
                copy.close()
                raise
            copy.seek(0)
            return cast(IO[bytes], copy)

    @property
    def _is_web(self) -> bool:
        protocol = self.filesystem.protocol
        return bool({"http", "https"} & {protocol, *(() if isinstance(protocol, str) else protocol)})


class _RemoteFile(io.RawIOBase):
    """A file of fsspec whose errors are plain errors of the operating system, without the URL."""

    def __init__(self, file: Any, shown: str) -> None:
        self.file, self.shown = file, shown
        self.readable = self.seekable = lambda: True  # type: ignore[method-assign]
        self.tell = file.tell  # type: ignore[method-assign]

    def readinto(self, room: Any) -> int:
        with remote_errors(self.shown):
            content = self.file.read(len(room))
        room[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = 0) -> int:
        with remote_errors(self.shown):
            return int(self.file.seek(offset, whence))

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


@contextmanager
def remote_errors(shown: str) -> Iterator[None]:
    """Turn any error of a remote file system into a SourceError without the URL, which may be secret."""
    try:
        yield
    except SourceError:
        raise
    except FileNotFoundError:
        raise SourceError(f"{shown}: no such file") from None
    except ImportError:
        package = PACKAGES.get(shown.partition("://")[0].rpartition("::")[2])
        install = f"`pip install {package}`" if package else "the package that fsspec needs for it"
        raise SourceError(f"{shown} cannot be read: install {install}") from None
    except Exception as error:  # each file system has its own errors
        status = getattr(error, "status", None)
        cause = f"the server answered {status}" if isinstance(status, int) else type(error).__name__
        raise SourceError(f"{shown} cannot be read: {cause}") from None


SourcePath = Path | RemotePath


def expand_paths(sources: list[str | Path]) -> list[SourcePath]:
    """Return the files that paths, globs and URLs name, in order; each must exist."""
    paths: list[SourcePath] = []
    for source in sources:
        if is_remote(source):
            remote = RemotePath.from_url(str(source))
            paths += remote.files(pattern=True) or [remote]
            continue
        found = [Path(source)] if Path(source).exists() else sorted(map(Path, glob.glob(str(source), recursive=True)))  # noqa: PTH207
        if not found:
            raise SourceError(f"{source}: no such file")
        paths += found
    return paths


def file_size(path: SourcePath) -> int:
    """Return the size of a file in bytes; 0 if a server does not say it."""
    if isinstance(path, Path):
        return path.stat().st_size
    with remote_errors(path.shown):
        return int(path.filesystem.info(path.path).get("size") or 0)


def first_bytes(path: SourcePath, count: int = 4) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    if isinstance(path, Path) and path.exists() and not path.is_file():  # it can be read only once, or never ends
        raise SourceError(f"{path} is a pipe or a device, and a source is read twice: write it to a file first")
    with read_errors(str(path)), path.open("rb") as raw:
        return raw.read(count)


# Streams.

HEAD = 1 << 18
"""Number of first bytes from which a layout is recognised."""
UTF8 = "utf-8"
GZIP, ZSTD, ZIP, EMPTY_ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06"
PACKED, BLOCK = (GZIP, ZSTD, ZIP), 512

# A limit on what compressed files become: a file of one megabyte must not fill the memory or the disk.
# Ratings as text become 5 to 30 times as long when they are decompressed. Small files may grow by more; only
# beyond FREE_BYTES does the ratio count. The environment variable STANDOUT_MAX_EXPANSION sets another ratio.
FREE_BYTES, RATIO, VARIABLE = 1 << 28, 100.0, "STANDOUT_MAX_EXPANSION"


class CappedReader:
    """A stream of decompressed bytes that ends with an error where too many were read."""

    def __init__(self, body: Any, packed: int, name: str) -> None:
        try:
            self.ratio = float(os.environ.get(VARIABLE) or RATIO)
        except ValueError:
            self.ratio = 0.0
        if not self.ratio >= 1.0:
            raise ParameterError(f"the environment variable {VARIABLE} must be a number from 1")
        self.body, self.name, self.count = body, name, 0
        self.most = max(FREE_BYTES, int(min(self.ratio * packed, 1 << 62)))

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes."""
        content: bytes = self.body.read(size)
        self.count += len(content)
        if self.count > self.most:
            raise SourceError(
                f"{self.name} becomes more than {self.ratio:g} times as long when it is decompressed "
                f"({self.most >> 20:,} MB so far): if you trust it, decompress it first, or set a higher ratio, "
                f"for example {VARIABLE}={10 * self.ratio:.0f} in the environment"
            )
        return content


@dataclass(eq=False)
class Stream(io.RawIOBase):
    """Decompressed bytes, which `more` reads; `total` is the size of the file, `first_line` the first line's number."""

    name: str
    raw: IO[bytes]
    more: Callable[[int], bytes]
    total: int
    head: bytes = b""
    encoding: str = UTF8
    first_line: int = 1

    def convert(self, encoding: str) -> None:
        """Convert the stream from its start to UTF-8."""
        text = self._text(encoding, newline="")
        self.more, self.encoding = lambda size: text.read(size).encode(), encoding

    def _text(self, encoding: str, newline: str) -> io.TextIOWrapper:
        """The stream as text, from the bytes that were already read."""
        unread, self.head = replace(self), b""
        try:
            return io.TextIOWrapper(io.BufferedReader(unread), encoding=encoding, errors="strict", newline=newline)
        except (LookupError, ValueError) as error:
            raise ParameterError(f"encoding must be one of Python's, such as latin-1, got {encoding!r}") from error

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def peek(self) -> bytes:
        """Return the first bytes, without consuming them."""
        with read_errors(self.name):
            while len(self.head) < HEAD and (content := self.more(HEAD - len(self.head))):
                self.head += content
        return self.head

    def skip(self, lines: int) -> None:
        """Skip the first lines, which must exist."""
        while lines:
            head = self.peek()
            parts = head.split(b"\n", lines)
            if not head:
                raise SourceError(f"{self.name} has fewer lines than skip_lines: check skip_lines=…")
            self.head = parts.pop()
            lines -= len(parts)
            self.first_line += len(parts)
            if lines:
                self.head = b""

    def text_lines(self, encoding: str, longest: int, newline: str = "\n") -> Iterator[str]:
        """Yield the remaining lines as text, each with its line end; none may be longer than `longest`."""
        with read_errors(self.name):
            text = self._text(encoding, newline)
            while line := text.readline(longest + 1):
                if len(line) > longest:
                    raise SourceError(f"{self.name} has a line of more than {longest:,} characters")
                yield line

    def readinto(self, room: Any) -> int:
        """Read into `room`; return the number of bytes, 0 at the end."""
        with read_errors(self.name):
            content = self.head or self.more(len(room))
        count = min(len(room), len(content))
        room[:count] = content[:count]
        self.head = content[count:]
        return count

    @property
    def done(self) -> int:
        """Number of bytes of the file that were read."""
        return self.raw.tell() if not self.raw.closed else self.total


@contextmanager
def open_stream(path: SourcePath, member: str | None = None, encoding: str = UTF8) -> Iterator[Stream]:
    """Open a file as a stream of decompressed UTF-8 bytes; `member` is the file inside a zip."""
    with read_errors(str(path)), path.open("rb") as raw:
        total = file_size(path)
        with _plain(raw, path, member) as body:
            stream = Stream(str(path) if member is None else f"{path}/{member}", raw, body.read, total)
            if not is_utf8(encoding):
                stream.convert(encoding)
            yield stream


DAMAGED = " is damaged: it cannot be decompressed; copy or download it again"
PACKING = " cannot be read: it is encrypted or uses an unknown compression; unpack it first"
CAUSES: dict[type[Exception], str] = {
    **dict.fromkeys((gzip.BadGzipFile, zlib.error, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError), DAMAGED),
    FileNotFoundError: ": no such file",
    IsADirectoryError: " is a folder: name a file",
    PermissionError: ": permission denied",
    EOFError: " is truncated: copy or download it again",
    UnicodeError: " is not text in this encoding: set the right one with encoding=…",
    NotImplementedError: PACKING,
    RuntimeError: PACKING,
}
ERRORS: tuple[type[Exception], ...] = (OSError, *CAUSES)


@contextmanager
def read_errors(name: str) -> Iterator[None]:
    """Turn errors while a file is read into a SourceError of one line."""
    try:
        yield
    except ERRORS as error:
        other = f" cannot be read: {getattr(error, 'strerror', None) or 'it is damaged'}"
        cause = next((text for kind, text in CAUSES.items() if isinstance(error, kind)), other)
        raise SourceError(f"{name}{cause}") from error


def is_utf8(encoding: str) -> bool:
    """Whether a name means UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def zip_names(path: SourcePath) -> list[str]:
    """Return the names of the files inside a zip."""
    with read_errors(str(path)), path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
        return _file_names(archive)


def _file_names(archive: zipfile.ZipFile) -> list[str]:
    """Names of the files in an archive; a file without a name cannot be chosen, so it does not count."""
    return [info.filename for info in archive.infolist() if info.filename and not info.is_dir()]


def tar_members(path: SourcePath) -> Iterator[tuple[str, Stream]]:
    """Yield (base name, stream) of each file in a tar and in the tars inside it."""
    with read_errors(str(path)), path.open("rb") as raw, _plain(raw, path, None) as body:
        yield from _walk_tar(body, raw, path)
        while body.read(HEAD):  # to the end, where a compressed file has its checksum
            pass
        if body is raw and raw.seek(-BLOCK, io.SEEK_END) and any(raw.read()):
            raise EOFError  # a complete tar ends with blocks of zeros, which tarfile does not check


def _walk_tar(body: Any, raw: IO[bytes], path: SourcePath) -> Iterator[tuple[str, Stream]]:
    with tarfile.open(fileobj=body, mode="r|") as archive:
        for info in archive:
            inside = archive.extractfile(info) if info.isfile() else None
            base = Path(info.name).name
            if inside is not None and base.endswith(".tar"):
                yield from _walk_tar(inside, raw, path)
            elif inside is not None:
                yield base, Stream(f"{path}/{base}", raw, inside.read, file_size(path))


@contextmanager
def _plain(raw: IO[bytes], path: SourcePath, member: str | None) -> Iterator[Any]:
    """Yield a stream of the decompressed bytes of an open file."""
    start = raw.read(4)
    raw.seek(0)
    if member is not None and start != ZIP:
        raise ParameterError(f"member can only be set for a zip archive, and {path} is none")
    if start.startswith(GZIP) or start == ZSTD:
        with (gzip if start.startswith(GZIP) else zstd).open(raw, "rb") as body:
            yield CappedReader(body, file_size(path), str(path))
    elif start in (ZIP, EMPTY_ZIP):
        with zipfile.ZipFile(raw) as archive:
            names = _file_names(archive)
            if not names:
                raise SourceError(f"{path} is a zip archive without files: check the archive")
            if member not in names and (member is not None or len(names) > 1):
                listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
                raise SourceError(f"{path} contains {len(names)} files: choose one with member=… ({listed})")
            info = archive.getinfo(member or names[0])
            with archive.open(info) as inside:
                yield CappedReader(inside, min(info.compress_size, file_size(path)), str(path))
    else:
        yield raw
