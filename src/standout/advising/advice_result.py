"""What the results of searches for advice have in common, for releases and for tables."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Generic

import polars as pl

from standout._version import __version__
from standout.advising.candidate import Candidate, UtilityT
from standout.advising.frontier import frontier
from standout.advising.search import SearchResult
from standout.advising.sentences import sanitize_command
from standout.advising.unproven import UnprovenCandidates, unproven_candidates
from standout.core.atomic_files import write_atomically
from standout.core.formatting import estimate_line, percent
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.result_views import ResultView
from standout.evaluate.estimates import Estimate
from standout.evaluate.result_table import TableResult
from standout.findings.advice import AdviceFindings, UnprovenCandidateFindings, UnprovenFindings
from standout.findings.json_types import JsonObject
from standout.findings.serialize import json_text, to_json_object
from standout.findings.table_advice import TableAdviceFindings

__all__ = ["AdviceResult"]


class AdviceResult(ResultView, TableResult, Generic[UtilityT]):
    """Candidates, the frontier and the recommendation. A subclass has the data and the findings."""

    measures: ClassVar[tuple[str, ...]]
    """Measures of utility that the table shows."""
    search: SearchResult[UtilityT]
    limit: float
    seed: int

    @property
    @abstractmethod
    def findings(self) -> AdviceFindings | TableAdviceFindings:
        """The content of advice.json."""

    @property
    @abstractmethod
    def _sentences(self) -> list[str]:
        """The answer."""

    @property
    @abstractmethod
    def _possible_targets(self) -> int:
        """Number of people who can be targets."""

    @property
    @abstractmethod
    def _fingerprint(self) -> str:
        """Fingerprint of the original."""

    def _shown(self) -> AdviceFindings | TableAdviceFindings:
        return self.findings

    @property
    def complete(self) -> bool:
        """Whether the search finished. False if it was interrupted."""
        return self.search.complete

    @property
    def recommended(self) -> Candidate[UtilityT] | None:
        """The recommended candidate, re-measured on fresh targets.

        The upper end of its interval does not exceed the limit. None if no candidate meets the limit, or if
        the search was interrupted.
        """
        return self.search.recommended

    @cached_property
    def candidates(self) -> tuple[Candidate[UtilityT], ...]:
        """All candidates: the untouched release first, then by increasing risk."""
        by_risk = sorted(self.search.candidates.values(), key=lambda candidate: candidate.rate.value)
        return tuple(sorted(by_risk, key=lambda candidate: bool(candidate.steps)))

    @cached_property
    def frontier(self) -> tuple[Candidate[UtilityT], ...]:
        """Candidates for which no other has both less risk and more utility."""
        return tuple(frontier(self.candidates))

    @cached_property
    def unproven(self) -> UnprovenCandidates[UtilityT]:
        """What is measured below the limit if nothing is proven to meet it, and what would settle it."""
        return unproven_candidates(self.search, self.limit, self._possible_targets)

    @property
    def summary(self) -> str:
        """The answer in sentences."""
        return " ".join(self._sentences)

    def command(self, data: str | Sequence[str] = "DATA", output: str = "OUT") -> str:
        """Command that makes the recommended release.

        Parameters
        ----------
        data
            The source, or the source and options for reading it.
        output
            The file or folder to write.

        Returns
        -------
        str
            A `standout sanitize` command without a seed; empty if nothing is recommended or has to be
            changed.
        """
        return sanitize_command(self.recommended, [data] if isinstance(data, str) else data, output)

    @cached_property
    def table(self) -> pl.DataFrame:
        """Table with one row per candidate."""
        rows = [self._row(candidate) for candidate in self.candidates]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _row(self, candidate: Candidate[UtilityT]) -> dict[str, str | float | None]:
        best = self.recommended
        row: dict[str, str | float | None] = {
            "steps": candidate.name,
            "stage": candidate.stage,
            "frontier": candidate.steps in self._frontier_steps,
            "recommended": best is not None and candidate.steps == best.steps and bool(candidate.steps),
            "attack": candidate.risk.attack,
        }
        row |= _columns("identified", candidate.risk.everybody)
        row |= _columns("identified_in_release", candidate.risk.released)
        for name in self.measures:
            row |= _columns(name, getattr(candidate.utility, name))
        return row | {"seed": self.seed, "fingerprint": self._fingerprint, "version": __version__}

    @cached_property
    def _frontier_steps(self) -> set[tuple[object, ...]]:
        return {candidate.steps for candidate in self.frontier}

    def _unproven_findings(self) -> UnprovenFindings | None:
        unproven = self.unproven
        if not unproven.best:
            return None
        return UnprovenFindings(
            number=unproven.number,
            possible_targets=unproven.possible_targets,
            targets=unproven.targets_to_settle,
            candidates=tuple(
                UnprovenCandidateFindings(
                    steps=tuple(map(str, each.candidate.steps)),
                    name=each.candidate.name,
                    stage=each.candidate.stage,
                    rate=each.candidate.rate,
                    kept=each.candidate.utility.kept,
                    targets=each.candidate.risk.everybody.n,
                    targets_needed=each.targets_needed,
                    targets_advised=each.targets_advised,
                )
                for each in unproven.best
            ),
        )

    def _step_descriptions(self) -> dict[str, str]:
        used = {step.name: step for candidate in self.candidates for step in candidate.steps}
        return {f"{name} {used[name].syntax}": used[name].summary for name in sorted(used)}

    def to_dict(self) -> JsonObject:
        """Plain values of the findings.

        Returns
        -------
        dict
            The content of advice.json.
        """
        return to_json_object(self.findings)

    def to_json(self, path: str | Path) -> None:
        """Write advice.json.

        Parameters
        ----------
        path
            The file; an existing file is replaced.
        """
        text = json_text(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    @with_progress
    def to_html(self, path: str | Path, *, progress: ProgressOption = no_progress) -> None:
        """Write the report as one HTML file.

        Parameters
        ----------
        path
            The file; an existing file is replaced.
        progress
            True shows a bar while the charts are drawn.
        """
        from standout.report.advice_page import advice_page

        text = advice_page(self.findings)
        write_atomically(Path(path), lambda file: file.write(text.encode()))

    def __repr__(self) -> str:
        best = self.recommended
        answer = f"nothing recommended for a limit of {percent(self.limit)}".replace("\xa0", " ")
        if best is not None:
            utility = percent(best.utility_kept).replace("\xa0", " ")
            numbers = f"identified {estimate_line(best.rate)}, {utility} of the utility kept"
            answer = f"recommended: {best.name}; {numbers}"
        state = "" if self.complete else ", interrupted"
        return f"<{type(self).__name__}: {len(self.candidates) - 1} candidates{state}; {answer}>"


def _columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Three columns: the estimate and the ends of its interval, None where they are not finite."""
    numbers = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    return {
        name + suffix: number if number is not None and math.isfinite(number) else None
        for suffix, number in zip(("", "_low", "_high"), numbers, strict=True)
    }
