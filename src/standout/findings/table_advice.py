"""The findings of a search for advice on a table: the content of advice.json. They name nobody.

`TableAdviceFindings` is the whole. It contains no seed, because the seed would allow others to undo noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from standout.evaluate.estimates import Estimate
from standout.findings.advice import Among, CandidateRisk, UnprovenFindings, rows_of
from standout.findings.json_types import Count, PositiveCount, Share

__all__ = [
    "SCHEMA_TITLE",
    "TableAdviceFindings",
    "TableCandidateFindings",
    "TableSize",
    "TableUtilityFindings",
]

SCHEMA_TITLE = "Advice of Standout on a table (advice.json), version 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """A table that advice is about.

    Attributes
    ----------
    name
        Name of its source.
    fingerprint
        Hash of its content.
    """

    name: str
    fingerprint: str
    rows: PositiveCount
    columns: PositiveCount


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUtilityFindings:
    """Utility of a candidate's table compared with the untouched one.

    Attributes
    ----------
    kept
        Share of the utility that is left: the smaller of `information` and `associations`.
    information
        Share of the information in a cell that is left: bits that a released cell says about the original one
        / bits of the original one. Mean over all columns that vary.
    associations
        1 − sum of the changes of the associations of pairs of columns / sum of the associations, over all
        pairs that are associated beyond what chance gives; null if there is none.
    rows_kept
        Share of the rows that are left.
    """

    kept: Estimate
    information: Estimate
    associations: Estimate | None
    rows_kept: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCandidateFindings(CandidateRisk):
    """One combination of steps on a table, its risk and its utility.

    Attributes
    ----------
    attack
        The attack that identifies most of the targets: the rates are a little too high rather than too low.
    """

    utility: TableUtilityFindings


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdviceFindings:
    """Everything that a search for the smallest sufficient change of a table found.

    Attributes
    ----------
    complete
        Whether the search finished.
    limit
        Largest acceptable share of identified people.
    among
        Whom the limit applies to: everybody in the original, or the people whose row is left.
    adversary
        What the adversary knows, in one line.
    data
        The original.
    summary
        The answer in sentences.
    sentences
        The same, one by one.
    command
        Command that makes the recommended table; empty if nothing has to be changed or can be recommended.
    recommended
        The candidate that keeps most of the utility among those that meet the limit, re-measured on fresh
        targets; null if there is none.
    candidates
        All candidates: the untouched table, then by increasing risk.
    step_descriptions
        What the steps of the candidates do, by the syntax of the step.
    impossible
        Candidates that could not be tried, and why.
    limits
        What the findings do not say, in sentences.
    version
        Version of the program.
    unproven
        What is measured below the limit although nothing is proven to meet it; null if a candidate is
        recommended, or no rate is below the limit.
    """

    schema: Literal["standout-table-advice"] = "standout-table-advice"
    complete: bool
    limit: Share
    among: Among
    adversary: str
    data: TableSize
    summary: str
    sentences: tuple[str, ...]
    command: str
    recommended: TableCandidateFindings | None
    candidates: tuple[TableCandidateFindings, ...]
    step_descriptions: Mapping[str, str]
    impossible: Mapping[str, str]
    limits: tuple[str, ...]
    version: str
    unproven: UnprovenFindings | None = None

    @property
    def n_candidates(self) -> Count:
        """Number of candidates apart from the untouched table."""
        return len(self.candidates) - 1

    @property
    def rows(self) -> list[TableCandidateFindings]:
        """The table as it is, then the frontier by decreasing risk, the recommended one re-measured."""
        return rows_of(self.candidates, self.recommended, self.among)
