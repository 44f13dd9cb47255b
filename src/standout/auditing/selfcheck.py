"""The self-check before an audit: whether the attack does what it should.

Planted records must be identified, facts about somebody else must identify nobody, and absent people must
rarely be claimed. A sanitized release must match its original. What the audit then reports is checked by
`run_checks` and `findings_checks`.

The checks run on a sample of the release's records, with the attack of the audit. A check fails only if
sampling error explains the result in fewer than one of ten thousand audits.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, fit_rung
from standout.core.arrays import Ints, offsets
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.data.build import subset
from standout.data.release import RecordEntries, Release, read_only
from standout.evaluate.estimates import beta_binomial_tail, binomial_tail, percent
from standout.evaluate.outcomes import Criteria, attack_outcomes
from standout.evaluate.simulate import simulate
from standout.evaluate.simulation import Simulation, SimulationCell
from standout.evaluate.targets import Population, pair_similarities, sample_release
from standout.findings.audit import Check
from standout.know.adversary import Adversary
from standout.know.facts import Aux, KnownFacts, encode_auxes
from standout.know.similarity import ROUNDING, Decay, Present

# Invented records for the self-check: each replaces the entries of one record of the release.


PLANTED_ITEMS = 16


def planted_release(release: Release, rows: Ints, seed: int) -> Release:
    """The release with invented entries in these rows: random items, values and times.

    If the release has repeats, every invented record has about half of its entries of items that repeat.
    """
    side, lengths = release.by_record, release.lengths
    count = min(PLANTED_ITEMS, release.n_items)
    draws = [generator(seed, "canary", number) for number in range(len(rows))]
    item = [np.sort(draw.permutation(release.n_items)[:count]) for draw in draws]
    value = [draw.integers(max(release.n_levels, 1), size=count) for draw in draws]
    time = [draw.integers(max(release.span, 1), size=count) for draw in draws]
    if release.has_repeats:
        item = [np.sort(draw.choice(items, count)) for items, draw in zip(item, draws, strict=True)]
        order = [np.lexsort(keys) for keys in zip(value, time, item, strict=True)]
        value = [codes[places] for codes, places in zip(value, order, strict=True)]
        time = [codes[places] for codes, places in zip(time, order, strict=True)]
    unchanged = np.ones(release.n_records, np.bool_)
    unchanged[rows] = False
    owner = np.repeat(np.arange(release.n_records), lengths)
    stays = unchanged[owner]
    by_owner = np.argsort(np.concatenate([owner[stays], np.repeat(rows, count)]), kind="stable")

    def column(old: Any, new: list[Any]) -> Any:
        if old is None:
            return None
        invented = np.concatenate(new).astype(old.dtype)
        return read_only(np.concatenate([old[stays], invented])[by_owner])

    start = offsets(np.where(unchanged, lengths, count))
    entries = RecordEntries(
        read_only(start), column(side.item, item), column(side.value, value), column(side.time, time)
    )
    draft = replace(release, by_record=entries, stored_fingerprint=None)
    return subset(draft, np.ones(release.n_records, np.bool_))


def records_with_all_facts(release: Release, known: KnownFacts, rounding: float = 0.0) -> Ints:
    """Number of records that match all known facts, by target; values may differ by rounding errors.

    A record matches a fact if one of its entries does.
    """
    side = release.by_record
    owner = np.repeat(np.arange(release.n_records), release.lengths)
    counts = np.empty(len(known), np.int64)
    for q in range(len(known)):
        facts = range(int(known.first[q]), int(known.first[q + 1]))
        matched = np.zeros(release.n_records, np.int64)
        for i in facts:
            entries = np.flatnonzero(side.item == known.item[i])
            if side.value is not None and known.value[i] >= 0:
                near = _levels_near(release, known.values[known.value[i]], rounding)
                entries = entries[np.isin(side.value[entries], near)]
            if side.time is not None and known.timed[i]:
                entries = entries[side.time[entries] == known.time[i]]
            matched[np.unique(owner[entries])] += 1
        counts[q] = np.count_nonzero(matched == len(facts))
    return counts


def _levels_near(release: Release, value: float | str, rounding: float) -> Ints:
    """Codes of the levels that are equal to a value, up to rounding."""
    if isinstance(release.levels, np.ndarray):
        return np.flatnonzero(np.abs(release.levels - float(value)) <= rounding)
    return np.flatnonzero([level == value for level in release.levels or ()])


SAMPLE = 20_000
PLANTED, PLANTED_FACTS = 20, 8
PAIRS, ABSENT = 200, 500
"""Number of pairs of people, and of absent people (and of people who decide φ)."""
RARE = 1e-4
"""A check fails if sampling error explains its result with a lower probability than this."""
DOUBT = 0.01
"""The same for the check of the original, where a failure to notice is worse than a false alarm."""


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Checks on a sample of a release's records, with the headline adversary."""

    release: Release
    adversary: Adversary
    budget: float
    seed: int
    threads: int | None

    @classmethod
    def of(cls, release: Release, rung: Rung, budget: float, seed: int, threads: int | None) -> "SelfCheck":
        """Checks on at most SAMPLE records, with the adversary adapted to them."""
        if release.n_records > SAMPLE:
            keep = np.zeros(release.n_records, np.bool_)
            keep[generator(seed, "self-check").permutation(release.n_records)[:SAMPLE]] = True
            release = sample_release(release, keep)
        fitted = fit_rung(rung, Population.of(release).original)
        adversary = Adversary(knows=1) if isinstance(fitted, str) else fitted.adversary
        return cls(release, adversary, budget, seed, threads)

    @property
    def people(self) -> Population:
        """The people among whom targets are drawn."""
        return Population.of(self.release)

    def run(self, progress: Progress = no_progress) -> list[Check]:
        """All checks that apply."""
        checks = [self.planted, self.guessing, self.absent]
        checks += [self.original] if self.people.is_sanitized else []
        results = []
        for number, check in enumerate(checks, 1):
            results.append(check())
            progress("checking", number, len(checks))
        return results

    def planted(self) -> Check:
        """Invented records among the real ones must be identified by exact facts about them."""
        count = min(PLANTED, max(1, self.release.n_records // 2))
        rows = np.sort(generator(self.seed, "canaries").permutation(self.release.n_records)[:count])
        release = planted_release(self.release, rows, self.seed)
        knows = min(PLANTED_FACTS, int(release.lengths[rows].min()))
        adversary = Adversary(knows=knows)
        simulation = simulate(
            release,
            adversary,
            targets=[release.records[row] for row in rows],
            absent=False,
            seed=self.seed,
            threads=self.threads,
        )
        cell = _complete_cell(simulation)
        # Records that match all facts tie with the planted one, and a guess among them is not wrong. An exact
        # value may be off by rounding errors, so of several that match up to these any may be the best guess.
        known = adversary.observe_all(release, cell.targets, self.seed)
        exact, near = (records_with_all_facts(release, known, rounding) for rounding in (0.0, ROUNDING))
        is_hit = np.abs(cell.outcomes.identified[:, 0] * near - 1.0) < 1e-9
        hits = int(np.count_nonzero(is_hit | ((near > 1) & (exact < near))))
        facts = f"{knows} {'fact' if knows == 1 else 'facts'}"
        return Check(
            name="planted",
            title="Planted records are identified",
            expected=f"{count} of {count}",
            observed=f"{hits} of {count}",
            passed=hits == count,
            explanation=(
                f"The audit placed {count} invented records among {release.n_records - count:,} records of "
                f"the data. Given {facts} about each, the attack identified {hits} of {count}."
            ),
        )

    def guessing(self) -> Check:
        """Facts about somebody else must not identify a target more often than guessing does."""
        targets, others = self._pairs()
        known = self.people.known_facts(self.adversary, targets, self.seed)
        outcomes = attack_outcomes(
            ScoreboardRH(),
            self.release,
            known=known,
            targets=others,
            sizes=[self.adversary.knows],
            criteria=Criteria(2, 0.5, Present(), False),
            similar_records={},
            threads=self.threads,
        )
        hits, n = math.floor(math.fsum(outcomes.identified.ravel()) + 1e-9), len(targets)
        chance = self._largest_chance()
        passed = n < 2 or binomial_tail(hits, n, chance) >= RARE
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

    def absent(self) -> Check:
        """Absent people must not be claimed more often than the budget allows.

        φ is chosen on other people than those on whom it is checked.
        """
        title = "Absent people are rarely claimed"
        eligible = self._eligible()
        removed = eligible[len(eligible) - min(ABSENT, len(eligible) // 10) :]
        others = eligible[: min(ABSENT, len(eligible) - len(removed))]
        keep = np.ones(self.release.n_records, np.bool_)
        representatives = self.people.record_of(removed)
        keep[representatives[representatives >= 0]] = False
        if not len(removed) or keep.sum() < 2:
            return _skipped("absent", title, f"{len(eligible):,} records", "remove some of them")
        phi = self._phi_at_budget(others)
        known = self.people.known_facts(self.adversary, removed, self.seed)
        rest = subset(self.release, keep)
        facts = encode_auxes(rest, _auxes(self.release, known), drawn=True)
        verdicts = ScoreboardRH().attacks(rest, facts, threads=self.threads)
        hits, n = int(np.count_nonzero(verdicts.claim_strengths() >= phi)), len(removed)
        allowed = max(math.floor(self.budget * (len(others) + 1) + 1e-9) - 1, 0)  # as `ClaimRates` allows
        most = max(k for k in range(n + 1) if beta_binomial_tail(k, n, allowed + 1, len(others) - allowed) >= RARE)
        passed = hits <= most
        return Check(
            name="absent",
            title=title,
            expected=f"at most {most} of {n}",
            observed=f"{hits} of {n}",
            passed=passed,
            explanation=(
                f"The audit removed {n} people from the data and chose φ so that at most "
                f"{percent(self.budget)} of absent people are claimed. The attack claimed {hits} of the {n}. "
                f"This is {'no more than' if passed else 'more than'} sampling error explains."
            ),
        )

    def _phi_at_budget(self, targets: Ints) -> float:
        simulation = simulate(
            self.release,
            self.adversary,
            targets=[self.people.original.records[row] for row in targets],
            seed=self.seed,
            threads=self.threads,
        )
        return _complete_cell(simulation).claim_rates.phi_for(self.budget)

    def original(self) -> Check:
        """People must resemble the records that represent them more than the records of others.

        With a wrong original or key nobody would be identified, which looks like safety.
        """
        title = "The release matches its original"
        people, others = self._pairs()
        own_records, other_records = self.people.record_of(people), self.people.record_of(others)
        hits, n = 0, len(people)
        for similarity in (Present(), Decay()):
            to_own, to_other = (
                pair_similarities(self.release, people, record, similarity) for record in (own_records, other_records)
            )
            hits = max(hits, math.floor(((to_own > to_other) + (to_own == to_other) / 2).sum()))
        least = next((k for k in range(n + 1) if binomial_tail(k, n, 0.5) < DOUBT), None)
        if least is None:
            return _skipped("original", title, f"{n:,} people", "tell")
        passed = hits >= least
        conclusion = (
            "The release and the original belong together."
            if passed
            else "The original or the key may be wrong, or the release no longer resembles these people."
        )
        return Check(
            name="original",
            title=title,
            expected=f"at least {least} of {n}",
            observed=f"{hits} of {n}",
            passed=passed,
            explanation=(
                f"{hits} of {n} people are more similar to the record that represents them than to somebody "
                f"else's record. {conclusion}"
            ),
        )

    def _eligible(self) -> Ints:
        """People with enough entries to be targets, in random order."""
        truth = self.people.original
        order = generator(self.seed, "checked").permutation(truth.n_records)
        return np.asarray(order[self.adversary.eligible(truth, order)])

    def _largest_chance(self) -> float:
        """Largest probability that a guess is right: the largest share of people with one representative."""
        representatives = self.people.record_of(self._eligible())
        counts = np.bincount(representatives[representatives >= 0], minlength=1)
        most = int(counts.max())
        return most / int(counts.sum()) if most > 1 else 1 / self.release.n_records

    def _pairs(self) -> tuple[Ints, Ints]:
        """Targets, and for each another person whom another record represents."""
        eligible = self._eligible()
        targets = eligible[self.people.record_of(eligible) >= 0][:PAIRS]
        others = np.roll(targets, 1)
        differ = self.people.record_of(targets) != self.people.record_of(others)
        return targets[differ], others[differ]


def _skipped(name: str, title: str, size: str, purpose: str) -> Check:
    result = f"not checked: {size} are too few"
    explanation = f"There are too few to {purpose}."
    return Check(name=name, title=title, expected=result, observed=result, passed=True, explanation=explanation)


def _auxes(release: Release, known: KnownFacts) -> list[Aux]:
    """Known facts about each person by name, as far as the release has the item."""
    in_release = np.flatnonzero(known.item >= 0)
    known = known.select(np.arange(len(known)), in_release, np.searchsorted(in_release, known.first))
    return [known.aux(release, q) for q in range(len(known))]


def _complete_cell(simulation: Simulation) -> SimulationCell:
    """The outcomes of a simulation; an interruption ends the self-check."""
    if not simulation.complete:
        raise KeyboardInterrupt
    return simulation.cell()
