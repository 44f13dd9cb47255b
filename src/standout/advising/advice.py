"""The result of a search for advice: its candidates, the frontier and the recommendation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from standout._version import __version__
from standout.advising.candidate import Candidate, frontier
from standout.advising.composition import Composition
from standout.advising.search import SearchResult, UnprovenCandidates, unproven_candidates
from standout.advising.sentences import (
    HISTORIES,
    TABLES,
    column_limitations,
    composition_text,
    known_attributes,
    limitations,
    sanitize_command,
    summary_sentences,
)
from standout.auditing.sentences import describe_adversary
from standout.core.files import write_atomically
from standout.core.json_files import JsonObject
from standout.core.progress import ProgressOption, no_progress, with_progress
from standout.core.text import estimate_line, percent
from standout.data.export import ResultView
from standout.data.release import Release
from standout.evaluate.estimates import Estimate
from standout.evaluate.simulation import TableResult
from standout.findings.advice import (
    AdviceFindings,
    Among,
    CandidateFindings,
    CompositionFindings,
    UnprovenCandidateFindings,
    UnprovenFindings,
    UtilityFindings,
)
from standout.findings.json_types import json_text, to_json_object
from standout.findings.links import ReleaseSize
from standout.know.adversary import Adversary

ENTRY_MEASURES = ("kept", "hit_rate", "hit_rate_loss", "rmse", "rmse_increase")
COLUMN_MEASURES = ("kept", "information", "associations", "rows_kept")
"""Measures of utility that the table shows."""
TABLE_OPTION = "--table"


@dataclass(frozen=True, eq=False, repr=False)
class Advice(ResultView, TableResult):
    """The result of `standout.advise`: candidates, the frontier and the recommendation.

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
        What two releases with the recommended steps reveal together. None if nothing is recommended, or there are
        columns.
    among
        Whom the limit applies to: "everybody" or "released".
    seed
        Seed of all random draws.
    name
        Name of the data in the report.
    """

    release: Release
    search: SearchResult
    adversary: Adversary
    limit: float
    composition: Composition | None
    among: Among
    seed: int
    name: str = ""

    def _shown(self) -> AdviceFindings:
        return self.findings

    @property
    def complete(self) -> bool:
        """Whether the search finished. False if it was interrupted."""
        return self.search.complete

    @property
    def recommended(self) -> Candidate | None:
        """The recommended candidate, re-measured on fresh targets.

        The upper end of its interval does not exceed the limit. None if no candidate meets the limit, or if
        the search was interrupted.
        """
        return self.search.recommended

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates: the untouched release first, then by increasing risk."""
        by_risk = sorted(self.search.candidates.values(), key=lambda candidate: candidate.rate.value)
        return tuple(sorted(by_risk, key=lambda candidate: bool(candidate.steps)))

    @cached_property
    def frontier(self) -> tuple[Candidate, ...]:
        """Candidates for which no other has both less risk and more utility."""
        return tuple(frontier(self.candidates))

    @cached_property
    def unproven(self) -> UnprovenCandidates:
        """What is measured below the limit if nothing is proven to meet it, and what would settle it."""
        possible = int(self.adversary.eligible(self.release, np.arange(self.release.n_records)).sum())
        return unproven_candidates(self.search, self.limit, possible)

    @cached_property
    def _known(self) -> str:
        """What the adversary knows, in one line."""
        return (known_attributes if self.release.columns else describe_adversary)(self.adversary, self.release)

    @property
    def _sentences(self) -> list[str]:
        wording = TABLES if self.release.columns else HISTORIES
        return summary_sentences(self.search, self.unproven, self._known, self.limit, wording)

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
        words = [data] if isinstance(data, str) else list(data)
        if self.release.columns and TABLE_OPTION not in words:
            words.append(TABLE_OPTION)
        return sanitize_command(self.recommended, words, output, renumber=not self.release.columns)

    @cached_property
    def table(self) -> pl.DataFrame:
        """Table with one row per candidate."""
        rows = [self._row(candidate) for candidate in self.candidates]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _row(self, candidate: Candidate) -> dict[str, str | float | None]:
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
        for name in COLUMN_MEASURES if self.release.columns else ENTRY_MEASURES:
            row |= _columns(name, getattr(candidate.utility, name))
        return row | {"seed": self.seed, "fingerprint": self.release.fingerprint, "version": __version__}

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
        return f"<Advice: {len(self.candidates) - 1} candidates{state}; {answer}>"

    @cached_property
    def findings(self) -> AdviceFindings:
        """The content of advice.json. It has no ids and no seed."""
        release, best, both = self.release, self.recommended, self.composition
        if release.columns:
            limits = column_limitations(self.search, release, self.adversary)
        else:
            limits = limitations(self.search, release.span > 0)
        return AdviceFindings(
            complete=self.complete,
            limit=self.limit,
            among=self.among,
            adversary=self._known,
            data=ReleaseSize(
                self.name, release.fingerprint, release.n_records, release.n_items, release.n_entries, release.n_columns
            ),
            summary=self.summary,
            sentences=tuple(self._sentences),
            command=self.command(self.name or "DATA", "OUT.csv" if release.columns else "OUT"),
            recommended=None if best is None else self._candidate_findings(best),
            candidates=tuple(map(self._candidate_findings, self.candidates)),
            step_descriptions=self._step_descriptions(),
            impossible=self.search.impossible,
            composition=None if both is None else _composition_findings(both),
            limits=tuple(limits),
            version=__version__,
            unproven=self._unproven_findings(),
        )

    def _candidate_findings(self, candidate: Candidate) -> CandidateFindings:
        names = [each.name for each in fields(UtilityFindings)]
        return CandidateFindings(
            steps=tuple(map(str, candidate.steps)),
            name=candidate.name,
            stage=candidate.stage,
            attack=candidate.risk.attack,
            identified=candidate.risk.everybody,
            identified_in_release=candidate.risk.released,
            utility=UtilityFindings(**{name: getattr(candidate.utility, name) for name in names}),
            frontier=candidate.steps in self._frontier_steps,
        )


def _columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """Three columns: the estimate and the ends of its interval, None where they are not finite."""
    numbers = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    return {
        name + suffix: number if number is not None and math.isfinite(number) else None
        for suffix, number in zip(("", "_low", "_high"), numbers, strict=True)
    }


def _composition_findings(composition: Composition) -> CompositionFindings:
    return CompositionFindings(
        identified=composition.identified,
        correct_claims=composition.correct_claims,
        wrong_claims=composition.wrong_claims,
        entries_shown_by_one=composition.entries_shown_by_one,
        entries_shown_together=composition.entries_shown_together,
        explanation=composition_text(composition),
    )
