"""Aligning two data sets: which public item is which item of the release, and what its values mean there."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from standout.core.arrays import Bools, Floats, Ints
from standout.core.errors import ParameterError, SourceError
from standout.core.files import write_atomically
from standout.core.json_files import read_text
from standout.core.text import count
from standout.data.build import count_codes
from standout.data.export import exact_text, inert
from standout.data.release import Release
from standout.findings.link_and_advise import AlignmentCounts
from standout.linking.titles import LISTED, RIVAL, Pair, Titles, accept_pairs, similar_titles, similarity

Codes = Mapping[str, int]
Items = str | PathLike[str] | Mapping[str, str]
Values = Literal["auto", "same", "quantiles", "none"] | tuple[float, float]


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
    explanation: str

    def write_review(self, path: str | PathLike[str]) -> None:
        """Write `doubtful` as a CSV file without formulas: edit its decisions and pass it to `align` as `review`."""
        write_atomically(Path(path), inert(self.doubtful).write_csv)


def align(
    release: Release,
    public: Release,
    *,
    items: Items = "auto",
    values: Values = "auto",
    review: str | PathLike[str] | None = None,
) -> Alignment:
    """Express a public data set in the codes of a release; the parameters are those of `link`.

    >>> import polars as pl, standout as so
    >>> release = so.read(pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"], "value": [1, 5]}))
    >>> public = so.read(pl.DataFrame({"record": ["x", "x"], "item": ["8", "9"], "value": [1, 10]}))
    >>> alignment = align(release, public)
    >>> alignment.item.tolist(), alignment.value.tolist()
    ([1, -1], [1.0, 5.0])
    """
    method = _check_values(values)
    codes: list[Codes] = [{text: code for code, text in enumerate(side.items)} for side in (public, release)]
    path = None if review is None else Path(review)
    reviewed = path is not None and path.exists()
    decisions = read_decisions(path, *codes) if path is not None and reviewed else Decisions()
    matched = _match_items(release, public, codes, items, decisions)
    item, taken = np.full(public.n_items, -1, np.int64), {*decisions.yes.values()}
    pairs = {pair for pair in matched.pairs.items() if pair not in decisions.no and pair[1] not in taken}
    for ours, theirs in (*pairs, *decisions.yes.items()):
        item[ours] = theirs
    accepted = [pair for pair in matched.listed if item[pair.public] == pair.release]
    doubtful = _review_table(release, public, matched, accepted, decisions)
    aligned, open_items = int(np.count_nonzero(item >= 0)), len({pair.public for pair in matched.doubtful})
    facts: dict[str, Any] = {f"by_{matched.method}": aligned - len(decisions.yes), **matched.facts}
    if matched.method != "title":
        facts["titles_differ"] = len(accepted)
    counts = AlignmentCounts(
        items=public.n_items,
        aligned=aligned,
        by_review=len(decisions.yes),
        doubtful=open_items,
        unknown=public.n_items - aligned - open_items,
        entries=public.n_entries,
        aligned_entries=int(public.item_entries[item >= 0].sum()),
        review_unknown=decisions.unknown,
        **facts,
    )
    value, explanation = np.full(public.n_levels, np.nan), ""
    if aligned:
        value, explanation = _align_values(release, public, item, method)
    alignment = Alignment(release, item, value, doubtful, counts, explain_alignment(counts, explanation))
    if path is not None and not reviewed:
        alignment.write_review(path)
    if aligned:
        return alignment
    if decisions.no:
        raise ParameterError("no item is in both data sets after the review: accept at least one pair")
    if matched.method == "id":
        advice = "read both with titles and pass items='title', or pass a map of items"
        raise ParameterError(f"no item id is in both data sets: {advice}")
    advice = f"review the {len(matched.doubtful):,} doubtful pairs, or " if matched.doubtful else ""
    raise ParameterError(f"no public title clearly matches a title of the release: {advice}pass a map of items")


# Which public item is which item of the release: by id, by title, or by a map.


MIN_AGREEMENT = 0.8
"""Ids are trusted if the titles of at least this share of shared ids agree."""
CHECKED_IDS = 1_000


@dataclass(frozen=True, eq=False)
class _MatchedItems:
    """Public items and their items of the release; pairs to be listed if they are used, and doubtful ones."""

    method: Literal["id", "map", "title"]
    pairs: Mapping[int, int]
    listed: list[Pair]
    doubtful: list[Pair]
    scored: list[Pair]
    facts: Mapping[str, int]


def _match_items(
    release: Release, public: Release, codes: list[Codes], items: Items, decisions: "Decisions"
) -> _MatchedItems:
    if not isinstance(items, (str, PathLike, Mapping)):
        raise ParameterError(f"items must be auto, id, title, a CSV file or a dict, got {type(items).__name__}")
    public_codes, release_codes = codes
    shared = {code: release_codes[text] for text, code in public_codes.items() if text in release_codes}
    has_titles = [side.titles is not None and len(side.titles.data) > 0 for side in (public, release)]
    titles = [Titles(side.titles or ()) for side in (public, release)] if all(has_titles) else []

    def compare_titles(pairs: Mapping[int, int], step: int = 1) -> list[Pair]:
        """The title similarity of every step-th pair, where both items have a title."""
        if not titles:
            return []
        ours, theirs = (side.titles for side in titles)
        return [
            Pair(one, other, similarity(ours[one], theirs[other]), "different title")
            for one, other in list(pairs.items())[::step]
            if ours[one].names and theirs[other].names
        ]

    if items == "auto":  # ids, if the titles of a sample of shared ids agree, or there are none
        sample = compare_titles(shared, max(len(shared) // CHECKED_IDS, 1))
        agree = sum(pair.score >= LISTED for pair in sample) >= MIN_AGREEMENT * len(sample)
        items = "id" if (agree if sample else shared or not titles) else "title"
    if items == "title":
        if not titles:
            side = "public data" if has_titles[1] else "release"
            raise ParameterError(
                f"items='title' is not possible: the {side} has no titles. Read it with titles, or pass a map of items"
            )
        scored, taken = similar_titles(*titles), {*decisions.yes.values()}
        accepted, doubtful = accept_pairs(
            pair
            for pair in scored
            if pair.ends not in decisions.no and pair.public not in decisions.yes and pair.release not in taken
        )
        ambiguous = len({pair.public for pair in doubtful if pair.reason.endswith(RIVAL)})
        pairs, listed = {pair.public: pair.release for pair in accepted}, [pair for pair in accepted if pair.reason]
        return _MatchedItems("title", pairs, listed, doubtful, scored, {"ambiguous": ambiguous})
    counts: dict[str, int] = {}
    if items != "id":
        shared, counts = read_item_map(items, public_codes, release_codes)
    compared = compare_titles(shared)
    different = [pair for pair in compared if pair.score < LISTED]
    facts = counts or {"ids_unchecked": not compared}
    return _MatchedItems("map" if counts else "id", shared, different, [], different, facts)


# Small CSV files that people edit: a map of items, and the review of doubtful pairs. Any of three separators.


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The column names, and the line number and cells of every row that is not empty."""
    text = read_text(path, "a CSV file")
    separator = max(",;\t", key=text.split("\n", 1)[0].count)  # the comma if there is none
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader if any(cells)]
    except csv.Error as error:
        raise SourceError(f"{path} is not a CSV file: {error}") from error
    if not rows or len(rows[0][1]) < 2:
        raise SourceError(f"{path}: the first line must name at least two columns")
    names, width = rows[0][1], len(rows[0][1])
    for line, cells in rows[1:]:
        if len(cells) != width:
            raise SourceError(f"{path}, line {line}: {width} cells expected as in the first line, got {len(cells)}")
    return names, rows[1:]


