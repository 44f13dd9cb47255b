"""Two data sets side by side: which item is which, what a value means there, and what day it is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints, offsets
from standout.core.errors import NotFoundError, ParameterError
from standout.facts import ANY_LENGTH, ANY_TIME, KnownFacts, level_values, repeat_bounds
from standout.linking.align_map import mapped
from standout.linking.align_titles import LISTED, RIVAL, Pair, Titles, alike, decided, likeness
from standout.linking.review import Reviewed, Row, reviewed, table, write_review
from standout.linking.value_scales import aligned_values, checked_values
from standout.release.clock import SECONDS, Clock
from standout.release.labels import Labels
from standout.release.model import Release

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Alignment", "Items", "align"]

Items = str | PathLike[str] | Mapping[str, str]
AGREE = 0.8
"""Ids are taken for the same where so many of their titles agree."""
TRIED = 1_000
WAYS = ("id", "map", "title", "review")
TOLD = {
    "doubtful": "{} more look like items of the release and are left out until reviewed.",
    "refused": "Of these {} fit more than one item, or one that another fits as well.",
    "titles differ": "{} of them have another title there: look at these in the review.",
    "unchecked": "Nothing but their ids says that these are the same items.",
    "map unknown public": "{} rows of the map name items that the public data do not have.",
    "map unknown release": "{} rows of the map name items that the release does not have.",
    "review unknown": "{} decisions of the review name items that are not there.",
}
FAR = 1_000
"""Days outside the release after which a date is simply far away, unless the release is longer."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """A public data set in the terms of a release.

    item      of each public item the release's item code, -1 if it has none; no code stands there twice
    value     of each public level the value on the release's scale, which may lie between its levels, NaN if
              it cannot be compared; where values are categories, the code of the release's level
    doubtful  pairs for review: open ("?"), taken though not quite the same ("yes"), refused ("no")
    counts    what became of the public items
    """

    release: Release = field(repr=False)
    item: Ints = field(repr=False)
    value: Floats = field(repr=False)
    doubtful: "pl.DataFrame" = field(repr=False)
    counts: dict[str, int]
    scale: str

    def words(self) -> str:
        """What was aligned, in a few sentences."""
        counts = self.counts
        ways = [f"{counts[f'by {way}']:,} by {way}" for way in WAYS if counts.get(f"by {way}")]
        said = [
            f"{counts['aligned']:,} of {counts['items']:,} public items are in the release "
            f"({', '.join(ways)}), "
            f"with {_share(counts['entries aligned'], counts['entries'])} of the public entries."
        ]
        said += [text.format(f"{counts[name]:,}") for name, text in TOLD.items() if counts.get(name)]
        return " ".join([*said, self.scale])

    def known(self, public: Release, places: Sequence[int] | Ints) -> KnownFacts:
        """What the profiles at these places tell, as facts in the release's codes.

        Entries about items that the release does not have are left out; missing values and times stay
        missing. A time is moved to the release's clock: a day is its first hour or minute there. `values` is
        the same whatever the places, so facts of several calls can be put together.
        """
        at, first = self._entries(public, places)
        side = public.by_record
        item = self.item[side.item[at]]
        kept = np.flatnonzero(item >= 0)
        at, first = at[kept], np.searchsorted(kept, first).astype(np.int64)
        value = np.full(len(at), -1) if side.value is None else self._place[side.value[at]]
        time, timed = self._times(public, at)
        n = len(first) - 1
        return KnownFacts(
            first,
            item[kept],
            value,
            self._values,
            time,
            timed,
            repeat_bounds(n, ANY_LENGTH),
            repeat_bounds(n, ANY_TIME),
        )

    def write_review(self, path: str | PathLike[str]) -> None:
        """Writes `doubtful` as a CSV file: edit its decisions and pass it to `align` as `review`."""
        write_review(self.doubtful, path)

    def _entries(self, public: Release, places: Sequence[int] | Ints) -> tuple[Ints, Ints]:
        """The entries of these profiles, and where each profile's begin."""
        if public.n_items != len(self.item) or public.n_levels != len(self.value):
            raise ParameterError("these are other public data than those that were aligned")
        where = np.asarray(places, np.int64).reshape(-1)
        if len(where) and not (0 <= where.min() and where.max() < public.n_records):
            raise NotFoundError(f"record positions run from 0 to {public.n_records - 1:,}")
        start, counts = public.check().by_record.start[where], public.lengths[where]
        first = offsets(counts)
        return np.arange(first[-1]) + np.repeat(start - first[:-1], counts), first

    @cached_property
    def _values(self) -> tuple[float | str, ...]:
        """The distinct values that facts can have."""
        if isinstance(self.release.levels, tuple):
            return level_values(self.release)
        return tuple(np.unique(self.value[~np.isnan(self.value)]).tolist())

    @cached_property
    def _place(self) -> Ints:
        """Where the value of each public level stands among them, -1 if nowhere; then of none."""
        there = ~np.isnan(self.value)
        place = np.full(len(self.value) + 1, -1)
        values = self.value[there]
        texts = isinstance(self.release.levels, tuple)
        place[:-1][there] = values if texts else np.searchsorted(np.array(self._values), values)
        return place

    def _times(self, public: Release, at: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Times on the release's clock, 0 where they are not known, and where they are."""
        ours, theirs, column = self.release.clock, public.clock, public.by_record.time
        if ours is None or theirs is None or column is None or not (ours.span and theirs.span):
            return np.zeros(len(at), np.int64), np.zeros(len(at), np.bool_)
        code = column[at].astype(np.int64)
        timed = code < theirs.span
        return np.where(timed, _moved(code, theirs, ours), 0), timed


def _moved(code: Ints, theirs: Clock, ours: Clock) -> Ints:
    """Codes of one clock on another. Zones are not moved: both are wall clocks, and a day stays that day."""
    seconds = (theirs.origin + code) * SECONDS[theirs.unit]
    reach = max(ours.span, FAR * SECONDS["day"] // SECONDS[ours.unit])
    moved = seconds // SECONDS[ours.unit] - ours.origin
    return np.clip(moved, -reach, ours.span + reach)


def align(
    release: Release,
    public: Release,
    *,
    items: Items = "auto",
    values: str | tuple[float, float] = "auto",
    review: str | PathLike[str] | None = None,
) -> Alignment:
    """A public data set in the terms of a release.

    items   "id": the same ids; "title": by titles and years; a CSV file or a dict from public ids to the
            release's; "auto": ids if their titles agree, or there are no titles; else titles
    values  "same"; "quantiles"; (scale, shift): value → scale · value + shift; "none"; "auto": the same if
            the scales agree, else the ends of one onto the ends of the other
    review  a CSV file of doubtful pairs: its decisions count; where there is none yet, it is written

    >>> import polars as pl, standout as so
    >>> release = so.read(pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"], "value": [1, 5]}))
    >>> public = so.read(pl.DataFrame({"record": ["x", "x"], "item": ["8", "9"], "value": [1, 10]}))
    >>> found = align(release, public)
    >>> found.item.tolist(), found.value.tolist()
    ([1, -1], [1.0, 5.0])
    """
    way = checked_values(values)
    sides = _Sides(release, public)
    path = None if review is None else Path(review)
    said = reviewed(path, sides.public_codes, sides.release_codes) if path and path.exists() else Reviewed()
    found = _found(sides, items, said)
    doubtful = table(_rows(sides, found, said))
    if path and not path.exists():
        write_review(doubtful, path)
    if not (found.item >= 0).any():
        raise ParameterError(_nothing(found, said))
    value, scale = aligned_values(release, public, found.item, way)
    return Alignment(release, found.item, value, doubtful, _counted(sides, found, said), scale)


@dataclass(frozen=True, eq=False)
class _Sides:
    release: Release
    public: Release

    @cached_property
    def release_codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.release.items)}

    @cached_property
    def public_codes(self) -> dict[str, int]:
        return {text: code for code, text in enumerate(self.public.items)}

    @cached_property
    def shared(self) -> dict[int, int]:
        """Items of the same id."""
        there = self.release_codes
        return {code: there[text] for text, code in self.public_codes.items() if text in there}

    @cached_property
    def release_titles(self) -> Titles:
        return Titles.of(self.release.titles or ())

    @cached_property
    def public_titles(self) -> Titles:
        return Titles.of(self.public.titles or ())

    @property
    def titled(self) -> bool:
        """Whether both sides have titles at all."""
        return all(_any_text(side.titles) for side in (self.release, self.public))

    def compared(self, pairs: Mapping[int, int], step: int = 1) -> list[Pair]:
        """How alike the titles of every so many of these pairs are, where both have one."""
        if not self.titled:
            return []
        titles, others = self.public_titles.titles, self.release_titles.titles
        return [
            Pair(one, two, likeness(titles[one], others[two]), "another title")
            for one, two in list(pairs.items())[::step]
            if titles[one].names and others[two].names
        ]


