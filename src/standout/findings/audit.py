"""The findings of an audit: the content of findings.json.

`AuditFindings` is the whole. Rates are `Estimate`s: a value with its 95 % interval, the number of targets and
the baseline. No finding contains the id of a record or the title of an item.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from standout.findings.adversaries import AdversaryFindings, BeforeAfter, EnvelopePoint
from standout.findings.advice import AdviceFindings
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share, about, finding
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


@finding
class Run:
    """How the findings were produced.

    finished_at: Time at which the report was written. It is the only value that differs between two runs with the same
        data, settings and seed.
    """

    software: str = about("Name and version of the program")
    finished_at: str | None
    seed: Count = about("Seed of all random draws")
    seconds: NonNegative | None = about("Duration of the run, if it was measured", default=None)


@finding
class DataSize:
    """Size and content of a data set."""

    fingerprint: str = about("Hash of the content")
    records: PositiveCount = about("Number of people; a record has a row of cells, entries, or both")
    columns: Count = about("Number of columns with a cell for each person; 0 for a history")
    attributes: Count = about("Number of attributes; columns of a tuple are one")
    missing_cells: Count = about("Number of empty cells")
    items: Count
    entries: Count = about("Number of entries; 0 for a table")
    repeats: Count = about("Number of entries beyond the first of the same record and item")
    has_values: bool
    has_times: bool
    levels: Count = about("Number of different values of entries")
    first: Day | None = about("Dates of the earliest and of the latest entry")
    last: Day | None = about("Dates of the earliest and of the latest entry")
    median_length: NonNegative = about("Number of entries of the median record")
    rows_rejected: Count = about("Number of rows of the source that could not be read")
    synthetic: bool = about("Whether the data is synthetic, so that its people do not exist")

    @property
    def parts(self) -> str:
        """What a record consists of, for sentences."""
        return "cells" if self.columns else "entries"


@finding
class DataSummary(DataSize):
    """The release that was audited."""

    name: str = about("Name of the file or folder")


@finding
class AppliedStep:
    """One change that `standout sanitize` made."""

    step: str = about("The step with its parameters")
    counts: Mapping[str, float] = about("What the step changed, and the size of the release before and after it")


@finding
class Original(DataSize):
    """The original from which a sanitized release was made. Targets and known facts come from it."""

    not_in_release: Count = about("People of the original whom no record of the release represents")
    shared_records: Count = about("Records of the release that represent more than one person")
    dropped: tuple[str, ...] = about("Columns of the original that the release lacks")
    steps: tuple[AppliedStep, ...] = about("The changes that turned the original into the release")
    explanation: str = about("What this means for the reader of the report")


@finding
class Settings:
    """Settings of the audit.

    population: Number of people of whom the release is a sample; null if it was not given
    """

    targets: PositiveCount = about("Largest number of targets for each adversary")
    facts: tuple[PositiveCount, ...] = about("Numbers of known facts in the curves")
    phi: NonNegative = about("Minimum eccentricity for a claim of the paper's attack")
    posterior: Share = about("Minimum posterior for a claim of the other attacks")
    budget: Share = about("Largest share of absent targets that may be claimed")
    top: PositiveCount = about("Number of best-scored records that count for `in_top`")
    quick: bool = about("Whether the audit used fewer targets to finish sooner")
    fail_above: Share | None = about("Largest acceptable share of identified people")
    headline: str = about("Name of the adversary that the answer is about")
    ladder: str = about("Origin of the adversaries: default, own, or the name of a file")
    quasi_identifiers: tuple[str, ...] = about("Columns that others may know, and that classes are made of", default=())
    quasi_identifiers_reason: str = about("Why these are the quasi-identifiers", default="")
    sensitive: tuple[str, ...] = about("Columns that must not be learned", default=())
    population: PositiveCount | None = None


@finding
class Check:
    """One check that the audit made of itself."""

    name: str
    title: str
    expected: str = about("The result that a correct audit gives")
    observed: str = about("The result of this audit")
    passed: bool
    explanation: str


@finding
class Trust:
    """Result of the self-check."""

    trusted: bool = about("Whether all checks passed. If not, the other findings may be wrong.")
    checks: tuple[Check, ...]


@finding
class Answer:
    """The main result in one sentence, with its number."""

    sentence: str
    adversary: str = about("Name of the adversary that the sentence is about")
    rate: Rate = about("Share of targets that this adversary identifies")
    comparison: str = about("The same by exact matching, in one sentence; empty if it was not tried", default="")
    people_identified: Count | None = about("The rate as a number of people: of those who can be targets")
    people_total: PositiveCount = about("Number of people in the data")
    too_few_items: Count = about("Number of people about whom too little can be known for them to be targets")


@finding
class VerdictPart:
    """Answer to one of the three questions of Opinion 05/2014."""

    title: str
    answer: Literal["yes", "partly", "not by these adversaries"]
    explanation: str
    rate: Rate = about("The measured number that decides the answer")


@finding
class Verdict:
    """Answers to the three questions of the Article 29 Working Party's Opinion 05/2014."""

    summary: str
    singling_out: VerdictPart = about("Whether one person's record can be singled out")
    linkability: VerdictPart = about("Whether a record can be linked to another source about the same person")
    inference: VerdictPart = about("Whether something new can be learned about the person")


