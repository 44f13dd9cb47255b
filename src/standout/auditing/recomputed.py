"""What an attack must report about one target, computed a second time in plain NumPy.

Scores of entries come from the reference implementations, scores of columns level by level from the formulas in
docs/tables.md. The rest of this file repeats the definitions of docs/measures.md. Nothing here uses the kernels or
the code that the audit computes its outcomes with.
"""

import math
from dataclasses import dataclass, replace
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
from standout.data.build import subset
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
        if self.release.columns:
            return self._outcomes_of_columns(query, record, removed, absent)
        scores, highest_possible = self._scores(query, removed)
        # records that fit what is known about length and first date
        (shortest, longest), (earliest, latest) = self.known.length[query], self.known.joined[query]
        is_candidate = np.ones(self.release.n_records, np.bool_)
        if (shortest, longest) != ANY_LENGTH:
            is_candidate &= (self.release.lengths >= shortest) & (self.release.lengths <= longest)
        if (earliest, latest) != ANY_TIME and self.release.by_record.time is not None:
            time = self.release.by_record.time.astype(np.int64)
            first = np.minimum.reduceat(time, self.release.by_record.start[:-1])
            is_candidate &= (first == self.release.span) | ((first >= earliest) & (first <= latest))
        is_candidate[removed if removed >= 0 else []] = False
        scores = np.where(is_candidate, scores, -np.inf)
        scale, nobody = 1.0, None
        if isinstance(self.attack, Likelihood):
            nobody = self._nobody(query, int(is_candidate.sum()))
        elif not (isinstance(self.attack, Attack) and self.attack.log_likelihood):
            scale = float(scores[is_candidate].std()) if is_candidate.any() else 0.0
        scored = _Scored(scores, scale, nobody)
        results = [_judged(scored, record, self.top, width * highest_possible) for width in TIE_WIDTHS]
        for broken in self._broken_ties(query, scores, record, highest_possible):
            results.append(_judged(scored._replace(scores=broken), record, self.top, TIE_WIDTHS[0] * highest_possible))
        return results

    def _outcomes_of_columns(self, query: int, record: int, removed: int, absent: bool) -> list[Reported]:
        scores, scale = column_scores(self.release, self.attack, self.known, query, absent), 1.0
        if removed >= 0:
            scores[removed] = -np.inf
        if isinstance(self.attack, ScoreboardRH):
            scale = max(float(scores[np.isfinite(scores)].std()), EQUAL)
        elif isinstance(self.attack, ExactMatch):
            scores = np.where(scores >= 1.0, 0.0, -np.inf)
        best = float(scores.max())
        if np.count_nonzero(scores >= best - EQUAL) != np.count_nonzero(scores >= best - NEARLY):
            return []
        nobody = None if isinstance(self.attack, ScoreboardRH) else -math.inf
        result = _judged(_Scored(scores, scale, nobody, True), record, self.top, EQUAL)
        n, own = float(self.release.n_records - absent), -np.inf if record < 0 else scores[record]
        distance = np.abs(scores[np.isfinite(scores)] - own) if own > -np.inf else np.empty(0)
        in_top = result.in_top
        if np.count_nonzero(distance <= EQUAL) != np.count_nonzero(distance <= NEARLY):
            in_top = math.nan
        elif isinstance(self.attack, ExactMatch) and record >= 0 and own == -np.inf:  # somewhere among those that fail
            passed = np.count_nonzero(np.isfinite(scores))
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
        supports = sorted(
            {n for item in self._known_items(query) for n in (_support(item), _support(item) - 1) if n > 1}
        )
        pairs = [(low, high) for at, low in enumerate(supports) for high in supports[at + 1 :]]
        if not any(low**power == high for low, high in pairs for power in range(2, 32)):
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
            assert isinstance(attack, ScoreboardRH)
            items, similarity = self._known_items(query, removed), attack.similarity
            assert isinstance(similarity, (Decay, Within))
            function = decay if isinstance(similarity, Decay) else within
            by_value, by_time = (
                (similarity.value_scale, similarity.time_scale)
                if isinstance(similarity, Decay)
                else (similarity.value, similarity.time)
            )
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
            channels.get(column.name),
            int(cells.code[f]),
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
    """One known level, and the column that it is about; `absent` is the target's row if it is removed."""

    original: Column
    released: Column
    channel: Channel | None
    code: int
    error: float
    wrong: float
    absent: int | None

    def chances(self, wrong: float) -> Floats:
        """1 − c + c · P(v | cell) / P(v) of each row, if the fact is wrong with this probability."""
        if self.original.starts is not None:
            return self._chances_by_member(wrong)
        near = self._is_near(self.code)
        given = self._given(near, wrong)
        if wrong != self.wrong:  # where all levels are near, no fact is wrong
            levels = np.flatnonzero(near)
            given[levels[self._number_near(levels) == len(near)]] = 1.0 / len(near)
        usual, column = self._given(near, self.wrong), self.original
        counts = np.bincount(column.codes, minlength=column.n_levels + 1).astype(float)
        if self.absent is not None:
            counts[int(column.codes[self.absent])] -= 1.0
        total, cells = float((usual * counts[:-1]).sum()), float(counts[:-1].sum())
        mean = total / cells if total > 0 else float(usual[near].max()) / (cells + 1.0)
        ratio = np.append(given / mean, 0.0)
        if self.channel is not None:
            ratio = self._through(self.channel, given, mean)
        return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)[self.released.codes]

    def _is_near(self, level: int) -> Bools:
        """Which levels are near a level."""
        column, codes = self.original, np.arange(self.original.n_levels)
        if column.kind in ("number", "date"):
            levels = np.asarray(column.levels, np.float64)
            return np.asarray(np.abs(levels - levels[level]) <= self.error * (1.0 + 1e-9))
        if column.kind == "ordered":
            return np.asarray(np.abs(codes - level) <= int(self.error))
        if column.hierarchy is not None and self.error >= 1:
            group = column.hierarchy.groups[min(int(self.error), column.hierarchy.height) - 1]
            return np.asarray(group == group[level])
        return np.asarray(codes == level)

    def _number_near(self, levels: Ints) -> Ints:
        """Number of levels that are near each of these."""
        if self.original.kind not in ("number", "date"):
            return np.array([int(self._is_near(level).sum()) for level in levels.tolist()])
        values, reach = np.asarray(self.original.levels, np.float64), self.error * (1.0 + 1e-9)
        below = np.searchsorted(values, values[levels] - reach, "left")
        return np.asarray(np.searchsorted(values, values[levels] + reach, "right") - below)

    def _given(self, near: Bools, wrong: float) -> Floats:
        """P(v | level) of each level of the original."""
        rest = len(near) - int(near.sum())
        given = np.full(len(near), wrong / rest if rest else 0.0)
        given[near] = (1.0 - wrong) / self._number_near(np.flatnonzero(near))
        return given

    def _through(self, channel: Channel, given: Floats, mean: float) -> Floats:
        """P(v | released cell) / P(v): averages over the levels that the cell may come from."""
        column, n = self.original, self.released.n_levels
        counts = np.bincount(column.codes, minlength=column.n_levels + 1).astype(float)
        never, counts = counts[-1], counts[:-1]
        mass = np.bincount(channel.released, counts, n + 1)
        sums = np.bincount(channel.released, counts * given, n + 1)
        lowest = float(given.min()) if len(given) else 0.0
        average = np.where(mass > 0, sums / np.maximum(mass, 1e-300), lowest)
        ratio = (1.0 - channel.replaced) * average / mean + channel.replaced
        suppressed, cells = channel.suppressed, float(counts.sum())
        empties = never + suppressed * cells + (1.0 - suppressed) * mass[n]
        explained = suppressed * cells * mean + (1.0 - suppressed) * sums[n]
        ratio[n] = explained / empties / mean if empties else 0.0
        return np.asarray(ratio)

    def _chances_by_member(self, wrong: float) -> Floats:
        """The same for a known member of a set, row by row."""
        column, released, became = self.original, self.released, self._became()
        if became == released.n_levels:
            return np.ones(released.n_rows)
        sizes, has = _members(released, became)
        has_all = (sizes == column.n_levels) & (wrong != self.wrong)
        inside = np.where(has_all, 1.0, 1.0 - wrong) / np.clip(sizes, 1, 254)
        given = np.where(has, inside, wrong / max(column.n_levels - 1, 1)) / self._member_mean()
        replaced, empty = 0.0, 0.0
        if self.channel is not None:
            replaced, missing = self.channel.replaced, int(column.is_missing.sum())
            emptied = self.channel.suppressed * (column.n_rows - missing)
            empty = emptied / (emptied + missing) if emptied else 0.0
        ratio = np.where(sizes == 0, empty, (1.0 - replaced) * given + replaced)
        return np.asarray(1.0 - COVERAGE + COVERAGE * ratio)

    def _member_mean(self) -> float:
        """P(v) of a known member: the mean of P(v | set) over all sets."""
        owned, has = _members(self.original, self.code)
        counts = owned > 0
        if self.absent is not None:
            counts[self.absent] = False
        outside = self.wrong / max(self.original.n_levels - 1, 1)
        given = np.where(has, (1.0 - self.wrong) / np.maximum(owned, 1), outside)[counts]
        total, n = float(given.sum()), int(counts.sum())
        return total / n if total > 0 else 1.0 / (n + 1.0)

    def _became(self) -> int:
        return self.code if self.channel is None else int(self.channel.released[self.code])

    def similarity(self, is_exact: bool) -> Floats:
        """The paper's Sim of the known level and each row, divided by ln of the support; or whether they are equal."""
        released, missing = self.released, self.released.n_levels
        support = released.n_rows - int(released.is_missing.sum()) - (self.absent is not None)
        weight = 1.0 if is_exact else 1.0 / math.log(max(support, 2))
        if self.original.starts is not None:
            became = self._became()
            sizes, has = (
                _members(released, became) if became < missing else (np.zeros(released.n_rows), np.bool_(False))
            )
            return np.where((sizes > 0) & has, weight, 0.0)
        if not is_exact:
            return weight * self._similar_levels()[released.codes]
        equal = np.zeros(missing + 1)
        equal[self._became()] = 1.0
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
            if name == "within":
                sim = (distance <= scale + 1e-9).astype(float)
            else:
                sim = np.where(distance <= 15 * scale + 1e-9, np.exp(-distance / scale), 0.0)
        if self.channel is None:
            return np.append(sim, 0.0)
        counts = np.bincount(column.codes, minlength=column.n_levels + 1)[:-1].astype(float)
        mass = np.bincount(self.channel.released, counts, self.released.n_levels + 1)
        sums = np.bincount(self.channel.released, counts * sim, self.released.n_levels + 1)
        average = sums / np.maximum(mass, 1.0)
        average[-1] = 0.0
        return np.asarray(average)


def _members(column: Column, code: int) -> tuple[Ints, Bools]:
    """The size of each row's set, and whether it has the member."""
    assert column.starts is not None
    sizes = np.diff(column.starts)
    owner = np.repeat(np.arange(column.n_rows), sizes)
    has = np.zeros(column.n_rows, np.bool_)
    has[owner[column.codes == code]] = True
    return sizes, has
