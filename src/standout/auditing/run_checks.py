"""Checks of what the audit reports about each target: the facts, the outcome, the outcome if absent.

Some targets of every adversary and attack are attacked a second time with the reference implementation, with
the same facts. For absent targets, the release is really rebuilt without their records.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from standout.attack.any_attack import AnyAttack, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.recomputed import (
    Recomputation,
    Reported,
    can_recompute,
    compare_repeated,
    has_reference,
    without_record,
)
from standout.core.arrays import Ints
from standout.core.progress import no_progress
from standout.core.threads import run_in_slices
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD, PAPER
from standout.evaluate.estimates import binomial_tail
from standout.evaluate.simulation import Simulation, SimulationCell
from standout.evaluate.targets import Population
from standout.findings.audit import Check
from standout.know.adversary import Adversary, has_own_draws, known_facts
from standout.know.facts import ANY_LENGTH, KnownFacts, level_values
from standout.know.observation import Choice

# Check of the facts that an adversary knew: as many are wrong, and by as much, as the adversary states.
#
# Facts are compared with the records of the people they are about. How many facts are wrong, and how far right
# ones may be off, leaves no room for chance. How often a fact is exact does, because errors are uniform. A
# wrong fact about an item that the person has several times does, too: it may fit another entry.


PEOPLE = 200
"""Number of people whose facts are checked."""
RARE = 1e-6
"""The check fails if chance explains its result with a lower probability than this."""
ROUNDING = 1e-9
TITLE = "Known facts are as accurate as stated"


class _FactComparison(NamedTuple):
    """One fact compared with the person's own entry of the item, or entries if there are several.

    outside        whether value or date is further off than the stated error, or the item is not there
    could_be_wrong whether any value or date is further off than that
    exact          for value and date: whether it is exact
    chance         for value and date: the probability of that if the fact is right; NaN if it is not known
    lucky_chance   highest probability that it is not outside although it was drawn to be wrong
    """

    outside: bool
    could_be_wrong: bool
    exact: tuple[bool, bool]
    chance: tuple[float, float]
    lucky_chance: float = 0.0


def check_facts(original: Release, adversary: Adversary, people: Ints, seed: int) -> Check:
    """Whether an adversary's facts about these people are as accurate as the adversary states."""
    if has_own_draws(adversary):
        result = "not checked: the adversary is your own"
        return Check(
            name="facts",
            title=TITLE,
            expected=result,
            observed=result,
            passed=True,
            explanation="An adversary of your own decides itself what it knows.",
        )
    people = people[np.unique(np.linspace(0, len(people) - 1, min(PEOPLE, len(people))).astype(np.int64))]
    known = known_facts(adversary, original, people, seed)
    person_facts = [_compared(original, adversary, known, q, int(person)) for q, person in enumerate(people)]
    as_stated = sum(
        _are_as_stated(facts, adversary) and _fits(original, adversary, known, q, int(person))
        for q, (facts, person) in enumerate(zip(person_facts, people, strict=True))
    )
    if not _is_luck(person_facts, adversary):
        as_stated -= sum(_shortfall(facts, adversary) > 0 for facts in person_facts)
    right = [fact for facts in person_facts for fact in facts if not fact.outside]
    spread = all(_is_uniform(right, part) for part in (0, 1))
    chosen = _chosen_as_stated(original, adversary, known, people)
    n = len(people)
    passed = as_stated == n and spread and chosen
    problem = (
        "" if passed else
        " The facts of some people are too wrong, or not wrong enough." if as_stated < n else
        " Right facts are exact more often than their errors allow." if not spread else
        " Facts are about other items than the adversary would choose."
    )  # fmt: skip
    return Check(
        name="facts",
        title=TITLE,
        expected=f"{n} of {n} people",
        observed=f"{as_stated} of {n} people" + ("" if spread and chosen else ", but not at random"),
        passed=passed,
        explanation=(
            f"The audit compared the known facts about {n} people with their records: {_stated(adversary)}."
            + (problem or " This holds for all of them.")
        ),
    )