def read_columns(path: Path, required: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """The line number and the cells of these columns of every row that is not empty."""
    header, rows = read_rows(path)
    names = [name.strip().lower() for name in header]
    if any(names.count(name) != 1 for name in required):
        raise SourceError(f"{path}: the columns {', '.join(required)} are required, each once")
    columns = [names.index(name) for name in required]
    return [(line, [cells[column] for column in columns]) for line, cells in rows]


def read_item_map(source: Items, public: Codes, release: Codes) -> tuple[dict[int, int], dict[str, int]]:
    """The pairs of items that both data sets have, and counts of rows and of unknown items.

    A file has columns `public` and `release`; otherwise its first two count, in the direction that fits better.
    """
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            raise ParameterError("items must map text to text: convert the ids with str()")
        rows, name = list(source.items()), "the map of items"
    else:
        (header, lines), name = read_rows(Path(source)), str(source)
        columns, plain = [0, 1], [text.strip().lower() for text in header]
        if {"public", "release"} <= set(plain):
            columns = [plain.index("public"), plain.index("release")]
        elif all(text in public or text in release for text in header[:2]):
            raise SourceError(f"{name}: the first line must name the columns, for example public,release")
        rows = [(cells[columns[0]], cells[columns[1]]) for _, cells in lines]
        backward = [(theirs, ours) for ours, theirs in rows]
        fits, fits_backward = (sum(a in public and b in release for a, b in side) for side in (rows, backward))
        rows = backward if "public" not in plain and fits_backward > fits else rows
    rows = list(dict.fromkeys(row for row in rows if all(row)))
    pairs = [(public[ours], release[theirs]) for ours, theirs in rows if ours in public and theirs in release]
    if not pairs:
        is_reversed = any(ours in release and theirs in public for ours, theirs in rows)
        direction, text = "it must map public items to items of the release", "ids are text, so 0114709 is not 114709"
        hint = direction if is_reversed else text
        raise ParameterError(f"{name} pairs no public item with an item of the release: {hint}")
    _refuse_duplicates(pairs, name)
    counts = {
        "map_rows": len(rows),
        "map_unknown_public": sum(ours not in public for ours, _ in rows),
        "map_unknown_release": sum(theirs not in release for _, theirs in rows),
    }
    return dict(pairs), counts


def _refuse_duplicates(pairs: Iterable[tuple[int, int]], name: str) -> None:
    """Raise a ParameterError if a public item has two partners, or an item of the release has two."""
    distinct = set(pairs)
    split, merged = (sum(n > 1 for n in Counter(pair[side] for pair in distinct).values()) for side in (0, 1))
    problems = [f"{count(split, 'public item', 'public items')} to several items of the release"] if split else []
    if merged:
        problems.append(f"several public items to {count(merged, 'item', 'items')} of the release")
    if problems:
        raise ParameterError(f"{name} maps {' and '.join(problems)}: keep one row for each item")


REVIEW_COLUMNS = {
    **dict.fromkeys(("public_item", "public_title", "release_item", "release_title"), pl.String),
    "score": pl.Float64,
    **dict.fromkeys(("decision", "reason"), pl.String),
}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Pairs of item codes that people accepted or rejected; `unknown` decisions name unknown items."""

    yes: dict[int, int] = field(default_factory=dict)
    no: frozenset[tuple[int, int]] = frozenset()
    unknown: int = 0


def read_decisions(path: Path, public: Codes, release: Codes) -> Decisions:
    """The decisions of a review file as codes, without open pairs; or raise if they map an item twice."""
    decisions: dict[tuple[str, str], str] = {}
    for line, (ours, theirs, text) in read_columns(path, ("public_item", "release_item", "decision")):
        decision = text.strip().lower()
        if decision not in ("yes", "no", "?", ""):
            raise SourceError(f"{path}, line {line}: decision must be yes, no or ?")
        if decision in ("yes", "no"):
            pair = exact_text(ours), exact_text(theirs)
            if decisions.setdefault(pair, decision) != decision:
                raise SourceError(f"{path}, line {line}: an earlier line decides the same pair differently")
    coded = {(public[a], release[b]): yes for (a, b), yes in decisions.items() if a in public and b in release}
    if decisions and not coded:
        raise ParameterError(
            f"{path}: no decision names items of both data sets; a spreadsheet may have removed leading zeros"
        )
    accepted = [pair for pair, decision in coded.items() if decision == "yes"]
    _refuse_duplicates(accepted, str(path))
    rejected = frozenset(pair for pair, decision in coded.items() if decision == "no")
    return Decisions(dict(accepted), rejected, len(decisions) - len(coded))


def _review_table(
    release: Release, public: Release, matched: _MatchedItems, accepted: list[Pair], decisions: Decisions
) -> pl.DataFrame:
    """The pairs for review, open ones first, then accepted ones, the weakest on top, then rejected ones.

    Earlier decisions are among them, so that the file can be passed again.
    """
    pairs: list[tuple[tuple[int, int], float | None, str, str]]
    pairs = [(pair.ends, pair.score, "?", pair.reason) for pair in matched.doubtful]
    pairs += [(pair.ends, pair.score, "yes", pair.reason) for pair in accepted if pair.public not in decisions.yes]
    scored = {pair.ends: (pair.score, pair.reason) for pair in matched.scored}
    for decision, decided in (("yes", decisions.yes.items()), ("no", decisions.no)):
        for ends in decided:
            score, reason = scored.get(ends, (None, ""))
            pairs.append((ends, score, decision, reason or "reviewed"))
    rows = []
    for ends, score, decision, reason in pairs:
        sides = zip((public, release), ends, strict=True)
        texts = [(side.items[code], "" if side.titles is None else side.titles[code]) for side, code in sides]
        strength = -1.0 if score is None else score
        key = "?yn".index(decision[0]), strength if decision == "yes" else -strength, texts[0][0], texts[1][0]
        rows.append((key, (*texts[0], *texts[1], score, decision, reason)))
    rows.sort(key=lambda row: row[0])
    return pl.DataFrame([row for _, row in rows], schema=REVIEW_COLUMNS, orient="row")


# Public values on the scale of the release.


METHODS = ("auto", "same", "quantiles", "none")


def _check_values(values: Any) -> Values:
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
        if values == "quantiles":
            aligned = _match_quantiles(release, public, item)
            return aligned, "Values are matched by their quantiles over the shared items."
        return _rescale(ours, theirs, values)
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


def _rescale(ours: Floats, theirs: Floats, values: Values) -> tuple[Floats, str]:
    """Public numbers on the release's scale: as given, unchanged, or from the lowest and highest values in use."""
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
    formula = f"Values become {scale:g} · value {'−' if shift < 0 else '+'} {abs(shift):g}"
    used = "Values are used unchanged" if (scale, shift) == (1.0, 0.0) else formula
    clipped = f" {outside:,} of {len(theirs):,} public values lie outside the release's range and count as its ends."
    return value, f"{used}: {reason}.{clipped if outside else ''}"


def _same_scale(ours: Floats, theirs: Floats) -> bool:
    """Whether two scales are the same: equal highest levels, and lowest levels within a step (0.5–5, 1–5)."""
    if len(theirs) == 1:
        return bool(ours[0] <= theirs[0] <= ours[-1])
    step = max(float(np.diff(levels).max(initial=0.0)) for levels in (ours, theirs))
    quarter = min(float(levels[-1] - levels[0]) for levels in (ours, theirs)) / 4.0
    return bool(ours[-1] == theirs[-1] and abs(ours[0] - theirs[0]) <= min(step, quarter))


def _match_quantiles(release: Release, public: Release, item: Ints) -> Floats:
    """The level of the release, interpolated, with the same share of values below it (and half of its own)."""
    shared = np.isin(np.arange(release.n_items), item)
    counts = _level_counts(release, shared), _level_counts(public, item >= 0)
    if not all(side.any() for side in counts):
        raise ParameterError("values='quantiles' is not possible: one data set has no values for the shared items")
    ours, theirs = ((np.cumsum(side) - side / 2.0) / side.sum() for side in counts)
    used = counts[0] > 0
    return np.asarray(np.interp(theirs, ours[used], np.asarray(release.levels)[used]))


def _level_counts(release: Release, items: Bools) -> Ints:
    """How many entries of these items have each level."""
    side = release.check().by_record
    codes = np.empty(0, np.uint8) if side.value is None else side.value[items[side.item]]
    return count_codes(codes, release.n_levels + 1)[:-1]


def explain_alignment(counts: AlignmentCounts, values: str) -> str:
    """Explain how items and values were aligned."""
    methods = {"id": counts.by_id, "map": counts.by_map, "title": counts.by_title, "review": counts.by_review}
    by_method = ", ".join(f"{items:,} by {method}" for method, items in methods.items() if items)
    entries = f"{100 * counts.aligned_entries / counts.entries:.1f} %" if counts.entries else "0 %"
    unchecked = "There were no titles to check whether the same id means the same item."
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
    sentences = [
        f"The release has {counts.aligned:,} of {counts.items:,} public items ({by_method}). "
        f"They cover {entries} of the public entries.",
        unchecked if counts.ids_unchecked else "",
        *(f"{count(number, *verb)} {rest}" if number else "" for number, verb, rest in notes),
        values,
    ]
    return " ".join(filter(None, sentences))
