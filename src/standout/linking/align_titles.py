"""Which titles of two catalogues mean the same item: scored, and taken only where one is clearly best.

A pair's score is 100 · (1 − edits / length), edits being letters put in, left out, changed or swapped
(optimal string alignment), less what the years say. Only titles that share a rare run of three letters, or
are the same, are compared at all.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.arrays import Floats, Ints
from standout.linking.title_names import Title, parted

__all__ = ["LISTED", "RIVAL", "TAKEN", "Pair", "Titles", "alike", "decided", "likeness"]

TAKEN = 83.0
"""The score of a pair that is taken: one edit in six letters."""
LISTED = 75.0
"""The score of a pair that is worth a look."""
MARGIN = 5.0
"""How far the best stands before the next."""
UNSURE, PART = 80.0, 79.0
"""What a pair scores at most that is never taken by itself; if one title is part of the other, exactly."""
MOST_EDITS = 3
RIVAL = "another fits as well"
ONE_YEAR, NO_YEAR, OTHER_NAME, OTHER_ORDER = 5.0, 10.0, 2.0, 4.0
"""What is taken off for years one apart, for a year told on one side only, and so on."""
BUDGET = 200
"""About so many titles are compared with each."""
CHUNK = 1 << 13
END = ord("\n")


class Pair(NamedTuple):
    """A public item and one of the release that may be the same, and what speaks against it."""

    public: int
    release: int
    score: float
    reason: str


@dataclass(frozen=True)
class Titles:
    """The titles of a catalogue, each with its names."""

    titles: Sequence[Title]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Titles":
        return cls([parted(text) for text in texts])

    @cached_property
    def names(self) -> list[str]:
        return [name for title in self.titles for name in title.names]

    @cached_property
    def texts(self) -> NDArray[np.object_]:
        return np.array([*self.names, None], object)[:-1]

    @cached_property
    def length(self) -> Ints:
        return np.array([len(name) for name in self.names], np.int64)

    @cached_property
    def squeezed(self) -> list[str]:
        """The names without blanks: Spider-Man and Spiderman are one."""
        return [name.replace(" ", "") for name in self.names]

    @cached_property
    def ordered(self) -> list[str]:
        """The words of each name in the order of the alphabet."""
        return [" ".join(sorted(name.split())) for name in self.names]

    @cached_property
    def ends(self) -> list[tuple[str, int]]:
        """The beginnings and, from five letters on, the ends of each name that are whole words, and whose."""
        return [(part, at) for at, name in enumerate(self.names) for part in _ends(name.split())]

    @cached_property
    def owner(self) -> Ints:
        """The item of each name."""
        return np.repeat(np.arange(len(self.titles)), [len(title.names) for title in self.titles])

    @cached_property
    def chief(self) -> NDArray[np.bool_]:
        """Which names are the first of their item."""
        return np.diff(self.owner, prepend=-1) > 0

    @cached_property
    def year(self) -> Ints:
        """The year of each name, 0 if it is not told."""
        return np.array([title.year for title in self.titles], np.int64)[self.owner]

    @cached_property
    def article(self) -> list[str]:
        """The article of each name's item."""
        return [title.article for title in self.titles for _ in title.names]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for name in self.names for word in name.split())


def alike(public: Titles, release: Titles) -> list[Pair]:
    """Pairs of items that may be the same, each once, with its best score."""
    best: dict[tuple[int, int], Pair] = {}
    for pair in _scored(public, release):
        known = best.get(pair[:2])
        if known is None or pair.score > known.score:
            best[pair[:2]] = pair
    return list(best.values())


