"""The known truth: which profile belongs to which record, from a file, a mapping or a frame."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Ints
from standout.core.errors import ParameterError, SourceError
from standout.linking.small_csv import read_rows
from standout.release.labels import id_text
from standout.release.model import Release

__all__ = ["Truth", "TruthSource", "read_truth"]

TruthSource = str | PathLike[str] | Mapping[str, str] | pl.DataFrame
COLUMNS = ["profile", "record"]


@dataclass(frozen=True, eq=False)
class Truth:
    """`record` is the position of each profile's record in the release, -1 for profiles that are absent.

    `pairs` were given; `unknown_profiles` of them name a profile that does not exist, `unknown_records` a
    record that does not exist.
    """

    record: Ints
    pairs: int
    unknown_profiles: int
    unknown_records: int

    @property
    def is_present(self) -> Bools:
        """Which profiles belong to a person of the release."""
        return np.asarray(self.record >= 0)

    @property
    def present(self) -> int:
        """How many profiles belong to a person of the release."""
        return int(np.count_nonzero(self.is_present))


def read_truth(source: TruthSource, release: Release, public: Release) -> Truth:
    """Return the truth as record positions; profiles that no pair names, or without a record, are absent."""
    pairs = list(_pairs(source))
    if not pairs:
        raise ParameterError("truth has no pairs: give a CSV file with the columns profile and record")
    record = np.full(public.n_records, -1, np.int64)
    named: set[int] = set()
    unknown_profiles = unknown_records = 0
    for profile_id, record_id in pairs:
        profile = public.records.find(profile_id)
        if profile is None:
            unknown_profiles += 1
            continue
        if profile in named:
            raise ParameterError("truth names a profile twice: keep one pair for each profile")
        named.add(profile)
        own_record = release.records.find(record_id) if record_id else -1
        unknown_records += own_record is None
        record[profile] = -1 if own_record is None else own_record
    if unknown_profiles + unknown_records == len(pairs):
        raise ParameterError(
            f"none of the {len(pairs):,} pairs of truth names an existing profile and an existing record: "
            "ids are text, so 007 is not 7"
        )
    return Truth(record, len(pairs), unknown_profiles, unknown_records)


def _pairs(source: TruthSource) -> Iterable[tuple[str, str]]:
    if isinstance(source, Mapping):
        return _as_texts(source.items())
    if isinstance(source, pl.DataFrame):
        columns = _columns(source.columns, "truth")
        return _as_texts(source.select(pl.col(columns).cast(pl.String)).iter_rows())
    if not isinstance(source, (str, PathLike)):
        raise ParameterError(f"truth must be a CSV file, a mapping or a frame, got {type(source).__name__}")
    return _read(Path(source))


def _as_texts(pairs: Iterable[Any]) -> list[tuple[str, str]]:
    """The pairs as ids; whole numbers are ids too."""
    try:
        return [
            (id_text(profile, "profile"), "" if record is None else id_text(record))
            for profile, record in pairs
        ]
    except ParameterError as error:
        raise ParameterError(f"truth: {error}") from None


def _columns(names: list[str], source: str) -> list[str]:
    """The columns of profile and record: by name, or the first and second of two."""
    if set(names) >= set(COLUMNS):
        return COLUMNS
    if len(names) != 2 or len(set(names)) != 2:
        raise SourceError(f"{source}: the columns profile and record are required")
    return names


def _read(path: Path) -> list[tuple[str, str]]:
    names, rows = read_rows(path)
    profile, record = (names.index(name) for name in _columns(names, str(path)))
    return [(cells[profile], cells[record]) for _, cells in rows]
