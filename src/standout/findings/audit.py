"""The findings of an audit: the content of findings.json.

`AuditFindings` is the whole. Rates are `Estimate`s: a value with its 95 % interval, the number of targets and
the baseline. No finding contains the id of a record or the title of an item.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from standout.findings.adversaries import AdversaryFindings, BeforeAfter, EnvelopePoint
from standout.findings.advice import AdviceFindings
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share
from standout.findings.reading import Reading
from standout.findings.sections import (
    Classes,
    ColumnSet,
    Disclosure,
    ErrorGrids,
    Exposure,
    Learned,
    PopulationEstimate,
    Theory,
    Yardstick,
)

SCHEMA_VERSION = 7
SCHEMA_TITLE = "Findings of a Standout audit (findings.json), version 7"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How the findings were produced.

    software: Name and version of the program
    finished_at: Time at which the report was written. It is the only value that differs between two runs with the same
        data, settings and seed.
    seed: Seed of all random draws
    seconds: Duration of the run, if it was measured
    """

    software: str
    finished_at: str | None
    seed: Count
    seconds: NonNegative | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSize:
    """Size and content of a data set.

    fingerprint: Hash of the content
    records: Number of people; a record has a row of cells, entries, or both
    columns: Number of columns with a cell for each person; 0 for a history
    attributes: Number of attributes; columns of a tuple are one
    missing_cells: Number of empty cells
    entries: Number of entries; 0 for a table
    repeats: Number of entries beyond the first of the same record and item
    levels: Number of different values of entries
    first, last: Dates of the earliest and of the latest entry
    median_length: Number of entries of the median record
    rows_rejected: Number of rows of the source that could not be read
    synthetic: Whether the data is synthetic, so that its people do not exist
    """

    fingerprint: str
    records: PositiveCount
    columns: Count
    attributes: Count
    missing_cells: Count
    items: Count
    entries: Count
    repeats: Count
    has_values: bool
    has_times: bool
    levels: Count
    first: Day | None
    last: Day | None
    median_length: NonNegative
    rows_rejected: Count
    synthetic: bool

    @property
    def parts(self) -> str:
        """What a record consists of, for sentences."""
        return "cells" if self.columns else "entries"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary(DataSize):
    """The release that was audited.

    name: Name of the file or folder
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedStep:
    """One change that `standout sanitize` made.

    step: The step with its parameters
    counts: What the step changed, and the size of the release before and after it
    """

    step: str
    counts: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Original(DataSize):
    """The original from which a sanitized release was made. Targets and known facts come from it.

    not_in_release: People of the original whom no record of the release represents
    shared_records: Records of the release that represent more than one person
    dropped: Columns of the original that the release lacks
    steps: The changes that turned the original into the release
    explanation: What this means for the reader of the report
    """

    not_in_release: Count
    shared_records: Count
    dropped: tuple[str, ...]
    steps: tuple[AppliedStep, ...]
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the audit.

    targets: Largest number of targets for each adversary
    facts: Numbers of known facts in the curves
    phi: Minimum eccentricity for a claim of the paper's attack
    posterior: Minimum posterior for a claim of the other attacks
    budget: Largest share of absent targets that may be claimed
    top: Number of best-scored records that count for `in_top`
    quick: Whether the audit used fewer targets to finish sooner
    fail_above: Largest acceptable share of identified people
    headline: Name of the adversary that the answer is about
    ladder: Origin of the adversaries: default, own, or the name of a file
    quasi_identifiers: Columns that others may know, and that classes are made of
    quasi_identifiers_reason: Why these are the quasi-identifiers
    sensitive: Columns that must not be learned
    population: Number of people of whom the release is a sample; null if it was not given
    """

    targets: PositiveCount
    facts: tuple[PositiveCount, ...]
    phi: NonNegative
    posterior: Share
    budget: Share
    top: PositiveCount
    quick: bool
    fail_above: Share | None
    headline: str
    ladder: str
    quasi_identifiers: tuple[str, ...] = ()
    quasi_identifiers_reason: str = ""
    sensitive: tuple[str, ...] = ()
    population: PositiveCount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check that the audit made of itself.

    expected: The result that a correct audit gives
    observed: The result of this audit
    """

    name: str
    title: str
    expected: str
    observed: str
    passed: bool
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Result of the self-check.

    trusted: Whether all checks passed. If not, the other findings may be wrong.
    """

    trusted: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The main result in one sentence, with its number.

    adversary: Name of the adversary that the sentence is about
    rate: Share of targets that this adversary identifies
    comparison: The same by exact matching, in one sentence; empty if it was not tried
    people_identified: The rate as a number of people: of those who can be targets
    people_total: Number of people in the data
    too_few_items: Number of people about whom too little can be known for them to be targets
    """

    sentence: str
    adversary: str
    rate: Rate
    comparison: str = ""
    people_identified: Count | None
    people_total: PositiveCount
    too_few_items: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPart:
    """Answer to one of the three questions of Opinion 05/2014.

    rate: The measured number that decides the answer
    """

    title: str
    answer: Literal["yes", "partly", "not by these adversaries"]
    explanation: str
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Answers to the three questions of the Article 29 Working Party's Opinion 05/2014.

    singling_out: Whether one person's record can be singled out
    linkability: Whether a record can be linked to another source about the same person
    inference: Whether something new can be learned about the person
    """

    summary: str
    singling_out: VerdictPart
    linkability: VerdictPart
    inference: VerdictPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Comparison with the largest acceptable share of identified people.

    measured: The highest share among the adversaries that count for the threshold
    adversary: Name of the adversary that reached it
    exceeded: Whether the upper end of its interval is above the threshold; null without a threshold
    """

    fail_above: Share | None
    measured: Rate | None
    adversary: str | None
    exceeded: bool | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFindings:
    """Everything an audit found. Rates are shares from 0 to 1, and every text is plain text.

    complete: Whether the audit finished. If not, results that are missing were not computed.
    reading: How the release was read and, if it was sanitized, the original
    adversaries: Results by adversary, in the order of the ladder
    envelope: The strongest adversary at each number of known facts
    error_grids: The headline adversary with other numbers of facts and other errors of dates and values of entries
    yardstick: What the headline adversary achieves on other data; null for adversaries of your own
    exposure: Who is exposed to the headline adversary, by entries; null for a table
    theory: What the paper's theory says about the entries; null for a table
    classes: Classes of rows with equal quasi-identifiers; null if the release has none of them
    column_sets: For each size, the set of columns that makes most rows unique
    disclosure: How well each sensitive column is guessed
    learned: What the right row shows that the headline adversary did not know; null for a history
    population: The quasi-identifiers in the population; null if no population was given
    limits: What the findings do not say, in sentences
    versions: Versions of the software, by name
    advice: Content of advice.json, if advice was asked for
    before_after: What the adversaries identify in the original and in the sanitized release; null without an original
    """

    schema: Literal["standout-findings"] = "standout-findings"
    schema_version: Literal[7] = 7
    complete: bool
    run: Run
    data: DataSummary
    original: Original | None
    reading: tuple[Reading, ...]
    settings: Settings
    trust: Trust
    answer: Answer
    adversaries: tuple[AdversaryFindings, ...]
    envelope: tuple[EnvelopePoint, ...]
    error_grids: ErrorGrids | None = None
    yardstick: Yardstick | None = None
    exposure: Exposure | None = None
    theory: Theory | None = None
    classes: Classes | None = None
    column_sets: tuple[ColumnSet, ...] = ()
    disclosure: tuple[Disclosure, ...] = ()
    learned: Learned | None = None
    population: PopulationEstimate | None = None
    verdict: Verdict
    threshold: Threshold
    limits: tuple[str, ...]
    versions: Mapping[str, str]
    advice: AdviceFindings | None = None
    before_after: BeforeAfter | None = None

    @property
    def headline(self) -> AdversaryFindings | None:
        """Results of the adversary that the answer is about; the first one where it is missing."""
        name = self.answer.adversary
        named = (adversary for adversary in self.adversaries if adversary.name == name)
        return next(named, self.adversaries[0] if self.adversaries else None)

    def finished_at(self, time: str) -> "AuditFindings":
        """The findings with the time at which the report was written."""
        return replace(self, run=replace(self.run, finished_at=time))
