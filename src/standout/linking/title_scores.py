"""The score of two titles: 100 · (1 − edits / length), with deductions for years, numbers and brackets.

Edits are letters inserted, deleted, changed, or two neighbours swapped (optimal string alignment).
"""

from typing import NamedTuple

import numpy as np

from standout.core.arrays import Floats, Ints
from standout.linking.title_names import Title
from standout.linking.titles import Titles, word_ends

__all__ = ["ACCEPTED", "LISTED", "TitleScore", "name_similarity", "score_names", "similarity"]

ACCEPTED = 83.0
"""The minimum score of a pair that is accepted: one edit in six letters."""
LISTED = 75.0
"""The minimum score of a pair that is listed for review."""
UNSURE = 80.0
"""The maximum score of pairs that are never accepted without a review."""
CONTAINED = 79.0
"""The score of a pair in which one title is the beginning or the end of the other."""
MAX_EDITS = 3
YEAR_APART, NO_YEAR, OTHER_NAME, OTHER_ORDER = 5.0, 10.0, 2.0, 4.0
"""Deductions: years one apart, a year in one title only, a name in brackets, words in another order."""
CHUNK = 1 << 13


class TitleScore(NamedTuple):
    """A score, and the reason why it is below 100."""

    score: float
    reason: str

    def minus(self, points: float, reason: str) -> "TitleScore":
        """Return a lower score with another reason."""
        return TitleScore(self.score - points, _join(self.reason, reason))

    def at_most(self, limit: float) -> "TitleScore":
        """Return the score, limited."""
        return TitleScore(min(self.score, limit), self.reason)


def similarity(title: Title, other: Title) -> float:
    """Return how similar two titles are at best, whatever speaks against accepting the pair."""
    from rapidfuzz.distance import OSA

    if title.year and other.year and abs(title.year - other.year) > 1:
        return 0.0
    return max(
        CONTAINED
        if _contains(name.split(), other_name.split())
        else round(100.0 * OSA.normalized_similarity(name.replace(" ", ""), other_name.replace(" ", "")), 1)
        for name in title.names
        for other_name in other.names
    )


def name_similarity(public: Titles, release: Titles, name: Ints, other: Ints) -> Floats:
    """Return 1 − edits / length of each pair of names; 0 where that is too low to matter."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cpdist

    least = LISTED / 100.0 - 1e-6
    length, other_length = public.length[name], release.length[other]
    near = np.flatnonzero(np.minimum(length, other_length) >= least * np.maximum(length, other_length))
    similar = np.zeros(len(name))
    for low in range(0, len(near), CHUNK):
        chunk = near[low : low + CHUNK]
        names, others = public.texts[name[chunk]].tolist(), release.texts[other[chunk]].tolist()
        similar[chunk] = cpdist(names, others, scorer=OSA.normalized_similarity, score_cutoff=least)
    return similar


def score_names(public: Titles, release: Titles, name: int, other: int, similar: float) -> TitleScore | None:
    """Return the score of one pair of names, or None if it is not worth a review."""
    scored = _score_letters(public.names[name], release.names[other], 100.0 * similar, public, release)
    if scored.score < LISTED:
        return None
    main_names = int(public.is_main[name]) + int(release.is_main[other])
    same_article = main_names < 2 or public.article[name] == release.article[other]
    scored = _score_years(scored, int(public.year[name]), int(release.year[other]), same_article)
    if main_names < 2:
        scored = scored.minus(OTHER_NAME, "by another name in brackets")
    if not main_names:
        scored = scored.at_most(UNSURE)
    return scored if scored.score >= LISTED else None


def _score_letters(name: str, other: str, score: float, public: Titles, release: Titles) -> TitleScore:
    """The score of two names, and how they differ."""
    if name == other or name.replace(" ", "") == other.replace(" ", ""):
        return TitleScore(100.0, "")
    words, others = name.split(), other.split()
    numbers, other_numbers = _numbers(words), _numbers(others)
    if numbers and other_numbers and numbers != other_numbers:
        return TitleScore(0.0, "")
    if _contains(words, others):
        return TitleScore(CONTAINED, "one title is part of the other")
    if numbers != other_numbers:
        return TitleScore(min(score, UNSURE), "a number in one title only")
    if sorted(words) == sorted(others):
        return TitleScore(100.0 - OTHER_ORDER, "different order of words")
    changed = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    real_words = any(word in release.words and new in public.words for word, new in changed)
    if len(words) == len(others) and real_words:
        return TitleScore(min(score, UNSURE), "the differing words occur in other titles")
    edits = round((1.0 - score / 100.0) * max(len(name), len(other)))
    return TitleScore(score if edits <= MAX_EDITS else min(score, UNSURE), "different spelling")


def _score_years(scored: TitleScore, year: int, other: int, same_article: bool) -> TitleScore:
    if year == other:
        return scored if year or scored.score == 100.0 else scored.minus(YEAR_APART, "no years")
    if not year or not other:
        return scored.minus(NO_YEAR, "a year in one title only")
    if abs(year - other) == 1:
        apart = scored.minus(YEAR_APART, "one year apart")
        return apart if same_article else apart.at_most(UNSURE).minus(0.0, "different article")
    score = UNSURE if scored.score == 100.0 else 0.0
    return TitleScore(score, _join(scored.reason, f"{abs(year - other)} years apart"))


def _contains(words: list[str], others: list[str]) -> bool:
    """Whether one name is the beginning or the end of the other."""
    return " ".join(words) in word_ends(others) or " ".join(others) in word_ends(words)


def _numbers(words: list[str]) -> list[str]:
    return sorted(word for word in words if word.isdigit())


def _join(reason: str, more: str) -> str:
    return f"{reason}, {more}" if reason else more
