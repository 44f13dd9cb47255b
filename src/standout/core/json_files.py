"""JSON files that hold a checksum of their own content, so that a changed one is noticed."""

import hashlib
import json
import os
import stat
import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from standout._version import __version__
from standout.core.errors import ParameterError, SourceError
from standout.core.files import write_atomically
from standout.core.text import printable

KEY = "checksum"


def checksum(content: Mapping[str, object]) -> str:
    """SHA-256 of the content without its checksum, as JSON with sorted keys."""
    rest = {key: part for key, part in content.items() if key != KEY}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def dump_with_checksum(content: Mapping[str, object]) -> bytes:
    """Bytes of a file with this content and its checksum."""
    return (json.dumps({**content, KEY: checksum(content)}, indent=1, ensure_ascii=False) + "\n").encode()


def is_intact(content: Mapping[str, object]) -> bool:
    """Whether the content of a file is what its checksum says."""
    return content.get(KEY) == checksum(content)


# Types of parsed JSON.


if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
else:  # a recursive alias cannot be evaluated when a schema is generated from annotations
    Json = object
JsonObject: TypeAlias = dict[str, Json]


# Files that people write: lists, tables, schemas and ladders.


def read_text(path: Path, form: str = "a text file") -> str:
    """Content of a file in UTF-8, which may begin with a byte order mark; one line says why it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not {form} in UTF-8") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Content of a TOML file in UTF-8; one line says why it cannot be read."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError(f"{path} is not a TOML file: {error}") from error
    except ValueError as error:
        raise ParameterError(f"{path} has a number with more digits than a number can have") from error
    except RecursionError as error:
        raise ParameterError(f"{path} is nested too deeply for a TOML file of this kind") from error


# Checkpoint files: results so far, from which an interrupted run resumes.
#
# The first line names the format, the version of Standout, what the results depend on and a digest of the
# results. A file in which anything of this differs is ignored with a warning, and the work starts over. So is
# a file that somebody else owns or can write: its results would be taken for our own.


CHECKPOINTS = "checkpoints"
"""Folder of the checkpoints of a command that writes to a folder."""
FORMAT = "standout checkpoint 1"
LONGEST_HEAD = 200
Result = TypeVar("Result")


class _NotUsableError(Exception):
    """Why a file is ignored."""


def write_checkpoint(path: Path, about: str, content: bytes) -> None:
    """Write results, readable by their owner only; `about` is everything that they depend on."""
    head = _head(about, content)
    write_atomically(path, lambda file: file.write(head + content), private=True)


def read_checkpoint(path: Path, about: str, parse: Callable[[bytes], Result]) -> Result | None:
    """Results that were written with the same `about`; None if there are none that can be used.

    `parse` turns the content into results; whatever it raises means that the content is not usable.
    """
    try:
        head, content = _read(path)
        if head != _head(about, content):
            raise _NotUsableError(_difference(head))
        return parse(content)
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever a damaged file can cause
        reason = error if isinstance(error, _NotUsableError) else "it cannot be read"
        message = printable(f"{path} is not used: {reason}. This part of the work starts over")
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return None


def _head(about: str, content: bytes) -> bytes:
    return f"{FORMAT} {__version__} {_digest(about.encode())} {_digest(content)}\n".encode()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read(path: Path) -> tuple[bytes, bytes]:
    """First line and content of a regular file that nobody else owns or can write."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _NotUsableError("it is not a file")
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise _NotUsableError("somebody else owns it or can write it")
        return file.readline(LONGEST_HEAD), file.read()


def _difference(head: bytes) -> str:
    """Why a first line is not the expected one."""
    words = head.decode("utf-8", "replace").split()
    if " ".join(words[:3]) != FORMAT or len(words) != 6:
        return "it is not a checkpoint"
    return "it is of another version" if words[3] != __version__ else "it is damaged or of another run"
