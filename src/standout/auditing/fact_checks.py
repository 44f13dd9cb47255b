"""Check of the entries that an adversary knew: as many are wrong, and by as much, as the adversary states.

Facts are compared with the records of the people they are about. How many facts are wrong, and how far right ones may
be off, leaves no room for chance. How often a fact is exact does, because errors are uniform. Which entry of an item a
fact was drawn from is not known: as many facts as possible are assigned to different entries that they fit. A wrong
fact may fit another entry of the item by chance, and the comparison says how likely that is.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from standout.core.arrays import Bools, Ints
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.evaluate.estimates import binomial_tail
from standout.findings.audit import Check
from standout.know.adversary import Adversary, has_own_draws, known_facts
from standout.know.facts import ANY_LENGTH, KnownFacts
from standout.know.observation import Choice

PEOPLE = 200
"""Number of people whose facts are checked."""
NEVER_BY_CHANCE = 1e-6
"""The check fails if chance explains its result with a lower probability than this."""
ROUNDING = 1e-9
TITLE = "Known facts are as accurate as stated"


class _ComparedFact(NamedTuple):
    """One fact compared with the person's entries of the item.

    outside        whether no entry is left that it fits, within the stated error
    could_be_wrong whether any value or date is further off than that
    exact          for value and date: whether an entry has exactly this one
    chance         for value and date: highest probability of that if the fact seems right; NaN: not known
    lucky_chance   highest probability that it is not outside although it was drawn to be wrong
    """

    outside: bool
    could_be_wrong: bool
    exact: tuple[bool, bool]
    chance: tuple[float, float]
    lucky_chance: float


def check_facts(original: Release, adversary: Adversary, people: Ints, seed: int) -> Check:
    """Whether an adversary's facts about these people are as accurate as the adversary states."""
    if has_own_draws(adversary):
        result, why = "not checked: the adversary is your own", "An adversary of your own decides itself what it knows."
        return Check(name="facts", title=TITLE, expected=result, observed=result, passed=True, explanation=why)
    people = people[np.unique(np.linspace(0, len(people) - 1, min(PEOPLE, len(people))).astype(np.int64))]
    known, n = known_facts(adversary, original, people, seed), len(people)
    person_facts = [_compared(original, adversary, known, q, int(person)) for q, person in enumerate(people)]
    fits = [_fits(original, adversary, known, q, int(person)) for q, person in enumerate(people)]
    short, as_stated = [], 0
    for facts, is_fit in zip(person_facts, fits, strict=True):
        wrong, fixed = sum(fact.outside for fact in facts), sum(not fact.could_be_wrong for fact in facts)
        short.append(max(adversary.wrong - fixed - wrong, 0))  # facts that should be wrong, and can be, and seem right
        enough = not short[-1] or any(fact.lucky_chance > 0 for fact in facts)
        as_stated += is_fit and len(facts) == adversary.knows and enough and wrong <= adversary.wrong
    # Any fact of a person may be one of the wrong ones, so the chance of each is the mean over the person's. The
    # tail is at most that of as many trials with the mean chance (Hoeffding 1956).
    trials = adversary.wrong * n
    lucky = math.fsum(math.fsum(f.lucky_chance for f in facts) / max(len(facts), 1) for facts in person_facts) / n
    by_luck = sum(s for s, facts in zip(short, person_facts, strict=True) if any(f.lucky_chance for f in facts))
    if trials and binomial_tail(by_luck, trials, min(lucky, 1.0)) < NEVER_BY_CHANCE:
        as_stated -= sum(each > 0 for each in short)
    right = [fact for facts in person_facts for fact in facts if not fact.outside]
    spread = True
    for part in (0, 1):  # right facts are exact no more often than errors that are uniform explain, as above
        chances = [fact.chance[part] for fact in right if not math.isnan(fact.chance[part])]
        exact = sum(fact.exact[part] for fact in right)
        mean = math.fsum(chances) / max(len(chances), 1)
        spread &= not chances or binomial_tail(exact, len(chances), mean) >= NEVER_BY_CHANCE
    chosen = _chosen_as_stated(original, adversary, known, people)
    passed = as_stated == n and spread and chosen
    if passed:
        result = "This holds for all of them."
    elif as_stated < n:
        result = "The facts of some people are too wrong, or not wrong enough."
    elif not spread:
        result = "Right facts are exact more often than their errors allow."
    else:
        result = "Facts are about other items than the adversary would choose."
    errors = [] if adversary.value_error is None else [f"values within {adversary.value_error:g}"]
    errors += [] if adversary.time_error is None else [f"dates within {adversary.time_error:g} days"]
    within = f", {' and '.join(errors)}" if errors else ""
    return Check(
        name="facts",
        title=TITLE,
        expected=f"{n} of {n} people",
        observed=f"{as_stated} of {n} people" + ("" if spread and chosen else ", but not at random"),
        passed=passed,
        explanation=(
            f"The audit compared the known facts about {n} people with their records: "
            f"{adversary.knows - adversary.wrong} of {adversary.knows} facts must be right{within}, and the "
            f"rest wrong. {result}"
        ),
    )