@finding
class Threshold:
    """Comparison with the largest acceptable share of identified people.

    exceeded: Whether the upper end of its interval is above the threshold; null without a threshold
    """

    fail_above: Share | None
    measured: Rate | None = about("The highest share among the adversaries that count for the threshold")
    adversary: str | None = about("Name of the adversary that reached it")
    exceeded: bool | None
    explanation: str


@finding
class AuditFindings:
    """Everything an audit found. Rates are shares from 0 to 1, and every text is plain text.

    error_grids: The headline adversary with other numbers of facts and other errors of dates and values of entries
    yardstick: What the headline adversary achieves on other data; null for adversaries of your own
    exposure: Who is exposed to the headline adversary, by entries; null for a table
    classes: Classes of rows with equal quasi-identifiers; null if the release has none of them
    column_sets: For each size, the set of columns that makes most rows unique
    learned: What the right row shows that the headline adversary did not know; null for a history
    population: The quasi-identifiers in the population; null if no population was given
    before_after: What the adversaries identify in the original and in the sanitized release; null without an original
    """

    schema: Literal["standout-findings"] = "standout-findings"
    schema_version: Literal[7] = 7
    complete: bool = about("Whether the audit finished. If not, results that are missing were not computed.")
    run: Run
    data: DataSummary
    original: Original | None
    reading: tuple[Reading, ...] = about("How the release was read and, if it was sanitized, the original")
    settings: Settings
    trust: Trust
    answer: Answer
    adversaries: tuple[AdversaryFindings, ...] = about("Results by adversary, in the order of the ladder")
    envelope: tuple[EnvelopePoint, ...] = about("The strongest adversary at each number of known facts")
    error_grids: ErrorGrids | None = None
    yardstick: Yardstick | None = None
    exposure: Exposure | None = None
    theory: Theory | None = about("What the paper's theory says about the entries; null for a table", default=None)
    classes: Classes | None = None
    column_sets: tuple[ColumnSet, ...] = ()
    disclosure: tuple[Disclosure, ...] = about("How well each sensitive column is guessed", default=())
    learned: Learned | None = None
    population: PopulationEstimate | None = None
    verdict: Verdict
    threshold: Threshold
    limits: tuple[str, ...] = about("What the findings do not say, in sentences")
    versions: Mapping[str, str] = about("Versions of the software, by name")
    advice: AdviceFindings | None = about("Content of advice.json, if advice was asked for", default=None)
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
