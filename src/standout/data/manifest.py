"""The manifest of an index: its content, how the source was read, and the type and checksum of every column."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout._version import __version__
from standout.core.arrays import run_starts
from standout.core.errors import StandoutError, StoreError
from standout.core.json_files import dump_with_checksum, is_intact
from standout.core.threads import thread_count
from standout.data.column import Levels
from standout.data.entries import (
    NO_NUMBERS,
    Postings,
    RecordEntries,
    block_starts,
    code_type,
    items_ascend,
    mismatched_column,
    word_bits,
    word_type,
    words_are_valid,
)
from standout.data.labels import Clock, Labels, Provenance
from standout.data.release import INVALID_CODE, Release, StoredIndex

FORMAT = "standout index"
VERSION = 4
MANIFEST = "manifest.json"
Columns = dict[str, NDArray[Any]]
NO_CONTENT = ("by-item", "title")
"""How columns begin that follow from the others or are titles."""
OFFSETS = {
    "record-id-offsets": "record-ids", "item-id-offsets": "item-ids", "title-offsets": "titles",
    "level-offsets": "level-texts", "by-record-start": "by-record-item", "by-item-start": "by-item-word",
    "by-item-run": "by-item-block", "by-item-edge": "by-item-word",
}  # fmt: skip
"""Columns that say where the rows of another column begin, and where the last one ends."""
OPTIONAL = (
    ("by-record-value", "levels"), ("by-record-value", "level-texts", "level-offsets"), ("by-record-time",),
    ("titles", "title-offsets"), ("by-item-single", "by-item-support"),
)  # fmt: skip
"""Columns of which an index has all or none."""
FEW = 1 << 23
"""Up to this many bytes are hashed without other threads."""


def release_columns(release: Release, content_only: bool = False) -> Columns:
    """Return every array of a release by its name, in little-endian byte order."""
    numbers, texts = (None, release.levels) if isinstance(release.levels, tuple) else (release.levels, None)
    named: dict[str, NDArray[Any] | None] = {"levels": numbers}
    titles = None if content_only else release.titles
    of_texts = {"record-id": release.records, "item-id": release.items, "level-text": texts, "title": titles}
    for name, labels in of_texts.items():
        if labels is not None:
            labels = Labels.of(labels) if isinstance(labels, tuple) else labels
            named |= {f"{name}s": labels.data, f"{name.removesuffix('-text')}-offsets": labels.offsets}
    by_record, by_item = release.by_record._asdict(), release.by_item._asdict()
    named |= {f"by-record-{name}": array for name, array in by_record.items()}
    if not content_only:
        by_item["edge"] = np.append(by_item["begin"], by_item["end"][-1:])
        of_repeats = ("single", "support") if release.has_repeats else ()
        named |= {f"by-item-{name}": by_item[name] for name in ("start", "run", "block", "edge", "word", *of_repeats)}
    columns = {name: array for name, array in named.items() if array is not None}
    return {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in columns.items()}


def array_bytes(array: NDArray[Any]) -> memoryview:
    """Bytes of an array, without a copy."""
    return np.ascontiguousarray(array).view(np.uint8).data if array.size else memoryview(b"")


def _digest(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes, the same as sha256sum prints for its file."""
    return hashlib.sha256(array_bytes(array)).hexdigest()


def fingerprint(release: Release) -> str:
    """Hash of a release's content, whatever the order of its rows; titles do not count."""
    columns = release_columns(release, content_only=True)
    return fingerprint_from_digests({name: _digest(array) for name, array in columns.items()}, release.clock)


