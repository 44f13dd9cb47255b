"""What an attack must report about one target, computed a second time in plain NumPy.

Scores of entries come from the reference implementations, scores of columns level by level from the formulas in
docs/tables.md. The rest of this file repeats the definitions of docs/measures.md. Nothing here uses the kernels or
the code that the audit computes its outcomes with.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.likelihood import Likelihood
from standout.attack.likelihood_reference import scores
from standout.attack.own_attack import Attack
from standout.attack.queries import Queries
from standout.attack.reference import KnownItem, decay, scores_1b, within
from standout.attack.reference_arrays import (
    Entries,
    EntriesOfItems,
    entries_of_items,
    errors_of,
    known_facts_of_query,
    known_items_of_query,
    release_entries,
)
from standout.attack.scoreboard import ExactMatch, ScoreboardRH
from standout.core.arrays import Bools, Floats, Ints
from standout.data.column import Column
from standout.data.release import Release
from standout.know.facts import ANY_LENGTH, ANY_TIME, KnownFacts
from standout.know.observation import Choice
from standout.know.sanitized import Channel, Sanitized
from standout.know.similarity import Decay, Within

MOST_ENTRIES, MOST_LEVELS, MOST_UNITS = 2_000_000, 2_000, 1 << 22
"""Beyond these, the reference implementation of the Bayesian attack would need too much time or memory."""
TIE_WIDTHS = (1e-15, 1e-13, 1e-9)
"""Scores that differ by no more than this share of the highest possible one are equal. Attacks round scores
to a grid between the first two, so a result is right if it is right for one of these widths."""
NO_CLAIM = -1.0
STRONGEST, STRONGEST_OF_COLUMNS = 15.0, 12.0
"""Highest −log10(1 − posterior): a posterior is then 1 in double precision."""
UNIT = 2**20
"""Scores of columns are whole numbers of 1 / UNIT, unless the number of wrong facts is known."""
EQUAL, NEARLY = 1e-9, 16 / UNIT
"""Differences up to which scores of columns are equal, and up to which rounding decides whether they are."""


def has_reference(attack: AnyAttack, release: Release) -> bool:
    """Whether the reference implementation of the Bayesian attack covers this release.

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


def can_recompute(attack: AnyAttack, release: Release, known: KnownFacts, absent: bool = False) -> bool:
    """Whether there is a second implementation of an attack on this release."""
    if release.columns:
        has_adversary = type(attack) is Likelihood and attack.adversary is not None and attack.coverage is None
        return not len(known.item) and (has_adversary or type(attack) in (ScoreboardRH, ExactMatch))
    if isinstance(attack, Attack):
        own = {name for kind in type(attack).__mro__[:-2] for name in vars(kind)}
        return not own & {"attack", "attacks", "nested"}
    if type(attack) is Likelihood:
        return not absent or has_reference(attack, release)
    return (
        type(attack) is ScoreboardRH and isinstance(attack.similarity, (Decay, Within)) and attack.weights == "rarity"
    )


class Reported(NamedTuple):
    """The outcome of one attack, as in `Outcomes`; NaN if rounding decides."""

    identified: float
    in_top: float
    claim_strength: float
    bits_left: float
    candidates: float


class _Scored(NamedTuple):
    """The scores of all records, -inf for those that are no candidates, and what turns them into probabilities.

    `scale` is what scores are divided by: σ, or 1 for log-likelihoods. `nobody` is the score of the case that the
    target is not in the release; None if claims are not by posterior.
    """

    scores: Floats
    scale: float
    nobody: float | None
    of_columns: bool = False


