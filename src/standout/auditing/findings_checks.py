"""Checks of the numbers in the findings, which must follow from the outcomes, and of the facts that adversaries knew.

Everything is computed a second time from the outcomes, by other formulas than those of `estimates`: the ends
of the interval of a rate are inserted into the equation that defines them, and the interval of a mean uses
an expansion of Student's quantile. Classes of rows are counted a second time.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from standout.auditing import sentences
from standout.auditing.runs import AdversaryRun, AuditPlan, GridRun
from standout.core.arrays import Bools, Floats, Ints
from standout.core.rng import generator
from standout.data.labels import SECONDS
from standout.data.release import Release
from standout.evaluate.compare import LIKELIHOOD
from standout.evaluate.estimates import Estimate, binomial_tail, percent
from standout.evaluate.simulation import SimulationCell
from standout.findings.adversaries import CurvePoint, Measures
from standout.findings.audit import AuditFindings, Check, Trust
from standout.findings.sections import Classes
from standout.know.adversary import Adversary, has_own_draws, known_facts
from standout.know.facts import ANY_LENGTH, KnownFacts
from standout.know.observation import Choice
from standout.measure.equivalence import cell_codes

Z = 1.959963984540054
"""A normal variable lies within ± Z with probability 0.95."""
CLOSE = 1e-9
NARROWER = 0.97
"""The interval of a mean may be this much narrower than the approximate formula says."""
FEW = 5
"""With fewer degrees of freedom the approximate formula is useless."""
ROUNDING = 1e-5
"""Relative difference up to which two eccentricities may come from the same scores."""
MOST_COUNTED, COMPARED = 200_000, 30
"""Rows up to which classes are counted a second time; of more rows, so many are compared with all others."""
RARE = 1e-4
"""The check of classes fails if chance explains its result with a lower probability than this."""


class Number(NamedTuple):
    """A number of the findings, what it should be, and what its interval is made from."""

    reported: Estimate
    expected: float
    kind: str
    values: Floats


def checked_findings(
    findings: AuditFindings, plan: AuditPlan, runs: Mapping[str, AdversaryRun], grids: Sequence[GridRun]
) -> AuditFindings:
    """The findings, after a check that their numbers follow from the outcomes of the attacks."""
    numbers: list[Number] = []
    for adversary in findings.adversaries:
        parts, strongest = {part.name: part for part in runs[adversary.name].attacks}, adversary.attacks[0]
        assert (strongest.as_named, strongest.curve) == (adversary.as_named, adversary.curve)
        for attack in adversary.attacks:
            part = parts[attack.name]
            assert part.cell is not None
            every: list[Measures | CurvePoint] = [attack.as_named, *attack.curve]
            for measures, cell in zip(every, [part.cell, *part.curve, *part.further], strict=True):
                numbers += _numbers(measures, cell, plan.people.record_of(cell.targets) >= 0, findings.settings.budget)
    if findings.error_grids is not None:
        for grid, run in zip(findings.error_grids.grids, grids, strict=True):
            for row, success in zip(grid.rows, run.success, strict=True):
                for column, point in enumerate(row.cells):
                    chosen = _by_halves({name: of[:, column] for name, of in success.items()})
                    numbers.append(Number(point.identified, math.fsum(chosen) / len(chosen), "rate", chosen))
    right = [_is_close(number.reported.value, number.expected) for number in numbers]
    right += [*_summaries(findings), *_own_rows_agree(runs[findings.answer.adversary], grids)]
    checks = [
        *findings.trust.checks,
        _counted(
            "rates",
            "Reported numbers follow from the outcomes",
            right,
            "The audit computed the numbers of its findings again from the outcome of each attack.",
        ),
        _counted(
            "intervals",
            "Intervals are as wide as the number of targets requires",
            [_has_its_interval(number) for number in numbers],
            "The audit compared the intervals in its findings with those of another formula.",
        ),
        *([] if findings.classes is None else [_check_classes(findings.classes, plan)]),
    ]
    trusted = findings.trust.trusted and all(check.passed for check in checks)
    verdict = sentences.verdict(findings, trusted)
    return replace(findings, trust=Trust(trusted=trusted, checks=tuple(checks)), verdict=verdict)


def _numbers(
    measures: Measures | CurvePoint, cell: SimulationCell, is_present: Bools, budget: float
) -> Iterator[Number]:
    """The numbers of one adversary and attack with one number of facts; those that were not measured are left out."""
    outcomes, all_bits = cell.outcomes, math.log2(cell.n_records)
    identified, bits_left = outcomes.identified.mean(axis=1), outcomes.bits_left.mean(axis=1)
    threshold = cell.threshold.strength
    is_claim = outcomes.claim_strength >= threshold
    is_right = np.abs(outcomes.identified - 1.0) < CLOSE
    expected = {
        "identified": ("rate", identified),
        "identified_in_release": ("rate", identified[is_present]),
        "in_top": ("rate", outcomes.in_top.mean(axis=1)),
        "correct_claims": ("rate", (is_claim & is_right).mean(axis=1)),
        "wrong_claims": ("rate", (is_claim & ~is_right).mean(axis=1)),
        "absent_claims": ("rate", (outcomes.absent_claim_strength >= threshold).mean(axis=1)),
        "bits_gained": ("mean", all_bits - bits_left),
        "bits_left": ("mean", bits_left),
        "lineup_size": ("median", outcomes.lineup_90[~np.isnan(outcomes.lineup_90)]),
        "revealed": ("mean", outcomes.revealed.mean(axis=1)),
        "revealed_correct": ("mean", outcomes.revealed_correct.mean(axis=1)),
    }
    if outcomes.identified.shape[1] == 1:
        phi = _phi_of_others(cell, budget)
        at_budget = ((outcomes.claim_strength[:, 0] >= phi) & is_right[:, 0]).astype(np.float64)
        expected["correct_claims_at_budget"] = ("wider", at_budget)
    for name, (kind, values) in expected.items():
        reported = getattr(measures, name, None)
        if reported is not None:
            value = math.fsum(values) / max(len(values), 1)
            if kind == "median":
                ordered = sorted(values.tolist())
                value = float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
            yield Number(reported, value, kind, values)


def _phi_of_others(cell: SimulationCell, budget: float) -> Floats:
    """For each target the threshold that the absent strengths of all others choose within the budget."""
    absent = cell.outcomes.absent_claim_strength[:, 0]
    n, order = len(absent), np.argsort(-absent, kind="stable")
    allowed = max(math.floor(budget * (n + 1) + CLOSE) - 1, 0)
    slack = 0.0 if cell.threshold.by_posterior else 2.0 / max(float(cell.outcomes.candidates.min()), 2.0)
    phi = np.empty(n)
    for place, target in enumerate(order.tolist()):
        others = allowed + 1 if place <= allowed else allowed
        rejected = absent[order[others]] if others < n else -1.0
        phi[target] = np.nextafter(rejected * (1.0 + slack + ROUNDING), np.inf) if rejected >= 0 else 0.0
    return phi


def _summaries(findings: AuditFindings) -> Iterator[bool]:
    """Whether answer, threshold and envelope repeat the numbers of the adversaries."""
    headline = findings.headline
    assert headline is not None
    yield findings.answer.rate == headline.as_named.identified
    if findings.threshold.measured is not None:
        gates = [adversary.as_named for adversary in findings.adversaries if adversary.gate]
        highest = max(measures.identified_in_release.value for measures in gates)
        yield _is_close(findings.threshold.measured.value, highest)
    rates: dict[int, list[float]] = {}
    for adversary in findings.adversaries:
        points: list[Measures | CurvePoint] = [adversary.as_named, *adversary.curve]
        for each in points:
            rates.setdefault(each.facts, []).append(each.identified.value)
    for point in findings.envelope:
        yield _is_close(point.identified.value, max(rates[point.facts]))


def _by_halves(successes: Mapping[str, Floats]) -> Floats:
    """Success by target: every second target has the attack that is best for the others."""
    chosen = np.zeros(len(next(iter(successes.values()))))
    for half in (0, 1):
        others = {name: math.fsum(success[1 - half :: 2]) for name, success in successes.items()}
        best = max(others, key=lambda name: (others[name], name == LIKELIHOOD))
        chosen[half::2] = successes[best][half::2]
    return chosen


def _own_rows_agree(headline: AdversaryRun, grids: Sequence[GridRun]) -> Iterator[bool]:
    """Whether the row of the adversary's own error in a grid repeats what its own attacks achieved.

    They have the same targets with the same facts, but were attacked in another run.
    """
    for run in grids:
        for level, success in zip(run.levels, run.success, strict=True):
            for part in headline.attacks if level.adversary == headline.rung.adversary else ():
                assert part.cell is not None
                place = {int(target): at for at, target in enumerate(part.cell.targets)}
                at = [place[int(target)] for target in run.targets]
                yield bool(np.array_equal(part.cell.outcomes.identified[at, 0], success[part.name][:, -1]))


def _has_its_interval(number: Number) -> bool:
    """Whether an interval is as wide as its number of trials requires, and holds the value."""
    reported, n = number.reported, len(number.values)
    if reported.n != n or not reported.low <= reported.value <= reported.high:
        return False
    if number.kind == "mean":
        return _is_mean_interval(reported, number.values)
    if number.kind == "median":  # enough values lie on both sides of the ends
        outside = max(n / 2 - Z * math.sqrt(n) / 2 + 1.0, 0.0)
        below, above = np.count_nonzero(number.values < reported.low), np.count_nonzero(number.values > reported.high)
        return bool(below <= outside and above <= outside)
    if n == 0:
        return (reported.low, reported.high) == (0.0, 1.0)
    for end in (reported.low, reported.high):  # the value is Z standard deviations from it, as computed there; or more
        exact, allowed = number.kind == "rate", Z * Z * end * (1.0 - end)
        difference = n * (reported.value - end) ** 2 - allowed
        if end in (0.0, 1.0):
            is_end = reported.value == end or not exact
        else:
            is_end = (abs(difference) if exact else -difference) <= 1e-6 * max(allowed, CLOSE)
        if not is_end:
            return False
    return True


def _is_mean_interval(mean: Estimate, values: Floats) -> bool:
    """Whether the interval of a mean is ± t s/√n, with t from its expansion in 1/n."""
    n = len(values)
    if n < 2:
        return not math.isfinite(mean.high) and (mean.low == 0.0 or not math.isfinite(mean.low))
    deviation = math.sqrt(math.fsum((values - math.fsum(values) / n) ** 2) / (n - 1) / n)
    t = Z + (Z**3 + Z) / (4 * (n - 1)) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * (n - 1) ** 2)
    reach, above = (NARROWER * t if n > FEW else Z) * deviation, mean.high - mean.value
    is_high = above >= reach - CLOSE
    widest = max(t / NARROWER if n > FEW else 20.0, 0.0) * deviation + CLOSE
    is_low = mean.value - mean.low >= reach - CLOSE or mean.low == 0.0
    return is_high and is_low and above <= widest


def _is_close(reported: float, expected: float) -> bool:
    return math.isclose(reported, expected, rel_tol=1e-9, abs_tol=CLOSE)


def _counted(name: str, title: str, results: Sequence[bool], explanation: str) -> Check:
    right, n = sum(results), len(results)
    return Check(
        name=name,
        title=title,
        expected=f"{n:,} of {n:,} numbers",
        observed=f"{right:,} of {n:,} numbers",
        passed=right == n,
        explanation=f"{explanation} {'All agree' if right == n else f'{n - right:,} do not agree'}.",
    )


def _check_classes(reported: Classes, plan: AuditPlan) -> Check:
    """k, unique rows and classes, counted again."""
    columns, n = [plan.release.column(name) for name in reported.columns], plan.release.n_records
    if n <= MOST_COUNTED:
        cells: list[list[Any]] = [
            column.codes.tolist()
            if column.starts is None
            else [tuple(members.tolist()) for members in np.split(column.codes, column.starts[1:-1])]
            for column in columns
        ]
        sizes = Counter(Counter(zip(*cells, strict=True)).values())
        unique, k, classes = sizes[1] / n, min(sizes), sum(sizes.values())
        passed = math.isclose(reported.unique, unique, abs_tol=1e-12) and (reported.k, reported.classes) == (k, classes)
        expected = f"k = {reported.k:,}, {reported.classes:,} classes, {percent(reported.unique)} unique"
        observed = f"k = {k:,}, {classes:,} classes, {percent(unique)} unique"
        how = "Rows with equal quasi-identifiers were counted a second time, by comparing their cells."
    else:
        codes = [cell_codes(column)[0] for column in columns]
        rows = generator(plan.seed, "compared rows").integers(0, n, COMPARED)
        alone = sum(int(np.logical_and.reduce([cells == cells[row] for cells in codes]).sum()) == 1 for row in rows)
        likely = min(max(reported.unique, 0.0), 1.0)
        tails = binomial_tail(alone, COMPARED, likely), binomial_tail(COMPARED - alone, COMPARED, 1 - likely)
        passed = min(tails) >= RARE
        expected = f"about {likely * COMPARED:.2g} of {COMPARED} rows unique"
        observed = f"{alone} of {COMPARED} rows unique"
        how = (
            f"{COMPARED} random rows were compared with all other rows, because the table is large. "
            f"{percent(likely)} of all rows are reported as unique."
        )
    return Check(
        name="classes",
        title="Classes are counted correctly",
        expected=expected,
        observed=observed,
        passed=bool(passed) and sum(band.rows for band in reported.sizes) == n,
        explanation=how,
    )


# The entries that an adversary knew: as many must be wrong, and by as much, as the adversary states.
#
# Facts are compared with the records of the people they are about. How many facts are wrong, and how far right ones may
# be off, leaves no room for chance. How often a fact is exact does, because errors are uniform. Which entry of an item
# a fact was drawn from is not known: as many facts as possible are assigned to different entries that they fit. A wrong
# fact may fit another entry of the item by chance, and the comparison says how likely that is.


PEOPLE = 200
"""Number of people whose facts are checked."""
NEVER_BY_CHANCE = 1e-6
"""The check fails if chance explains its result with a lower probability than this."""
OFF = 1e-9
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
    lengths, (low, high), error = original.lengths[people], known.length.T, adversary.length_error
    if error is None:
        fits = (low == ANY_LENGTH[0]) & (high == ANY_LENGTH[1])
    else:  # the record has a length that is known, to within its error
        fits = (low <= lengths) & (lengths <= high)
        fits &= (low >= lengths * (1 - error) - 1) & (high <= lengths * (1 + error) + 1)
    short, as_stated = [], 0
    for facts, is_fit in zip(person_facts, fits.tolist(), strict=True):
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
        near = np.abs(told[:, None] - names[own]) <= error + OFF
        low = np.searchsorted(levels, levels[held] - error - OFF)
        high = np.searchsorted(levels, levels[held] + error + OFF, "right")
    exact = (told[:, None] == names[own]).any(axis=1)
    return _part(near, exact, is_told, own < original.n_levels, (held, low, high), original.n_levels)


def _times(original: Release, adversary: Adversary, known: KnownFacts, facts: Ints, entries: Ints) -> _Part:
    code, error, clock, is_told = original.by_record.time, adversary.time_error, original.clock, known.timed[facts]
    if code is None or clock is None or error is None:
        return _Part(~is_told[:, None] & np.ones(len(entries), np.bool_), np.zeros(len(facts), np.bool_))
    own, told = code[entries].astype(np.int64), known.time[facts]
    has = own < original.span
    reach = math.floor(error * (SECONDS["day"] // SECONDS[clock.unit]) + OFF)
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
        numbers = [(by_popularity, support)]
        if original.has_repeats:
            numbers.append((by_frequency, np.bincount(items, minlength=original.n_items)))
        for ranks, of in numbers:  # midranks among all of the record's, between -½ and ½ and 0 on average
            own = np.sort(of[items])
            if own[0] != own[-1]:
                low, high = np.searchsorted(own, of[told]), np.searchsorted(own, of[told], "right")
                ranks += ((low + high) / (2 * len(own)) - 0.5).tolist()
    # By Hoeffding's inequality, which also holds for draws without replacement (Hoeffding 1963, section 6).
    return choice.name != "any" or all(
        not ranks or math.exp(-2 * math.fsum(ranks) ** 2 / len(ranks)) * 2 >= NEVER_BY_CHANCE
        for ranks in (by_popularity, by_frequency)
    )
