"""All steps, how a step is read from text such as "round-time month" or "round age 5", and `standout.sanitize`."""

import secrets
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from standout.core.arrays import Bools, read_only
from standout.core.errors import ParameterError, did_you_mean
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.rng import check_seed, generator
from standout.data.build import pack_by_item, select_labels
from standout.data.column import Column
from standout.data.labels import Labels, Provenance, StepReport
from standout.data.release import Release
from standout.know.sanitized import Channel, OriginalMapping, Period, ReleaseNoise, Sanitized
from standout.sanitizing.column_steps import (
    DropColumn,
    DropRows,
    GeneralizeColumn,
    LevelStep,
    RoundColumn,
    SuppressCells,
    SuppressToK,
    SwapColumn,
    TopCode,
    same_sets,
)
from standout.sanitizing.draft import Draft, compact, compose_indices, same_values, with_levels_of
from standout.sanitizing.item_steps import (
    CapRecords,
    DropEntries,
    DropItems,
    DropRareItems,
    DropTopItems,
    MergeRepeats,
    SampleRecords,
)
from standout.sanitizing.k_steps import ClusterRecords, KmSuppress
from standout.sanitizing.step import Keys, Step, StepNoise
from standout.sanitizing.value_steps import PerturbTime, PerturbValue, RandomizedResponse, RoundTime, RoundValue

__all__ = [
    "CapRecords", "ClusterRecords", "DropColumn", "DropEntries", "DropItems", "DropRareItems", "DropRows",
    "DropTopItems", "GeneralizeColumn", "KmSuppress", "MergeRepeats", "PerturbTime", "PerturbValue",
    "RandomizedResponse", "RoundColumn", "RoundTime", "RoundValue", "SampleRecords", "SuppressCells",
    "SuppressToK", "SwapColumn", "TopCode",
]  # fmt: skip

STEPS: dict[str, type[Step]] = {kind.name: kind for kind in map(globals().__getitem__, __all__)}


def step(words: str) -> Step:
    """Read a step from text; it is the inverse of `str(step)`.

    Parameters
    ----------
    words
        Name of the step and its parameters, quoted as in a shell. ``standout sanitize --list-steps`` shows all steps.

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
    >>> so.step("round-time 30"), so.step("round age 5")
    (RoundTime(to=30), RoundColumn(column='age', to=5.0))
    """
    try:
        name, *parameters = shlex.split(words)
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("a step must be a name and its parameters, such as 'round-time month'") from None
    if name not in STEPS:
        raise ParameterError(
            f"there is no step {name!r:.100}: choose one of {', '.join(STEPS)}{did_you_mean(name, STEPS)}"
        )
    try:
        return STEPS[name].from_words(*parameters)
    except ParameterError as error:
        raise ParameterError(f"step {words!r:.200}: {error}") from None


def parse_steps(given: Iterable[object]) -> list[Step]:
    """Steps given one by one or as lists, as objects or as text."""
    flat = [each for some in given for each in (some if isinstance(some, (list, tuple)) else [some])]
    steps = []
    for each in flat:
        parsed = step(each) if isinstance(each, str) else each
        if not isinstance(parsed, Step):
            raise ParameterError("a step must be a Step, or text such as 'round-time month' or 'round age 5'")
        steps.append(parsed)
    return steps


