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
from typing import IO, Any, Protocol, cast

from standout.core.errors import ParameterError, SourceError
from standout.ingest.remote import RemotePath, is_remote

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SourcePath = Path | RemotePath
HEAD = 1 << 18
"""Number of first bytes from which a layout is recognised."""
UTF8 = "utf-8"
GZIP, ZSTD, ZIP, EMPTY_ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06"
PACKED, BLOCK = (GZIP, ZSTD, ZIP), 512

# A limit on what compressed files become: a file of one megabyte must not fill the memory or the disk.
# Ratings as text become 5 to 30 times as long when they are decompressed. Small files may grow by more; only
# beyond FREE_BYTES does the ratio count. The environment variable STANDOUT_MAX_EXPANSION sets another ratio.
FREE_BYTES, RATIO, VARIABLE = 1 << 28, 100.0, "STANDOUT_MAX_EXPANSION"


def largest_expansion() -> float:
    """Largest ratio of decompressed and compressed bytes."""
    text = os.environ.get(VARIABLE, "")
    try:
        ratio = float(text) if text else RATIO
    except ValueError:
        ratio = 0.0
    if not ratio >= 1.0:
        raise ParameterError(f"the environment variable {VARIABLE} must be a number from 1")
    return ratio


class CappedReader:
    """A stream of decompressed bytes that ends with an error where too many were read."""

    def __init__(self, body: Any, packed: int, name: str) -> None:
        self.body, self.name, self.count, self.ratio = body, name, 0, largest_expansion()
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


class Readable(Protocol):
    """Bytes, some at a time."""

    def read(self, size: int, /) -> bytes:
        """Read up to `size` bytes; none are left if there are none."""


@dataclass(slots=True)
class Stream:
    """A stream of decompressed bytes; `total` is the size of its file, `first_line` the number of its first line."""

    name: str
    raw: IO[bytes]
    body: Readable
    total: int
    head: bytes = b""
    encoding: str = UTF8
    first_line: int = 1

    def convert(self, encoding: str) -> None:
        """Convert the stream from its start to UTF-8."""
        self.body, self.encoding = _Utf8Reader(self._text(encoding, newline="")), encoding

    def _text(self, encoding: str, newline: str) -> io.TextIOWrapper:
        """The stream as text, from the bytes that were already read."""
        joined, self.head = io.BufferedReader(_JoinedReader(self.head, self.body)), b""
        try:
            return io.TextIOWrapper(joined, encoding=encoding, errors="strict", newline=newline)
        except (LookupError, ValueError) as error:
            raise ParameterError(
                f"encoding must be a text encoding of Python, such as latin-1, got {encoding!r}"
            ) from error

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
        with read_errors(self.name):
            text = self._text(encoding, newline)
            while line := text.readline(longest + 1):
                if len(line) > longest:
                    raise SourceError(f"{self.name} has a line of more than {longest:,} characters")
                yield line

    def fill(self, room: memoryview) -> int:
        """Read into `room`; return the number of bytes, 0 at the end."""
        with read_errors(self.name):
            content = self.head or self.body.read(len(room))
        count = min(len(room), len(content))
        room[:count] = content[:count]
        self.head = content[count:]
        return count

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
        found = [Path(source)] if Path(source).exists() else sorted(map(Path, glob.glob(str(source), recursive=True)))  # noqa: PTH207
        if not found:
            raise SourceError(f"{source}: no such file")
        for path in found:  # a pipe or device can be read only once or never ends
            if not (path.is_file() or path.is_dir()):
                raise SourceError(f"{path} is a pipe or a device, and a source is read twice: write it to a file first")
        paths += found
    return paths


@contextmanager
def open_stream(path: SourcePath, member: str | None = None, encoding: str = UTF8) -> Iterator[Stream]:
    """Open a file as a stream of decompressed UTF-8 bytes; `member` is the file inside a zip."""
    with read_errors(str(path)), path.open("rb") as raw:
        total = file_size(path)
        with _plain(raw, path, member) as body:
            stream = Stream(str(path) if member is None else f"{path}/{member}", raw, body, total)
            if not is_utf8(encoding):
                stream.convert(encoding)
            yield stream