def _stated(adversary: Adversary) -> str:
    right, errors = adversary.knows - adversary.wrong, []
    errors += [] if adversary.value_error is None else [f"values within {adversary.value_error:g}"]
    errors += [] if adversary.time_error is None else [f"dates within {adversary.time_error:g} days"]
    within = f", {' and '.join(errors)}" if errors else ""
    return f"{right} of {adversary.knows} facts must be right{within}, and the rest wrong"


def _compared(
    original: Release, adversary: Adversary, known: KnownFacts, query: int, person: int
) -> list[_FactComparison]:
    by_record, (start, end) = original.by_record, original.by_record.start[person : person + 2]
    own_items, facts = by_record.item[start:end], np.arange(known.first[query], known.first[query + 1])
    comparisons = []
    for item in dict.fromkeys(known.item[facts].tolist()):
        about = facts[known.item[facts] == item]
        entries = int(start) + np.flatnonzero(own_items == item)
        if not len(entries):
            nothing = _FactComparison(True, True, (False, False), (math.nan, math.nan))
            comparisons += [nothing] * len(about)
        elif len(entries) == len(about) == 1:
            comparisons.append(_compared_once(original, adversary, known, int(about[0]), int(entries[0])))
        else:
            several = compare_repeated(original, adversary, known, about, entries)
            comparisons += [
                _FactComparison(
                    outside=bool(several.outside[at]),
                    could_be_wrong=several.could_be_wrong,
                    exact=(bool(several.exact[0][at]), bool(several.exact[1][at])),
                    chance=several.chance,
                    lucky_chance=several.lucky_chance,
                )
                for at in range(len(about))
            ]
    return comparisons


def _compared_once(
    original: Release, adversary: Adversary, known: KnownFacts, fact: int, entry: int
) -> _FactComparison:
    """One fact and the person's only entry of the item."""
    value = _compared_value(original, adversary, known, fact, entry)
    time = _compared_time(original, adversary, known, fact, entry)
    return _FactComparison(
        value.outside or time.outside,
        value.could_be_wrong or time.could_be_wrong,
        (value.exact, time.exact),
        (value.chance, time.chance),
    )


class _Part(NamedTuple):
    """The value or the date of one fact."""

    outside: bool = False
    could_be_wrong: bool = False
    exact: bool = False
    chance: float = math.nan


def _compared_value(original: Release, adversary: Adversary, known: KnownFacts, fact: int, entry: int) -> _Part:
    error, code = adversary.value_error, original.by_record.value
    has_value = code is not None and code[entry] < original.n_levels and error is not None
    if not has_value or known.value[fact] < 0:
        return _Part(outside=has_value != (known.value[fact] >= 0))
    assert code is not None and error is not None
    own, levels = level_values(original)[code[entry]], level_values(original)
    told = known.values[known.value[fact]]
    if isinstance(own, str) or isinstance(told, str):
        return _Part(told != own, len(levels) > 1, told == own, 1.0)
    within = int(np.count_nonzero(np.abs(np.subtract(levels, own)) <= error + ROUNDING))
    return _Part(abs(told - own) > error + ROUNDING, within < len(levels), told == own, 1.0 / within)