def _compared(
    original: Release, adversary: Adversary, known: KnownFacts, query: int, person: int
) -> list[_ComparedFact]:
    """The facts about a person, compared with the entries of their items."""
    start, end = original.by_record.start[person : person + 2]
    own_items, facts = original.by_record.item[start:end], np.arange(known.first[query], known.first[query + 1])
    comparisons = []
    for item in dict.fromkeys(known.item[facts].tolist()):
        about, entries = facts[known.item[facts] == item], int(start) + np.flatnonzero(own_items == item)
        if not len(entries):
            comparisons += [_ComparedFact(True, True, (False, False), (math.nan, math.nan), 0.0)] * len(about)
            continue
        parts = _values(original, adversary, known, about, entries), _times(original, adversary, known, about, entries)
        fits = parts[0].fits & parts[1].fits
        outside = ~fits[0]
        if fits.size > 1:
            outside = maximum_bipartite_matching(csr_array(fits), perm_type="column") < 0
        lucky = min(part.lucky_chance for part in parts) if len(entries) > 1 else 0.0
        wrong = adversary.wrong / adversary.knows if adversary.wrong_facts == "values" else 0.0
        by_luck = wrong * lucky / (1.0 - wrong) if wrong < 1 else 1.0
        chance = [min(1.0, part.exact_chance + by_luck) if part.exact_chance <= 1 else math.nan for part in parts]
        comparisons += [
            _ComparedFact(
                outside=bool(outside[at]),
                could_be_wrong=any(part.could_be_wrong for part in parts),
                exact=(bool(parts[0].exact[at]), bool(parts[1].exact[at])),
                chance=(chance[0], chance[1]),
                lucky_chance=lucky,
            )
            for at in range(len(about))
        ]
    return comparisons


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