@with_progress
def sanitize(
    release: Release,
    *steps: Step | str | Sequence[Step | str],
    seed: int | None = None,
    renumber: bool = False,
    progress: ProgressOption = no_progress,
    threads: int | None = None,
) -> Sanitized:
    """Apply steps to the columns and entries of a release, one after the other; the release itself does not change.

    Random draws depend only on (seed, number of the step, record, item). The same seed gives the same result,
    and two calls with one seed give the same result as one call with all steps. Records that lose all their
    entries are removed, unless they have columns. Repeated entries of a record and item stay separate entries, even
    where a step makes them equal; only "merge-repeats" and "randomized-response … items" merge them. The report of
    each step counts every entry: entries before = entries + removed + merged - added.

    Parameters
    ----------
    release
        Release to sanitize; it may be sanitized already.
    *steps
        Steps as objects or as text, one by one or as a list.
    seed
        Seed of all random draws. Default: a random one that is not kept. Others must not know it.
    renumber
        Whether the records get a random order and new ids, 1 … N. Rows with columns always do.
    progress
        True shows a bar; a function is called with (stage, done, total).
    threads
        Number of threads; default: all cores. It does not change the result.

    Returns
    -------
    Sanitized
        The changed release, with its original, which record represents which person, and a report of each step.

    Raises
    ------
    ParameterError
        If a step is unknown, does not fit the release, or would remove everything.

    Examples
    --------
    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> safer = so.sanitize(release, "round-time month", "drop-rare-items 10", seed=7)
    >>> safer.n_entries, [report.step for report in safer.step_reports]
    (886, ['round-time month', 'drop-rare-items 10'])
    """
    parsed = parse_steps(steps)
    earlier = release if isinstance(release, Sanitized) else None
    reports = [] if earlier is None else list(earlier.step_reports)
    added = ReleaseNoise() if earlier is None else earlier.noise
    draft = Draft.of(release, threads) if earlier is None or not release.columns else _continued(earlier, threads)
    if draft.columns:
        _check_order([*parse_steps(report.step for report in reports), *parsed])
    seed, hashes = secrets.randbits(63) if seed is None else check_seed(seed), dict[str, Keys]()
    for number, step in enumerate(parsed):
        progress("sanitizing", number, len(parsed))
        if (step.about == "columns" and not release.columns) or (step.about == "entries" and not release.n_entries):
            raise ParameterError(f"{step}: the release has no {step.about}")
        before = draft
        draft, counts, bins = step.apply(before, StepNoise(seed, before, (len(reports),), hashes), progress)
        reports.append(StepReport(step.public_text(), _sizes(before, draft) | counts, bins))
        added = added.then(step.noise(reports[-1]))
    if draft.columns:
        draft = draft.reorder_records(generator(seed, "table rows").permutation(draft.n_records))
    elif renumber:
        noise = StepNoise(seed, draft, ("renumber", len(reports)), hashes)
        draft = draft.reorder_records(np.argsort(noise.record_keys, kind="stable"))
    return finish(draft, tuple(reports), added, renumber)


def _check_order(steps: Sequence[Step]) -> None:
    """Refuse to merge values after rare ones were emptied: merged values are less rare, so fewer are emptied."""
    suppressed: dict[str, Step] = {}
    for step in steps:
        name = getattr(step, "column", "")
        if isinstance(step, SuppressCells):
            suppressed[name] = step
        elif name in suppressed and isinstance(step, LevelStep):
            raise ParameterError(
                f"{suppressed[name]} comes before {step}: put it after, because merged values are less rare"
            )


def _continued(release: Sanitized, threads: int | None) -> Draft:
    """A draft of sanitized columns, with all levels and the order of the original again."""
    original, mapping = release.original, release.mapping
    levels = level_draft(original, parse_steps(report.step for report in release.step_reports))
    present = np.flatnonzero(mapping.item_codes >= 0)
    draft = replace(
        Draft.of(release, threads),
        source=original,
        source_records=release.original_row,
        source_items=present[np.argsort(mapping.item_codes[present])],
        representatives=mapping.representatives,
    ).reorder_records(np.argsort(release.original_row))
    channels = {}
    for name in release.column_names:
        noise = release.channels.get(name, Channel(np.empty(0, np.int64)))
        channels[name] = replace(levels.channel(name), replaced=noise.replaced, suppressed=noise.suppressed)
    columns = tuple(with_levels_of(column, levels.column(column.name)) for column in draft.columns)
    return replace(draft, columns=columns, channels=channels)


def level_draft(original: Release, steps: Sequence[Step]) -> Draft:
    """What steps make of the levels of the columns; the cells are not those of the result."""
    draft = Draft.of(original)
    for step in steps:
        draft = step.with_new_levels(draft) if isinstance(step, LevelStep) else draft
    return draft


