"""Aligning two data sets: which public item is which item of the release, and what its values mean there."""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints, take_rows
from standout.core.errors import NotFoundError, ParameterError, SourceError
from standout.core.files import write_atomically
from standout.core.text import count, printable
from standout.data.export import exact_text, inert
from standout.data.labels import SECONDS, Labels
from standout.data.release import Release
from standout.findings.links import AlignmentCounts
from standout.know.facts import ANY_LENGTH, ANY_TIME, KnownFacts, level_values, repeat_bounds
from standout.linking.titles import LISTED, RIVAL, Pair, Titles, accept_pairs, similar_titles, similarity

Codes = Mapping[str, int]
Items = str | PathLike[str] | Mapping[str, str]
Values = Literal["auto", "same", "quantiles", "none"] | tuple[float, float]


def align(
    release: Release,
    public: Release,
    *,
    items: Items = "auto",
    values: Values = "auto",
    review: str | PathLike[str] | None = None,
) -> "Alignment":
    """Express a public data set in the codes of a release; the parameters are those of `link`.

    >>> import polars as pl, standout as so
    >>> release = so.read(pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"], "value": [1, 5]}))
    >>> public = so.read(pl.DataFrame({"record": ["x", "x"], "item": ["8", "9"], "value": [1, 10]}))
    >>> alignment = align(release, public)
    >>> alignment.item.tolist(), alignment.value.tolist()
    ([1, -1], [1.0, 5.0])
    """
    method = check_values(values)
    catalogues = _Catalogues(release, public)
    path = None if review is None else Path(review)
    reviewed = path is not None and path.exists()
    decisions = Decisions()
    if path is not None and reviewed:
        decisions = read_decisions(path, catalogues.public_codes, catalogues.release_codes)
    aligned = _align_items(catalogues, items, decisions)
    doubtful = _review_table(aligned, catalogues, decisions)
    if path is not None and not reviewed:
        _write_rows(doubtful, path)
    if not (aligned.item >= 0).any():
        raise ParameterError(_nothing_shared(aligned, decisions))
    value, explanation = _align_values(release, public, aligned.item, method)
    return Alignment(release, aligned.item, value, doubtful, aligned.counts(public, decisions), explanation)


def _nothing_shared(aligned: "_AlignedItems", decisions: "Decisions") -> str:
    if decisions.no:
        return "no item is in both data sets after the review: accept at least one pair"
    if aligned.method == "id":
        return "no item id is in both data sets: read both with titles and pass items='title', or pass a map of items"
    doubtful = len(aligned.doubtful)
    review = f"review the {doubtful:,} doubtful pairs, or " if doubtful else ""
    return f"no public title clearly matches a title of the release: {review}pass a map of items"


# Small CSV files that people edit: any of three separators, and no cell that a spreadsheet would execute.


def _write_rows(table: pl.DataFrame, path: str | PathLike[str]) -> None:
    """Write a CSV file without cells that a spreadsheet would execute; `exact_text` restores every text."""
    write_atomically(Path(path), inert(table).write_csv)


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The column names, and the line number and cells of every row that is not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        separator = max(",;\t", key=text.split("\n", 1)[0].count)  # the comma if there is none
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(reader.line_num, cells) for cells in reader if any(cells)]
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8: save it as UTF-8") from error
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error
    if not rows or len(rows[0][1]) < 2:
        raise SourceError(f"{path}: the first line must name at least two columns")
    names, width = rows[0][1], len(rows[0][1])
    for line, cells in rows[1:]:
        if len(cells) != width:
            raise SourceError(f"{path}, line {line}: {width} cells expected as in the first line, got {len(cells)}")
    return names, rows[1:]


# A map of items made by hand: a file or a dict that pairs public items with items of the release.


