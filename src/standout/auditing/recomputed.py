"""What an attack must report about one target, computed a second time in plain NumPy.

The scores come from the reference implementations, the rest of this file repeats the definitions of
docs/measures.md. Nothing here uses the kernels or the code that the audit computes its outcomes with.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from standout.attack.any_attack import AnyAttack
from standout.attack.error_model import HasErrors
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_arrays import Entries, Errors, errors_of, known_facts_of_query, release_entries
from standout.attack.likelihood_reference import scores
from standout.attack.own_attack import Attack
from standout.attack.queries import Queries
from standout.attack.reference import KnownItem, decay, scores_1b, within
from standout.attack.reference_arrays import EntriesOfItems, entries_of_items, known_items_of_query
from standout.attack.scoreboard import ScoreboardRH
from standout.core.arrays import Bools, Floats, Ints
from standout.data.build import subset
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.know.adversary import Adversary
from standout.know.facts import ANY_LENGTH, ANY_TIME, KnownFacts
from standout.know.observation import Choice
from standout.know.sanitized import Sanitized
from standout.know.similarity import Decay, Within

# Scores of the Bayesian attack, computed a second time by `likelihood_reference`.


MOST_ENTRIES, MOST_LEVELS, MOST_UNITS = 2_000_000, 2_000, 1 << 22
"""Beyond these, the reference implementation would need too much time or memory."""


def has_reference(attack: AnyAttack, release: Release) -> bool:
    """Whether the reference implementation covers this attack on this release.

    It knows no noise of sanitizing steps, and sums of supports are not rounded to classes.
    """
    adversary = attack.adversary if isinstance(attack, Likelihood) else None
    choice = None if adversary is None else adversary.items
    return (
        isinstance(choice, Choice)
        and choice.name != "popular"
        and not isinstance(release, Sanitized)
        and release.n_entries <= MOST_ENTRIES
        and release.n_levels <= MOST_LEVELS
        and release.span <= MOST_UNITS
    )


@dataclass(frozen=True, eq=False)
class LikelihoodAgain:
    """The Bayesian attack on one release in plain NumPy."""

    attack: Likelihood
    release: Release

    @property
    def adversary(self) -> HasErrors:
        """Whose errors the attack takes into account."""
        assert self.attack.adversary is not None
        return self.attack.adversary

    @cached_property
    def errors(self) -> Errors:
        """The errors of the adversary."""
        return errors_of(self.release, self.adversary, self.attack.coverage)

    @cached_property
    def entries(self) -> Entries:
        """All entries of the release."""
        return self._entries(-1)

    def _entries(self, removed: int) -> Entries:
        return release_entries(self.release, self.adversary.items, removed)

    def scores(self, known: KnownFacts, query: int, removed: int) -> Floats:
        """The scores of all records for one target, from the entries of all but the removed record."""
        entries = self.entries if removed < 0 else self._entries(removed)
        facts = known_facts_of_query(self.release, known, query)
        return scores(facts, entries, self.errors, self.release.n_records)

    def nobody(self, n_facts: int, candidates: int) -> float:
        """Score of the case that the target is not in the release."""
        odds = candidates * (1.0 - self.attack.present) / self.attack.present
        return (math.log(odds) if odds > 0 else -math.inf) - n_facts * math.log1p(-self.errors.coverage)


TIE_WIDTHS = (1e-15, 1e-13, 1e-9)
"""Scores that differ by no more than this share of the highest possible one are equal. Attacks round scores
to a grid between the first two, so a result is right if it is right for one of these widths."""
NO_CLAIM = -1.0
STRONGEST = 15.0
"""Highest −log10(1 − posterior): a posterior is then 1 in double precision."""


class Reported(NamedTuple):
    """The outcome of one attack, as in `Outcomes`."""

    identified: float
    in_top: float
    claim_strength: float
    bits_left: float
    candidates: float


@dataclass(frozen=True, eq=False)
class Recomputation:
    """One attack on targets of one release, computed again; `top` is the length of the lineup."""

    release: Release
    attack: AnyAttack
    known: KnownFacts
    top: int

    @cached_property
    def entries(self) -> EntriesOfItems:
        """The entries of all known items."""
        return entries_of_items(self.release, self.known.item)

    def outcomes(self, query: int, record: int, removed: int = -1) -> Iterator[Reported]:
        """What the attack may report about a target whose record this is, without the removed record."""
        scores, highest_possible = self._scores(query, removed)
        is_candidate = self._candidates(query)
        is_candidate[removed if removed >= 0 else []] = False
        scores = np.where(is_candidate, scores, -np.inf)
        nobody, scale = self._nobody(query, int(is_candidate.sum())), self._scale(scores[is_candidate])
        for width in TIE_WIDTHS:
            yield _judged(_Scored(scores, scale, nobody), record, self.top, width * highest_possible)
        for broken in self._broken_ties(query, scores, record, highest_possible):
            yield _judged(_Scored(broken, scale, nobody), record, self.top, TIE_WIDTHS[0] * highest_possible)

    def _broken_ties(self, query: int, scores: Floats, record: int, highest_possible: float) -> list[Floats]:
        """Scores with one of the tied records ahead, where 1/ln 4 + 1/ln 4 = 1/ln 2 holds up to rounding."""
        is_best = scores >= scores.max() - TIE_WIDTHS[1] * highest_possible
        items = known_items_of_query(self.release, self.known, query, self.entries)
        if is_best.sum() < 2 or not _have_powers([_support(item) + d for item in items for d in (0, -1)]):
            return []
        tied, ahead = np.flatnonzero(is_best), 2 * TIE_WIDTHS[1] * highest_possible
        chosen = {int(tied[0]), int(tied[-1]), *([record] if record >= 0 and is_best[record] else [])}
        return [scores + ahead * (np.arange(len(scores)) == one) for one in sorted(chosen)]

    @cached_property
    def _likelihood(self) -> LikelihoodAgain | None:
        """The Bayesian attack, if this is it and there is a reference implementation."""
        if not isinstance(self.attack, Likelihood) or not has_reference(self.attack, self.release):
            return None
        return LikelihoodAgain(self.attack, self.release)

    @cached_property
    def _in_double_precision(self) -> Queries:
        """The attack's own scores without the kernels, where there is no reference implementation."""
        assert isinstance(self.attack, Likelihood)
        return self.attack.attacks(self.release, self.known, with_z=False).queries

    def _scores(self, query: int, removed: int) -> tuple[Floats, float]:
        """The scores of all records, and an upper bound of them."""
        if isinstance(self.attack, Likelihood):
            again = self._likelihood
            if again is None:
                scores = self._in_double_precision.scores(query)
            else:
                scores = again.scores(self.known, query, removed)
            return scores, float(scores.max(initial=1.0))
        if isinstance(self.attack, Attack):
            scores = np.asarray(self.attack.scores_without(self.release, _one(self.known, query), np.array([removed])))[
                0
            ].astype(np.float64)
            scores = scores - np.min(scores, where=np.isfinite(scores), initial=np.inf)
            return scores, float(scores.max(initial=1.0))
        assert isinstance(self.attack, ScoreboardRH)
        items = known_items_of_query(self.release, self.known, query, self.entries)
        items = [_without(item, removed) for item in items]
        compared = [_compared(item, self.attack) for item in items]
        most = sum(2.0 / math.log(max(_support(item), 2)) for item in items)
        return scores_1b(compared, self.release.n_records, _similarity(self.attack)), most

    def _candidates(self, query: int) -> Bools:
        """Records that fit what is known about length and first date."""
        (shortest, longest), (earliest, latest) = self.known.length[query], self.known.joined[query]
        is_candidate = np.ones(self.release.n_records, np.bool_)
        if (shortest, longest) != ANY_LENGTH:
            is_candidate &= (self.release.lengths >= shortest) & (self.release.lengths <= longest)
        if (earliest, latest) != ANY_TIME and self.release.by_record.time is not None:
            time = self.release.by_record.time.astype(np.int64)
            first = np.minimum.reduceat(time, self.release.by_record.start[:-1])
            is_candidate &= (first == self.release.span) | ((first >= earliest) & (first <= latest))
        return is_candidate

    def _nobody(self, query: int, candidates: int) -> float | None:
        """Score of the case that the target is not in the release; None if the attack knows no such case."""
        n_facts = int(np.diff(self.known.first)[query])
        if isinstance(self.attack, Likelihood):
            if self._likelihood is not None:
                return self._likelihood.nobody(n_facts, candidates)
            return float(self._in_double_precision.nobody(np.full(len(self.known), candidates))[query])
        return None

    def _scale(self, scores: Floats) -> float:
        """What scores are divided by in probabilities: σ, or 1 for log-likelihoods."""
        is_likelihood = isinstance(self.attack, Attack) and self.attack.log_likelihood
        if is_likelihood or isinstance(self.attack, Likelihood):
            return 1.0
        return float(scores.std()) if len(scores) else 0.0


