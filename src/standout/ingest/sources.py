"""Streams of bytes from plain, gzip, zstd, zip and tar files, which are recognised by their first bytes."""

import glob
import gzip
import io
import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from standout.core.errors import ParameterError, SourceError
from standout.ingest.remote import RemotePath, is_remote

__all__ = [
    "GZIP",
    "UTF8",
    "ZIP",
    "ZSTD",
    "CappedReader",
    "SourcePath",
    "Stream",
    "check_expansion",
    "expand_paths",
    "file_size",
    "first_bytes",
    "is_packed",
    "is_tar",
    "is_utf8",
    "largest_expansion",
    "open_stream",
    "read_errors",
    "tar_members",
    "zip_names",
]

# A limit on what compressed files become: a file of one megabyte must not fill the memory or the disk.
#
# Ratings as text become 5 to 30 times as long when they are decompressed. Small files may grow by more; only
# beyond FREE_BYTES does the ratio count. The environment variable STANDOUT_MAX_EXPANSION sets another ratio.


FREE_BYTES = 1 << 28
"""Up to this many bytes, the ratio does not matter."""
RATIO = 100.0
VARIABLE = "STANDOUT_MAX_EXPANSION"


def largest_expansion() -> float:
    """Largest ratio of decompressed and compressed bytes.

    >>> largest_expansion()
    100.0
    """
    text = os.environ.get(VARIABLE, "")
    try:
        ratio = float(text) if text else RATIO
    except ValueError:
        ratio = 0.0
    if not ratio >= 1.0:
        raise ParameterError(f"the environment variable {VARIABLE} must be a number from 1")
    return ratio


def check_expansion(unpacked: int, packed: int, name: str) -> None:
    """Raise an error if so many compressed bytes must not become so many."""
    most, ratio = _most_bytes(packed), largest_expansion()
    if unpacked > most:
        raise SourceError(
            f"{name} becomes more than {ratio:g} times as long when it is decompressed "
            f"({most >> 20:,} MB so far): if you trust it, decompress it first, "
            f"or set a higher ratio, for example {VARIABLE}={10 * ratio:.0f} in the environment"
        )


def _most_bytes(packed: int) -> int:
    return max(FREE_BYTES, int(min(largest_expansion() * packed, 1 << 62)))


