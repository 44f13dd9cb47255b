"""The search for the best record of each profile: by evidence, by eccentricity, or by a given attack."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from standout.attack.any_attack import AnyAttack
from standout.attack.batches import run_1b
from standout.attack.likelihood_queries import LikelihoodQueries
from standout.attack.scoreboard import ScoreboardRH
from standout.attack.verdicts import Verdicts
from standout.core.arrays import Ints
from standout.facts import KnownFacts
from standout.findings.links import Dates
from standout.linking.agreement import Agreement
from standout.linking.best_records import TOP, BestRecords, best_by_evidence, best_by_score
from standout.linking.evidence import PRESENT, EvidenceModel

__all__ = ["WITH_DATES", "RecordSearch"]

WITH_DATES, WITHOUT_DATES = ScoreboardRH(), ScoreboardRH(time_scale=None)
VARIANTS: dict[Dates, tuple[bool, ...]] = {"use": (True,), "ignore": (False,), "learn": (True, False)}
"""Whether dates are compared, in each attack that is tried."""


@dataclass(frozen=True, eq=False)
class RecordSearch:
    """Finds the best record of each profile.

    `attack` decides which record is best: None for `Likelihood` with the learned `model`.
    """

    agreement: Agreement
    dates: Dates
    model: EvidenceModel
    attack: AnyAttack | None
    threads: int | None

    def find(self, known: KnownFacts, removed: Ints | None = None, *, full: bool = True) -> BestRecords:
        """Return the best record of each profile.

        `removed` is the record that is removed from the release for each profile. Without `full`, margins
        are not computed. With dates="learn" there are two variants, and the stronger one counts. Decoys make
        the same choice, so φ accounts for it.
        """
        exclude = np.full(len(known), -1, np.int64) if removed is None else removed
        search: Callable[[KnownFacts, Ints, bool, bool], BestRecords]
        search = self._by_evidence if self.attack is None else self._by_attack
        variants = [search(known, exclude, dated, full) for dated in VARIANTS[self.dates]]
        return reduce(BestRecords.stronger, variants)

    def _by_evidence(self, known: KnownFacts, exclude: Ints, dated: bool, full: bool) -> BestRecords:
        queries = self._evidence(known, exclude, dated)
        columns = run_1b(queries, TOP, with_z=True, threads=self.threads)
        return best_by_evidence(queries, columns, dated=dated, floor=False)

    def _evidence(self, known: KnownFacts, exclude: Ints, dated: bool) -> LikelihoodQueries:
        return self.model.errors(self.agreement.classes, dated).queries(known, exclude, PRESENT)

    def _by_attack(self, known: KnownFacts, exclude: Ints, dated: bool, full: bool) -> BestRecords:
        verdicts = self._attack(known, exclude, dated, full)
        if isinstance(verdicts.queries, LikelihoodQueries):
            return best_by_evidence(verdicts.queries, verdicts.columns, dated=dated, floor=True)
        return best_by_score(verdicts, self._evidence(known, exclude, dated), dated=dated, full=full)

    def _attack(self, known: KnownFacts, exclude: Ints, dated: bool, full: bool) -> Verdicts:
        release, attack, threads = self.agreement.release, self.attack, self.threads
        if attack is WITH_DATES:
            scoreboard = WITH_DATES if dated else WITHOUT_DATES
            return scoreboard.attacks(release, known, exclude=exclude, top=TOP, with_z=full, threads=threads)
        assert attack is not None
        facts = known if dated else replace(known, time=known.time * 0, timed=known.timed & False)
        return attack.attacks(release, facts, exclude=exclude, top=TOP, threads=threads)