def can_recompute(attack: AnyAttack) -> bool:
    """Whether there is a second implementation of an attack."""
    if isinstance(attack, Attack):
        own = {name for kind in type(attack).__mro__[:-2] for name in vars(kind)}
        return not own & {"attack", "attacks", "nested"}
    if type(attack) is Likelihood:
        return True
    if type(attack) is not ScoreboardRH:
        return False
    return isinstance(attack.similarity, (Decay, Within)) and attack.weights == "rarity"


class _Scored(NamedTuple):
    scores: Floats
    scale: float
    nobody: float | None


def _judged(scored: _Scored, record: int, top: int, tie: float) -> Reported:
    """The outcome, where scores that differ by at most `tie` are equal."""
    scores, scale, nobody = scored
    candidates = np.flatnonzero(scores > -np.inf)
    if not len(candidates):
        return Reported(0.0, 0.0, NO_CLAIM, math.log2(len(scores)), 0.0)
    highest = float(scores.max())
    is_best = scores >= highest - tie
    second = float(scores[~is_best].max(initial=-np.inf)) if is_best.sum() == 1 else highest
    weight = np.exp((scores[candidates] - highest) / scale) if scale > 0 else np.ones(len(candidates))
    total = float(weight.sum())
    strength = NO_CLAIM
    if is_best.sum() == 1 and highest > tie and nobody is not None:
        others = float(weight.sum(where=~is_best[candidates])) + math.exp(min(nobody - highest, 700.0))
        strength = min(-math.log10(max(others / (1.0 + others), 1e-300)), STRONGEST)
    elif is_best.sum() == 1 and highest > tie and scale > 0 and len(candidates) > 1:
        strength = (highest - second) / scale
    if record < 0 or scores[record] == -np.inf:
        return Reported(0.0, 0.0, strength, math.log2(len(scores)), float(len(candidates)))
    own = scores[record]
    share = math.exp((own - highest) / scale) / total if scale > 0 else 1.0 / len(candidates)
    higher = int((scores > own + tie).sum())
    equal = int((np.abs(scores[candidates] - own) <= tie).sum())
    return Reported(
        identified=1.0 / int(is_best.sum()) if is_best[record] else 0.0,
        in_top=min(max((top - higher) / equal, 0.0), 1.0),
        claim_strength=strength,
        bits_left=-math.log2(share) if share > 0 else (highest - own) / scale / math.log(2),
        candidates=float(len(candidates)),
    )


