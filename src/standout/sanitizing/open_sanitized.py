"""A sanitized output, opened again together with its original: who stands for whom, and in which terms."""

from pathlib import Path
from typing import Any

import numpy as np

from standout.core.errors import ParameterError, SourceError
from standout.core.progress import Progress, no_progress
from standout.facts import level_values
from standout.ingest.read import read
from standout.release.clock import SECONDS
from standout.release.index_writer import is_index
from standout.release.model import Release, read_only
from standout.release.store import open_index
from standout.release.subset import select_labels
from standout.sanitized import OriginalMapping, Period, Sanitized, StepReport
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.draft import Ints
from standout.sanitizing.key_file import by_id, read_key
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.sidecar import Sidecar, sidecar_path
from standout.sanitizing.step import Step
from standout.sanitizing.step_parser import parse_step
from standout.sanitizing.time_steps import RoundTime

__all__ = ["open_sanitized"]

PIECE = 1 << 20
READ = "read it as it was read for sanitizing, with its values, times and zone"


def open_sanitized(
    path: str | Path, original: Release, key: str | Path | None = None, progress: Progress = no_progress
) -> Sanitized:
    """What `standout.write_sanitized` has written, and the original that it was made from.

    The key is needed where ids are new or one record stands for several. Values and times are told as the
    sidecar says. An output that was changed since, or was made from another original, is an error.

    >>> import standout as so, tempfile
    >>> release = so.synthesize(records=10, items=10, entries=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = so.write_sanitized(so.sanitize(release, "round-time month"), f"{folder}/safer.csv")
    ...     safer = so.open_sanitized(f"{folder}/safer.csv", release)
    >>> [report.step for report in safer.step_reports]
    ['round-time month']
    """
    path = Path(path)
    told = Sidecar.read(sidecar_path(path))
    steps = [parse_step(done.step) for done in told.step_reports]
    release = open_index(path) if is_index(path) else read(path, progress=progress, **_options(told))
    if release.fingerprint != told.fingerprint:
        raise SourceError(f"{path} is not what its sidecar tells of: it was changed, or is another's")
    sizes = original.n_records, original.n_items, original.n_entries
    if sizes != tuple(told.original.values()):
        raise _another(path)
    items = by_id(original.items, release.items)
    if int((items >= 0).sum()) != release.n_items:
        raise _another(path)
    stands = _stands(path, release, original, key, told.renumbered, steps)
    if not any(isinstance(one, RandomizedResponse) and one.items for one in steps) and not _holds(
        release, original, stands, items
    ):
        raise _another(path)
    values, periods = _values(original, release, told.step_reports), _periods(steps)
    _check_kinds(path, release, original, values)
    titles = release.titles
    if titles is None and original.titles is not None:
        titles = select_labels(
            original.titles, np.argsort(items, kind="stable")[original.n_items - release.n_items :]
        )
    return Sanitized(
        records=release.records,
        items=release.items,
        titles=titles,
        levels=release.levels,
        clock=release.clock,
        by_record=release.by_record,
        by_item=release.by_item,
        provenance=release.provenance,
        stored_fingerprint=release.stored_fingerprint,
        original=original,
        mapping=OriginalMapping(read_only(stands), read_only(items), values, periods),
        step_reports=told.step_reports,
        renumbered=told.renumbered,
    )


def _options(told: Sidecar) -> dict[str, Any]:
    """How the output is read."""
    valued = {"value": False} if told.value is None else {"value": "value", "value_type": told.value}
    timed = (
        {"time": False}
        if told.zone is None
        else {"time": "time", "time_unit": told.time_unit, "zone": told.zone}
    )
    return {"record": "record", "item": "item", **valued, **timed}


def _stands(
    path: Path,
    release: Release,
    original: Release,
    key: str | Path | None,
    renumbered: bool,
    steps: list[Step],
) -> Ints:
    if key is not None:
        return read_key(Path(key), original, release)
    if renumbered:
        raise ParameterError(f"{path.name} has new ids: who stands for whom is in its key file only")
    if any(isinstance(one, ClusterRecords) for one in steps):
        raise ParameterError(
            f"{path.name} has one record for several: who stands for whom is in its key file"
        )
    return by_id(original.records, release.records)


def _values(
    original: Release, release: Release, done: tuple[StepReport, ...]
) -> tuple[float | str | None, ...]:
    told = level_values(original)
    if release.levels is None:
        return (None,) * len(told)
    if isinstance(original.levels, tuple):
        return told  # categories have no bins
    for one in done:
        if one.bins is not None:
            told = one.bins.bin_values([float(value) for value in told])
    return told


def _check_kinds(
    path: Path, release: Release, original: Release, values: tuple[float | str | None, ...]
) -> None:
    """Refuses an original without the values or times that the release has, or with others: what is known of
    people would be lost, and they would seem safer than they are."""
    levels = () if release.levels is None else level_values(release)
    if not set(levels) <= set(values):
        raise SourceError(f"{path.name} has values that the original lacks: {READ}")
    new, old = release.clock, original.clock
    if release.span and (
        old is None or new is None or not old.span or old.zone != new.zone
        or SECONDS[old.unit] > SECONDS[new.unit]
    ):  # fmt: skip
        raise SourceError(f"{path.name} has times that the original lacks: {READ}")


def _periods(steps: list[Step]) -> tuple[Period, ...]:
    periods = (one.period for one in steps if isinstance(one, RoundTime))
    return tuple(period for period in periods if period is not None)


def _holds(release: Release, original: Release, stands: Ints, items: Ints) -> bool:
    """Whether each record has only items of somebody for whom it stands: else it was made from others."""
    there = np.flatnonzero(items >= 0)
    origin = np.empty(release.n_items, np.int64)
    origin[items[there]] = there
    cells = np.repeat(np.arange(original.n_records), original.lengths) * original.n_items
    cells += original.by_record.item
    held = np.zeros(release.n_records, np.bool_)
    whose = np.flatnonzero(stands >= 0)
    ends = np.cumsum(release.lengths[stands[whose]])
    cuts = np.searchsorted(ends, np.arange(PIECE, ends[-1] if len(ends) else 0, PIECE))
    for mine in np.split(whose, cuts):
        lengths = release.lengths[stands[mine]]
        first = np.cumsum(lengths) - lengths
        entry = np.repeat(release.by_record.start[stands[mine]] - first, lengths) + np.arange(lengths.sum())
        wanted = np.repeat(mine, lengths) * original.n_items + origin[release.by_record.item[entry]]
        found = cells[np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)] == wanted
        held[stands[mine][np.add.reduceat(found, first, dtype=np.int64) == lengths]] = True
    return bool(held.all())


def _another(path: Path) -> SourceError:
    return SourceError(f"{path.name} was not made from this original, or the key is another's")