def _compared_time(original: Release, adversary: Adversary, known: KnownFacts, fact: int, entry: int) -> _Part:
    error, time, clock = adversary.time_error, original.by_record.time, original.clock
    has_time = time is not None and time[entry] < original.span and error is not None
    if not has_time or not known.timed[fact]:
        return _Part(outside=has_time != bool(known.timed[fact]))
    assert time is not None and error is not None and clock is not None
    distance = abs(int(known.time[fact]) - int(time[entry]))
    reach = math.floor(error * (SECONDS["day"] // SECONDS[clock.unit]) + ROUNDING)
    own = int(time[entry])
    could_be_wrong = own - reach > 0 or own + reach < original.span - 1
    possible = 2 * reach + 1 if could_be_wrong else min(2 * reach + 1, original.span)
    return _Part(distance > reach, could_be_wrong, distance == 0, 1.0 / possible)


def _are_as_stated(facts: list[_FactComparison], adversary: Adversary) -> bool:
    """Whether as many facts are wrong as stated, or as can be; or fewer, where wrong ones may seem right."""
    wrong, may_be_lucky = sum(fact.outside for fact in facts), any(fact.lucky_chance > 0 for fact in facts)
    enough = may_be_lucky or not _shortfall(facts, adversary)
    return len(facts) == adversary.knows and enough and wrong <= adversary.wrong


def _shortfall(facts: list[_FactComparison], adversary: Adversary) -> int:
    """Number of facts that should be wrong, and can be, and seem right."""
    wrong, fixed = sum(fact.outside for fact in facts), sum(not fact.could_be_wrong for fact in facts)
    return max(adversary.wrong - fixed - wrong, 0)


def _is_luck(person_facts: list[list[_FactComparison]], adversary: Adversary) -> bool:
    """Whether no more wrong facts seem right than fit another entry of their item by chance.

    Any fact of a person may be one of the wrong ones, so the chance of each is the mean over the person's.
    The tail is at most that of as many trials with the mean chance (Hoeffding 1956).
    """
    trials = adversary.wrong * len(person_facts)
    if not trials:
        return True
    means = [math.fsum(fact.lucky_chance for fact in facts) / max(len(facts), 1) for facts in person_facts]
    total = sum(_shortfall(facts, adversary) for facts in person_facts if any(f.lucky_chance for f in facts))
    return binomial_tail(total, trials, min(math.fsum(means) / len(means), 1.0)) >= RARE


def _fits(original: Release, adversary: Adversary, known: KnownFacts, query: int, person: int) -> bool:
    """Whether the person's record has a length that is known, to within its error."""
    low, high = (int(end) for end in known.length[query])
    if adversary.length_error is None:
        return (low, high) == ANY_LENGTH
    length, error = int(original.lengths[person]), adversary.length_error
    return low <= length <= high and low >= length * (1 - error) - 1 and high <= length * (1 + error) + 1


def _is_uniform(right: list[_FactComparison], part: int) -> bool:
    """Whether right facts are exact no more often than errors that are uniform explain.

    The number of exact facts is a sum of trials with different chances. Its tail is at most that of as many
    trials with their mean chance (Hoeffding 1956).
    """
    chances = [fact.chance[part] for fact in right if not math.isnan(fact.chance[part])]
    if not chances:
        return True
    exact = sum(fact.exact[part] for fact in right)
    return binomial_tail(exact, len(chances), math.fsum(chances) / len(chances)) >= RARE


def _chosen_as_stated(original: Release, adversary: Adversary, known: KnownFacts, people: Ints) -> bool:
    """Whether the known items of each person are as popular as the choice of items implies.

    If any entry is as likely as another, they are also as frequent in the record: of an item with many
    entries, one is known more often.
    """
    choice, support, by_record = adversary.items, original.support, original.by_record
    assert isinstance(choice, Choice)
    if adversary.wrong_facts != "values" and adversary.wrong:
        return True
    by_popularity, by_frequency = [], []
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
    return choice.name != "any" or all(map(_is_centred, (by_popularity, by_frequency)))


def _midranks(own: Ints, told: Ints) -> list[float]:
    """The midranks of some numbers among all, between -½ and ½; nothing if all are equal."""
    own = np.sort(own)
    if own[0] == own[-1]:
        return []
    low, high = np.searchsorted(own, told), np.searchsorted(own, told, "right")
    return [float(rank) for rank in (low + high) / (2 * len(own)) - 0.5]


def _is_centred(midranks: list[float]) -> bool:
    """Whether numbers within ± ½ have mean 0, as the midranks of random draws.

    By Hoeffding's inequality, which also holds for draws without replacement (Hoeffding 1963, section 6).
    """
    if not midranks:
        return True
    return math.exp(-2 * math.fsum(midranks) ** 2 / len(midranks)) * 2 >= RARE


TARGETS, ABSENT = 20, 4
"""Number of targets of the headline adversary that are attacked again, present and absent."""
FEW_TARGETS, FEW_ABSENT = 4, 1
"""The same for the other adversaries."""
READ = 2_000_000
"""About this many entries are read again for one Bayesian attack, at most, or a few targets more."""
MOST_ENTRIES = 2_000_000
"""A larger release is not rebuilt: the record is left out of the reference implementation's sums instead."""
RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""Accepted differences: kernels compute σ and sums of probabilities in single precision."""
ABSENT_SLACK = 50.0
"""More is accepted of the Bayesian attack on absent targets: entries without a value count as the average of
the release, and that is taken before the record is removed."""


@dataclass(frozen=True, eq=False, slots=True)
class CheckedRun:
    """One attack of one adversary, by the name that the findings give it, and its outcomes."""

    adversary: Adversary
    name: str
    attack: AnyAttack
    simulation: Simulation
    is_headline: bool

    @property
    def cell(self) -> SimulationCell:
        """The outcomes with most facts."""
        return max(self.simulation.cells, key=lambda cell: cell.facts)

    @property
    def named_attack(self) -> AnyAttack:
        """The attack that the name promises, with the errors of the adversary."""
        built_in: dict[str, AnyAttack] = {PAPER: ScoreboardRH(), LIKELIHOOD: Likelihood()}
        return fit_attack(built_in.get(self.name, self.attack), self.adversary)


def check_runs(release: Release, runs: Sequence[CheckedRun], threads: int | None = None) -> list[Check]:
    """Check the outcomes of attacks, as the audit reports them.

    Parameters
    ----------
    release
        The release that was attacked.
    runs
        Attacks and their outcomes. For each, the cell with most facts is checked.
    threads
        Number of threads; default: all cores.

    Returns
    -------
    list of Check
        The checks "facts", "outcomes" and "absence"; nothing if there are no outcomes.
    """
    runs = [run for run in runs if run.simulation.cells]
    if not runs:
        return []
    agreements = [_Comparison(release, run, threads) for run in runs]
    names = " and ".join(dict.fromkeys(run.name for run in runs))
    return [
        _facts(release, runs),
        _agreement(
            "outcomes",
            "Outcomes are correct",
            [comparison.outcomes() for comparison in agreements],
            f"The audit attacked some targets of every adversary again ({names}), with a second, simpler "
            "implementation. Best guess, lineup, strength of the claim and bits",
        ),
        _agreement(
            "absence",
            "Absent targets are really absent",
            [comparison.absence() for comparison in agreements],
            "The audit removed the records of some targets from the release, one at a time, and attacked the "
            "rest with a second, simpler implementation. The strengths of the claims",
        ),
    ]


def _facts(release: Release, runs: Sequence[CheckedRun]) -> Check:
    """The facts of all adversaries as one check; that of the first failure, if any."""
    adversaries = {run.adversary.key(): run for run in reversed(runs)}
    checks = [
        check_facts(Population.of(release).original, run.adversary, run.cell.targets, run.simulation.seed)
        for run in adversaries.values()
    ]
    failed = [check for check in checks if not check.passed]
    if failed or len(checks) == 1:
        return (failed or checks)[0]
    n = len(checks)
    return replace(
        checks[-1],
        expected=f"{n} of {n} adversaries",
        observed=f"{n} of {n} adversaries",
        explanation=(
            f"The audit compared the known facts of {n} adversaries with the records of the people they are "
            "about. As many are wrong as stated, and right ones are within the stated errors."
        ),
    )


class _Agreement(NamedTuple):
    """How many outcomes agree, and of how many."""

    agreeing: int = 0
    n: int = 0


@dataclass(frozen=True, eq=False)
class _Comparison:
    """One attack of one adversary, and a second implementation of it."""

    release: Release
    run: CheckedRun
    threads: int | None

    @property
    def people(self) -> Population:
        """The people among whom the targets are."""
        return Population.of(self.release)

    def outcomes(self) -> _Agreement:
        """Compare the outcomes of some targets."""
        attack = self.run.named_attack
        if not can_recompute(attack):
            return _Agreement()
        chosen = self._sample(TARGETS if self.run.is_headline else FEW_TARGETS)
        top, known = self.run.simulation.criteria.top, self._known(chosen)
        again = Recomputation(self.release, attack, known, top)
        records = self.people.record_of(self.run.cell.targets[chosen])
        return self._count(
            lambda q: _agree(self._reported(int(chosen[q])), again.outcomes(q, int(records[q]))), len(chosen)
        )

    def _count(self, agrees: Callable[[int], bool], n: int) -> _Agreement:
        """How many of n outcomes agree, each computed again on one of several threads."""
        agreeing = np.zeros(n, np.bool_)

        def work_on(low: int, high: int, _: None) -> None:
            for q in range(low, high):
                agreeing[q] = agrees(q)

        run_in_slices(n, self.threads, lambda: None, work_on, no_progress)
        return _Agreement(int(agreeing.sum()), n)

    def absence(self) -> _Agreement:
        """Compare the strengths of claims about some absent targets."""
        attack, is_bayesian = self.run.named_attack, isinstance(self.run.named_attack, Likelihood)
        is_covered = has_reference(attack, self.release) if is_bayesian else can_recompute(attack)
        if not is_covered or not self.run.simulation.criteria.absent or self.release.n_records < 2:
            return _Agreement()
        chosen = self._sample(ABSENT if self.run.is_headline else FEW_ABSENT)
        known, records = self._known(chosen), self.people.record_of(self.run.cell.targets[chosen])
        rebuilds = isinstance(attack, ScoreboardRH) and self.release.n_entries <= MOST_ENTRIES
        whole = Recomputation(self.release, attack, known, 1)
        slack = ABSENT_SLACK if is_bayesian else 1.0

        def agrees(q: int) -> bool:
            again, removed = whole, int(records[q])
            if rebuilds and removed >= 0:
                release, facts = without_record(self.release, known, removed)
                again, removed = Recomputation(release, attack, facts, 1), -1
            strength = float(self.run.cell.outcomes.absent_claim_strength[chosen[q], 0])
            results = again.outcomes(q, -1, removed)
            return any(_is_close(strength, result.claim_strength, slack) for result in results)

        return self._count(agrees, len(chosen))

    def _sample(self, count: int) -> Ints:
        """Targets spread over the whole run; fewer if a large release is read as a whole for each."""
        if has_reference(self.run.named_attack, self.release):
            count = min(count, max(FEW_TARGETS, READ // self.release.n_entries))
        n = len(self.run.cell.outcomes)
        return np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int64))

    def _known(self, chosen: Ints) -> KnownFacts:
        """The first known facts of each of these targets, as many as the cell is about."""
        run, cell = self.run, self.run.cell
        known = self.people.known_facts(run.adversary, cell.targets[chosen], run.simulation.seed)
        counts = np.minimum(np.diff(known.first), cell.facts)
        first = np.append(0, np.cumsum(counts))
        fact = np.arange(first[-1]) + np.repeat(known.first[:-1] - first[:-1], counts)
        return known.select(np.arange(len(chosen)), fact, first)

    def _reported(self, target: int) -> Reported:
        outcomes = self.run.cell.outcomes
        return Reported(*(float(getattr(outcomes, name)[target, 0]) for name in Reported._fields))


def _agree(reported: Reported, results: Iterable[Reported]) -> bool:
    return any(all(_is_close(a, b) for a, b in zip(reported, result, strict=True)) for result in results)


def _is_close(reported: float, expected: float, slack: float = 1.0) -> bool:
    return math.isclose(reported, expected, rel_tol=slack * RELATIVE, abs_tol=slack * ABSOLUTE)


def _agreement(name: str, title: str, parts: Sequence[_Agreement], explanation: str) -> Check:
    agreeing, n = sum(part.agreeing for part in parts), sum(part.n for part in parts)
    expected, observed = f"{n} of {n}", f"{agreeing} of {n}"
    text = f"{explanation} {'agree' if agreeing == n else 'do not agree'}."
    if not n:
        expected = observed = "not checked: there is no second implementation"
        text = "There is no second implementation of these attacks."
    elif not all(part.n for part in parts):
        text += " Some attacks were not checked, because there is no second implementation for them."
    return Check(name=name, title=title, expected=expected, observed=observed, passed=agreeing == n, explanation=text)