@dataclass(frozen=True, eq=False)
class Recomputation:
    """One attack on targets of one release, computed again; `top` is the length of the lineup."""

    release: Release
    attack: AnyAttack
    known: KnownFacts
    top: int

    def outcomes(self, query: int, record: int, absent: bool = False) -> list[Reported]:
        """What the attack may report about a target whose record this is (-1: none), or without this record.

        Nothing if rounding decides which record is the best.
        """
        record, removed = (-1, record) if absent else (record, -1)
        attack, release, nobody = self.attack, self.release, None
        if release.columns:
            scores, highest_possible = column_scores(release, attack, self.known, query, absent), 1.0
            is_candidate = scores >= 1.0 if isinstance(attack, ExactMatch) else np.isfinite(scores)
            scores = np.zeros(len(scores)) if isinstance(attack, ExactMatch) else scores
        else:
            scores, highest_possible = self._scores(query, removed)
            # records that fit what is known about length and first date
            (shortest, longest), (earliest, latest) = self.known.length[query], self.known.joined[query]
            is_candidate = np.ones(release.n_records, np.bool_)
            if (shortest, longest) != ANY_LENGTH:
                is_candidate &= (release.lengths >= shortest) & (release.lengths <= longest)
            if (earliest, latest) != ANY_TIME and release.by_record.time is not None:
                time = release.by_record.time.astype(np.int64)
                first = np.minimum.reduceat(time, release.by_record.start[:-1])
                is_candidate &= (first == release.span) | ((first >= earliest) & (first <= latest))
        is_candidate[removed if removed >= 0 else []] = False
        scores, scale = np.where(is_candidate, scores, -np.inf), 1.0
        if isinstance(attack, ScoreboardRH) or (isinstance(attack, Attack) and not attack.log_likelihood):
            scale = float(scores[is_candidate].std()) if is_candidate.any() else 0.0
        elif isinstance(attack, (Likelihood, ExactMatch)):
            nobody = -math.inf if release.columns else self._nobody(query, int(is_candidate.sum()))
        if release.columns:
            return self._of_columns(_Scored(scores, max(scale, EQUAL), nobody, True), record, absent)
        scored = _Scored(scores, scale, nobody)
        results = [_judged(scored, record, self.top, width * highest_possible) for width in TIE_WIDTHS]
        for broken in self._broken_ties(query, scores, record, highest_possible):
            results.append(_judged(scored._replace(scores=broken), record, self.top, TIE_WIDTHS[0] * highest_possible))
        return results

    def _of_columns(self, scored: _Scored, record: int, absent: bool) -> list[Reported]:
        """The outcome of columns, unless rounding decides it; whoever fails an exact match is somewhere at the end."""
        scores, best, to_own = scored.scores, float(scored.scores.max()), np.empty(0)
        if record >= 0 and scores[record] > -np.inf:
            to_own = np.abs(scores - scores[record])
        if np.count_nonzero(scores >= best - EQUAL) != np.count_nonzero(scores >= best - NEARLY):
            return []
        result = _judged(scored, record, self.top, EQUAL)
        n, passed, in_top = float(self.release.n_records - absent), np.count_nonzero(np.isfinite(scores)), result.in_top
        if np.count_nonzero(to_own <= EQUAL) != np.count_nonzero(to_own <= NEARLY):
            in_top = math.nan
        elif isinstance(self.attack, ExactMatch) and record >= 0 and scores[record] == -np.inf:
            in_top = min(max((self.top - passed) / max(n - passed, 1), 0.0), 1.0)
        return [result._replace(in_top=in_top, bits_left=min(result.bits_left, math.log2(max(n, 1))), candidates=n)]

    @cached_property
    def _entries_of_items(self) -> EntriesOfItems:
        return entries_of_items(self.release, self.known.item)

    def _known_items(self, query: int, removed: int = -1) -> list[KnownItem]:
        """The known items of a target and the entries of the other records."""
        items = []
        for record, value, days in known_items_of_query(self.release, self.known, query, self._entries_of_items):
            keep = record != removed
            items.append(
                KnownItem(record[keep], None if value is None else value[keep], None if days is None else days[keep])
            )
        return items

    def _broken_ties(self, query: int, scores: Floats, record: int, highest_possible: float) -> list[Floats]:
        """Scores with one of the tied records ahead, where 1/ln 4 + 1/ln 4 = 1/ln 2 holds up to rounding."""
        is_best = scores >= scores.max() - TIE_WIDTHS[1] * highest_possible
        if is_best.sum() < 2:
            return []
        supports = {_support(item) - less for item in self._known_items(query) for less in (0, 1)} - {0, 1}
        if not any(low**power in supports for low in supports for power in range(2, 32)):
            return []
        tied, ahead = np.flatnonzero(is_best), 2 * TIE_WIDTHS[1] * highest_possible
        chosen = {int(tied[0]), int(tied[-1]), *([record] if record >= 0 and is_best[record] else [])}
        return [scores + ahead * (np.arange(len(scores)) == one) for one in sorted(chosen)]

    @cached_property
    def _own_queries(self) -> Queries:
        """The Bayesian attack's own scores without the kernels, where there is no reference implementation."""
        assert isinstance(self.attack, Likelihood)
        return self.attack.attacks(self.release, self.known, with_z=False).queries

    @cached_property
    def _all_entries(self) -> Entries:
        assert isinstance(self.attack, Likelihood) and self.attack.adversary is not None
        return release_entries(self.release, self.attack.adversary.items, -1)

    def _scores(self, query: int, removed: int) -> tuple[Floats, float]:
        """The scores of all records by entries, and an upper bound of them."""
        attack, release = self.attack, self.release
        if isinstance(attack, Likelihood) and not has_reference(attack, release):
            found = self._own_queries.scores(query)
        elif isinstance(attack, Likelihood):
            assert attack.adversary is not None
            entries = self._all_entries if removed < 0 else release_entries(release, attack.adversary.items, removed)
            errors = errors_of(release, attack.adversary, attack.coverage)
            found = scores(known_facts_of_query(release, self.known, query), entries, errors, release.n_records)
        elif isinstance(attack, Attack):
            given = attack.scores_without(release, self.known.of(np.array([query])), np.array([removed]))
            found = np.asarray(given)[0].astype(np.float64)
            found = found - np.min(found, where=np.isfinite(found), initial=np.inf)
        else:
            assert isinstance(attack, ScoreboardRH) and isinstance(attack.similarity, (Decay, Within))
            items, similarity = self._known_items(query, removed), attack.similarity
            function: Callable[..., Floats] = decay if isinstance(similarity, Decay) else within
            if isinstance(similarity, Decay):
                by_value, by_time = similarity.value_scale, similarity.time_scale
            else:
                by_value, by_time = similarity.value, similarity.time
            compared = [
                KnownItem(record, None if by_value is None else value, None if by_time is None else days)
                for record, value, days in items
            ]
            found = scores_1b(compared, release.n_records, lambda item: function(item, by_value or 0.0, by_time or 0.0))
            return found, sum(2.0 / math.log(max(_support(item), 2)) for item in items)
        return found, float(found.max(initial=1.0))

    def _nobody(self, query: int, candidates: int) -> float:
        """Score of the case that the target is not in the release."""
        assert isinstance(self.attack, Likelihood)
        if not has_reference(self.attack, self.release):
            return float(self._own_queries.nobody(np.full(len(self.known), candidates))[query])
        assert self.attack.adversary is not None
        odds = candidates * (1.0 - self.attack.present) / self.attack.present
        coverage = errors_of(self.release, self.attack.adversary, self.attack.coverage).coverage
        n_facts = int(np.diff(self.known.first)[query])
        return (math.log(odds) if odds > 0 else -math.inf) - n_facts * math.log1p(-coverage)