def without_record(release: Release, known: KnownFacts, record: int) -> tuple[Release, KnownFacts]:
    """The release rebuilt without a record, and the known facts in its codes."""
    keep = np.ones(release.n_records, np.bool_)
    keep[record] = False
    rebuilt = subset(release, keep)
    codes = {-1: -1}
    for code in np.unique(known.item[known.item >= 0]).tolist():
        new_code = rebuilt.items.find(release.items[code])
        codes[code] = -1 if new_code is None else new_code
    shift = 0
    if release.clock is not None and rebuilt.clock is not None:
        shift = release.clock.origin - rebuilt.clock.origin
    joined = np.where((known.joined == ANY_TIME).all(axis=1)[:, None], known.joined, known.joined + shift)
    item = np.array([codes[int(item)] for item in known.item], np.int64)
    return rebuilt, replace(known, item=item, time=known.time + shift, joined=joined, names={})


def _have_powers(supports: Sequence[int]) -> bool:
    """Whether one of these numbers is a power of another."""
    numbers = sorted({support for support in supports if support > 1})
    return any(
        low**power == high for at, low in enumerate(numbers) for high in numbers[at + 1 :] for power in range(2, 32)
    )


def _one(known: KnownFacts, query: int) -> KnownFacts:
    low, high = known.first[query : query + 2]
    return known.select(np.array([query]), np.arange(low, high), np.array([0, high - low]))


