"""Whether the audit works: planted records are found, guessing finds nobody, the absent are not claimed; and
whether a release and the original that it is said to be made from belong together.

Each check is made on some of the release's records, with the attack that the audit uses, and with facts from
the original if the release was made from one. It fails only where chance hardly ever would: once in ten
thousand audits.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from standout.adversary import Adversary
from standout.attack.known_items import known_items_of_query
from standout.attack.reference import scores_1b
from standout.attack.scoreboard import ScoreboardRH
from standout.auditing.ladder import Rung, fit
from standout.core.arrays import Ints, offsets
from standout.core.progress import Progress, no_progress
from standout.core.rng import generator
from standout.evaluate.estimate_text import percent
from standout.evaluate.outcomes import Criteria, attack_outcomes, claim_eccentricities
from standout.evaluate.pairs import pair_similarities
from standout.evaluate.population import Population
from standout.evaluate.sampled_release import sample_release
from standout.evaluate.simulate import Simulation, SimulationCell, simulate
from standout.facts import Aux, KnownFacts
from standout.release.model import RecordEntries, Release, read_only
from standout.release.subset import subset
from standout.similarity.attributes import Decay, Present

__all__ = ["Check", "SelfCheck", "beta_binomial_tail", "binomial_tail", "planted"]

SAMPLE = 20_000
CANARIES, CANARY_ITEMS, CANARY_FACTS = 20, 16, 8
TRIED, GONE, TWINS = 200, 500, 5
"""People with facts about others; taken out, and as many to choose φ; scored a second time."""
RARE = 1e-4
"""What chance does less often than this is not put down to chance."""
DOUBT = 0.01
"""What chance does less often than this is not taken for chance where an original is to be recognised."""
CLOSE = 1e-5


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was expected, what was found."""

    name: str
    title: str
    expected: str
    found: str
    passed: bool
    words: str

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The checks on a sample of a release's records, with the headline adversary."""

    release: Release
    adversary: Adversary
    budget: float
    seed: int
    threads: int | None

    @classmethod
    def of(cls, release: Release, rung: Rung, budget: float, seed: int, threads: int | None) -> "SelfCheck":
        """On at most SAMPLE records. The adversary knows as much as the sample has."""
        if release.n_records > SAMPLE:
            keep = np.zeros(release.n_records, np.bool_)
            keep[generator(seed, "self-check").permutation(release.n_records)[:SAMPLE]] = True
            release = sample_release(release, keep)
        fitting = fit(rung, Population.of(release).original)
        one = Adversary(knows=1) if isinstance(fitting, str) else fitting.adversary
        return cls(release, one, budget, seed, threads)

    @property
    def people(self) -> Population:
        return Population.of(self.release)

    def run(self, progress: Progress = no_progress) -> list[Check]:
        checks = [self.canaries, self.guessing, self.control, self.twin]
        checks += [self.standing] if self.people.is_sanitized else []
        found = []
        for number, check in enumerate(checks, 1):
            found.append(check())
            progress("checking", number, len(checks))
        return found

    def canaries(self) -> Check:
        """Invented records put among the real ones: who knows some of one exactly must find it."""
        count = min(CANARIES, max(1, self.release.n_records // 2))
        places = np.sort(generator(self.seed, "canaries").permutation(self.release.n_records)[:count])
        among = planted(self.release, places, self.seed)
        knows = min(CANARY_FACTS, int(among.lengths[places].min()))
        adversary = Adversary(knows=knows)
        done = _cell(simulate(
            among, adversary, targets=[among.records[place] for place in places], absent=False,
            seed=self.seed, threads=self.threads,
        ))  # fmt: skip
        alike = same_facts(among, adversary.observe_all(among, done.targets, self.seed))
        hits = int(np.count_nonzero(np.abs(done.outcomes.identified[:, 0] * alike - 1.0) < 1e-9))
        return Check(
            "canaries", "Planted records are found", f"{count} of {count}", f"{hits} of {count}",
            hits == count,
            f"{count} invented records were put among {among.n_records - count:,} of the data, and {knows} "
            f"{'fact' if knows == 1 else 'facts'} about each pointed to "
            f"{'every one' if hits == count else f'only {hits}'} of them.",
        )  # fmt: skip

    def guessing(self) -> Check:
        """What is known is about somebody else: then nobody is found but by chance."""
        places, others = self._pairs()
        known = self.people.known_facts(self.adversary, places, self.seed)
        asked = Criteria(2, 0.5, Present(), False)
        found = attack_outcomes(
            ScoreboardRH(), self.release, known, others, [self.adversary.knows], asked, {},
            threads=self.threads,
        )  # fmt: skip
        hits, n = math.floor(math.fsum(found.identified.ravel()) + 1e-9), len(places)
        chance = self._luck()
        passed = len(places) < 2 or binomial_tail(hits, n, chance) >= RARE
        return Check(
            "guessing", "Facts about somebody else find nobody",
            f"about {n * chance:.2g} of {n}", f"{hits} of {n}", passed,
            f"With facts about other people the right record was found for {hits} of {n}, "
            f"{'no more than' if passed else 'more than'} guessing explains.",
        )  # fmt: skip

    def control(self) -> Check:
        """People taken out of the data: with φ for the budget, no more of them are claimed than it allows.

        φ is chosen with other people than those on whom it is tried.
        """
        able, title = self._able(), "People who are not in the data are not claimed"
        gone = able[len(able) - min(GONE, len(able) // 10) :]
        rest = able[: min(GONE, len(able) - len(gone))]
        keep = np.ones(self.release.n_records, np.bool_)
        stands = self.people.record_of(gone)
        keep[stands[stands >= 0]] = False
        if not len(gone) or keep.sum() < 2:
            told = f"not tried: {len(able):,} records are too few"
            return Check("control", title, told, told, True, "There are too few records to take some out.")
        chosen = _cell(simulate(
            self.release, self.adversary, targets=[self.people.original.records[place] for place in rest],
            seed=self.seed, threads=self.threads,
        ))  # fmt: skip
        phi = chosen.claim_rates.phi_for(self.budget)
        allowed = math.floor(self.budget * len(rest) + 1e-9)
        auxes = _auxes(self.release, self.people.known_facts(self.adversary, gone, self.seed))
        verdicts = ScoreboardRH().attacks(subset(self.release, keep), auxes, threads=self.threads)
        hits, n = int(np.count_nonzero(claim_eccentricities(verdicts.columns) >= phi)), len(gone)
        most = max(
            k for k in range(n + 1) if beta_binomial_tail(k, n, allowed + 1, len(rest) - allowed) >= RARE
        )
        passed = hits <= most
        return Check(
            "control", title, f"at most {most} of {n}", f"{hits} of {n}", passed,
            f"Of {n} people taken out of the data {hits} {'was' if hits == 1 else 'were'} claimed all the "
            f"same, with a φ that allows {percent(self.budget)}: {'no more' if passed else 'more'} than "
            "chance explains.",
        )  # fmt: skip

    def twin(self) -> Check:
        """The scores of a few targets, worked out once more by other means."""
        plain = replace(self.adversary, length_error=None, joined_error=None)
        places = self._able()[:TWINS]
        known = self.people.known_facts(plain, places, self.seed)
        columns = ScoreboardRH().nested(self.release, known, [plain.knows], threads=self.threads).columns
        same = 0
        for q in range(len(places)):
            scores = scores_1b(known_items_of_query(self.release, known, q), self.release.n_records)
            best = columns.record[columns.first[q] : columns.first[q + 1]][:1]
            pairs = [
                (columns.highest[q], scores.max()), (columns.sigma[q], scores.std()),
                (columns.mean[q], scores.mean()), *((scores[one], scores.max()) for one in best),
            ]  # fmt: skip
            same += all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE * 1e-2) for a, b in pairs)
        n = len(places)
        return Check(
            "twin", "Scores are right", f"{n} of {n}", f"{same} of {n}", same == n,
            f"The scores of all records were worked out a second time, in another way, for {n} people: "
            f"{'they agree' if same == n else 'they do not agree'}.",
        )  # fmt: skip

    def standing(self) -> Check:
        """The release and its original belong together: people are more like the records that stand for them
        than like those of others. With the wrong original, or another's key, nobody would be found."""
        places, others = self._pairs()
        own, theirs, hits, n = self.people.record_of(places), self.people.record_of(others), 0, len(places)
        for similarity in (Present(), Decay()):
            mine, other = (
                pair_similarities(self.release, places, record, similarity) for record in (own, theirs)
            )
            hits = max(hits, math.floor(((mine > other) + (mine == other) / 2).sum()))
        least = next((k for k in range(n + 1) if binomial_tail(k, n, 0.5) < DOUBT), None)
        title = "People are like the records that stand for them"
        if least is None:
            told = f"not tried: {n:,} people are too few"
            return Check("standing", title, told, told, True, "There are too few people to tell.")
        passed = hits >= least
        return Check(
            "standing", title, f"at least {least} of {n}", f"{hits} of {n}", passed,
            f"{hits} of {n} people are more like the record that stands for them than like that of somebody "
            "else: "
            + ("the release and its original belong together." if passed else
               "this may be another original or another key, or nothing is left of these people."),
        )  # fmt: skip

    def _able(self) -> Ints:
        """The people who can be tried, in random order."""
        truth = self.people.original
        order = generator(self.seed, "checked").permutation(truth.n_records)
        return np.asarray(order[self.adversary.eligible(truth, order)])

    def _luck(self) -> float:
        """How likely a guess is right by luck, at most: the largest share of people for whom one stands."""
        stands = self.people.record_of(self._able())
        counts = np.bincount(stands[stands >= 0], minlength=1)
        most = int(counts.max())
        return most / int(counts.sum()) if most > 1 else 1 / self.release.n_records

    def _pairs(self) -> tuple[Ints, Ints]:
        """People who can be tried, and somebody else beside each, for whom another record stands."""
        able = self._able()
        able = able[self.people.record_of(able) >= 0][:TRIED]
        others = np.roll(able, 1)
        apart = self.people.record_of(able) != self.people.record_of(others)
        return able[apart], others[apart]


def _auxes(release: Release, known: KnownFacts) -> list[Aux]:
    """What is known of each in words, as far as the release has the item."""
    named = np.flatnonzero(known.item >= 0)
    known = known.select(np.arange(len(known)), named, np.searchsorted(named, known.first))
    return [known.aux(release, q) for q in range(len(known))]


def _cell(done: Simulation) -> SimulationCell:
    """The outcomes of a run that was not cut short."""
    if not done.complete:
        raise KeyboardInterrupt
    return done.cell()


def planted(release: Release, places: Ints, seed: int) -> Release:
    """The release with invented entries in place of what these records have: any items, values and times."""
    side, lengths = release.by_record, release.lengths
    count = min(CANARY_ITEMS, release.n_items)
    draws = [generator(seed, "canary", number) for number in range(len(places))]
    item = [np.sort(draw.permutation(release.n_items)[:count]) for draw in draws]
    value = [draw.integers(max(release.n_levels, 1), size=count) for draw in draws]
    time = [draw.integers(max(release.span, 1), size=count) for draw in draws]
    stays = np.ones(release.n_records, np.bool_)
    stays[places] = False
    owner = np.repeat(np.arange(release.n_records), lengths)
    kept = stays[owner]
    order = np.argsort(np.concatenate([owner[kept], np.repeat(places, count)]), kind="stable")

    def column(old: Any, new: list[Any]) -> Any:
        return (
            None
            if old is None
            else read_only(np.concatenate([old[kept], np.concatenate(new).astype(old.dtype)])[order])
        )

    counts = np.where(stays, lengths, count)
    start = offsets(counts)
    groups = RecordEntries(
        read_only(start), column(side.item, item), column(side.value, value), column(side.time, time)
    )
    draft = replace(release, by_record=groups, stored_fingerprint=None)
    return subset(draft, np.ones(release.n_records, np.bool_))


def same_facts(release: Release, known: KnownFacts) -> Ints:
    """How many records have everything that is known of each person, exactly: by looking at every entry."""
    side = release.by_record
    owner = np.repeat(np.arange(release.n_records), release.lengths)
    found = np.empty(len(known), np.int64)
    for q in range(len(known)):
        facts = range(int(known.first[q]), int(known.first[q + 1]))
        agreed = np.zeros(release.n_records, np.int64)
        for i in facts:
            here = np.flatnonzero(side.item == known.item[i])
            if side.value is not None and known.value[i] >= 0:
                here = here[side.value[here] == known.value[i]]
            if side.time is not None and known.timed[i]:
                here = here[side.time[here] == known.time[i]]
            agreed[owner[here]] += 1
        found[q] = np.count_nonzero(agreed == len(facts))
    return found


def binomial_tail(hits: int, n: int, chance: float) -> float:
    """The probability of at least so many hits in n tries.

    >>> round(binomial_tail(1, 200, 1 / 20_000), 4), binomial_tail(0, 10, 0.5)
    (0.01, 1.0)
    """
    if hits <= 0 or chance >= 1:
        return 1.0
    if hits > n or chance <= 0:
        return 0.0
    ways = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(chance) + (n - k) * math.log1p(-chance)
        for k in range(hits, n + 1)
    )  # fmt: skip
    return min(1.0, math.fsum(map(math.exp, ways)))


def beta_binomial_tail(hits: int, n: int, a: int, b: int) -> float:
    """The probability that at least so many of n new numbers lie above the a-th highest of a + b − 1.

    >>> round(beta_binomial_tail(1, 1, 1, 1), 6), round(beta_binomial_tail(3, 3, 1, 27), 6)
    (0.5, 0.000246)
    """

    def log_beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    ways = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + log_beta(k + a, n - k + b) - log_beta(a, b)
        for k in range(max(hits, 0), n + 1)
    )  # fmt: skip
    return min(1.0, math.fsum(map(math.exp, ways)))