def decided(pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """The pairs that are taken, and the doubtful ones; no item is in two that are taken.

    Titles that are the same down to the year come first, if no other item has them: what they are paired
    with is then out of the question. Of the rest, pairs are taken that are best for both items, by a margin.
    """
    pairs = sorted(pairs, key=lambda pair: (-pair.score, pair.public, pair.release))
    same = _clear([pair for pair in pairs if pair.score == 100.0], 100.0, MARGIN)
    rest = _free(pairs, same)
    taken = same + _clear(rest, TAKEN, MARGIN)
    gone = {pair[:2] for pair in taken}
    rivals = {pair[:2] for pair in rest if pair.score >= TAKEN}
    doubtful = [
        pair._replace(reason=_also(pair.reason)) if pair[:2] in rivals else pair
        for pair in _free(rest, taken)
        if pair[:2] not in gone
    ]
    return taken, doubtful


def _also(reason: str) -> str:
    return f"{reason}, and {RIVAL}" if reason else RIVAL


def _free(pairs: list[Pair], taken: list[Pair]) -> list[Pair]:
    """The pairs of items that are in none that is taken."""
    public, release = {pair.public for pair in taken}, {pair.release for pair in taken}
    return [pair for pair in pairs if pair.public not in public and pair.release not in release]


def _clear(pairs: list[Pair], least: float, margin: float) -> list[Pair]:
    """The pairs of at least this score that are the best of both their items by the margin; best first."""
    scores: dict[tuple[str, int], list[float]] = {}
    for pair in pairs:
        for end in (("public", pair.public), ("release", pair.release)):
            scores.setdefault(end, []).append(pair.score)
    return [
        pair
        for pair in pairs
        if pair.score >= least
        and all(
            len(found) == 1 or (found[0] == pair.score and pair.score - found[1] >= margin)
            for found in (scores["public", pair.public], scores["release", pair.release])
        )
    ]


def _scored(public: Titles, release: Titles) -> Iterator[Pair]:
    name, other = _same(public, release)
    yield from _judged(public, release, name, other, _likeness(public, release, name, other))
    index, (own, gram) = _Trigrams(release.names), _trigrams(public.names)
    for low in range(0, len(public.names), CHUNK):
        here = slice(*np.searchsorted(own, [low, low + CHUNK]))
        name, other = _dated(public, release, *index.sharing(own[here], gram[here]))
        code = np.sort(name * len(release.names) + other)  # np.unique is ten times slower
        name, other = np.divmod(code[np.diff(code, prepend=-1) > 0], max(len(release.names), 1))
        likeness = _likeness(public, release, name, other)
        near = likeness > 0
        yield from _judged(public, release, name[near], other[near], likeness[near])


def _same(public: Titles, release: Titles) -> tuple[Ints, Ints]:
    """Pairs of names with the same letters, or with the same words, or of which one is the other's end."""
    ours, theirs = _places(release.squeezed), _places(public.names)
    found = {(at, to) for at, name in enumerate(public.squeezed) for to in ours.get(name, ())}
    ours = _places(release.ordered)
    found.update((at, to) for at, name in enumerate(public.ordered) for to in ours.get(name, ()))
    ours = _places(release.names)
    parts = {(at, to) for part, at in public.ends for to in ours.get(part, ())}
    parts.update((at, to) for part, to in release.ends for at in theirs.get(part, ()))
    found.update(pair for pair in parts if _telling(public, release, *pair))
    both = np.array(sorted(found), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _telling(public: Titles, release: Titles, name: int, other: int) -> bool:
    """Whether it says something that a title is part of another: they are of one year, or nearly as long."""
    if public.year[name] and release.year[other]:
        return bool(public.year[name] == release.year[other])
    one, two = public.length[name], release.length[other]
    return bool(2 * min(one, two) >= max(one, two))


def _places(names: list[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        places.setdefault(name, []).append(at)
    return places


def _dated(public: Titles, release: Titles, name: Ints, other: Ints) -> tuple[Ints, Ints]:
    """The pairs whose years are at most one apart, or not told."""
    one, two = public.year[name], release.year[other]
    keep = (one == 0) | (two == 0) | (np.abs(one - two) <= 1)
    return name[keep], other[keep]


def _judged(public: Titles, release: Titles, name: Ints, other: Ints, likeness: Floats) -> Iterator[Pair]:
    """The pairs of names that are worth a look."""
    for i, j, like in zip(name.tolist(), other.tolist(), likeness.tolist(), strict=True):
        score, reason = _names(public.names[i], release.names[j], 100.0 * like, public, release)
        if score < LISTED:
            continue
        chiefs = int(public.chief[i]) + int(release.chief[j])
        articles = chiefs < 2 or public.article[i] == release.article[j]
        score, reason = _with_years(score, reason, int(public.year[i]), int(release.year[j]), articles)
        if chiefs < 2:
            score, reason = score - OTHER_NAME, _and(reason, "by another name in brackets")
        if not chiefs:
            score = min(score, UNSURE)
        if score >= LISTED:
            yield Pair(int(public.owner[i]), int(release.owner[j]), round(score, 1), reason)


def _likeness(public: Titles, release: Titles, name: Ints, other: Ints) -> Floats:
    """1 − edits / length of each pair, 0 where that is too little to matter."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cpdist

    least = LISTED / 100.0 - 1e-6
    one, two = public.length[name], release.length[other]
    near = np.flatnonzero(np.minimum(one, two) >= least * np.maximum(one, two))
    found = np.zeros(len(name))
    for low in range(0, len(near), CHUNK):
        at = near[low : low + CHUNK]
        names, others = public.texts[name[at]].tolist(), release.texts[other[at]].tolist()
        found[at] = cpdist(names, others, scorer=OSA.normalized_similarity, score_cutoff=least)
    return found


def _names(one: str, two: str, score: float, public: Titles, release: Titles) -> tuple[float, str]:
    """How alike two names are, and why they are not the same."""
    if one == two or one.replace(" ", "") == two.replace(" ", ""):
        return 100.0, ""
    words, others = one.split(), two.split()
    numbers, digits = _numbers(words), _numbers(others)
    if numbers and digits and numbers != digits:
        return 0.0, ""
    if _within(words, others):
        return PART, "one title is part of the other"
    if numbers != digits:
        return min(score, UNSURE), "a number on one side only"
    if sorted(words) == sorted(others):
        return 100.0 - OTHER_ORDER, "words in another order"
    edits = round((1.0 - score / 100.0) * max(len(one), len(two)))
    changed = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) == len(others) and any(u in release.words and v in public.words for u, v in changed):
        return min(score, UNSURE), "each is a word of other titles, too"
    return (score if edits <= MOST_EDITS else min(score, UNSURE)), "spelt otherwise"


def _within(words: list[str], others: list[str]) -> bool:
    """Whether one name is the other's beginning or end."""
    return " ".join(words) in _ends(others) or " ".join(others) in _ends(words)


def _ends(words: list[str]) -> list[str]:
    """The beginnings of a name and, from five letters on, its ends."""
    cuts = range(1, len(words))
    return [" ".join(words[:cut]) for cut in cuts] + [
        end for end in (" ".join(words[cut:]) for cut in cuts) if len(end) >= 5
    ]


def likeness(one: Title, two: Title) -> float:
    """How alike two titles are at best, whatever stands against taking them for the same."""
    from rapidfuzz.distance import OSA

    if one.year and two.year and abs(one.year - two.year) > 1:
        return 0.0
    return max(
        PART
        if _within(name.split(), other.split())
        else round(100.0 * OSA.normalized_similarity(name.replace(" ", ""), other.replace(" ", "")), 1)
        for name in one.names
        for other in two.names
    )


def _numbers(words: list[str]) -> list[str]:
    return sorted(word for word in words if word.isdigit())


def _with_years(score: float, reason: str, one: int, two: int, articles: bool) -> tuple[float, str]:
    if one == two:
        return (score, reason) if one or score == 100.0 else (score - ONE_YEAR, _and(reason, "no years"))
    if not one or not two:
        return score - NO_YEAR, _and(reason, "a year on one side only")
    if abs(one - two) == 1:
        found = score - ONE_YEAR, _and(reason, "a year apart")
        return found if articles else (min(found[0], UNSURE), _and(found[1], "another article"))
    return (UNSURE if score == 100.0 else 0.0), _and(reason, f"{abs(one - two)} years apart")


def _and(reason: str, more: str) -> str:
    return f"{reason}, {more}" if reason else more


class _Trigrams:
    """Which names have each run of three letters."""

    def __init__(self, names: list[str]) -> None:
        owner, gram = _trigrams(names)
        order = np.argsort(gram, kind="stable")
        self.name = owner[order]
        self.gram, self.start = np.unique(gram[order], return_index=True)
        self.count = np.diff(self.start, append=len(gram))

    def sharing(self, name: Ints, gram: Ints) -> tuple[Ints, Ints]:
        """(name, name here) of pairs that share some of the name's rarest runs."""
        if not len(self.gram):
            return name[:0], name[:0]
        at = np.minimum(np.searchsorted(self.gram, gram), len(self.gram) - 1)
        there = self.gram[at] == gram
        name, at = name[there], at[there]
        order = np.lexsort((self.count[at], name))
        name, at = name[order], at[order]
        before = np.cumsum(self.count[at]) - self.count[at]
        own = before - before[np.searchsorted(name, name)]
        keep = own < BUDGET
        name, at = name[keep], at[keep]
        counts = self.count[at]
        ends = np.cumsum(counts)
        place = np.arange(int(counts.sum())) + np.repeat(self.start[at] - (ends - counts), counts)
        return np.repeat(name, counts), self.name[place]


def _trigrams(names: list[str]) -> tuple[Ints, Ints]:
    """(name, run of three letters as one number), each pair once, in the order of names."""
    text = "".join(f" {name} \n" for name in names)
    signs = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32).astype(np.int64)
    if len(signs) < 3:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    owner = np.cumsum(signs == END) - (signs == END)
    gram = (signs[:-2] << 42) | (signs[1:-1] << 21) | signs[2:]
    whole = (signs[:-2] != END) & (signs[1:-1] != END) & (signs[2:] != END)
    owner, gram = owner[:-2][whole], gram[whole]
    order = np.lexsort((gram, owner))
    owner, gram = owner[order], gram[order]
    new = (np.diff(owner, prepend=-1) != 0) | (np.diff(gram, prepend=-1) != 0)
    return owner[new], gram[new]