def _judged(scored: _Scored, record: int, top: int, tie: float) -> Reported:
    """The outcome, where scores that differ by at most `tie` are equal."""
    scores, scale, nobody, of_columns = scored
    candidates = np.flatnonzero(scores > -np.inf)
    if not len(candidates):
        return Reported(0.0, 0.0, NO_CLAIM, math.log2(len(scores)), 0.0)
    highest = float(scores.max())
    is_best = scores >= highest - tie
    n_best = int(is_best.sum())
    second = float(scores[~is_best].max(initial=-np.inf)) if n_best == 1 else highest
    weight = np.exp((scores[candidates] - highest) / scale) if scale > 0 else np.ones(len(candidates))
    total = float(weight.sum())
    strength, is_alone = NO_CLAIM, n_best == 1 and (highest > tie or of_columns)
    if nobody is not None and (is_alone or of_columns):
        others = float(weight.sum(where=~is_best[candidates])) + n_best - 1 + math.exp(min(nobody - highest, 700.0))
        most = STRONGEST_OF_COLUMNS if of_columns else STRONGEST
        strength = min(-math.log10(max(others / (1.0 + others), 1e-300)), most)
    elif is_alone and scale > 0 and len(candidates) > 1:
        strength = (highest - second) / scale
    elif of_columns:
        strength = 0.0
    if record < 0 or scores[record] == -np.inf:
        return Reported(0.0, 0.0, strength, math.log2(len(scores)), float(len(candidates)))
    own = scores[record]
    share = math.exp((own - highest) / scale) / total if scale > 0 else 1.0 / len(candidates)
    higher = int((scores > own + tie).sum())
    equal = int((np.abs(scores[candidates] - own) <= tie).sum())
    return Reported(
        identified=1.0 / n_best if is_best[record] else 0.0,
        in_top=min(max((top - higher) / equal, 0.0), 1.0),
        claim_strength=strength,
        bits_left=-math.log2(share) if share > 0 else (highest - own) / scale / math.log(2),
        candidates=float(len(candidates)),
    )


def _support(item: KnownItem) -> int:
    """Number of records that have the item; some may have several entries of it."""
    return int(np.count_nonzero(np.bincount(item.record)))


# Scores of columns: what a known level adds to each row, level by level, and looked up cell by cell.


COVERAGE = 0.98