@dataclass(frozen=True, eq=False)
class _Found:
    """Which item is which, and the pairs that are worth a look."""

    way: str
    item: Ints
    taken: list[Pair] = field(default_factory=list)
    doubtful: list[Pair] = field(default_factory=list)
    seen: dict[tuple[int, int], Pair] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def _found(sides: _Sides, items: Items, said: Reviewed) -> _Found:
    if isinstance(items, str) and items == "auto":
        return _by_id(sides, said) if _ids_agree(sides) else _by_title(sides, said)
    if isinstance(items, str) and items == "id":
        return _by_id(sides, said)
    if isinstance(items, str) and items == "title":
        return _by_title(sides, said)
    if not isinstance(items, (str, PathLike, Mapping)):
        raise ParameterError(
            f"items must be auto, id, title, a CSV file or a dict, got {type(items).__name__}"
        )
    given = mapped(items, sides.public_codes, sides.release_codes)
    counts = {
        "map rows": given.rows,
        "map unknown public": given.unknown_public,
        "map unknown release": given.unknown_release,
    }
    return _as_told(sides, "map", given.pairs, said, counts)


def _ids_agree(sides: _Sides) -> bool:
    """Whether the same id means the same item on both sides, as far as titles tell."""
    tried = sides.compared(sides.shared, max(len(sides.shared) // TRIED, 1))
    if not tried:
        return bool(sides.shared) or not sides.titled
    return sum(pair.score >= LISTED for pair in tried) >= AGREE * len(tried)


def _by_id(sides: _Sides, said: Reviewed) -> _Found:
    return _as_told(sides, "id", sides.shared, said, {"unchecked": int(not sides.compared(sides.shared))})


def _as_told(
    sides: _Sides, way: str, pairs: Mapping[int, int], said: Reviewed, counts: dict[str, int]
) -> _Found:
    """Pairs that need no guess; where their titles differ, they are listed all the same."""
    item = _settled(sides, pairs, said)
    others = [pair for pair in sides.compared(pairs) if pair.score < LISTED]
    taken = [pair for pair in others if item[pair.public] == pair.release]
    counts = counts | {"titles differ": len(taken)}
    return _Found(way, item, taken, seen=_by_pair(others), counts=counts)


def _by_title(sides: _Sides, said: Reviewed) -> _Found:
    if not sides.titled:
        side = "public data" if _any_text(sides.release.titles) else "release"
        raise ParameterError(f"the {side} has no titles: read it with titles, or pass a map of items")
    pairs = alike(sides.public_titles, sides.release_titles)
    fixed = {*said.yes.values()}
    taken, doubtful = decided(
        pair
        for pair in pairs
        if pair[:2] not in said.no and pair.public not in said.yes and pair.release not in fixed
    )
    item = _settled(sides, {pair.public: pair.release for pair in taken}, said)
    rivals = {pair.public for pair in doubtful if pair.reason.endswith(RIVAL)}
    listed = [pair for pair in taken if pair.reason]
    return _Found("title", item, listed, doubtful, _by_pair(pairs), {"refused": len(rivals)})


def _by_pair(pairs: Iterable[Pair]) -> dict[tuple[int, int], Pair]:
    return {(pair.public, pair.release): pair for pair in pairs}


def _settled(sides: _Sides, pairs: Mapping[int, int], said: Reviewed) -> Ints:
    """The pairs as people reviewed them: their word counts, and what stands against it goes."""
    fixed = {*said.yes.values()}
    item = np.full(sides.public.n_items, -1, np.int64)
    for one, two in pairs.items():
        if (one, two) not in said.no and two not in fixed:
            item[one] = two
    for one, two in said.yes.items():
        item[one] = two
    return item


def _rows(sides: _Sides, found: _Found, said: Reviewed) -> Iterator[Row]:
    """The pairs for review. What people decided stays in it, so that it can be passed on."""

    def row(one: int, two: int, score: float | None, decision: str, reason: str) -> Row:
        public, release = sides.public, sides.release
        return (
            public.items[one], _title(public, one), release.items[two], _title(release, two),
            score, decision, reason,
        )  # fmt: skip

    for pair in found.doubtful:
        yield row(*pair[:3], "?", pair.reason)
    for pair in found.taken:
        if pair.public not in said.yes:
            yield row(*pair[:3], "yes", pair.reason)
    for decision, pairs in (("yes", said.yes.items()), ("no", said.no)):
        for one, two in pairs:
            known = found.seen.get((one, two))
            score, reason = (known.score, known.reason) if known else (None, "")
            yield row(one, two, score, decision, reason or "reviewed")


def _title(side: Release, code: int) -> str:
    return "" if side.titles is None else side.titles[code]


def _any_text(labels: Labels | None) -> bool:
    return labels is not None and len(labels.data) > 0


def _counted(sides: _Sides, found: _Found, said: Reviewed) -> dict[str, int]:
    """items = aligned + doubtful + unknown; aligned = by id, map or title + by review."""
    public, there = sides.public, found.item >= 0
    aligned = int(np.count_nonzero(there))
    doubtful = len({pair.public for pair in found.doubtful})
    counts = {
        "items": public.n_items,
        "aligned": aligned,
        f"by {found.way}": aligned - len(said.yes),
        "by review": len(said.yes),
        "doubtful": doubtful,
        "unknown": public.n_items - aligned - doubtful,
        "entries": public.n_entries,
        "entries aligned": int(public.support[there].sum()),
    }
    return counts | found.counts | {"review unknown": said.unknown}


def _nothing(found: _Found, said: Reviewed) -> str:
    if said.no:
        return "no item is in both data sets once the review is taken in"
    if found.way == "id":
        return "no item id is in both data sets: give both titles and pass items='title', or a map of items"
    doubtful = len(found.doubtful)
    listed = f"; {doubtful:,} doubtful pairs can be reviewed" if doubtful else ""
    return f"no title of the public data is clearly one of the release's{listed}: or pass a map of items"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