class CappedReader:
    """A stream of decompressed bytes that ends with an error where they are too many.

    `packed` is the number of compressed bytes. What counts is the bytes that were read, not those that a
    header declares.
    """

    def __init__(self, body: IO[bytes], packed: int, name: str) -> None:
        self.body, self.name, self.count, self.packed = body, name, 0, packed
        self.most = _most_bytes(packed)

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; all if it is negative."""
        content = self.body.read(size if size >= 0 else self.most - self.count + 1)
        if size < 0:
            while more := self.body.read(self.most - self.count - len(content) + 1):
                content += more
                self._check(len(content))
        self._add(len(content))
        return content

    def readinto(self, room: Any) -> int:
        """Read into `room`."""
        count = self.body.readinto(room) or 0  # type: ignore[attr-defined]
        self._add(count)
        return int(count)

    def _add(self, count: int) -> None:
        self._check(count)
        self.count += count

    def _check(self, count: int) -> None:
        if self.count + count > self.most:
            check_expansion(self.count + count, self.packed, self.name)


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


SourcePath = Path | RemotePath
HEAD = 1 << 18
UTF8 = "utf-8"
GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
TAR_MAGIC = slice(257, 262)
BLOCK = 512


@dataclass(slots=True)
class Stream:
    """A stream of decompressed bytes; `total` is the size of its file.

    `first_line` is the number of its first line in the file. `record` is the id of all its rows if each file
    is one record.
    """

    name: str
    raw: IO[bytes]
    body: IO[bytes]
    total: int
    head: bytes = b""
    encoding: str = "utf-8"
    first_line: int = 1
    record: str = ""

    def convert(self, encoding: str) -> None:
        """Convert the stream from its start to UTF-8."""
        joined = io.BufferedReader(_JoinedReader(self.head, self.body))
        self.body = io.BufferedReader(_Utf8Reader(joined, encoding))
        self.head, self.encoding = b"", encoding

    def peek(self) -> bytes:
        """Return the first bytes, without consuming them."""
        with read_errors(self.name):
            while len(self.head) < HEAD and (more := self.body.read(HEAD - len(self.head))):
                self.head += more
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

    def lines(self, encoding: str, longest: int, newline: str = "\n") -> Iterator[str]:
        """Yield the remaining lines as text, each with its line end; none may be longer than `longest`."""
        joined = io.BufferedReader(_JoinedReader(self.head, self.body))
        self.head = b""
        with read_errors(self.name):
            text = io.TextIOWrapper(joined, encoding=encoding, newline=newline)
            while line := text.readline(longest + 1):
                if len(line) > longest:
                    raise SourceError(f"{self.name} has a line of more than {longest:,} characters")
                yield line

    def fill(self, room: memoryview) -> int:
        """Read into `room`; return the number of bytes, 0 at the end."""
        if self.head:
            n = min(len(room), len(self.head))
            room[:n] = self.head[:n]
            self.head = self.head[n:]
            return n
        with read_errors(self.name):
            return self.body.readinto(room) or 0  # type: ignore[attr-defined]

    @property
    def done(self) -> int:
        """Number of bytes of the file that were read."""
        return self.raw.tell() if not self.raw.closed else self.total


def expand_paths(sources: list[str | Path]) -> list[SourcePath]:
    """Return the files that paths, globs and URLs name, in order; each must exist."""
    paths: list[SourcePath] = []
    for source in sources:
        if is_remote(source):
            remote = RemotePath.from_url(str(source))
            paths += remote.matches() or [remote]
            continue
        path = Path(source)
        if path.exists():
            paths.append(_checked(path))
        elif matches := sorted(glob.glob(str(source), recursive=True)):  # noqa: PTH207  (may be absolute)
            paths += map(_checked, map(Path, matches))
        else:
            raise SourceError(f"{source}: no such file")
    return paths


def _checked(path: Path) -> Path:
    """Refuse a pipe or device, which can be read only once or never ends."""
    if not (path.is_file() or path.is_dir()):
        raise SourceError(f"{path} is a pipe or a device, and a source is read twice: write it to a file first")
    return path


@contextmanager
def open_stream(path: SourcePath, member: str | None = None, encoding: str = "utf-8") -> Iterator[Stream]:
    """Open a file as a stream of decompressed UTF-8 bytes; `member` is the file inside a zip."""
    with read_errors(str(path)), path.open("rb") as raw:
        total = file_size(path)
        with _plain(raw, path, member) as body:
            stream = Stream(str(path) if member is None else f"{path}/{member}", raw, body, total)
            if not is_utf8(encoding):
                stream.convert(encoding)
            yield stream


@contextmanager
def read_errors(name: str) -> Iterator[None]:
    """Turn errors while a file is read into a SourceError of one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise SourceError(f"{name}: no such file") from error
    except IsADirectoryError as error:
        raise SourceError(f"{name} is a folder: name a file") from error
    except PermissionError as error:
        raise SourceError(f"{name}: permission denied") from error
    except EOFError as error:
        raise SourceError(f"{name} is truncated: copy or download it again") from error
    except UnicodeError as error:
        raise SourceError(f"{name} is not text in this encoding: set the right one with encoding=…") from error
    except (zlib.error, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile) as error:
        raise SourceError(f"{name} is damaged: it cannot be decompressed; copy or download it again") from error
    except (NotImplementedError, RuntimeError) as error:
        raise SourceError(
            f"{name} cannot be read: it is encrypted or uses an unknown compression; unpack it first"
        ) from error
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or 'it is damaged'}") from error


def file_size(path: SourcePath) -> int:
    """Return the size of a file in bytes."""
    return path.size() if isinstance(path, RemotePath) else path.stat().st_size


def first_bytes(path: SourcePath, count: int = 4) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    with read_errors(str(path)), path.open("rb") as raw:
        return raw.read(count)


