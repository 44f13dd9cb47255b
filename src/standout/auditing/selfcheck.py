"""The self-check of an audit: whether its attacks do what they should, on this data.

Planted records must be identified, facts about somebody else must identify nobody, and a sanitized release must match
its original. The facts that adversaries knew must be as accurate as stated. Some targets of every adversary and attack
are attacked a second time by a plain implementation, present and absent. Absent people must rarely be claimed.
`findings_checks` then checks the numbers of the findings.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from standout.attack.any_attack import AnyAttack, attack_named, fit_attack
from standout.attack.likelihood import Likelihood
from standout.attack.scoreboard import ExactMatch, ScoreboardRH
from standout.auditing.ladder import Rung, fit_rung
from standout.auditing.recomputed import Recomputation, Reported, can_recompute, has_reference
from standout.auditing.runs import AdversaryRun, AttackRun, AuditPlan, built_in_attacks
from standout.core.arrays import Floats, Ints, offsets, read_only
from standout.core.rng import generator
from standout.core.threads import map_on_threads
from standout.data.build import subset
from standout.data.labels import SECONDS
from standout.data.release import RecordEntries, Release
from standout.evaluate.estimates import beta_binomial_tail, binomial_tail, percent
from standout.evaluate.simulate import success_rates
from standout.evaluate.targets import Population, pair_similarities, sample_release
from standout.findings.audit import Check
from standout.know.adversary import Adversary, has_own_draws, known_facts
from standout.know.facts import ANY_LENGTH, KnownFacts, facts_from_entries
from standout.know.observation import Choice
from standout.know.similarity import Decay, Present

SAMPLE = 20_000
"""The attack is checked on at most so many records."""
PLANTED, PLANTED_FACTS, PLANTED_ITEMS = 20, 8, 16
PAIRS = 200
RARE = 1e-4
"""A check fails if sampling error explains its result with a lower probability than this."""
DOUBT = 0.01
"""The same for the check of the original, where a failure to notice is worse than a false alarm."""


def check_attack(plan: AuditPlan, rung: Rung) -> list[Check]:
    """Checks of the attack on a sample of the release's records, with the headline adversary."""
    release = plan.release
    if release.n_records > SAMPLE and not release.columns:
        keep = np.zeros(release.n_records, np.bool_)
        keep[generator(plan.seed, "self-check").permutation(release.n_records)[:SAMPLE]] = True
        release = sample_release(release, keep)
    people = Population.of(release)
    fitted = rung if release.columns else fit_rung(rung, people.original)
    adversary = Adversary(knows=1) if isinstance(fitted, str) else fitted.adversary
    order = generator(plan.seed, "checked").permutation(people.original.n_records)
    eligible = order[adversary.eligible(people.original, order)]
    targets = eligible[people.record_of(eligible) >= 0][:PAIRS]
    others = np.roll(targets, 1)
    differ = people.record_of(targets) != people.record_of(others)
    targets, others = targets[differ], others[differ]
    checks = [_planted(release, plan), _guessing(people, adversary, eligible, targets, others, plan)]
    return [*checks, _original(people, targets, others)] if people.is_sanitized and not release.columns else checks


