"""`standout.sanitize`: apply steps to a release and keep the link to the original."""

import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import overload

import numpy as np

from standout.core.errors import ParameterError, did_you_mean
from standout.core.progress import Progress, ProgressOption, no_progress, with_progress
from standout.data.build import pack_by_item, read_only_entries, read_only_levels, select_labels
from standout.data.labels import Labels, Provenance, StepReport
from standout.data.release import Release, read_only
from standout.know.sanitized import OriginalMapping, ReleaseNoise, Sanitized
from standout.sanitizing.cluster import ClusterRecords
from standout.sanitizing.draft import Draft, compose_indices
from standout.sanitizing.km import KmSuppress
from standout.sanitizing.randomized_response import RandomizedResponse
from standout.sanitizing.sanitize_table import is_table_step, parse_table_step, sanitize_table
from standout.sanitizing.step import NoiseKeys, Step
from standout.sanitizing.suppression_steps import (
    CapRecords,
    DropEntries,
    DropItems,
    DropRareItems,
    DropTopItems,
    MergeRepeats,
    SampleRecords,
)
from standout.sanitizing.table_step import TableStep
from standout.sanitizing.value_steps import PerturbTime, PerturbValue, RoundTime, RoundValue

__all__ = ["STEPS", "flat_steps", "parse_step", "sanitize", "step"]

# All steps, and how a step is read from text such as "round-time month".


STEPS: tuple[type[Step], ...] = (
    RoundTime,
    PerturbTime,
    RoundValue,
    PerturbValue,
    RandomizedResponse,
    DropRareItems,
    DropTopItems,
    DropItems,
    DropEntries,
    CapRecords,
    MergeRepeats,
    SampleRecords,
    ClusterRecords,
    KmSuppress,
)


def step(words: str) -> Step | TableStep:
    """Read a step from text; it is the inverse of `str(step)`.

    Parameters
    ----------
    words
        Name of the step and its parameters, quoted as in a shell; of a table: name, colon, column, equals
        sign, parameter. ``standout sanitize --list-steps`` shows all steps.

    Returns
    -------
    Step
        Step that can be passed to `standout.sanitize`.

    Raises
    ------
    ParameterError
        If there is no such step, or a parameter is missing or not allowed.

    Examples
    --------
    >>> import standout as so
    >>> so.step("round-time 30 days")
    RoundTime(to=None, days=30)
    >>> str(so.step("round-time 30 days"))
    'round-time 30 days'
    >>> so.step("round:age=5")
    RoundColumn(column='age', to=5)
    """
    is_about_table = isinstance(words, str) and is_table_step(words)
    return parse_table_step(words) if is_about_table else parse_step(words)


def parse_step(words: str) -> Step:
    """Read a step on a release, not on a table; see `step`."""
    try:
        name, *parameters = shlex.split(words)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("a step must be a name and its parameters, such as 'round-time month'") from None
    kinds = {kind.name: kind for kind in STEPS}
    if name not in kinds:
        raise ParameterError(
            f"there is no step {name!r:.100}: choose one of {', '.join(kinds)}{did_you_mean(name, kinds)}"
        )
    try:
        return kinds[name].from_words(*parameters)
    except ParameterError as error:
        raise ParameterError(f"step {words!r}: {error}") from None


@overload
def sanitize(
    release: Release,
    *steps: Step | str | Sequence[Step | str],
    seed: int | None = None,
    renumber: bool = False,
    progress: ProgressOption = no_progress,
    threads: int | None = None,
) -> Sanitized: ...


@overload
def sanitize(
    release: Release,
    *steps: TableStep | str | Sequence[TableStep | str],
    seed: int | None = None,
    renumber: bool = False,
    progress: ProgressOption = no_progress,
    threads: int | None = None,
) -> Sanitized: ...


@with_progress
def sanitize(
    release: Release | Release,
    *steps: Step | TableStep | str | Sequence[Step | TableStep | str],
    seed: int | None = None,
    renumber: bool = False,
    progress: ProgressOption = no_progress,
    threads: int | None = None,
) -> Sanitized | Sanitized:
    """Apply steps to a release or table, one after the other; the release itself does not change.

    Random draws depend only on (seed, number of the step, record, item). The same seed gives the same result,
    and two calls with one seed give the same result as one call with all steps. Records that lose all their
    entries are removed. Repeated entries of a record and item stay separate entries, even where a step makes
    them equal; only "merge-repeats" and "randomized-response … items" merge them. The report of each step
    counts every entry: entries before = entries + removed + merged - added.

    A table has its own steps, such as ``so.RoundColumn("age", 5)``. Its rows are put into a random order and
    get new ids, whatever `renumber` says. Its history, if it has one, stays as it is.

    Keep the seed secret: it allows others to undo noise and new ids. Do not use one seed for two releases: an
    adversary who compares them can undo part of the noise.

    Parameters
    ----------
    release
        Release or table to change. It may be sanitized already; its steps are then continued.
    *steps
        Steps as objects (``so.RoundTime("month")``) or as text (``"round-time month"``), one by one or as a
        list.
    seed
        Seed of all random draws. Default: drawn from the system's entropy and stored nowhere.
    renumber
        Whether to give the records new ids 1 … N in a random order.
    progress
        True shows a bar; a function is called with (stage, done, total).
    threads
        Number of threads; default: all cores. It does not change the result.

    Returns
    -------
    Sanitized or Sanitized
        The changed release, with its original, which record represents which person, and a report of each
        step.

    Raises
    ------
    ParameterError
        If a step is unknown, does not fit the release, or would remove everything.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> safer = so.sanitize(release, so.RoundTime("month"), so.DropRareItems(below=10), seed=7)
    >>> safer.n_entries, [report.step for report in safer.step_reports]
    (886, ['round-time month', 'drop-rare-items 10'])
    """
    given = flat_steps(steps)
    if release.columns:
        return sanitize_table(release, given, seed, progress)  # type: ignore[arg-type]
    return _sanitize_release(release, given, seed, renumber, progress, threads)


