"""The result of a search for advice: its candidates, the frontier and the recommendation."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from standout._version import __version__
from standout.adversary import Adversary
from standout.advising.advice_result import AdviceResult
from standout.advising.candidate import Candidate
from standout.advising.composition import Composition
from standout.advising.search import SearchResult
from standout.advising.sentences import composition_text, limitations, summary_sentences
from standout.auditing.adversary_text import describe_adversary
from standout.data_utility.utility import Utility
from standout.findings.advice import (
    AdviceFindings,
    Among,
    CandidateFindings,
    CompositionFindings,
    UtilityFindings,
)
from standout.findings.links import ReleaseSize
from standout.release.model import Release

__all__ = ["Advice"]


@dataclass(frozen=True, eq=False, repr=False)
class Advice(AdviceResult[Utility]):
    """The result of `standout.advise`.

    Attributes
    ----------
    release
        The original.
    search
        Everything that the search measured.
    adversary
        The adversary to protect against.
    limit
        Largest acceptable share of identified people.
    composition
        What two releases with the recommended steps reveal together. None if nothing is recommended.
    among
        Whom the limit applies to: "everybody" or "released".
    seed
        Seed of all random draws.
    name
        Name of the data in the report.
    """

    measures: ClassVar[tuple[str, ...]] = ("kept", "hit_rate", "hit_rate_loss", "rmse", "rmse_increase")

    release: Release
    search: SearchResult[Utility]
    adversary: Adversary
    limit: float
    composition: Composition | None
    among: Among
    seed: int
    name: str = ""

    @property
    def _sentences(self) -> list[str]:
        known = describe_adversary(self.adversary, self.release)
        return summary_sentences(self.search, self.unproven, known, self.limit)

    @property
    def _possible_targets(self) -> int:
        return int(self.adversary.eligible(self.release, np.arange(self.release.n_records)).sum())

    @property
    def _fingerprint(self) -> str:
        return self.release.fingerprint

    @cached_property
    def findings(self) -> AdviceFindings:
        """The content of advice.json. It has no ids and no seed."""
        release, best, both = self.release, self.recommended, self.composition
        return AdviceFindings(
            complete=self.complete,
            limit=self.limit,
            among=self.among,
            adversary=describe_adversary(self.adversary, release),
            data=ReleaseSize(
                name=self.name,
                fingerprint=release.fingerprint,
                records=release.n_records,
                items=release.n_items,
                entries=release.n_entries,
            ),
            summary=self.summary,
            sentences=tuple(self._sentences),
            command=self.command(self.name or "DATA", "OUT"),
            recommended=None if best is None else self._candidate_findings(best),
            candidates=tuple(map(self._candidate_findings, self.candidates)),
            step_descriptions=self._step_descriptions(),
            impossible=self.search.impossible,
            composition=None if both is None else _composition_findings(both),
            limits=tuple(limitations(self.search, release.span > 0)),
            version=__version__,
            unproven=self._unproven_findings(),
        )

    def _candidate_findings(self, candidate: Candidate[Utility]) -> CandidateFindings:
        return CandidateFindings(
            steps=tuple(map(str, candidate.steps)),
            name=candidate.name,
            stage=candidate.stage,
            attack=candidate.risk.attack,
            identified=candidate.risk.everybody,
            identified_in_release=candidate.risk.released,
            utility=_utility_findings(candidate.utility),
            frontier=candidate.steps in self._frontier_steps,
        )


def _utility_findings(utility: Utility) -> UtilityFindings:
    return UtilityFindings(**{each.name: getattr(utility, each.name) for each in fields(UtilityFindings)})


def _composition_findings(composition: Composition) -> CompositionFindings:
    return CompositionFindings(
        identified=composition.identified,
        correct_claims=composition.correct_claims,
        wrong_claims=composition.wrong_claims,
        entries_shown_by_one=composition.entries_shown_by_one,
        entries_shown_together=composition.entries_shown_together,
        explanation=composition_text(composition),
    )