DAMAGED = "is damaged: it cannot be decompressed; copy or download it again"
OS_ERRORS = {
    FileNotFoundError: ": no such file",
    IsADirectoryError: " is a folder: name a file",
    PermissionError: ": permission denied",
}


@contextmanager
def read_errors(name: str) -> Iterator[None]:
    """Turn errors while a file is read into a SourceError of one line."""
    try:
        yield
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise SourceError(f"{name} {DAMAGED}") from error
        known = next((text for kind, text in OS_ERRORS.items() if isinstance(error, kind)), None)
        cause = error.strerror or "it is damaged"
        raise SourceError(f"{name}{known or f' cannot be read: {cause}'}") from error
    except EOFError as error:
        raise SourceError(f"{name} is truncated: copy or download it again") from error
    except UnicodeError as error:
        raise SourceError(f"{name} is not text in this encoding: set the right one with encoding=…") from error
    except (zlib.error, zstd.ZstdError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise SourceError(f"{name} {DAMAGED}") from error
    except (NotImplementedError, RuntimeError) as error:
        raise SourceError(
            f"{name} cannot be read: it is encrypted or uses an unknown compression; unpack it first"
        ) from error


def file_size(path: SourcePath) -> int:
    """Return the size of a file in bytes."""
    return path.size() if isinstance(path, RemotePath) else path.stat().st_size


def first_bytes(path: SourcePath, count: int = 4) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    with read_errors(str(path)), path.open("rb") as raw:
        return raw.read(count)


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


def _walk_tar(body: Readable, raw: IO[bytes], path: SourcePath) -> Iterator[tuple[str, Stream]]:
    tail = _TailReader(body)
    with tarfile.open(fileobj=cast(IO[bytes], tail), mode="r|") as archive:
        for info in archive:
            inside = archive.extractfile(info) if info.isfile() else None
            base = Path(info.name).name
            if inside is not None and base.endswith(".tar"):
                yield from _walk_tar(inside, raw, path)
            elif inside is not None:
                yield base, Stream(f"{path}/{base}", raw, inside, file_size(path))
    if any(tail.last):
        raise EOFError  # a complete tar ends with blocks of zeros, which tarfile does not check


@contextmanager
def _plain(raw: IO[bytes], path: SourcePath, member: str | None) -> Iterator[Readable]:
    """Yield a stream of the decompressed bytes of an open file."""
    start = raw.read(4)
    raw.seek(0)
    if start == EMPTY_ZIP:
        raise SourceError(f"{path} is a zip archive without files: check the archive")
    if member is not None and start != ZIP:
        raise ParameterError(f"member can only be set for a zip archive, and {path} is none")
    if start.startswith(GZIP) or start == ZSTD:
        with (gzip if start.startswith(GZIP) else zstd).open(raw, "rb") as body:
            yield CappedReader(body, file_size(path), str(path))
    elif start == ZIP:
        with zipfile.ZipFile(raw) as archive:
            names = _file_names(archive)
            if not names:
                raise SourceError(f"{path} contains no file with a name: check the archive")
            if member not in names and (member is not None or len(names) > 1):
                listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
                raise SourceError(f"{path} contains {len(names)} files: choose one with member=… ({listed})")
            info = archive.getinfo(member or names[0])
            with archive.open(info) as inside:
                yield CappedReader(inside, min(info.compress_size, file_size(path)), str(path))
    else:
        yield raw


class _JoinedReader(io.RawIOBase):
    """Bytes that were already read, and the stream that they came from."""

    def __init__(self, head: bytes, body: Readable) -> None:
        self.head, self.body = head, body

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        content = self.head or self.body.read(len(room))
        count = min(len(room), len(content))
        room[:count], self.head = content[:count], content[count:]
        return count


class _TailReader:
    """A stream that keeps its last block."""

    def __init__(self, body: Readable) -> None:
        self.body, self.last = body, b""

    def read(self, size: int) -> bytes:
        content = self.body.read(size)
        self.last = (self.last + content)[-BLOCK:]
        return content


class _Utf8Reader:
    """Text in any encoding, as UTF-8."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self.text = text

    def read(self, size: int) -> bytes:
        return self.text.read(size).encode()