def read_item_map(source: Items, public: Codes, release: Codes) -> tuple[dict[int, int], dict[str, int]]:
    """The pairs of items that both data sets have, and counts of rows and of unknown items."""
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            raise ParameterError("items must map text to text: convert the ids with str()")
        rows, name = list(source.items()), "the map of items"
    else:
        rows, name = _read_map(Path(source), public, release), str(source)
    rows = list(dict.fromkeys(row for row in rows if all(row)))
    pairs = [(public[ours], release[theirs]) for ours, theirs in rows if ours in public and theirs in release]
    if not pairs:
        is_reversed = any(ours in release and theirs in public for ours, theirs in rows)
        direction, text = "it must map public items to items of the release", "ids are text, so 0114709 is not 114709"
        hint = direction if is_reversed else text
        raise ParameterError(f"{name} pairs no public item with an item of the release: {hint}")
    _refuse_duplicates(pairs, list(public), list(release), name)
    counts = {
        "map_rows": len(rows),
        "map_unknown_public": sum(ours not in public for ours, _ in rows),
        "map_unknown_release": sum(theirs not in release for _, theirs in rows),
    }
    return dict(pairs), counts


def _read_map(path: Path, public: Codes, release: Codes) -> list[tuple[str, str]]:
    """(public item, release item) of each row: by the column names, else the first two."""
    header, rows = read_rows(path)
    plain = [re.sub("[^a-z]", "", name.lower()) for name in header]
    names = ("public", "publicitem", "publicid", "from"), ("release", "releaseitem", "releaseid", "to")
    named = [[at for at, name in enumerate(plain) if name in side] for side in names]
    if not all(len(columns) == 1 for columns in named):
        if all(name in public or name in release for name in header[:2]):
            raise SourceError(f"{path}: the first line must name the columns, for example public,release")
        named = [[0], [1]]
    (public_column,), (release_column,) = named
    pairs = [(cells[public_column], cells[release_column]) for _, cells in rows]
    forward = sum(first in public and second in release for first, second in pairs)
    backward = sum(second in public and first in release for first, second in pairs)
    return pairs if named != [[0], [1]] or forward >= backward else [(second, first) for first, second in pairs]


def _refuse_duplicates(pairs: Iterable[tuple[int, int]], public: list[str], release: list[str], name: str) -> None:
    """Raise a ParameterError if a public item has two partners, or an item of the release has two."""
    problems, pairs = [], list(dict.fromkeys(pairs))
    split, merged = ([code for code, n in Counter(pair[side] for pair in pairs).items() if n > 1] for side in (0, 1))
    if split:
        problems.append(f"{_listed(split, public, 'public item')} to several items of the release")
    if merged:
        problems.append(f"several public items to {_listed(merged, release, 'item')} of the release")
    if problems:
        raise ParameterError(f"{name} maps {' and '.join(problems)}: keep one row for each item")


def _listed(codes: list[int], ids: list[str], noun: str) -> str:
    some = ", ".join(printable(ids[code]) for code in codes[:3]) + (", …" if len(codes) > 3 else "")
    return f"{len(codes):,} {noun}{'s' if len(codes) > 1 else ''} ({some})"


# The review file: doubtful pairs of items, written for people to decide on, and read back.