def fingerprint_from_digests(digests: dict[str, str], clock: Clock | None) -> str:
    """Hash the digests of the columns; columns are canonical, so equal content has equal bytes."""
    content = {name: digest for name, digest in digests.items() if not name.startswith(NO_CONTENT)}
    times = None if clock is None else [clock.unit, clock.origin, clock.span]
    text = json.dumps(["standout release 1", content, times], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# Whether a release from disk is what was written: checksums, order of ids and values, and codes in range.


def damage(path: Path, problem: str) -> StoreError:
    """The error about a damaged index."""
    return StoreError(f"{path} is damaged: {problem}; run standout verify, then index the source again")


def damaged_column(columns: Mapping[str, NDArray[Any]], sha256: Mapping[str, str]) -> str | None:
    """Name of a column that does not match its checksum, or None."""
    names = sorted(columns, key=lambda name: -columns[name].nbytes)
    few = sum(column.nbytes for column in columns.values()) <= FEW
    with ThreadPoolExecutor(1 if few else thread_count(None)) as pool:  # hashing releases the interpreter lock
        digests = pool.map(lambda name: _digest(columns[name]), names)
        return next((name for name, digest in zip(names, digests, strict=True) if digest != sha256.get(name)), None)


def problem(release: Release, stored: StoredIndex) -> str | None:
    """What is wrong with a release from disk, as an error message, or None.

    Checksums find every accidental change. The other checks matter if somebody wrote the manifest to match.
    """
    if name := damaged_column(stored.arrays, stored.sha256):
        return str(damage(stored.path, f"{name}.bin does not match its checksum"))
    for kind, labels in (("record", release.records), ("item", release.items)):
        if not _in_order(labels):
            return str(damage(stored.path, f"{kind}-ids.bin is not in order"))
    columns = zip(release.by_record[1:], (release.n_items - 1, release.n_levels, release.span), strict=True)
    is_valid = (
        all(column is None or int(column.max(initial=0)) <= high for column, high in columns)
        and items_ascend(release.by_record, release.has_repeats)
        and words_are_valid(release.by_item, release.n_records, release.n_levels, release.span)
    )
    return None if is_valid else INVALID_CODE


@contextmanager
def checked_meanwhile(release: Release) -> Iterator[None]:
    """Check a release on another thread during the work with it; damage is an error at the end."""
    with ThreadPoolExecutor(1) as pool:
        check = pool.submit(release.check)
        try:
            yield
        finally:
            check.result()


def _in_order(labels: Labels) -> bool:
    """Whether ids are in shortlex order, each once."""
    lengths = np.diff(labels.offsets)
    begins = run_starts(lengths)
    for begin, end in zip(begins, [*begins[1:], len(lengths)], strict=True):
        texts = labels.data[labels.offsets[begin] : labels.offsets[end]]
        texts = texts.view(f"S{lengths[begin]}") if lengths[begin] else np.zeros(end - begin, np.uint8)
        if not (texts[1:] > texts[:-1]).all():
            return False
    return not (np.diff(lengths) < 0).any()


class Column(NamedTuple):
    """The file of a column: the type, number and SHA-256 of its elements."""

    type: str
    length: int
    sha256: str

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return np.dtype(self.type).itemsize * self.length


@dataclass(frozen=True, slots=True)
class Manifest:
    """Content of an index; gaps = some entries have a time and others have none."""

    fingerprint: str
    records: int
    items: int
    entries: int
    gaps: bool
    clock: Clock | None
    read: Provenance
    columns: dict[str, Column]

    @classmethod
    def of(cls, release: Release, columns: dict[str, Column], fingerprint: str) -> "Manifest":
        """Make the manifest of a release."""
        gaps = release.span > 0 and release.by_item.value_bits > release.n_levels.bit_length()
        sizes = release.n_records, release.n_items, release.n_entries
        return cls(fingerprint, *sizes, gaps, release.clock, release.provenance, columns)

    def to_json(self) -> bytes:
        """Return the content of the manifest file."""
        header = {"format": FORMAT, "version": VERSION, "written by": f"standout {__version__}"}
        columns = {name: column._asdict() for name, column in self.columns.items()}
        return dump_with_checksum({**header, **asdict(self), "columns": columns})

    @classmethod
    def from_json(cls, data: bytes, path: Path) -> "Manifest":
        """Parse a manifest file; raise StoreError if it cannot be used."""

        def damaged(problem: str) -> StoreError:
            return StoreError(f"{path} is damaged: its {MANIFEST} {problem}; index the source again")

        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise damaged("is not JSON") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise StoreError(f"{path} is not a Standout index: its {MANIFEST} has another format")
        version = content.get("version")
        if type(version) is int and version > 0 and version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            advice = "update Standout" if version > VERSION else "index the source again"
            raise StoreError(
                f"{path} was written by {age} Standout (format {version}, this version reads {VERSION}): {advice}"
            )
        if version != VERSION or not is_intact(content):
            raise damaged("does not match its checksum")
        try:
            manifest = cls(
                **{name: content[name] for name in ("fingerprint", "records", "items", "entries", "gaps")},
                clock=None if content["clock"] is None else Clock(**content["clock"]),
                read=Provenance.from_dict(content["read"]),
                columns={name: Column(**column) for name, column in content["columns"].items()},
            )
            manifest._check()
            return manifest
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StandoutError) as error:
            raise damaged("contradicts itself") from error

    @property
    def span(self) -> int:
        """Number of time units."""
        return 0 if self.clock is None else self.clock.span

    @property
    def n_levels(self) -> int:
        """Number of value levels."""
        texts, numbers = self.columns.get("level-offsets"), self.columns.get("levels")
        return texts.length - 1 if texts else numbers.length if numbers else 0

    def _check(self) -> None:
        """Raise an error if a field has the wrong type, or a column a type or length that contradicts the sizes."""
        sizes, names = (self.records, self.items, self.entries), set(self.columns)
        types = {type(size) for size in sizes} == {int} and type(self.span) is int and type(self.gaps) is bool
        if not types or not isinstance(self.fingerprint, str) or min(*sizes, self.span + 1, self.n_levels + 1) < 1:
            raise ValueError("sizes")
        if self.clock is not None and self.span:
            self.clock.decode(0), self.clock.decode(self.span - 1)
        expected = self._expected()
        groups = [set(group) for group in OPTIONAL if names.issuperset(group)]
        if names != set(expected).difference(*OPTIONAL).union(*groups) or {"levels", "level-texts"} <= names:
            raise ValueError("columns")
        if (self.clock is not None) != ("by-record-time" in names) or (self.gaps and not self.span):
            raise ValueError("clock")
        for name, column in self.columns.items():
            dtype, length = expected[name]
            fits = type(column.length) is int and column.length == (column.length if length is None else length)
            if not fits or column.type != np.dtype(dtype).name or not isinstance(column.sha256, str):
                raise ValueError(name)

    def _expected(self) -> dict[str, tuple[Any, int | None]]:
        """Type and length of every column; None if the column is as long as the offsets to it say."""
        runs, blocks = self.columns["by-item-block"].length, len(block_starts(self.records))
        return {
            **dict.fromkeys(("record-ids", "item-ids", "titles", "level-texts"), (np.uint8, None)),
            **dict.fromkeys(("record-id-offsets", "by-record-start"), (np.int64, self.records + 1)),
            **dict.fromkeys(
                ("item-id-offsets", "title-offsets", "by-item-start", "by-item-run"), (np.int64, self.items + 1)
            ),
            "levels": (np.float64, self.n_levels),
            "level-offsets": (np.int64, self.n_levels + 1),
            "by-record-item": (code_type(self.items), self.entries),
            "by-record-value": (code_type(self.n_levels + 1), self.entries),
            "by-record-time": (code_type(self.span + 1), self.entries),
            "by-item-block": (code_type(blocks), runs),
            "by-item-edge": (np.int64, runs + 1),
            "by-item-word": (word_type(*word_bits(self.n_levels, self.span, self.gaps)), self.entries),
            "by-item-single": (np.int64, runs),
            "by-item-support": (np.int64, self.items),
        }

    def release(self, path: Path, stored: Columns) -> Release:
        """The release of the columns; StoreError if they contradict each other."""
        for name, rows in OFFSETS.items():
            start = stored.get(name)
            if start is not None and (start[0] != 0 or start[-1] != len(stored[rows]) or (np.diff(start) < 0).any()):
                raise damage(path, f"{name}.bin contradicts the other files")
        levels: Levels | None = stored.get("levels")
        if "level-texts" in stored:
            levels = tuple(Labels(stored["level-offsets"], stored["level-texts"]))
        is_valid = levels is None or len(set(levels)) == len(levels)
        if isinstance(levels, np.ndarray):
            is_valid = bool(np.isfinite(levels).all() and (levels[1:] > levels[:-1]).all())
        if not is_valid:
            raise damage(path, "its values are not distinct and in order")
        by_record = RecordEntries(*(stored.get(f"by-record-{name}") for name in RecordEntries._fields))  # type: ignore[arg-type]
        edge, bits = stored["by-item-edge"], word_bits(self.n_levels, self.span, self.gaps)
        arrays = {name: stored.get(f"by-item-{name}", NO_NUMBERS) for name in Postings._fields}
        arrays |= {"begin": edge[:-1], "end": edge[1:]}
        by_item = Postings(**arrays | {"value_bits": bits[0], "time_bits": bits[1]})  # type: ignore[arg-type]
        if column := mismatched_column(by_item, len(block_starts(self.records))):
            raise damage(path, f"by-item-{column}.bin contradicts the other files")
        return Release(
            records=Labels(stored["record-id-offsets"], stored["record-ids"]),
            items=Labels(stored["item-id-offsets"], stored["item-ids"]),
            titles=Labels(stored["title-offsets"], stored["titles"]) if "titles" in stored else None,
            levels=levels,
            clock=self.clock,
            by_record=by_record,
            by_item=by_item,
            provenance=self.read,
            stored=StoredIndex(
                path, self.fingerprint, stored, {name: column.sha256 for name, column in self.columns.items()}
            ),
        )