def is_packed(start: bytes) -> bool:
    """Whether a file that starts so is compressed."""
    return start.startswith((GZIP, ZSTD, ZIP))


def is_tar(head: bytes) -> bool:
    """Whether a file with these first bytes, decompressed, is a tar archive."""
    return head[TAR_MAGIC] == b"ustar"


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


def _walk_tar(body: IO[bytes], raw: IO[bytes], path: SourcePath) -> Iterator[tuple[str, Stream]]:
    tail = _TailReader(body)
    with tarfile.open(fileobj=cast(IO[bytes], tail), mode="r|") as archive:
        for info in archive:
            inside = archive.extractfile(info) if info.isfile() else None
            base = Path(info.name).name
            if inside is None:
                continue
            if base.endswith(".tar"):
                yield from _walk_tar(inside, raw, path)
            else:
                yield base, Stream(f"{path}/{base}", raw, inside, file_size(path))
    if any(tail.last):
        raise EOFError  # a complete tar ends with blocks of zeros, which tarfile does not check


@contextmanager
def _plain(raw: IO[bytes], path: SourcePath, member: str | None) -> Iterator[IO[bytes]]:
    """Yield a stream of the decompressed bytes of an open file."""
    start = raw.read(4)
    raw.seek(0)
    if start == EMPTY_ZIP:
        raise SourceError(f"{path} is a zip archive without files: check the archive")
    if member is not None and start != ZIP:
        raise ParameterError(f"member can only be set for a zip archive, and {path} is none")
    if start.startswith(GZIP):
        with gzip.open(raw, "rb") as body:
            yield _capped(body, file_size(path), path)
    elif start == ZSTD:
        with zstd.open(raw, "rb") as body:
            yield _capped(body, file_size(path), path)
    elif start == ZIP:
        with zipfile.ZipFile(raw) as archive:
            info = archive.getinfo(_member(archive, path, member))
            with archive.open(info) as body:
                yield _capped(body, min(info.compress_size, file_size(path)), path)
    else:
        yield raw


def _capped(body: Any, packed: int, path: SourcePath) -> IO[bytes]:
    return cast(IO[bytes], CappedReader(body, packed, str(path)))


def _member(archive: zipfile.ZipFile, path: SourcePath, member: str | None) -> str:
    names = _file_names(archive)
    if not names:
        raise SourceError(f"{path} contains no file with a name: check the archive")
    if member is None and len(names) == 1:
        return names[0]
    if member in names:
        return str(member)
    listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise SourceError(f"{path} contains {len(names)} files: choose one with member=… ({listed})")


def is_utf8(encoding: str) -> bool:
    """Whether a name means UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


class _JoinedReader(io.RawIOBase):
    """Bytes that were already read, and the stream that they came from."""

    def __init__(self, head: bytes, body: IO[bytes]) -> None:
        self.head, self.body = head, body

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self.head[: len(room)] or self.body.read(len(room))
        self.head = self.head[len(room) :]
        room[: len(data)] = data
        return len(data)


class _TailReader:
    """A stream that keeps its last block."""

    def __init__(self, body: IO[bytes]) -> None:
        self.body = body
        self.last = b""

    def read(self, size: int) -> bytes:
        content = self.body.read(size)
        self.last = (self.last + content)[-BLOCK:]
        return content


class _Utf8Reader(io.RawIOBase):
    """Text in another encoding, converted to UTF-8."""

    def __init__(self, body: IO[bytes], encoding: str) -> None:
        try:
            self.reader = io.TextIOWrapper(body, encoding=encoding, errors="strict", newline="")
        except (LookupError, ValueError) as error:
            raise ParameterError(
                f"encoding must be a text encoding of Python, such as latin-1, got {encoding!r}"
            ) from error
        self.ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        if not self.ready:
            self.ready = self.reader.read(1 << 16).encode()
        n = min(len(room), len(self.ready))
        room[:n] = self.ready[:n]
        self.ready = self.ready[n:]
        return n