def _values(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, levels, is_told = (
        original.by_record.value,
        adversary.value_error,
        original.levels,
        known.value[facts] >= 0,
    )
    if code is None or levels is None or error is None:
        return _Part(~is_told[:, None] & np.ones(len(entries), np.bool_), np.zeros(len(facts), np.bool_))
    own = code[entries].astype(np.int64)
    held = np.unique(own[own < original.n_levels])
    if isinstance(levels, tuple):
        names, told = np.array([*levels, None], object), np.array([*known.values, None], object)[known.value[facts]]
        near, low, high = told[:, None] == names[own], held, held + 1
    else:
        names, told = (
            np.append(levels, np.nan),
            np.append(np.array(known.values, np.float64), np.nan)[known.value[facts]],
        )
        near = np.abs(told[:, None] - names[own]) <= error + ROUNDING
        low = np.searchsorted(levels, levels[held] - error - ROUNDING)
        high = np.searchsorted(levels, levels[held] + error + ROUNDING, "right")
    exact = (told[:, None] == names[own]).any(axis=1)
    return _part(near, exact, is_told, own < original.n_levels, (held, low, high), original.n_levels)


def _times(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, clock, is_told = original.by_record.time, adversary.time_error, original.clock, known.timed[facts]
    if code is None or clock is None or error is None:
        return _Part(~is_told[:, None] & np.ones(len(entries), np.bool_), np.zeros(len(facts), np.bool_))
    own, told = code[entries].astype(np.int64), known.time[facts]
    has = own < original.span
    reach = math.floor(error * (SECONDS["day"] // SECONDS[clock.unit]) + ROUNDING)
    near, exact = np.abs(told[:, None] - own) <= reach, ((told[:, None] == own) & has).any(axis=1)
    held = np.unique(own[has])
    return _part(near, exact, is_told, has, (held, held - reach, held + reach + 1), original.span)


def _part(
    near: Bools, exact: Bools, is_told: Bools, has: Bools, windows: tuple[Ints, Ints, Ints], n_codes: int
) -> _Part:
    """A part; `windows` are the codes that entries hold, and the codes from low up to high within the error of each."""
    held, first, last = windows
    fits = (is_told[:, None] == has) & (near | ~has)
    if not len(held):
        return _Part(fits, exact & is_told)
    low, high = np.maximum(first, 0), np.minimum(last, n_codes)
    size = high - low
    could_be_wrong = bool((size < n_codes).all())
    possible = last - first if could_be_wrong else np.minimum(last - first, n_codes)
    exact_chance = float(((np.searchsorted(held, last) - np.searchsorted(held, first)) / possible).max())
    past, smallest = np.maximum.accumulate(high), int(size.min())
    covered = int(size[0] + np.maximum(high[1:] - np.maximum(low[1:], past[:-1]), 0).sum())
    lucky = (covered - smallest) / (n_codes - smallest) if could_be_wrong else 1.0
    return _Part(fits, exact & is_told, could_be_wrong, exact_chance if is_told.any() else math.nan, lucky)


def _fits(original: Release, adversary: Adversary, known: KnownFacts, query: int, person: int) -> bool:
    """Whether the person's record has a length that is known, to within its error."""
    low, high = (int(end) for end in known.length[query])
    if adversary.length_error is None:
        return (low, high) == ANY_LENGTH
    length, error = int(original.lengths[person]), adversary.length_error
    return low <= length <= high and low >= length * (1 - error) - 1 and high <= length * (1 + error) + 1


def _chosen_as_stated(original: Release, adversary: Adversary, known: KnownFacts, people: Ints) -> bool:
    """Whether the known items of each person are as popular as the choice of items implies.

    If any entry is as likely as another, they are also as frequent in the record: of an item with many
    entries, one is known more often.
    """
    choice, support, by_record = adversary.items, original.support, original.by_record
    assert isinstance(choice, Choice)
    if adversary.wrong_facts != "values" and adversary.wrong:
        return True
    by_popularity, by_frequency = list[float](), list[float]()
    for q, person in enumerate(people.tolist()):
        items, item = by_record.item[slice(*by_record.start[person : person + 2])], known.item[known.first[q]]
        if choice.name == "rarest" and support[item] != support[items].min():
            return False
        if choice.name == "outside_top" and original.rank[item] <= choice.top:
            return False
        told = known.item[known.first[q] : known.first[q + 1]]
        by_popularity += _midranks(support[items], support[told])
        if original.has_repeats:
            times = np.bincount(items, minlength=original.n_items)
            by_frequency += _midranks(times[items], times[told])
    # By Hoeffding's inequality, which also holds for draws without replacement (Hoeffding 1963, section 6).
    return choice.name != "any" or all(
        not ranks or math.exp(-2 * math.fsum(ranks) ** 2 / len(ranks)) * 2 >= NEVER_BY_CHANCE
        for ranks in (by_popularity, by_frequency)
    )


def _midranks(own: Ints, told: Ints) -> list[float]:
    """The midranks of some numbers among all, between -½ and ½ and 0 on average; nothing if all are equal."""
    own = np.sort(own)
    if own[0] == own[-1]:
        return []
    low, high = np.searchsorted(own, told), np.searchsorted(own, told, "right")
    return [float(rank) for rank in (low + high) / (2 * len(own)) - 0.5]