REVIEW_COLUMNS = {
    "public_item": pl.String,
    "public_title": pl.String,
    "release_item": pl.String,
    "release_title": pl.String,
    "score": pl.Float64,
    "decision": pl.String,
    "reason": pl.String,
}
REQUIRED = ("public_item", "release_item", "decision")


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs of item codes that people accepted or rejected; `unknown` decisions name unknown items."""

    yes: dict[int, int] = field(default_factory=dict)
    no: frozenset[tuple[int, int]] = frozenset()
    unknown: int = 0


def read_decisions(path: Path, public: Codes, release: Codes) -> Decisions:
    """The decisions of a review file as codes, or raise if they map an item twice."""
    decisions = _read_review(path)
    coded = {
        (public[public_item], release[release_item]): decision
        for (public_item, release_item), decision in decisions.items()
        if public_item in public and release_item in release
    }
    if decisions and not coded:
        raise ParameterError(
            f"{path}: no decision names items of both data sets; a spreadsheet may have removed leading zeros"
        )
    accepted = [pair for pair, decision in coded.items() if decision == "yes"]
    _refuse_duplicates(accepted, list(public), list(release), str(path))
    rejected = frozenset(pair for pair, decision in coded.items() if decision == "no")
    return Decisions(dict(accepted), rejected, len(decisions) - len(coded))


def _read_review(path: Path) -> dict[tuple[str, str], str]:
    """(public item, release item) → yes or no; open pairs are skipped."""
    header, rows = read_rows(path)
    names = [name.strip().lower() for name in header]
    if any(names.count(name) != 1 for name in REQUIRED):
        raise SourceError(f"{path}: the columns {', '.join(REQUIRED)} are required, each once")
    public_column, release_column, decision_column = (names.index(name) for name in REQUIRED)
    decisions: dict[tuple[str, str], str] = {}
    for line, cells in rows:
        decision = cells[decision_column].strip().lower()
        if decision not in ("yes", "no", "?", ""):
            raise SourceError(f"{path}, line {line}: decision must be yes, no or ?")
        if decision in ("yes", "no"):
            pair = exact_text(cells[public_column]), exact_text(cells[release_column])
            if decisions.setdefault(pair, decision) != decision:
                raise SourceError(f"{path}, line {line}: an earlier line decides the same pair differently")
    return decisions


def _review_table(aligned: "_AlignedItems", catalogues: "_Catalogues", decisions: Decisions) -> pl.DataFrame:
    """The pairs for review, open ones first, then accepted ones, the weakest on top, then rejected ones.

    Earlier decisions are among them, so that the file can be passed again.
    """
    public, release = catalogues.public, catalogues.release
    pairs: list[tuple[tuple[int, int], float | None, str, str]]
    pairs = [(pair.ends, pair.score, "?", pair.reason) for pair in aligned.doubtful]
    pairs += [
        (pair.ends, pair.score, "yes", pair.reason) for pair in aligned.accepted if pair.public not in decisions.yes
    ]
    for decision, decided in (("yes", decisions.yes.items()), ("no", decisions.no)):
        for ends in decided:
            score, reason = aligned.scored[ends][2:] if ends in aligned.scored else (None, "")
            pairs.append((ends, score, decision, reason or "reviewed"))
    rows = []
    for (ours, theirs), score, decision, reason in pairs:
        titles = [
            "" if data.titles is None else data.titles[code] for data, code in ((public, ours), (release, theirs))
        ]
        strength = -1.0 if score is None else score
        key = "?yn".index(decision[0]), strength if decision == "yes" else -strength, public.items[ours]
        row = public.items[ours], titles[0], release.items[theirs], titles[1], score, decision, reason
        rows.append(((*key, release.items[theirs]), row))
    rows.sort(key=lambda row: row[0])
    return pl.DataFrame([row for _, row in rows], schema=REVIEW_COLUMNS, orient="row")


# Which public item is which item of the release: by id, by title, by a map, and by people's decisions.


MIN_AGREEMENT = 0.8
"""Ids are trusted if the titles of at least this share of shared ids agree."""
CHECKED_IDS = 1_000


class _Catalogues:
    """The item ids and titles of both data sets; `shared` maps public codes to codes of the same id."""

    def __init__(self, release: Release, public: Release) -> None:
        self.release, self.public = release, public
        self.release_codes = {text: code for code, text in enumerate(release.items)}
        self.public_codes = {text: code for code, text in enumerate(public.items)}
        codes = self.release_codes
        self.shared = {code: codes[text] for text, code in self.public_codes.items() if text in codes}
        self.titled = _has_text(release.titles) and _has_text(public.titles)

    @cached_property
    def titles(self) -> tuple[Titles, Titles]:
        return Titles(self.public.titles or ()), Titles(self.release.titles or ())

    def compare_titles(self, pairs: Mapping[int, int], step: int = 1) -> list[Pair]:
        """The title similarity of every step-th pair, where both items have a title."""
        if not self.titled:
            return []
        public, release = (side.titles for side in self.titles)
        return [
            Pair(ours, theirs, similarity(public[ours], release[theirs]), "different title")
            for ours, theirs in list(pairs.items())[::step]
            if public[ours].names and release[theirs].names
        ]


def _has_text(labels: Labels | None) -> bool:
    return labels is not None and len(labels.data) > 0


@dataclass(frozen=True, eq=False, kw_only=True)
class _AlignedItems:
    """The release's item for each public item (-1 for none), and the pairs that somebody should review."""

    method: Literal["id", "map", "title"]
    item: Ints
    accepted: list[Pair]
    scored: dict[tuple[int, int], Pair]
    doubtful: list[Pair] = field(default_factory=list)
    facts: Mapping[str, int] = field(default_factory=dict)

    def counts(self, public: Release, decisions: Decisions) -> AlignmentCounts:
        is_aligned = self.item >= 0
        aligned, doubtful = int(np.count_nonzero(is_aligned)), len({pair.public for pair in self.doubtful})
        by_method: dict[str, Any] = {f"by_{self.method}": aligned - len(decisions.yes), **self.facts}
        return AlignmentCounts(
            items=public.n_items,
            aligned=aligned,
            by_review=len(decisions.yes),
            doubtful=doubtful,
            unknown=public.n_items - aligned - doubtful,
            entries=public.n_entries,
            aligned_entries=int(public.item_entries[is_aligned].sum()),
            review_unknown=decisions.unknown,
            **by_method,
        )