def column_scores(release: Release, attack: AnyAttack, known: KnownFacts, query: int, absent: bool) -> Floats:
    """The scores of all rows for one target; for the Bayesian attack ln P(facts | row) / P(facts)."""
    original = release.original if isinstance(release, Sanitized) else release
    channels = release.channels if isinstance(release, Sanitized) else {}
    cells, target = known.cells, int(known.cells.target[query])
    adversary: Any = attack.adversary if isinstance(attack, Likelihood) else None
    facts = [
        _CellFact(
            column,
            release.column(column.name),
            channel := channels.get(column.name),
            code := int(cells.code[f]),
            code if channel is None else int(channel.released[code]),
            0.0 if adversary is None else adversary.error_of(column),
            0.0 if adversary is None else adversary.wrong / adversary.knows,
            target if absent else None,
        )
        for f in range(int(cells.first[query]), int(cells.first[query + 1]))
        if (column := original.columns[int(cells.column[f])]).name in release.column_names
    ]
    n, is_exact = release.n_records, isinstance(attack, ExactMatch)
    if adversary is not None and adversary.wrong:
        # P(facts | row) if exactly so many attributes are wrong: the sum over all choices of these
        right, wrong = dict[str, Floats](), dict[str, Floats]()
        for fact in facts:
            name = fact.original.attribute
            right[name] = right.get(name, np.ones(n)) * fact.chances(0.0)
            wrong[name] = wrong.get(name, np.ones(n)) * fact.chances(1.0)
        total = np.zeros(n)
        for number in range(min(adversary.wrong, len(right)) + 1):
            ways = math.comb(adversary.knows - len(right), adversary.wrong - number)
            for chosen in combinations(right, number) if ways else ():
                total += ways * np.prod([wrong[name] if name in chosen else right[name] for name in right], axis=0)
        return np.log(np.maximum(total / math.comb(adversary.knows, adversary.wrong), 1e-300))
    found = np.full(n, 1.0 if is_exact else 0.0)
    for fact in facts:
        added = np.log(fact.chances(fact.wrong)) if adversary is not None else fact.similarity(is_exact)
        added = np.rint(added * UNIT) / UNIT
        found = np.minimum(found, added) if is_exact else found + added
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _CellFact:
    """One known level, what it became, and the column it is about; `absent` is the target's row if it is removed."""

    original: Column
    released: Column
    channel: Channel | None
    code: int
    became: int
    error: float
    wrong: float
    absent: int | None

    def chances(self, wrong: float) -> Floats:
        """1 − c + c · P(v | cell) / P(v) of each row, if the fact is wrong with this probability."""
        column, channel, released = self.original, self.channel, self.released
        replaced, suppressed = (0.0, 0.0) if channel is None else (channel.replaced, channel.suppressed)
        if column.starts is not None:  # a known member of a set, row by row
            if self.became == released.n_levels:
                return np.ones(released.n_rows)
            given, sizes = self._given_members(released, self.became, wrong, 254)
            owned, counted = self._given_members(column, self.code, self.wrong, column.n_levels)
            counted = (counted > 0) & (np.arange(column.n_rows) != (-1 if self.absent is None else self.absent))
            total, n = float(owned[counted].sum()), int(counted.sum())
            mean = total / n if total > 0 else 1.0 / (n + 1.0)
            missing = int(column.is_missing.sum())
            emptied = suppressed * (column.n_rows - missing)
            empty = emptied / (emptied + missing) if emptied else 0.0
            ratio = np.where(sizes == 0, empty, (1.0 - replaced) * given / mean + replaced)
            return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)
        near, n_near = self._near_levels()
        usual, given = (
            (np.where(near, (1.0 - p) / n_near, p / max(int((~near).sum()), 1))) for p in (self.wrong, wrong)
        )
        if wrong != self.wrong:  # where all levels are near, no fact is wrong
            given[near & (n_near == len(near))] = 1.0 / len(near)
        every = np.bincount(column.codes, minlength=column.n_levels + 1).astype(float)
        counts = every.copy()
        if self.absent is not None:
            counts[int(column.codes[self.absent])] -= 1.0
        total, n_cells = float((usual * counts[:-1]).sum()), float(counts[:-1].sum())
        mean = total / n_cells if total > 0 else float(usual[near].max()) / (n_cells + 1.0)
        ratio = np.append(given / mean, 0.0)
        if channel is not None:  # averages over the levels that a released cell may come from
            mass, sums = self._released_sums(given)
            average = np.where(mass > 0, sums / np.maximum(mass, 1e-300), given.min(initial=np.inf))
            ratio = (1.0 - replaced) * average / mean + replaced
            n_cells = float(every[:-1].sum())
            empties = every[-1] + suppressed * n_cells + (1.0 - suppressed) * mass[-1]
            explained = suppressed * n_cells * mean + (1.0 - suppressed) * sums[-1]
            ratio[-1] = explained / empties / mean if empties else 0.0
        return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)[released.codes]

    def _near_levels(self) -> tuple[Bools, Ints]:
        """Which levels are near the known one, and how many are near each level."""
        column, groups = self.original, np.arange(self.original.n_levels)
        if column.kind in ("number", "date", "ordered"):
            is_number = column.kind != "ordered"
            levels = np.asarray(column.levels if is_number else groups, np.float64)
            reach = self.error * (1.0 + 1e-9) if is_number else int(self.error)
            n_near = np.searchsorted(levels, levels + reach, "right") - np.searchsorted(levels, levels - reach)
            return np.abs(levels - levels[self.code]) <= reach, n_near
        if column.hierarchy is not None and self.error >= 1:
            groups = column.hierarchy.groups[min(int(self.error), column.hierarchy.height) - 1]
        return groups == groups[self.code], np.bincount(groups)[groups]

    def _given_members(self, column: Column, code: int, wrong: float, most: int) -> tuple[Floats, Ints]:
        """P(member | set) of each row, where larger sets count as `most`, and the size of its set."""
        sizes, has = _members(column, code)
        is_sure = (sizes == self.original.n_levels) & (wrong != self.wrong)
        inside = np.where(is_sure, 1.0, 1.0 - wrong) / np.clip(sizes, 1, most)
        return np.where(has, inside, wrong / max(self.original.n_levels - 1, 1)), sizes

    def _released_sums(self, numbers: Floats) -> tuple[Floats, Floats]:
        """By released code, how many original cells it comes from, and the sum of a number of their levels."""
        assert self.channel is not None
        counts = np.bincount(self.original.codes, minlength=self.original.n_levels + 1)[:-1].astype(float)
        codes, n = self.channel.released, self.released.n_levels + 1
        mass, sums = (np.bincount(codes, of, n).astype(np.float64) for of in (counts, counts * numbers))
        return mass, sums

    def similarity(self, is_exact: bool) -> Floats:
        """The paper's Sim of the known level and each row, divided by ln of the support; or whether they are equal."""
        released, missing, became = self.released, self.released.n_levels, self.became
        support = released.n_rows - int(released.is_missing.sum()) - (self.absent is not None)
        weight = 1.0 if is_exact else 1.0 / math.log(max(support, 2))
        if self.original.starts is not None:
            return np.where(_members(released, became)[1], weight, 0.0)
        if not is_exact:
            return weight * self._similar_levels()[released.codes]
        equal = np.zeros(missing + 1)
        equal[became] = 1.0
        if self.channel is not None and (self.channel.suppressed > 0 or bool((self.channel.released == missing).any())):
            equal[missing] = 1.0
        return equal[released.codes]

    def _similar_levels(self) -> Floats:
        """The paper's Sim of the known level, by released code."""
        column, name, scale = self.original, self.original.similarity.name, self.original.similarity.scale or 0.0
        codes = np.arange(column.n_levels)
        if name == "equal":
            sim = (codes == self.code).astype(float)
        elif name == "ordered":
            sim = 1.0 - np.abs(codes - self.code) / max(column.n_levels - 1, 1)
        elif name == "hierarchy":
            assert column.hierarchy is not None
            sim = np.zeros(column.n_levels)
            for height in range(column.hierarchy.height, 0, -1):
                group = column.hierarchy.groups[height - 1]
                sim[group == group[self.code]] = 1.0 - height / column.hierarchy.height
            sim[self.code] = 1.0
        else:
            levels = np.asarray(column.levels, np.float64)
            distance = np.abs(levels - levels[self.code])
            sim = (distance <= scale + 1e-9).astype(float)
            if name != "within":
                sim = np.where(distance <= 15 * scale + 1e-9, np.exp(-distance / scale), 0.0)
        if self.channel is None:
            return np.append(sim, 0.0)
        mass, sums = self._released_sums(sim)
        return np.append((sums / np.maximum(mass, 1.0))[:-1], 0.0)


def _members(column: Column, code: int) -> tuple[Ints, Bools]:
    """The size of each row's set, and whether it has the member."""
    assert column.starts is not None
    sizes = np.diff(column.starts)
    owner = np.repeat(np.arange(column.n_rows), sizes)
    has = np.zeros(column.n_rows, np.bool_)
    has[owner[column.codes == code]] = True
    return sizes, has
