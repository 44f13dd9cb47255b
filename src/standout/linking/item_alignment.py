"""Which public item is which item of the release: by id, by title, by a map, and by people's decisions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Literal

import numpy as np

from standout.core.arrays import Ints
from standout.core.errors import ParameterError
from standout.findings.links import AlignmentCounts
from standout.linking.item_map import ItemMap, read_item_map
from standout.linking.review import Decisions, Row
from standout.linking.title_pairs import RIVAL, Pair, accept_pairs, similar_titles
from standout.linking.title_scores import LISTED, similarity
from standout.linking.titles import Titles
from standout.release.labels import Labels
from standout.release.model import Release

__all__ = ["Catalogues", "ItemAlignment", "Items", "align_items"]

Items = str | PathLike[str] | Mapping[str, str]
Method = Literal["id", "map", "title"]
MIN_AGREEMENT = 0.8
"""Ids are trusted if the titles of at least this share of shared ids agree."""
CHECKED_IDS = 1_000


@dataclass(frozen=True, eq=False)
class Catalogues:
    """The item ids and titles of both data sets."""

    release: Release
    public: Release

    @cached_property
    def release_codes(self) -> dict[str, int]:
        """The code of each item id of the release."""
        return {text: code for code, text in enumerate(self.release.items)}

    @cached_property
    def public_codes(self) -> dict[str, int]:
        """The code of each public item id."""
        return {text: code for code, text in enumerate(self.public.items)}

    @cached_property
    def shared(self) -> dict[int, int]:
        """Public code → release code of items with the same id."""
        codes = self.release_codes
        return {code: codes[text] for text, code in self.public_codes.items() if text in codes}

    @cached_property
    def release_titles(self) -> Titles:
        """The parsed titles of the release."""
        return Titles.of(self.release.titles or ())

    @cached_property
    def public_titles(self) -> Titles:
        """The parsed public titles."""
        return Titles.of(self.public.titles or ())

    @property
    def titled(self) -> bool:
        """Whether both data sets have titles at all."""
        return _has_text(self.release.titles) and _has_text(self.public.titles)

    def compare_titles(self, pairs: Mapping[int, int], step: int = 1) -> list[Pair]:
        """Return the title similarity of every step-th pair, where both items have a title."""
        if not self.titled:
            return []
        public, release = self.public_titles.titles, self.release_titles.titles
        return [
            Pair(ours, theirs, similarity(public[ours], release[theirs]), "different title")
            for ours, theirs in list(pairs.items())[::step]
            if public[ours].names and release[theirs].names
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemAlignment:
    """The release's item for each public item (-1 for none), and the pairs that somebody should review.

    `accepted` pairs were aligned although not identical, `doubtful` ones were not. `scored` has every pair
    whose titles were compared.
    """

    method: Method
    item: Ints
    accepted: list[Pair] = field(default_factory=list)
    doubtful: list[Pair] = field(default_factory=list)
    scored: dict[tuple[int, int], Pair] = field(default_factory=dict)
    item_map: ItemMap | None = None
    ambiguous: int = 0
    titles_differ: int = 0
    ids_unchecked: bool = False

    def counts(self, catalogues: Catalogues, decisions: Decisions) -> AlignmentCounts:
        """Return how many public items were aligned, and how."""
        public, is_aligned = catalogues.public, self.item >= 0
        aligned, by_review = int(np.count_nonzero(is_aligned)), len(decisions.yes)
        doubtful = len({pair.public for pair in self.doubtful})
        by_method = aligned - by_review
        return AlignmentCounts(
            items=public.n_items,
            aligned=aligned,
            by_id=by_method if self.method == "id" else 0,
            by_map=by_method if self.method == "map" else 0,
            by_title=by_method if self.method == "title" else 0,
            by_review=by_review,
            doubtful=doubtful,
            unknown=public.n_items - aligned - doubtful,
            entries=public.n_entries,
            aligned_entries=int(public.item_entries[is_aligned].sum()),
            ambiguous=self.ambiguous,
            titles_differ=self.titles_differ,
            ids_unchecked=self.ids_unchecked,
            map_rows=self.item_map.rows if self.item_map else 0,
            map_unknown_public=self.item_map.unknown_public if self.item_map else 0,
            map_unknown_release=self.item_map.unknown_release if self.item_map else 0,
            review_unknown=decisions.unknown,
        )

    def review_rows(self, catalogues: Catalogues, decisions: Decisions) -> Iterator[Row]:
        """Yield the pairs for review, including earlier decisions, so that the file can be passed again."""
        for pair in self.doubtful:
            yield _review_row(catalogues, pair.ends, pair.score, "?", pair.reason)
        for pair in self.accepted:
            if pair.public not in decisions.yes:
                yield _review_row(catalogues, pair.ends, pair.score, "yes", pair.reason)
        for decision, pairs in (("yes", decisions.yes.items()), ("no", decisions.no)):
            for ends in pairs:
                scored = self.scored.get(ends)
                score, reason = (scored.score, scored.reason) if scored else (None, "")
                yield _review_row(catalogues, ends, score, decision, reason or "reviewed")


def _review_row(
    catalogues: Catalogues, ends: tuple[int, int], score: float | None, decision: str, reason: str
) -> Row:
    public, release = catalogues.public, catalogues.release
    ours, theirs = ends
    titles = _title(public, ours), _title(release, theirs)
    return public.items[ours], titles[0], release.items[theirs], titles[1], score, decision, reason


def align_items(catalogues: Catalogues, items: Items, decisions: Decisions) -> ItemAlignment:
    """Return the release's item for each public item."""
    if isinstance(items, str) and items == "auto":
        by_id = _ids_agree(catalogues)
        return _align_by_id(catalogues, decisions) if by_id else _align_by_title(catalogues, decisions)
    if isinstance(items, str) and items == "id":
        return _align_by_id(catalogues, decisions)
    if isinstance(items, str) and items == "title":
        return _align_by_title(catalogues, decisions)
    if not isinstance(items, (str, PathLike, Mapping)):
        raise ParameterError(
            f"items must be auto, id, title, a CSV file or a dict, got {type(items).__name__}"
        )
    item_map = read_item_map(items, catalogues.public_codes, catalogues.release_codes)
    return _align_as_given(catalogues, "map", item_map.pairs, decisions, item_map=item_map)