def flat_steps(steps: Sequence[object]) -> list[object]:
    """The steps, with those in lists one by one."""
    return [step for given in steps for step in (given if isinstance(given, (list, tuple)) else [given])]


def _sanitize_release(
    release: Release, steps: Sequence[object], seed: int | None, renumber: bool, progress: Progress, threads: int | None
) -> Sanitized:
    parsed: list[Step] = []
    for step in steps:
        known = parse_step(step) if isinstance(step, str) else step
        if not isinstance(known, Step):
            raise ParameterError("a step must be a Step such as RoundTime('month'), or text such as 'round-time month'")
        parsed.append(known)
    reports = list(release.step_reports) if isinstance(release, Sanitized) else []
    added = release.noise if isinstance(release, Sanitized) else ReleaseNoise()
    draft = Draft.of(release, threads)
    keys = NoiseKeys.of(release, secrets.randbits(63) if seed is None else seed)
    for step in parsed:
        before = draft
        draft, counts, bins = step.apply(before, keys.noise(before, len(reports)), progress)
        reports.append(StepReport(_public_text(step), _sizes(before, draft, step) | counts, bins))
        added = added.then(step.noise(reports[-1]))
    if renumber:
        order = np.argsort(keys.noise(draft, "renumber", len(reports)).record_keys, kind="stable")
        draft = draft.reorder_records(order)
    return _finish(draft, tuple(reports), added, renumber, progress)


def _sizes(before: Draft, after: Draft, step: Step) -> dict[str, float]:
    """Numbers of records, items and entries before and after a step, and what became of the entries."""
    removed, merged, added = after.changes.minus(before.changes)
    if before.n_entries != after.n_entries + removed + merged - added:
        raise ParameterError(
            f"{step.name} changed {before.n_entries:,} entries into {after.n_entries:,} and counted "
            f"{removed:,} removed, {merged:,} merged and {added:,} added: a step must change the entries of "
            "a draft with keep_entries, merge_entries or with_items, which count them"
        )
    return {
        "records before": before.n_records,
        "records": after.n_records,
        "items before": before.n_items,
        "items": after.n_items,
        "entries before": before.n_entries,
        "entries": after.n_entries,
        "entries removed": removed,
        "entries merged": merged,
        "entries added": added,
    }


def _finish(
    draft: Draft, reports: tuple[StepReport, ...], noise: ReleaseNoise, renumber: bool, progress: Progress
) -> Sanitized:
    """Make the release that a draft describes, in canonical form."""
    source, by_record = draft.source, read_only_entries(draft.by_record)
    earlier = source if isinstance(source, Sanitized) else None
    return Sanitized(
        records=_record_ids(draft, renumber),
        items=select_labels(source.items, draft.source_items),
        titles=None if source.titles is None else select_labels(source.titles, draft.source_items),
        levels=read_only_levels(draft.levels),
        clock=draft.clock,
        by_record=by_record,
        by_item=pack_by_item(by_record, draft.n_items, draft.levels, draft.clock, progress),
        provenance=_provenance(draft),
        original=source if earlier is None else earlier.original,
        mapping=_mapping(draft),
        step_reports=reports,
        noise=noise,
        renumbered=renumber or (earlier is not None and earlier.renumbered),
    )


def _record_ids(draft: Draft, renumber: bool) -> Labels:
    if renumber:
        return Labels.of(map(str, range(1, draft.n_records + 1)))
    return select_labels(draft.source.records, draft.source_records)


def _mapping(draft: Draft) -> OriginalMapping:
    """Mapping from the first original, through all steps."""
    source, representatives = draft.source, draft.representatives
    item_codes = np.full(source.n_items, -1, np.int64)
    item_codes[draft.source_items] = np.arange(draft.n_items)
    if isinstance(source, Sanitized):
        earlier = source.mapping
        representatives = compose_indices(earlier.representatives, representatives)
        item_codes = compose_indices(earlier.item_codes, item_codes)
    return OriginalMapping(
        read_only(representatives), read_only(item_codes), draft.released_values, draft.rounding_periods
    )


def _provenance(draft: Draft) -> Provenance:
    """Provenance that says nothing about where the original is stored."""
    value, time, clock = draft.by_record.value, draft.by_record.time, draft.clock
    return Provenance(
        "sanitized",
        without_value=0 if value is None else int(np.count_nonzero(value == draft.n_levels)),
        without_time=0 if time is None or clock is None else int(np.count_nonzero(time == clock.span)),
    )


def _public_text(step: Step) -> str:
    """Text of a step without the folder of a file that it names."""
    if isinstance(step, DropItems) and step.file is not None:
        return str(DropItems(file=Path(step.file).name))
    return str(step)