def _support(item: KnownItem) -> int:
    """Number of records that have the item; some may have several entries of it."""
    return int(np.count_nonzero(np.bincount(item.record)))


def _without(item: KnownItem, removed: int) -> KnownItem:
    keep = item.record != removed
    value, days = item.value_distance, item.days
    return KnownItem(item.record[keep], None if value is None else value[keep], None if days is None else days[keep])


def _compared(item: KnownItem, attack: ScoreboardRH) -> KnownItem:
    """The item with only those distances that the attack compares."""
    value, time = _scales(attack)
    return KnownItem(item.record, None if value is None else item.value_distance, None if time is None else item.days)


def _scales(attack: ScoreboardRH) -> tuple[float | None, float | None]:
    similarity = attack.similarity
    if isinstance(similarity, Decay):
        return similarity.value_scale, similarity.time_scale
    assert isinstance(similarity, Within)
    return similarity.value, similarity.time


def _similarity(attack: ScoreboardRH):  # type: ignore[no-untyped-def]
    value, time = (0.0 if scale is None else scale for scale in _scales(attack))
    function = decay if isinstance(attack.similarity, Decay) else within
    return lambda item: function(item, value, time)


# Facts about an item that a person has several times, compared with all entries of the item.
#
# Which entry a fact was drawn from is not known. The comparison assigns as many facts as possible to different
# entries that they fit, and calls the others wrong. A wrong fact may fit another entry of the item by chance.
# Then fewer facts than stated seem wrong. The comparison says how likely that is.


ROUNDING = 1e-9


class _Part(NamedTuple):
    """The values, or the dates, of some facts (rows) and of all entries of their item (columns).

    fits            whether a fact is within the stated error of an entry, or neither has the part
    exact           for each fact: whether an entry has exactly this value or date
    could_be_wrong  whether every entry leaves room for a wrong one
    exact_chance    highest probability that a right fact is exact for some entry; NaN if it is not known
    lucky_chance    highest probability that a wrong fact is right about another entry
    """

    fits: Bools
    exact: Bools
    could_be_wrong: bool = False
    exact_chance: float = math.nan
    lucky_chance: float = 1.0


class RepeatedFacts(NamedTuple):
    """What facts about one item look like beside the entries of the item; arrays are by fact.

    outside         whether no entry is left that the fact fits
    could_be_wrong  whether facts about the item can be wrong
    exact           for value and date: whether an entry has exactly this one
    chance          for value and date: highest probability of that if the fact seems right; NaN: not known
    lucky_chance    the highest probability that a wrong fact seems right
    """

    outside: Bools
    could_be_wrong: bool
    exact: tuple[Bools, Bools]
    chance: tuple[float, float]
    lucky_chance: float


def compare_repeated(
    original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints
) -> RepeatedFacts:
    """Compare the facts about one item with the person's entries of it.

    Parameters
    ----------
    original
        The data set that the facts are about.
    adversary
        Who knows the facts.
    known, facts
        All facts, and the numbers of those about the item.
    entries
        Positions of the person's entries of the item in `original.by_record`.
    """
    value = _values(original, adversary, known, facts, entries)
    time = _times(original, adversary, known, facts, entries)
    match = maximum_bipartite_matching(csr_array(value.fits & time.fits), perm_type="column")
    lucky = min(value.lucky_chance, time.lucky_chance) if len(entries) > 1 else 0.0
    wrong = adversary.wrong / adversary.knows if adversary.wrong_facts == "values" else 0.0
    by_luck = wrong * lucky / (1.0 - wrong) if wrong < 1 else 1.0
    chance = [min(1.0, part.exact_chance + by_luck) if part.exact_chance <= 1 else math.nan
              for part in (value, time)]  # fmt: skip
    return RepeatedFacts(
        outside=match < 0,
        could_be_wrong=value.could_be_wrong or time.could_be_wrong,
        exact=(value.exact, time.exact),
        chance=(chance[0], chance[1]),
        lucky_chance=lucky,
    )