def _sizes(before: Draft, after: Draft) -> dict[str, float]:
    """Numbers of records, items, entries, columns and cells before and after a step, and what became of them."""
    sizes: dict[str, float] = {"records before": before.n_records, "records": after.n_records}
    if before.source.n_entries:
        merged, added = after.merged - before.merged, after.added - before.added
        sizes |= {"items before": before.n_items, "items": after.n_items}
        sizes |= {"entries before": before.n_entries, "entries": after.n_entries}
        sizes["entries removed"] = before.n_entries + added - merged - after.n_entries
        sizes |= {"entries merged": merged, "entries added": added}
    if before.columns:
        kept = np.flatnonzero(np.isin(before.source_records, after.source_records, assume_unique=True))
        old_columns = {column.name: column for column in before.columns}
        changed = emptied = 0
        for new in after.columns:
            if new is not old_columns[new.name]:
                old = old_columns[new.name].rows(kept)
                emptied += int(np.count_nonzero(new.is_missing & ~old.is_missing))
                changed += int(np.count_nonzero(~same_cells(old, new) & ~new.is_missing))
        sizes |= {"columns before": len(before.columns), "columns": len(after.columns)}
        sizes |= {"cells changed": changed, "cells emptied": emptied}
    return sizes


def same_cells(old: Column, new: Column) -> Bools:
    """Whether each cell has the same value in both columns."""
    if old.starts is not None:
        return same_sets(old, new)
    return np.asarray(np.append(same_values(old, new), new.missing)[old.codes] == new.codes)


def finish(draft: Draft, reports: tuple[StepReport, ...], noise: ReleaseNoise, renumber: bool) -> Sanitized:
    """Make the release that a draft describes, in canonical form."""
    source, by_record, clock = draft.source, draft.by_record, draft.clock
    earlier = source if isinstance(source, Sanitized) else None
    columns, channels = _released_columns(draft, reports)
    record = source.provenance.columns.get("record") if columns else None
    new_ids = renumber or bool(columns)
    item_codes = np.full(source.n_items, -1, np.int64)
    item_codes[draft.source_items] = np.arange(draft.n_items)
    if earlier is not None:  # the mapping is from the first original, through all steps
        item_codes = compose_indices(earlier.mapping.item_codes, item_codes)
    value, time = by_record.value, by_record.time
    return Sanitized(
        records=Labels.of(map(str, range(1, draft.n_records + 1)))
        if new_ids
        else select_labels(source.records, draft.source_records),
        items=select_labels(source.items, draft.source_items),
        titles=None if source.titles is None else select_labels(source.titles, draft.source_items),
        levels=draft.levels,
        clock=clock,
        by_record=by_record,
        by_item=pack_by_item(by_record, draft.n_items, draft.levels, clock),
        provenance=Provenance(  # it says nothing about where the original is stored
            "sanitized",
            columns={} if record is None else {"record": record},
            without_value=0 if value is None else int(np.count_nonzero(value == draft.n_levels)),
            without_time=0 if time is None or clock is None else int(np.count_nonzero(time == clock.span)),
        ),
        columns=columns,
        has_ids=source.has_ids,
        original=source if earlier is None else earlier.original,
        mapping=OriginalMapping(
            read_only(draft.representatives), read_only(item_codes), draft.released_values, rounding_periods(noise)
        ),
        step_reports=reports,
        noise=noise,
        renumbered=new_ids or (earlier is not None and earlier.renumbered),
        channels=channels,
    )


def rounding_periods(noise: ReleaseNoise) -> tuple[Period, ...]:
    """Periods that times were rounded down to, one after the other."""
    return tuple(period for period in noise.times if isinstance(period, Period))


def _released_columns(draft: Draft, reports: tuple[StepReport, ...]) -> tuple[tuple[Column, ...], dict[str, Channel]]:
    """The released columns, and what happened to those that changed.

    A released column has each level that a value of the original becomes, even if all its rows were removed.
    Only a column whose rare values were emptied has just the levels that occur: the others are the emptied
    ones.
    """
    steps = parse_steps(report.step for report in reports) if draft.columns else []
    suppressed = {step.column for step in steps if isinstance(step, SuppressCells)}
    columns, channels = [], {}
    for column in draft.columns:
        channel = draft.channel(column.name)
        became = np.bincount(channel.released, minlength=column.n_levels + 1)[:-1] > 0
        smaller, change = compact(column, None if column.name in suppressed else became)
        channel = replace(channel, released=read_only(change.lookup[channel.released].astype(np.int64)))
        columns.append(smaller)
        is_same = bool((channel.released == np.arange(len(channel.released))).all())
        if not is_same or channel.replaced or channel.suppressed:
            channels[column.name] = channel
    return tuple(columns), channels
