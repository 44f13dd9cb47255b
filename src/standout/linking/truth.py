"""Who is who, where it is known: reading pairs, and how good claims are."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.core.errors import ParameterError, SourceError
from standout.evaluate.claim_rates import ROUNDING
from standout.linking.small_csv import read_cells
from standout.release.model import Release

__all__ = ["Truth", "TruthSource", "by_budget", "curve", "truth_of"]

Flags = NDArray[np.bool_]
TruthSource = str | PathLike[str] | Mapping[str, str] | pl.DataFrame
NAMES = {"profile", "record"}
POINTS = 400
BUDGETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, eq=False)
class Truth:
    """`record` is each profile's own place in the release, -1 for those who are not there.

    `pairs` were given, of which `no_profile` name a profile that there is not, `no_record` a record that
    there is not.
    """

    record: Ints
    pairs: int
    no_profile: int
    no_record: int

    @property
    def present(self) -> int:
        """How many profiles are in the release."""
        return int(np.count_nonzero(self.record >= 0))

    def words(self) -> str:
        """What could not be used of the pairs; empty if all could."""
        lost = [
            f"{count:,} name a {what} that is not there"
            for count, what in ((self.no_profile, "profile"), (self.no_record, "record"))
            if count
        ]
        return f"Of {self.pairs:,} pairs of the truth {' and '.join(lost)}." if lost else ""


def truth_of(source: TruthSource, release: Release, public: Release) -> Truth:
    """The pairs as places. A profile that none names, or whose record is blank, is taken not to be there."""
    pairs = list(_pairs(source))
    record = np.full(public.n_records, -1, np.int64)
    seen: set[int] = set()
    no_profile = no_record = 0
    for profile, name in pairs:
        at = public.records.find(profile)
        if at is None:
            no_profile += 1
            continue
        if at in seen:
            raise ParameterError("the truth names a profile twice: one pair for each profile")
        seen.add(at)
        place = release.records.find(name) if name else -1
        no_record += place is None
        record[at] = -1 if place is None else place
    if pairs and no_profile + no_record == len(pairs):
        raise ParameterError(
            f"none of the {len(pairs):,} pairs of the truth names a profile and a record that are there; "
            "ids are text, so 007 is not 7"
        )
    if not pairs:
        raise ParameterError("the truth has no pairs: a CSV file with the columns profile and record")
    return Truth(record, len(pairs), no_profile, no_record)


def _pairs(source: TruthSource) -> Iterable[tuple[str, str]]:
    if isinstance(source, Mapping):
        return _texts(source.items())
    if isinstance(source, pl.DataFrame):
        columns = _columns(source.columns, "the truth")
        return _texts(source.select(pl.col(columns).cast(pl.String)).iter_rows())
    if not isinstance(source, (str, PathLike)):
        raise ParameterError(f"truth is a CSV file, a mapping or a frame, got {type(source).__name__}")
    return _read(Path(source))


def _texts(pairs: Iterable[Any]) -> list[tuple[str, str]]:
    found = [(profile, "" if record is None else record) for profile, record in pairs]
    if not all(isinstance(one, str) for pair in found for one in pair):
        raise ParameterError("the ids of a truth are text")
    return found


def _columns(names: list[str], where: str) -> list[str]:
    """The columns of profile and record: by name, or the first and second of two."""
    if set(names) >= NAMES:
        return ["profile", "record"]
    if len(names) != 2 or len(set(names)) != 2:
        raise SourceError(f"{where}: two columns, profile and record, are expected")
    return names


def _read(path: Path) -> list[tuple[str, str]]:
    names, rows = read_cells(path)
    profile, record = (names.index(name) for name in _columns(names, str(path)))
    return [(cells[profile], cells[record]) for _, cells in rows]


def curve(eccentricity: Floats, right: Flags, able: Flags, absent: Flags, present: int) -> pl.DataFrame:
    """What each φ would give: phi, claims, right, precision, recall, and false, the share of absent claimed.

    `able` are those that may claim at all; `right` those whose best record is theirs. Precision is empty
    where nothing is claimed.
    """
    levels = np.unique(eccentricity[able])
    phi = np.concatenate([[0.0], np.nextafter(levels * (1.0 + ROUNDING), np.inf)])
    phi = phi[np.unique(np.linspace(0, len(phi) - 1, min(POINTS, len(phi))).astype(np.int64))]
    groups = able, able & right, able & absent
    counts = [_above(eccentricity[group], phi) for group in groups]
    return _judged("phi", phi, counts, present, int(absent.sum()))


def by_budget(
    claim: Floats, phi: Callable[[float], float], right: Flags, able: Flags, absent: Flags, present: int
) -> pl.DataFrame:
    """What each budget would give: the same, with φ for it; without those for which there is none."""
    known = {budget: phi(budget) for budget in BUDGETS}
    known = {budget: at for budget, at in known.items() if np.isfinite(at)}
    groups = able, able & right, able & absent
    counts = [_above(claim[group], np.array(list(known.values()))) for group in groups]
    return _judged("budget", np.array(list(known)), counts, present, int(absent.sum()))


def _judged(name: str, at: Floats, counts: list[Ints], present: int, absent: int) -> pl.DataFrame:
    claims, hits, wrong = counts
    precision = [int(h) / int(c) if c else None for h, c in zip(hits, claims, strict=True)]
    return pl.DataFrame(
        {
            name: at, "claims": claims, "right": hits,
            "precision": pl.Series(precision, dtype=pl.Float64), "recall": hits / max(present, 1),
            "false": wrong / max(absent, 1),
        }
    )  # fmt: skip


def _above(eccentricity: Floats, phi: Floats) -> Ints:
    """How many are claimed at each φ."""
    ordered = np.sort(eccentricity)
    return np.asarray(len(ordered) - np.searchsorted(ordered, phi), np.int64)