def _values(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, levels = original.by_record.value, adversary.value_error, original.levels
    if code is None or levels is None or error is None:
        return _unknown(known.value[facts] >= 0, np.zeros(len(entries), np.bool_))
    own = code[entries].astype(np.int64)
    has, is_told = own < original.n_levels, known.value[facts] >= 0
    if isinstance(levels, tuple):
        names = np.array([*levels, None], object)
        told_names = np.array([*known.values, None], object)[known.value[facts]]
        near = told_names[:, None] == names[own]
        low, high = np.unique(own[has]), np.unique(own[has]) + 1
    else:
        numbers = np.append(levels, np.nan)
        told = np.append(np.array(known.values, np.float64), np.nan)[known.value[facts]]
        near = np.abs(told[:, None] - numbers[own]) <= error + ROUNDING
        held = levels[np.unique(own[has])]
        low = np.searchsorted(levels, held - error - ROUNDING)
        high = np.searchsorted(levels, held + error + ROUNDING, "right")
        told_names, names = told, numbers
    exact = (told_names[:, None] == names[own]).any(axis=1)
    return _part(near, exact, is_told, has, _Windows(np.unique(own[has]), low, high, original.n_levels))


def _times(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, clock = original.by_record.time, adversary.time_error, original.clock
    if code is None or clock is None or error is None:
        return _unknown(known.timed[facts], np.zeros(len(entries), np.bool_))
    own, told, is_told = code[entries].astype(np.int64), known.time[facts], known.timed[facts]
    has = own < original.span
    reach = math.floor(error * (SECONDS["day"] // SECONDS[clock.unit]) + ROUNDING)
    near = np.abs(told[:, None] - own) <= reach
    exact = ((told[:, None] == own) & has).any(axis=1)
    held = np.unique(own[has])
    windows = _Windows(held, held - reach, held + reach + 1, original.span)
    return _part(near, exact, is_told, has, windows)


class _Windows(NamedTuple):
    """Codes within the error of each held code, from low up to high; valid codes are from 0 up to n_codes."""

    held: Ints
    low: Ints
    high: Ints
    n_codes: int

    def chances(self) -> tuple[bool, float, float]:
        """(whether all leave room for a wrong code, chance of an exact code, chance of a lucky wrong one)."""
        if not len(self.held):
            return False, math.nan, 1.0
        low, high = np.maximum(self.low, 0), np.minimum(self.high, self.n_codes)
        size = high - low
        n_held = np.searchsorted(self.held, self.high) - np.searchsorted(self.held, self.low)
        could_be_wrong = bool((size < self.n_codes).all())
        possible = self.high - self.low if could_be_wrong else np.minimum(self.high - self.low, self.n_codes)
        past = np.maximum.accumulate(high)
        covered = int(size[0] + np.maximum(high[1:] - np.maximum(low[1:], past[:-1]), 0).sum())
        smallest = int(size.min())
        lucky = (covered - smallest) / (self.n_codes - smallest) if could_be_wrong else 1.0
        return could_be_wrong, float((n_held / possible).max()), lucky


def _part(near: Bools, exact: Bools, is_told: Bools, has: Bools, windows: _Windows) -> _Part:
    could_be_wrong, exact_chance, lucky_chance = windows.chances()
    fits = _same(is_told, has) & (near | ~has)
    if not is_told.any():
        exact_chance = math.nan
    return _Part(fits, exact & is_told, could_be_wrong, exact_chance, lucky_chance)


def _unknown(is_told: Bools, has: Bools) -> _Part:
    """Values or dates that the adversary does not know."""
    return _Part(_same(is_told, has), np.zeros(len(is_told), np.bool_))


def _same(is_told: Bools, has: Bools) -> NDArray[np.bool_]:
    return np.asarray(is_told[:, None] == has)
