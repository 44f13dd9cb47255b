"""`standout.sanitize`: a release, changed step by step, that remembers what it was made from."""

import secrets
from pathlib import Path

import numpy as np

from standout.core.errors import ParameterError
from standout.core.progress import Progress, no_progress
from standout.release.build import pack_by_item, read_only_entries, read_only_levels
from standout.release.labels import Labels
from standout.release.model import Release, read_only
from standout.release.provenance import Provenance
from standout.release.subset import select_labels
from standout.sanitized import OriginalMapping, Sanitized, StepReport
from standout.sanitizing.draft import Draft
from standout.sanitizing.step import Step
from standout.sanitizing.step_noise import Keys
from standout.sanitizing.step_parser import parse_step
from standout.sanitizing.suppression_steps import DropItems

__all__ = ["sanitize"]


def sanitize(
    release: Release,
    *steps: Step | str,
    seed: int | None = None,
    renumber: bool = False,
    progress: Progress = no_progress,
    threads: int | None = None,
) -> Sanitized:
    """The release after these steps, one after the other; the release itself stays as it is.

    A step is one of the classes, or its words. What is random depends on (seed, number of the step, record,
    item) only: the same seed gives the same release, and sanitizing in two calls with one seed is the same as
    in one. Whoever has the seed can undo noise and new ids, and two releases of one seed give it away
    together: unless you say one it is drawn from the system's entropy and told to nobody. Records that lose
    all their entries disappear. `renumber` gives the records new ids, 1 … N in an order drawn from the seed.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> safer = sanitize(release, so.RoundTime("month"), so.DropRareItems(below=10), seed=7)
    >>> safer.n_entries, [report.step for report in safer.step_reports]
    (886, ['round-time month', 'drop-rare-items 10'])
    """
    chosen = [parse_step(one) if isinstance(one, str) else one for one in steps]
    if not all(isinstance(one, Step) for one in chosen):
        raise ParameterError("a step is one of Standout's, like RoundTime('month'), or its words")
    before = release.step_reports if isinstance(release, Sanitized) else ()
    secret = secrets.randbits(63) if seed is None else seed
    draft, keys, done = Draft.of(release, threads), Keys.of(release, secret), list(before)
    for one in chosen:
        old, noise = draft, keys.noise(draft, len(done))
        draft, counts, bins = one.apply(old, noise, progress)
        done.append(StepReport(_public(one), _sizes(old, draft) | counts, bins))
    if renumber:
        draft = draft.ordered(np.argsort(keys.noise(draft, "renumber", len(done)).records, kind="stable"))
    return _finished(draft, tuple(done), renumber, progress)


def _sizes(old: Draft, new: Draft) -> dict[str, float]:
    """What a step left of records, items and entries."""
    return {
        "records before": old.n_records, "records": new.n_records, "items before": old.n_items,
        "items": new.n_items, "entries before": old.n_entries, "entries": new.n_entries,
    }  # fmt: skip


def _finished(draft: Draft, done: tuple[StepReport, ...], renumber: bool, progress: Progress) -> Sanitized:
    """The release that a draft has become, in canonical form."""
    source, side = draft.source, read_only_entries(draft.side)
    chained = source if isinstance(source, Sanitized) else None
    return Sanitized(
        Labels.of(map(str, range(1, draft.n_records + 1)))
        if renumber
        else select_labels(source.records, draft.people),
        select_labels(source.items, draft.things),
        None if source.titles is None else select_labels(source.titles, draft.things),
        read_only_levels(draft.levels),
        draft.clock,
        side,
        pack_by_item(side, draft.n_items, draft.levels, draft.clock, progress),
        _provenance(draft),
        original=source if chained is None else chained.original,
        mapping=_terms(draft),
        step_reports=done,
        renumbered=renumber or (chained is not None and chained.renumbered),
    )


def _terms(draft: Draft) -> OriginalMapping:
    """How the first original is told."""
    source = draft.source
    items = np.full(source.n_items, -1, np.int64)
    items[draft.things] = np.arange(draft.n_items)
    stands = draft.stands
    if isinstance(source, Sanitized):
        stands, items = (
            np.where(before >= 0, now[before], -1)
            for before, now in ((source.mapping.representatives, stands), (source.mapping.item_codes, items))
        )
    return OriginalMapping(read_only(stands), read_only(items), draft.told, draft.periods)


def _provenance(draft: Draft) -> Provenance:
    """Nothing of where the original lies."""
    value, time, clock = draft.side.value, draft.side.time, draft.clock
    return Provenance(
        "sanitized",
        without_value=0 if value is None else int(np.count_nonzero(value == draft.n_levels)),
        without_time=0 if time is None or clock is None else int(np.count_nonzero(time == clock.span)),
    )


def _public(step: Step) -> str:
    """A step's words without the folder of a file that it names."""
    if isinstance(step, DropItems) and step.file is not None:
        return str(DropItems(file=Path(step.file).name))
    return str(step)
