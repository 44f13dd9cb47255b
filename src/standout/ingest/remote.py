"""Files at a URL (s3://, gs://, https://, …), through fsspec. Credentials in a URL are never shown."""

import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any, cast

from standout.core.errors import SourceError, install_command

URL = re.compile(r"(?:[A-Za-z][\w+.-]+::)*[A-Za-z][\w+.-]+://")
PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "http": "aiohttp", "https": "aiohttp", "sftp": "paramiko", "ssh": "paramiko",
    "hdfs": "pyarrow",
}  # fmt: skip
"""Package that fsspec needs for a protocol."""
COPY = 1 << 20


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

    def size(self) -> int:
        """Size in bytes, or 0 if it is not known."""
        with remote_errors(self.shown):
            return int(self.filesystem.info(self.path).get("size") or 0)

    def find(self) -> "list[RemotePath]":
        """Return all files below this folder, sorted by path."""
        with remote_errors(self.shown):
            return [self._other(path) for path in sorted(self.filesystem.find(self.path))]

    def matches(self) -> "list[RemotePath]":
        """Return the files that match this path as a pattern, sorted by path."""
        if self._is_web or not re.search(r"[*?\[]", self.path):
            return []
        with remote_errors(self.shown):
            return [self._other(path) for path in sorted(self.filesystem.glob(self.path))]

    def relative_to(self, folder: "RemotePath") -> PurePosixPath:
        """Return the path below a folder."""
        return PurePosixPath(self.path).relative_to(PurePosixPath(folder.path))

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open the file; a file that a server only sends as a whole is first copied to a temporary file."""
        with remote_errors(self.shown):
            file = self.filesystem.open(self.path, mode)
            if getattr(file, "size", None) is not None:
                return io.BufferedReader(_RemoteFile(file, self.shown))
            with file:
                copy = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
                try:
                    while content := file.read(COPY):
                        copy.write(content)
                except BaseException:
                    copy.close()
                    raise
            copy.seek(0)
            return cast(IO[bytes], copy)

    @property
    def _is_web(self) -> bool:
        protocol = self.filesystem.protocol
        return bool({"http", "https"} & {protocol, *(() if isinstance(protocol, str) else protocol)})

    def _other(self, path: str) -> "RemotePath":
        scheme = self.shown.partition("://")[0]
        return RemotePath(f"{scheme}://{path.lstrip('/')}", path, self.filesystem)


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
    except PermissionError:
        raise SourceError(f"{shown}: permission denied") from None
    except ImportError:
        package = PACKAGES.get(shown.partition("://")[0].rpartition("::")[2])
        install = f"`pip install {package}`" if package else "the package that fsspec needs for it"
        raise SourceError(f"{shown} cannot be read: install {install}") from None
    except Exception as error:  # each file system has its own errors
        status, cause = getattr(error, "status", None), type(error).__name__
        if isinstance(error, ValueError) and "rotocol not known" in str(error):
            cause = "the protocol is not known"
        elif isinstance(status, int):
            cause = f"the server answered {status}"
        raise SourceError(f"{shown} cannot be read: {cause}") from None
