"""The findings of an audit of a table: the content of its findings.json.

`TableFindings` is the whole. No finding contains the content of a cell, the id of a row or the name of a
level; columns are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from standout.findings.audit import Run, Threshold, Trust, Verdict
from standout.findings.before_after import BeforeAfter
from standout.findings.json_types import Count, NonNegative, PositiveCount, Rate, Share
from standout.findings.table_adversaries import TableAdversaryFindings
from standout.findings.table_reading import TableOriginal, TableReading, TableSummary
from standout.findings.table_risk import (
    ColumnSetFindings,
    Disclosure,
    IdentityFindings,
    Learned,
    PopulationEstimate,
)

__all__ = ["SCHEMA_TITLE", "TableAnswer", "TableFindings", "TableSettings"]

SCHEMA_TITLE = "Findings of a Standout audit of a table (findings.json), version 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """Settings of the audit.

    Attributes
    ----------
    targets
        Largest number of targets for each adversary.
    knows
        Numbers of known attributes in the curve.
    phi
        Minimum eccentricity for a claim of the paper's attack.
    posterior
        Minimum posterior for a claim of the other attacks.
    budget
        Largest share of absent targets that may be claimed.
    quick
        Whether the audit used fewer targets to finish sooner.
    fail_above
        Largest acceptable share of identified people.
    headline
        Name of the adversary that the answer is about.
    ladder
        Origin of the adversaries: default, own, or the name of a file.
    quasi_identifiers
        Columns that the register knows, and that classes are made of.
    quasi_identifiers_reason
        Why these are the quasi-identifiers.
    sensitive
        Columns that must not be learned.
    population
        Number of people of whom the table is a sample; null if it was not given.
    """

    targets: PositiveCount
    knows: tuple[PositiveCount, ...]
    phi: NonNegative
    posterior: Share
    budget: Share
    quick: bool
    fail_above: Share | None
    headline: str
    ladder: str
    quasi_identifiers: tuple[str, ...]
    quasi_identifiers_reason: str
    sensitive: tuple[str, ...]
    population: PositiveCount | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAnswer:
    """The main result in one sentence, with its number.

    Attributes
    ----------
    adversary
        Name of the adversary that the sentence is about.
    rate
        Share of targets that this adversary identifies.
    comparison
        The same by exact matching, in one sentence; empty if it was not tried.
    people_identified
        The rate as a number of people: of those with enough cells to be targets.
    people_total
        Number of people.
    too_few_cells
        Number of people whose rows have too few cells for them to be targets.
    """

    sentence: str
    adversary: str
    rate: Rate
    comparison: str
    people_identified: Count
    people_total: PositiveCount
    too_few_cells: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFindings:
    """Everything an audit of a table found. Rates are shares from 0 to 1, and every text is plain text.

    Attributes
    ----------
    complete
        Whether the audit finished. If not, results that are missing were not computed.
    reading
        How the table was read and, if it was sanitized, the original.
    adversaries
        Results by adversary, in the order of the ladder.
    identity
        Classes of the quasi-identifiers; null if the table has none of them.
    column_sets
        For each size, the set of columns that makes most rows unique.
    disclosure
        How well each sensitive column is guessed.
    learned
        What the right row shows that the headline adversary did not know.
    population
        The quasi-identifiers in the population; null if no population was given.
    limits
        What the findings do not say, in sentences.
    versions
        Versions of the software, by name.
    before_after
        What the adversaries identify in the original and in the sanitized table; null without an original.
    """

    schema: Literal["standout-table-findings"] = "standout-table-findings"
    schema_version: Literal[1] = 1
    complete: bool
    run: Run
    data: TableSummary
    original: TableOriginal | None
    reading: tuple[TableReading, ...]
    settings: TableSettings
    trust: Trust
    answer: TableAnswer
    adversaries: tuple[TableAdversaryFindings, ...]
    identity: IdentityFindings | None
    column_sets: tuple[ColumnSetFindings, ...]
    disclosure: tuple[Disclosure, ...]
    learned: Learned | None
    population: PopulationEstimate | None
    verdict: Verdict
    threshold: Threshold
    limits: tuple[str, ...]
    versions: Mapping[str, str]
    before_after: BeforeAfter | None = None

    @property
    def headline(self) -> TableAdversaryFindings:
        """Results of the adversary that the answer is about."""
        return next(each for each in self.adversaries if each.name == self.answer.adversary)

    def finished_at(self, time: str) -> "TableFindings":
        """The findings with the time at which the report was written."""
        return replace(self, run=replace(self.run, finished_at=time))