def _align_items(catalogues: _Catalogues, items: Items, decisions: Decisions) -> _AlignedItems:
    """The release's item for each public item."""
    if isinstance(items, str) and items == "auto":
        items = "id" if _ids_agree(catalogues) else "title"
    if isinstance(items, str) and items == "title":
        return _align_by_title(catalogues, decisions)
    counts: dict[str, int] = {}
    if isinstance(items, str) and items == "id":
        pairs = catalogues.shared
    elif isinstance(items, (str, PathLike, Mapping)):
        pairs, counts = read_item_map(items, catalogues.public_codes, catalogues.release_codes)
    else:
        raise ParameterError(f"items must be auto, id, title, a CSV file or a dict, got {type(items).__name__}")
    item, compared = _decided_items(catalogues, pairs, decisions), catalogues.compare_titles(pairs)
    different = [pair for pair in compared if pair.score < LISTED]  # these are listed for review
    accepted = [pair for pair in different if item[pair.public] == pair.release]
    by_id = not counts
    return _AlignedItems(
        method="id" if by_id else "map",
        item=item,
        accepted=accepted,
        scored={pair.ends: pair for pair in different},
        facts=counts | {"titles_differ": len(accepted), "ids_unchecked": by_id and not compared},
    )


def _ids_agree(catalogues: _Catalogues) -> bool:
    """Whether the same id means the same item in both data sets, judged by a sample of titles."""
    step = max(len(catalogues.shared) // CHECKED_IDS, 1)
    sample = catalogues.compare_titles(catalogues.shared, step)
    if not sample:
        return bool(catalogues.shared) or not catalogues.titled
    return sum(pair.score >= LISTED for pair in sample) >= MIN_AGREEMENT * len(sample)


def _align_by_title(catalogues: _Catalogues, decisions: Decisions) -> _AlignedItems:
    if not catalogues.titled:
        side = "public data" if _has_text(catalogues.release.titles) else "release"
        raise ParameterError(
            f"items='title' is not possible: the {side} has no titles. Read it with titles, or pass a map of items"
        )
    pairs, taken = similar_titles(*catalogues.titles), {*decisions.yes.values()}
    accepted, doubtful = accept_pairs(
        pair
        for pair in pairs
        if pair.ends not in decisions.no and pair.public not in decisions.yes and pair.release not in taken
    )
    return _AlignedItems(
        method="title",
        item=_decided_items(catalogues, {pair.public: pair.release for pair in accepted}, decisions),
        accepted=[pair for pair in accepted if pair.reason],
        doubtful=doubtful,
        scored={pair.ends: pair for pair in pairs},
        facts={"ambiguous": len({pair.public for pair in doubtful if pair.reason.endswith(RIVAL)})},
    )


def _decided_items(catalogues: _Catalogues, pairs: Mapping[int, int], decisions: Decisions) -> Ints:
    """The pairs after the review: people's decisions override everything else."""
    taken = {*decisions.yes.values()}
    item = np.full(catalogues.public.n_items, -1, np.int64)
    for public, release in pairs.items():
        if (public, release) not in decisions.no and release not in taken:
            item[public] = release
    for public, release in decisions.yes.items():
        item[public] = release
    return item


# Public values on the scale of the release.


METHODS = ("auto", "same", "quantiles", "none")
CHUNK = 1 << 24


def check_values(values: Any) -> Values:
    """How values are aligned, or raise a ParameterError."""
    if isinstance(values, str) and values in METHODS:
        return values  # type: ignore[return-value]
    is_pair = isinstance(values, (tuple, list)) and len(values) == 2
    if is_pair and all(isinstance(number, Real) and not isinstance(number, bool) for number in values):
        scale, shift = float(values[0]), float(values[1])
        if math.isfinite(scale) and math.isfinite(shift) and scale:
            return scale, shift
    raise ParameterError(
        f"values must be {', '.join(METHODS)} or (scale, shift) with a scale other than 0, got {values!r}"
    )


def _align_values(release: Release, public: Release, item: Ints, values: Values) -> tuple[Floats, str]:
    """Each public level on the release's scale, NaN where it cannot be compared, and a sentence about it."""
    not_compared, ours, theirs = np.full(public.n_levels, np.nan), release.levels, public.levels
    if values == "none":
        return not_compared, "Values are not compared."
    if not release.n_levels or not public.n_levels:
        side = "release" if not release.n_levels else "public data"
        if values in ("auto", "same"):
            return not_compared, f"Values are not compared: the {side} has none."
        raise ParameterError(f"values={values!r} is not possible: the {side} has no values")
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return _align_numbers(release, public, item, values)
    if values not in ("auto", "same"):
        raise ParameterError(f"values={values!r} needs numbers in both data sets, but one has categories")
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        code = {text: float(index) for index, text in enumerate(ours)}
        codes = np.array([code.get(text, np.nan) for text in theirs])
        known, n = int(np.count_nonzero(~np.isnan(codes))), len(theirs)
        return codes, f"Values are categories. The release has {known:,} of the {n:,} public categories."
    if values == "same":
        raise ParameterError("values='same' is not possible: one data set has numbers, the other categories")
    return not_compared, "Values are not compared: one data set has numbers, the other has categories."


def _align_numbers(release: Release, public: Release, item: Ints, values: Values) -> tuple[Floats, str]:
    ours, theirs = np.asarray(release.levels), np.asarray(public.levels)
    if values == "quantiles":
        aligned = _match_quantiles(release, public, item)
        return aligned, "Values are matched by their quantiles over the shared items."
    if isinstance(values, tuple):
        (scale, shift), reason = values, "as specified"
    elif values == "same" or _same_scale(ours, theirs):
        scale, shift, reason = 1.0, 0.0, "both data sets use one scale"
    elif len(ours) == 1 or len(theirs) == 1:
        return np.full(len(theirs), np.nan), "Values are not compared: one data set has a single value."
    else:
        scale = float((ours[-1] - ours[0]) / (theirs[-1] - theirs[0]))
        shift = float(ours[0] - scale * theirs[0])
        reason = "guessed from the lowest and highest values in use"
    rescaled = scale * theirs + shift
    value = np.clip(rescaled, ours[0], ours[-1])
    outside = int(np.count_nonzero(~np.isclose(rescaled, value, rtol=0.0, atol=1e-9)))
    if outside == len(theirs):
        raise ParameterError(
            f"values=({scale:g}, {shift:g}) puts every public value outside the release's range, "
            f"{ours[0]:g} to {ours[-1]:g}: choose another scale and shift"
        )
    return value, rescaled_values(scale, shift, reason, outside, len(theirs))


def _same_scale(ours: Floats, theirs: Floats) -> bool:
    """Whether two scales are the same: equal highest levels, and lowest levels within a step (0.5–5, 1–5)."""
    if len(theirs) == 1:
        return bool(ours[0] <= theirs[0] <= ours[-1])
    step = max(float(np.diff(levels).max(initial=0.0)) for levels in (ours, theirs))
    quarter = min(float(levels[-1] - levels[0]) for levels in (ours, theirs)) / 4.0
    return bool(ours[-1] == theirs[-1] and abs(ours[0] - theirs[0]) <= min(step, quarter))


def _match_quantiles(release: Release, public: Release, item: Ints) -> Floats:
    """The level of the release, interpolated, with the same share of values below it (and half of its own)."""
    shared = np.zeros(release.n_items, np.bool_)
    shared[item[item >= 0]] = True
    counts = _level_counts(release, shared), _level_counts(public, item >= 0)
    if not all(side.any() for side in counts):
        raise ParameterError("values='quantiles' is not possible: one data set has no values for the shared items")
    ours, theirs = ((np.cumsum(side) - side / 2.0) / side.sum() for side in counts)
    used = counts[0] > 0
    return np.asarray(np.interp(theirs, ours[used], np.asarray(release.levels)[used]))


def _level_counts(release: Release, items: Bools) -> Ints:
    """How many entries of these items have each level."""
    side, counts = release.check().by_record, np.zeros(release.n_levels + 1, np.int64)
    if side.value is not None:
        for low in range(0, len(side.item), CHUNK):
            chunk = slice(low, low + CHUNK)
            counts += np.bincount(side.value[chunk][items[side.item[chunk]]], minlength=len(counts))
    return counts[:-1]


# The result of an alignment: public profiles as facts in the codes of a release.


FAR_DAYS = 1_000
"""Dates further outside the release than this, and than the release is long, count as that far."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """A public data set expressed in the codes of a release.

    `item` is the release's code for each public item, -1 for none; `value` is each public level on the release's
    scale, or the code of a category, NaN if it cannot be compared; `doubtful` are pairs of items for review.
    """

    release: Release = field(repr=False)
    item: Ints = field(repr=False)
    value: Floats = field(repr=False)
    doubtful: pl.DataFrame = field(repr=False)
    counts: AlignmentCounts
    value_explanation: str

    @property
    def explanation(self) -> str:
        """How items and values were aligned, in a few sentences."""
        return explain_alignment(self.counts, self.value_explanation)

    def known(self, public: Release, profiles: Sequence[int] | Ints, used: Bools | None = None) -> KnownFacts:
        """What these profiles say about items of the release, as facts in its codes; `used` entries only, by record.

        Times are moved to the release's clock: a day becomes its first hour or minute. `values` is the same for
        all profiles, so the facts of several calls can be combined.
        """
        if public.n_items != len(self.item) or public.n_levels != len(self.value):
            raise ParameterError("public must be the data set that was aligned, got a different one")
        position = np.asarray(profiles, np.int64).reshape(-1)
        if len(position) and not (0 <= position.min() and position.max() < public.n_records):
            raise NotFoundError(f"profiles must be positions from 0 to {public.n_records - 1:,}")
        side = public.check().by_record
        first, entry = take_rows(side.start, position)
        item = self.item[side.item[entry]]
        shared = np.flatnonzero(item >= 0 if used is None else (item >= 0) & used[entry])
        entry, first = entry[shared], np.searchsorted(shared, first).astype(np.int64)
        value = np.full(len(entry), -1) if side.value is None else self._value_index[side.value[entry]]
        time, timed = self._times(public, entry)
        lengths, joined = repeat_bounds(len(position), ANY_LENGTH), repeat_bounds(len(position), ANY_TIME)
        return KnownFacts(first, item[shared], value, self._values, time, timed, lengths, joined)

    def write_review(self, path: str | PathLike[str]) -> None:
        """Write `doubtful` as a CSV file: edit its decisions and pass it to `align` as `review`."""
        _write_rows(self.doubtful, path)

    @cached_property
    def _values(self) -> tuple[float | str, ...]:
        """The distinct values that facts can have."""
        if isinstance(self.release.levels, tuple):
            return level_values(self.release)
        return tuple(np.unique(self.value[~np.isnan(self.value)]).tolist())

    @cached_property
    def _value_index(self) -> Ints:
        """The index of each public level's value in `_values`, -1 for none; the last is for no value."""
        comparable = ~np.isnan(self.value)
        index = np.full(len(self.value) + 1, -1)
        values = self.value[comparable]
        is_category = isinstance(self.release.levels, tuple)
        index[:-1][comparable] = values if is_category else np.searchsorted(np.array(self._values), values)
        return index

    def _times(self, public: Release, entry: Ints) -> tuple[Ints, Bools]:
        """Times on the release's clock, 0 where unknown, and where they are known; both are wall clocks."""
        ours, theirs, column = self.release.clock, public.clock, public.by_record.time
        if ours is None or theirs is None or column is None or not (ours.span and theirs.span):
            return np.zeros(len(entry), np.int64), np.zeros(len(entry), np.bool_)
        code = column[entry].astype(np.int64)
        timed = code < theirs.span
        converted = (theirs.origin + code) * SECONDS[theirs.unit] // SECONDS[ours.unit] - ours.origin
        reach = max(ours.span, FAR_DAYS * SECONDS["day"] // SECONDS[ours.unit])
        return np.where(timed, np.clip(converted, -reach, ours.span + reach), 0), timed


def rescaled_values(scale: float, shift: float, reason: str, outside: int, levels: int) -> str:
    """Explain how numbers are rescaled; `outside` of the public levels lie outside the release's range."""
    formula = f"Values become {scale:g} · value {'−' if shift < 0 else '+'} {abs(shift):g}"
    unchanged = (scale, shift) == (1.0, 0.0)
    clipped = f" {outside:,} of {levels:,} public values lie outside the release's range and count as its ends."
    return f"{'Values are used unchanged' if unchanged else formula}: {reason}.{clipped if outside else ''}"


def explain_alignment(counts: AlignmentCounts, values: str) -> str:
    """Explain how items and values were aligned."""
    methods = {"id": counts.by_id, "map": counts.by_map, "title": counts.by_title, "review": counts.by_review}
    by_method = ", ".join(f"{items:,} by {method}" for method, items in methods.items() if items)
    entries = f"{100 * counts.aligned_entries / counts.entries:.1f} %" if counts.entries else "0 %"
    texts = [
        f"The release has {counts.aligned:,} of {counts.items:,} public items ({by_method}). "
        f"They cover {entries} of the public entries."
    ]
    map_rows, decisions = ("row of the map names", "rows of the map name"), "of the review"
    notes = (
        (counts.doubtful, ("more public item resembles", "more public items resemble"),
         "items of the release, but only a review can decide."),
        (counts.ambiguous, ("of them fits", "of them fit"),
         "several items equally well, or an item that another one fits equally well."),
        (counts.titles_differ, ("aligned item has", "aligned items have"),
         "a different title in the release and should be reviewed."),
        (counts.map_unknown_public, map_rows, "an item that the public data does not have."),
        (counts.map_unknown_release, map_rows, "an item that the release does not have."),
        (counts.review_unknown, (f"decision {decisions} names", f"decisions {decisions} name"), "an unknown item."),
    )  # fmt: skip
    sentences = [f"{count(number, *verb)} {rest}" if number else "" for number, verb, rest in notes]
    if counts.ids_unchecked:
        sentences.insert(3, "There were no titles to check whether the same id means the same item.")
    return " ".join(text for text in (*texts, *sentences, values) if text)
