"""Which titles of two catalogues mean the same item: scored, and accepted only if clearly the best.

Only titles that share a rare run of three letters, or are equal in one of several ways, are compared.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.linking.title_scores import ACCEPTED, name_similarity, score_names
from standout.linking.title_trigrams import TrigramIndex, trigrams
from standout.linking.titles import Titles

__all__ = ["RIVAL", "Pair", "accept_pairs", "similar_titles"]

MARGIN = 5.0
"""How far the best pair must lead."""
RIVAL = "another item fits equally well"
CHUNK = 1 << 13


class Pair(NamedTuple):
    """A public item and an item of the release that may be the same, its score, and why it is doubtful."""

    public: int
    release: int
    score: float
    reason: str

    @property
    def ends(self) -> tuple[int, int]:
        """The two items."""
        return self.public, self.release


def similar_titles(public: Titles, release: Titles) -> list[Pair]:
    """Return pairs of items that may be the same, each once, with its best score."""
    best: dict[tuple[int, int], Pair] = {}
    for pair in _scored_pairs(public, release):
        known = best.get(pair.ends)
        if known is None or pair.score > known.score:
            best[pair.ends] = pair
    return list(best.values())


def accept_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Return the accepted pairs and the doubtful ones; no item is in two accepted pairs.

    Titles that are identical including the year come first, if they are unique; other pairs of their items
    are then dropped. Of the rest, a pair is accepted if it is the best of both its items by a margin.
    """
    pairs = sorted(pairs, key=lambda pair: (-pair.score, *pair.ends))
    identical = _clear_best([pair for pair in pairs if pair.score == 100.0], 100.0, MARGIN)
    rest = _without_items_of(pairs, identical)
    accepted = identical + _clear_best(rest, ACCEPTED, MARGIN)
    taken = {pair.ends for pair in accepted}
    rivals = {pair.ends for pair in rest if pair.score >= ACCEPTED}
    doubtful = [
        pair._replace(reason=_with_rival(pair.reason)) if pair.ends in rivals else pair
        for pair in _without_items_of(rest, accepted)
        if pair.ends not in taken
    ]
    return accepted, doubtful


def _with_rival(reason: str) -> str:
    return f"{reason}, and {RIVAL}" if reason else RIVAL


def _without_items_of(pairs: list[Pair], accepted: list[Pair]) -> list[Pair]:
    """The pairs whose items are in no accepted pair."""
    public, release = {pair.public for pair in accepted}, {pair.release for pair in accepted}
    return [pair for pair in pairs if pair.public not in public and pair.release not in release]


def _clear_best(pairs: list[Pair], least: float, margin: float) -> list[Pair]:
    """The pairs of at least this score that are the best of both their items by the margin, best first."""
    public: dict[int, list[float]] = {}
    release: dict[int, list[float]] = {}
    for pair in pairs:
        public.setdefault(pair.public, []).append(pair.score)
        release.setdefault(pair.release, []).append(pair.score)
    return [
        pair
        for pair in pairs
        if pair.score >= least
        and _leads(pair.score, public[pair.public], margin)
        and _leads(pair.score, release[pair.release], margin)
    ]


def _leads(score: float, scores: list[float], margin: float) -> bool:
    """Whether a score is the first of these, in descending order, by the margin."""
    return len(scores) == 1 or (scores[0] == score and score - scores[1] >= margin)


def _scored_pairs(public: Titles, release: Titles) -> Iterator[Pair]:
    name, other = _equal_names(public, release)
    yield from _score(public, release, name, other, name_similarity(public, release, name, other))
    index, (owner, trigram) = TrigramIndex(release.names), trigrams(public.names)
    for low in range(0, len(public.names), CHUNK):
        chunk = slice(*np.searchsorted(owner, [low, low + CHUNK]))
        name, other = _with_close_years(public, release, *index.partners(owner[chunk], trigram[chunk]))
        code = np.sort(name * len(release.names) + other)  # np.unique is ten times slower
        name, other = np.divmod(code[np.diff(code, prepend=-1) > 0], max(len(release.names), 1))
        similar = name_similarity(public, release, name, other)
        near = similar > 0
        yield from _score(public, release, name[near], other[near], similar[near])


def _score(public: Titles, release: Titles, name: Ints, other: Ints, similar: Floats) -> Iterator[Pair]:
    """The pairs of names that are worth a review."""
    for i, j, share in zip(name.tolist(), other.tolist(), similar.tolist(), strict=True):
        scored = score_names(public, release, i, j, share)
        if scored:
            yield Pair(int(public.owner[i]), int(release.owner[j]), round(scored.score, 1), scored.reason)


def _equal_names(public: Titles, release: Titles) -> tuple[Ints, Ints]:
    """Pairs of names with the same letters, with the same words, or where one is an end of the other."""
    pairs = _equal_rows(public.squeezed, release.squeezed)
    pairs |= _equal_rows(public.sorted_words, release.sorted_words)
    release_rows, public_rows = _rows_by_text(release.names), _rows_by_text(public.names)
    contained = {(row, other) for end, row in public.ends for other in release_rows.get(end, ())}
    contained.update((row, other) for end, other in release.ends for row in public_rows.get(end, ()))
    pairs.update(pair for pair in contained if _is_informative(public, release, *pair))
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _equal_rows(public: list[str], release: list[str]) -> set[tuple[int, int]]:
    rows = _rows_by_text(release)
    return {(row, other) for row, text in enumerate(public) for other in rows.get(text, ())}


def _is_informative(public: Titles, release: Titles, name: int, other: int) -> bool:
    """Whether containment means anything: the years are equal or, if unknown, the lengths are similar."""
    if public.year[name] and release.year[other]:
        return bool(public.year[name] == release.year[other])
    length, other_length = public.length[name], release.length[other]
    return bool(2 * min(length, other_length) >= max(length, other_length))


def _rows_by_text(texts: list[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, []).append(row)
    return rows


def _with_close_years(public: Titles, release: Titles, name: Ints, other: Ints) -> tuple[Ints, Ints]:
    """The pairs whose years are at most one apart, or unknown."""
    year, other_year = public.year[name], release.year[other]
    close = (year == 0) | (other_year == 0) | (np.abs(year - other_year) <= 1)
    return name[close], other[close]