def _ids_agree(catalogues: Catalogues) -> bool:
    """Whether the same id means the same item in both data sets, judged by a sample of titles."""
    step = max(len(catalogues.shared) // CHECKED_IDS, 1)
    sample = catalogues.compare_titles(catalogues.shared, step)
    if not sample:
        return bool(catalogues.shared) or not catalogues.titled
    return sum(pair.score >= LISTED for pair in sample) >= MIN_AGREEMENT * len(sample)


def _align_by_id(catalogues: Catalogues, decisions: Decisions) -> ItemAlignment:
    return _align_as_given(catalogues, "id", catalogues.shared, decisions)


def _align_as_given(
    catalogues: Catalogues,
    method: Method,
    pairs: Mapping[int, int],
    decisions: Decisions,
    item_map: ItemMap | None = None,
) -> ItemAlignment:
    """Align pairs that need no guess; pairs with different titles are listed for review."""
    item = _decided_items(catalogues, pairs, decisions)
    compared = catalogues.compare_titles(pairs)
    different = [pair for pair in compared if pair.score < LISTED]
    accepted = [pair for pair in different if item[pair.public] == pair.release]
    return ItemAlignment(
        method=method,
        item=item,
        accepted=accepted,
        scored=_by_pair(different),
        item_map=item_map,
        titles_differ=len(accepted),
        ids_unchecked=method == "id" and not compared,
    )


def _align_by_title(catalogues: Catalogues, decisions: Decisions) -> ItemAlignment:
    if not catalogues.titled:
        side = "public data" if _has_text(catalogues.release.titles) else "release"
        raise ParameterError(
            f"items='title' is not possible: the {side} has no titles. Read it with titles, "
            "or pass a map of items"
        )
    pairs = similar_titles(catalogues.public_titles, catalogues.release_titles)
    taken = {*decisions.yes.values()}
    accepted, doubtful = accept_pairs(
        pair
        for pair in pairs
        if pair.ends not in decisions.no and pair.public not in decisions.yes and pair.release not in taken
    )
    item = _decided_items(catalogues, {pair.public: pair.release for pair in accepted}, decisions)
    return ItemAlignment(
        method="title",
        item=item,
        accepted=[pair for pair in accepted if pair.reason],
        doubtful=doubtful,
        scored=_by_pair(pairs),
        ambiguous=len({pair.public for pair in doubtful if pair.reason.endswith(RIVAL)}),
    )


def _by_pair(pairs: Iterable[Pair]) -> dict[tuple[int, int], Pair]:
    return {pair.ends: pair for pair in pairs}


def _decided_items(catalogues: Catalogues, pairs: Mapping[int, int], decisions: Decisions) -> Ints:
    """The pairs after the review: people's decisions override everything else."""
    taken = {*decisions.yes.values()}
    item = np.full(catalogues.public.n_items, -1, np.int64)
    for public, release in pairs.items():
        if (public, release) not in decisions.no and release not in taken:
            item[public] = release
    for public, release in decisions.yes.items():
        item[public] = release
    return item


def _title(data: Release, code: int) -> str:
    return "" if data.titles is None else data.titles[code]


def _has_text(labels: Labels | None) -> bool:
    return labels is not None and len(labels.data) > 0