def planted_release(release: Release, seed: int) -> tuple[Release, Ints, KnownFacts]:
    """The release with a few invented records, their positions, and exact facts about each.

    In columns, every invented cell is that of another random row, in a sample of the rows. Of entries, items,
    values and times are random; if the release has repeats, about half of the entries are of items that repeat.
    """
    if release.columns:
        rng = generator(seed, "planted rows")
        sample = rng.permutation(release.n_records)[:SAMPLE]
        count, columns = min(PLANTED, max(1, len(sample) // 2)), []
        for column in release.columns:
            drawn, with_value = sample.copy(), sample[~column.is_missing[sample]]
            if len(with_value):
                drawn[:count] = rng.choice(with_value, count)
            columns.append(column.rows(drawn))
        planted = Release.of_columns(tuple(columns))
        # without sets: who knows one member of a set of two rather expects a set of one
        names = [name for name, at in planted.attributes.items() if all(columns[i].starts is None for i in at)]
        filled = np.zeros(count, np.int64)
        for name in names:
            filled += np.any([~columns[i].is_missing[:count] for i in planted.attributes[name]], axis=0)
        knows = max(1, min(PLANTED_FACTS, int(filled.min())))
        rows = np.flatnonzero(filled >= knows)
        adversary = Adversary(knows=knows, columns=tuple(names) or None, error=0.0)
        return planted, rows, adversary.observe_all(planted, rows, seed)
    count = min(PLANTED, max(1, release.n_records // 2))
    rows = np.sort(generator(seed, "canaries").permutation(release.n_records)[:count])
    side, lengths, length = release.by_record, release.lengths, min(PLANTED_ITEMS, release.n_items)
    draws = [generator(seed, "canary", number) for number in range(count)]
    item = np.array([np.sort(draw.permutation(release.n_items)[:length]) for draw in draws])
    value = np.array([draw.integers(max(release.n_levels, 1), size=length) for draw in draws]).ravel()
    time = np.array([draw.integers(max(release.span, 1), size=length) for draw in draws]).ravel()
    if release.has_repeats:
        item = np.array([np.sort(draw.choice(items, length)) for items, draw in zip(item, draws, strict=True)])
    order = np.lexsort((value, time, item.ravel(), np.repeat(rows, length)))
    unchanged = np.ones(release.n_records, np.bool_)
    unchanged[rows] = False
    owner = np.repeat(np.arange(release.n_records), lengths)
    stays = unchanged[owner]
    by_owner = np.argsort(np.concatenate([owner[stays], np.repeat(rows, length)]), kind="stable")

    def column_of(old: Any, new: Ints) -> Any:
        if old is None:
            return None
        return read_only(np.concatenate([old[stays], new[order].astype(old.dtype)])[by_owner])

    start = read_only(offsets(np.where(unchanged, lengths, length)))
    parts = column_of(side.item, item.ravel()), column_of(side.value, value), column_of(side.time, time)
    draft = replace(release, by_record=RecordEntries(start, *parts), stored=None)
    planted = subset(draft, np.ones(release.n_records, np.bool_))
    knows = min(PLANTED_FACTS, length)
    at = [begin + draw.permutation(length)[:knows] for begin, draw in zip(start[rows], draws, strict=True)]
    return planted, rows, facts_from_entries(planted, np.concatenate(at), np.arange(count + 1) * knows)


def _planted(release: Release, plan: AuditPlan) -> Check:
    """Invented records among the real ones must be identified by exact facts about them."""
    planted, rows, known = planted_release(release, plan.seed)
    attacks: list[AnyAttack] = [ScoreboardRH(), ExactMatch()]
    knows = max(int(np.diff(known.first).max(initial=0)), int(np.diff(known.cells.first).max(initial=0)), 1)
    success = [success_rates(planted, known, rows, [knows], plan.threads, attack) for attack in attacks]
    hits, total = sum(int(np.count_nonzero(found > 0)) for found in success), len(attacks) * len(rows)
    return Check(
        name="planted",
        title="Planted records are identified",
        expected=f"{total} of {total}",
        observed=f"{hits} of {total}",
        passed=hits == total,
        explanation=(
            f"The audit placed {len(rows)} invented records among {planted.n_records - len(rows):,} records of the "
            f"data. Given {knows} {'fact' if knows == 1 else 'facts'} about each, the paper's attack and exact "
            f"matching had the invented record among their best guesses in {hits} of {total} cases."
        ),
    )


def _guessing(
    people: Population, adversary: Adversary, eligible: Ints, targets: Ints, others: Ints, plan: AuditPlan
) -> Check:
    """Facts about somebody else must not identify a target more often than guessing does."""
    known, n = people.known_facts(adversary, targets, plan.seed), len(targets)
    if people.release.columns:
        known = replace(known, cells=known.cells._replace(target=others))
    found = success_rates(people.release, known, others, [adversary.knows], plan.threads, ScoreboardRH())
    hits = math.floor(math.fsum(found.ravel()) + 1e-9)
    # a guess is right most often about the record that represents most people
    representatives = people.record_of(eligible)
    counts = np.bincount(representatives[representatives >= 0], minlength=1)
    chance = counts.max() / counts.sum() if counts.max() > 1 else 1 / people.release.n_records
    passed = n < 2 or binomial_tail(hits, n, min(float(chance), 1.0)) >= RARE
    return Check(
        name="guessing",
        title="Facts about somebody else identify nobody",
        expected=f"about {n * chance:.2g} of {n}",
        observed=f"{hits} of {n}",
        passed=passed,
        explanation=(
            f"Given facts about other people, the attack identified {hits} of {n} targets. "
            f"This is {'no more than' if passed else 'more than'} guessing explains."
        ),
    )


def _original(people: Population, targets: Ints, others: Ints) -> Check:
    """People must resemble the records that represent them more than the records of others.

    With a wrong original or key nobody would be identified, which looks like safety.
    """
    hits, n = 0, len(targets)
    for similarity in (Present(), Decay()):
        to_own, to_other = (
            pair_similarities(people.release, targets, people.record_of(whose), similarity)
            for whose in (targets, others)
        )
        hits = max(hits, math.floor(((to_own > to_other) + (to_own == to_other) / 2).sum()))
    least = next((k for k in range(n + 1) if binomial_tail(k, n, 0.5) < DOUBT), None)
    passed = least is None or hits >= least
    conclusion = (
        "The release and the original belong together."
        if passed
        else "The original or the key may be wrong, or the release no longer resembles these people."
    )
    too_few = f"not checked: {n:,} people are too few"
    return Check(
        name="original",
        title="The release matches its original",
        expected=too_few if least is None else f"at least {least} of {n}",
        observed=too_few if least is None else f"{hits} of {n}",
        passed=passed,
        explanation="There are too few to tell."
        if least is None
        else f"{hits} of {n} people are more similar to the record that represents them than to somebody "
        f"else's record. {conclusion}",
    )


# Checks of what the audit reports about each target: the facts, the outcome, the outcome if absent.


TARGETS, ABSENT = 20, 4
"""Number of targets of the headline adversary that are attacked again, present and absent."""
FEW_TARGETS, FEW_ABSENT = 4, 1
"""The same for the other adversaries."""
READ = 2_000_000
"""About this many entries or cells are read again for one attack, at most, or a few targets more."""
RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""Accepted differences: kernels compute σ and sums of probabilities in single precision."""
SURE = 4.0
"""Strengths of claims by columns are compared up to this, because kernels compute posteriors in single precision."""
ABSENT_SLACK = 50.0
"""More is accepted of the Bayesian attack on absent targets: entries without a value count as the average of
the release, and that is taken before the record is removed."""


def check_runs(plan: AuditPlan, runs: Sequence[AdversaryRun], headline: str) -> list[Check]:
    """Check the outcomes of all attacks, as the audit reports them."""
    ordered = sorted(runs, key=lambda run: run.rung.name != headline)
    pairs = [(run, part) for run in ordered for part in run.attacks if part.cell is not None]
    agreements = [_agreements(plan, run, part, run.rung.name == headline) for run, part in pairs]
    names = " and ".join(dict.fromkeys(part.name for _, part in pairs))
    return [
        *([] if plan.release.columns else [_facts_of_all(plan, ordered)]),
        _agreement(
            "outcomes",
            "Outcomes are correct",
            [present for present, _ in agreements],
            f"The audit attacked some targets of every adversary again ({names}), with a second, simpler "
            "implementation. Best guess, lineup, strength of the claim and bits",
        ),
        _agreement(
            "absence",
            "Absent targets are really absent",
            [absent for _, absent in agreements],
            "The audit removed the records of some targets from the release, one at a time, and attacked the "
            "rest with a second, simpler implementation. The strengths of the claims",
        ),
        _absent(plan, ordered[0].strongest),
    ]


def _absent(plan: AuditPlan, part: AttackRun) -> Check:
    """Absent people must not be claimed more often than the budget allows, at the thresholds that others choose."""
    assert part.cell is not None
    claims = part.simulation.estimate(
        "absent_claims", f"absent_claims<={plan.settings.budget:g}", facts=part.cell.facts
    )
    hits, n = round(claims.value * claims.n), claims.n
    allowed = max(math.floor(plan.settings.budget * n + 1e-9) - 1, 0)
    most = 0
    while most < n and beta_binomial_tail(most + 1, n, allowed + 1, n - allowed) >= RARE:
        most += 1
    passed = hits <= most
    return Check(
        name="absent",
        title="Absent people are rarely claimed",
        expected=f"at most {most:,} of {n:,}",
        observed=f"{hits:,} of {n:,}",
        passed=passed,
        explanation=(
            f"For each target the record was removed, and the threshold was chosen on the others so that at most "
            f"{percent(plan.settings.budget)} of absent people are claimed. The attack claimed {hits:,} of {n:,}. "
            f"This is {'no more than' if passed else 'more than'} sampling error explains."
        ),
    )


def _facts_of_all(plan: AuditPlan, runs: Sequence[AdversaryRun]) -> Check:
    """The facts of all adversaries as one check; that of the first failure, if any."""
    original = plan.people.original
    checks = [
        check_facts(original, run.rung.adversary, run.strongest.cell.targets, plan.seed)
        for run in reversed(runs)
        if run.strongest.cell is not None
    ]
    failed, n = [check for check in checks if not check.passed], len(checks)
    if failed or n == 1:
        return (failed or checks)[0]
    return replace(
        checks[-1],
        expected=f"{n} of {n} adversaries",
        observed=f"{n} of {n} adversaries",
        explanation=(
            f"The audit compared the known facts of {n} adversaries with the records of the people they are "
            "about. As many are wrong as stated, and right ones are within the stated errors."
        ),
    )


def _agreements(
    plan: AuditPlan, run: AdversaryRun, part: AttackRun, is_headline: bool
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Compare one attack with a second implementation: how many agree, of how many, on present and absent targets.

    The attack is the one that the name promises, with the errors of the adversary.
    """
    release, people, cell, adversary = plan.release, plan.people, part.cell, run.rung.adversary
    assert cell is not None
    built_in = part.name in built_in_attacks(release) and part.name not in plan.own_attacks
    attack = fit_attack(attack_named(part.name) if built_in else part.attack, adversary)  # type: ignore[arg-type]
    slack, n = ABSENT_SLACK if isinstance(attack, Likelihood) and not release.columns else 1.0, len(cell.outcomes)
    strongest = SURE if release.columns and cell.threshold.by_posterior else math.inf
    results = []
    for absent, (most, few) in ((False, (TARGETS, FEW_TARGETS)), (True, (ABSENT, FEW_ABSENT))):
        count = most if is_headline else few
        if release.columns:
            count = min(count, max(few, READ // (release.n_records * adversary.knows)))
        elif has_reference(attack, release):
            count = min(count, max(FEW_TARGETS, READ // release.n_entries))
        chosen = np.unique(np.linspace(0, n - 1, min(count, n)).astype(np.int64))
        known = people.known_facts(adversary, cell.targets[chosen], plan.seed)
        if not can_recompute(attack, release, known, absent) or (absent and release.n_records < 2):
            results.append((0, 0))
            continue
        again = Recomputation(release, attack, known, plan.settings.top)
        records = people.record_of(cell.targets[chosen]).tolist()
        expected = map_on_threads(
            again.outcomes, [(q, record, absent) for q, record in enumerate(records)], plan.threads
        )
        agreeing, names = 0, ("claim_strength",) if absent else Reported._fields
        for at, found in zip(chosen, expected, strict=True):
            values = [float(getattr(cell.outcomes, f"absent_{name}" if absent else name)[at, 0]) for name in names]
            agreeing += not found or any(
                all(
                    _is_close(value, getattr(each, name), slack if absent else 1.0, strongest, name)
                    for name, value in zip(names, values, strict=True)
                )
                for each in found
            )
        results.append((agreeing, len(chosen)))
    return results[0], results[1]


def _is_close(reported: float, expected: float, slack: float, strongest: float, name: str) -> bool:
    if name == "claim_strength":
        reported, expected = min(reported, strongest), min(expected, strongest)
    return math.isnan(expected) or math.isclose(reported, expected, rel_tol=slack * RELATIVE, abs_tol=slack * ABSOLUTE)


def _agreement(name: str, title: str, parts: Sequence[tuple[int, int]], explanation: str) -> Check:
    agreeing, n = sum(agreeing for agreeing, _ in parts), sum(n for _, n in parts)
    expected, observed = f"{n} of {n}", f"{agreeing} of {n}"
    text = f"{explanation} {'agree' if agreeing == n else 'do not agree'}."
    if not n:
        expected = observed = "not checked: there is no second implementation"
        text = "There is no second implementation of these attacks."
    elif not all(n for _, n in parts):
        text += " Some attacks were not checked, because there is no second implementation for them."
    return Check(name=name, title=title, expected=expected, observed=observed, passed=agreeing == n, explanation=text)


# The entries that an adversary knew: as many must be wrong, and by as much, as the adversary states.
#
# Facts are compared with the entries of the people they are about. How many facts are wrong, and how far right ones may
# be off, leaves no room for chance. How often a fact is exact does, because errors are uniform. Which entry of an item
# a fact was drawn from is not known: as many facts as possible are assigned to different entries that they fit. A wrong
# fact may fit another entry of the item by chance, and a right one may be exact for another: bounds of these decide.


PEOPLE = 200
"""Number of people whose facts are checked."""
NEVER_BY_CHANCE = 1e-6
"""The check fails if chance explains its result with a lower probability than this."""
OFF = 1e-9


class _Part(NamedTuple):
    """The values, or the dates, that facts and entries have, as numbers; NaN where there is none.

    `reach` is the stated error, None if the adversary does not know them. `sizes` says how many of `n` possible ones
    are within reach of each entry.
    """

    known: Floats
    own: Floats
    reach: float | None
    sizes: Floats
    n: int


def check_facts(original: Release, adversary: Adversary, people: Ints, seed: int) -> Check:
    """Whether an adversary's facts about these people are as accurate as the adversary states."""
    title = "Known facts are as accurate as stated"
    if has_own_draws(adversary):
        result, why = "not checked: the adversary is your own", "An adversary of your own decides itself what it knows."
        return Check(name="facts", title=title, expected=result, observed=result, passed=True, explanation=why)
    people = people[np.unique(np.linspace(0, len(people) - 1, min(PEOPLE, len(people))).astype(np.int64))]
    known, n, by_record = known_facts(adversary, original, people, seed), len(people), original.by_record
    n_facts, lengths = np.diff(known.first), original.lengths[people]
    # pairs of a fact and an entry of the same person and item
    person, owner = np.repeat(np.arange(n), n_facts), np.repeat(np.arange(n), lengths)
    entry = np.arange(len(owner)) + np.repeat(by_record.start[people] - offsets(lengths)[:-1], lengths)
    keys = owner * original.n_items + by_record.item[entry]
    wanted = np.where(known.item >= 0, person * original.n_items + known.item, -1)
    first, count = np.searchsorted(keys, wanted), np.zeros(len(wanted), np.int64)
    count += np.searchsorted(keys, wanted, "right") - first
    fact = np.repeat(np.arange(len(wanted)), count)
    at = np.arange(len(fact)) + np.repeat(first - offsets(count)[:-1], count)
    fits, can_be_wrong, lucky = np.ones(len(fact), np.bool_), count == 0, np.where(count > 1, 1.0, 0.0)
    is_exact, exact_chances = [], []
    for part in (_values(original, adversary, known, entry), _times(original, adversary, known, entry)):
        told = part.known[fact]
        if part.reach is None:
            fits &= np.isnan(told)
            continue
        own = part.own[at]
        fits &= (np.abs(told - own) <= part.reach + OFF) | (np.isnan(told) & np.isnan(own))
        has, sizes = ~np.isnan(own), part.sizes[at]
        held, covered = (np.bincount(fact[has], of, len(count)) for of in (None, sizes[has]))
        smallest, largest = np.full(len(count), math.inf), np.zeros(len(count))
        np.minimum.at(smallest, fact[has], sizes[has])
        np.maximum.at(largest, fact[has], sizes[has])
        open_to_errors = (held > 0) & (largest < part.n)
        can_be_wrong |= open_to_errors
        others = (covered - smallest) / np.maximum(part.n - smallest, 1)
        lucky = np.minimum(lucky, np.where(open_to_errors, others, 1.0))
        is_exact.append(np.bincount(fact, told == own, len(count)) > 0)
        exact_chances.append(np.where((held > 0) & ~np.isnan(part.known), held / smallest, math.nan))
    pairs = csr_array((np.ones(int(fits.sum())), (fact[fits], at[fits])), shape=(len(count), len(entry)))
    is_outside = np.asarray(maximum_bipartite_matching(pairs, perm_type="column") < 0)
    low, high = known.length.T
    as_stated = (low == ANY_LENGTH[0]) & (high == ANY_LENGTH[1])
    if (error := adversary.length_error) is not None:  # the record has a length that is known, to within its error
        as_stated = (low <= lengths) & (lengths <= high)
        as_stated &= (low >= lengths * (1 - error) - 1) & (high <= lengths * (1 + error) + 1)
    wrong, fixed, sum_lucky = (np.bincount(person, of, n) for of in (is_outside, ~can_be_wrong, lucky))
    short = np.maximum(adversary.wrong - fixed - wrong, 0)  # facts that should be wrong, and can be, and seem right
    as_stated &= (n_facts == adversary.knows) & (wrong <= adversary.wrong) & ((short == 0) | (sum_lucky > 0))
    # Any fact of a person may be one of the wrong ones, so the chance of each is the mean over the person's. The
    # tail is at most that of as many trials with the mean chance (Hoeffding 1956).
    trials, chance = adversary.wrong * n, float((sum_lucky / np.maximum(n_facts, 1)).mean())
    if trials and binomial_tail(int(short[sum_lucky > 0].sum()), trials, min(chance, 1.0)) < NEVER_BY_CHANCE:
        as_stated &= short == 0
    share = adversary.wrong / adversary.knows if adversary.wrong_facts == "values" else 0.0
    by_luck = share * lucky / (1.0 - share) if share < 1 else np.ones(len(lucky))
    spread = True
    for exact, chances in zip(is_exact, exact_chances, strict=True):  # no more often than uniform errors explain
        right = ~is_outside & ~np.isnan(chances)
        mean = float(np.minimum(chances + by_luck, 1.0)[right].mean()) if right.any() else 1.0
        spread &= binomial_tail(int(exact[right].sum()), int(right.sum()), mean) >= NEVER_BY_CHANCE
    chosen, n_stated = _chosen_as_stated(original, adversary, known, people), int(as_stated.sum())
    result = "This holds for all of them."
    if n_stated < n:
        result = "The facts of some people are too wrong, or not wrong enough."
    elif not spread:
        result = "Right facts are exact more often than their errors allow."
    elif not chosen:
        result = "Facts are about other items than the adversary would choose."
    errors = [] if adversary.value_error is None else [f"values within {adversary.value_error:g}"]
    errors += [] if adversary.time_error is None else [f"dates within {adversary.time_error:g} days"]
    within = f", {' and '.join(errors)}" if errors else ""
    return Check(
        name="facts",
        title=title,
        expected=f"{n} of {n} people",
        observed=f"{n_stated} of {n} people" + ("" if spread and chosen else ", but not at random"),
        passed=n_stated == n and spread and chosen,
        explanation=(
            f"The audit compared the known facts about {n} people with their records: "
            f"{adversary.knows - adversary.wrong} of {adversary.knows} facts must be right{within}, and the "
            f"rest wrong. {result}"
        ),
    )


def _values(original: Release, adversary: Adversary, known: KnownFacts, entry: Ints) -> _Part:
    codes, levels, n, error = original.by_record.value, original.levels, original.n_levels, adversary.value_error
    if codes is None or levels is None or error is None:
        return _Part(np.where(known.value >= 0, 0.0, np.nan), np.empty(0), None, np.empty(0), n)
    numbers: Any = levels
    values: Any = known.values
    if isinstance(levels, tuple):  # categories are their codes
        codes_of = {name: code for code, name in enumerate(levels)}
        numbers, values, error = np.arange(n), [codes_of.get(str(value), -1) for value in values], 0.0
    numbers = np.append(np.asarray(numbers, np.float64), np.nan)
    own, reach = numbers[codes[entry]], error + OFF
    sizes = np.searchsorted(numbers[:-1], own + reach, "right") - np.searchsorted(numbers[:-1], own - reach)
    return _Part(np.append(np.asarray(values, np.float64), np.nan)[known.value], own, error, sizes.astype(float), n)


def _times(original: Release, adversary: Adversary, known: KnownFacts, entry: Ints) -> _Part:
    codes, clock, n = original.by_record.time, original.clock, original.span
    times = np.where(known.timed, known.time.astype(np.float64), np.nan)
    if codes is None or clock is None or adversary.time_error is None:
        return _Part(times, np.empty(0), None, np.empty(0), n)
    own = np.where(codes[entry] < n, codes[entry].astype(np.float64), np.nan)
    reach = math.floor(adversary.time_error * (SECONDS["day"] // SECONDS[clock.unit]) + OFF)
    return _Part(times, own, reach, np.minimum(own + reach, n - 1) - np.maximum(own - reach, 0) + 1, n)


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
        items = by_record.item[slice(*by_record.start[person : person + 2])]
        told = known.item[known.first[q] : known.first[q + 1]]
        if choice.name == "rarest" and support[told[0]] != support[items].min():
            return False
        if choice.name == "outside_top" and original.rank[told[0]] <= choice.top:
            return False
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
