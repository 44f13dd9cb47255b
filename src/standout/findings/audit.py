"""The findings of an audit: the content of findings.json.

`AuditFindings` is the whole. Rates are `Estimate`s: a value with its 95 % interval, the number of targets and
the baseline. No finding contains the id of a record or the title of an item.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from standout.findings.adversaries import AdversaryFindings, BeforeAfter, EnvelopePoint, ErrorGrids, Exposure
from standout.findings.advice import AdviceFindings
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share
from standout.findings.reading import Reading

__all__ = [
    "SCHEMA",
    "SCHEMA_TITLE",
    "SCHEMA_VERSION",
    "Answer",
    "AppliedStep",
    "AuditFindings",
    "Bound",
    "Check",
    "DataSummary",
    "Original",
    "Run",
    "Settings",
    "Sparsity",
    "SparsityPoint",
    "Theory",
    "Threshold",
    "Trust",
    "Verdict",
    "VerdictPart",
    "Yardstick",
]

# What the paper's theory says about a release: sparsity, and the bounds of the theorems.


@dataclass(frozen=True, slots=True, kw_only=True)
class SparsityPoint:
    """One point of the sparsity curve.

    Attributes
    ----------
    epsilon
        Similarity of two records, from 0 to 1.
    share
        Share of records whose nearest neighbour is at least this similar.
    """

    epsilon: Share
    share: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparsity:
    """How similar the nearest neighbours of records are (Definition 1 of the paper).

    Attributes
    ----------
    similarity
        What makes two entries of one item similar.
    n
        Number of records whose neighbours were searched.
    """

    similarity: str
    n: Count
    curve: tuple[SparsityPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A theorem of the paper applied to the data, next to what was measured.

    Attributes
    ----------
    statement
        What the theorem says about this data.
    bound
        Number of facts that are enough; null if the theorem does not apply to this data.
    measured
        What the audit measured.
    setting
        Parameters of the theorem.
    """

    theorem: str
    statement: str
    bound: Count | None
    measured: str
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Theory:
    """What the paper's theory says about the release."""

    sparsity: Sparsity
    bounds: tuple[Bound, ...]


# A yardstick for the main result: the same adversary on data that many readers have heard of.


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """What the headline adversary achieves on a stand-in of the Netflix Prize data.

    Attributes
    ----------
    data
        The data of the yardstick.
    records
        Number of people in it.
    entries
        Number of entries in it.
    precision
        How precisely the adversary knows values and dates there.
    identified
        Share of targets there whom this adversary identifies.
    command
        The commands that measured it.
    sentence
        The yardstick in one sentence.
    """

    data: str
    records: PositiveCount
    entries: PositiveCount
    precision: str
    identified: Rate
    command: str
    sentence: str


SCHEMA, SCHEMA_VERSION = "standout-findings", 6
SCHEMA_TITLE = "Findings of a Standout audit (findings.json), version 6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How the findings were produced.

    Attributes
    ----------
    software
        Name and version of the program.
    finished_at
        Time at which the report was written. It is the only value that differs between two runs with the same
        data, settings and seed.
    seed
        Seed of all random draws.
    seconds
        Duration of the run, if it was measured.
    """

    software: str
    finished_at: str | None
    seed: Count
    seconds: NonNegative | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """Size and content of a data set."""

    fingerprint: str
    records: PositiveCount
    items: PositiveCount
    entries: PositiveCount
    repeats: Count
    has_values: bool
    has_times: bool
    levels: Count
    first: Day | None
    last: Day | None
    median_length: NonNegative
    rows_rejected: Count
    synthetic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSummary(_Size):
    """The release that was audited.

    Attributes
    ----------
    name
        Name of the file or folder.
    fingerprint
        Hash of the content.
    repeats
        Number of entries beyond the first of the same record and item.
    levels
        Number of different values.
    first
        Date of the earliest entry.
    last
        Date of the latest entry.
    median_length
        Number of entries of the median record.
    rows_rejected
        Number of rows of the source that could not be read.
    synthetic
        Whether the data is synthetic, so that its people do not exist.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedStep:
    """One change that `standout sanitize` made.

    Attributes
    ----------
    step
        The step with its parameters.
    counts
        What the step changed, and the size of the release before and after it.
    """

    step: str
    counts: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Original(_Size):
    """The original from which a sanitized release was made. Targets and known facts come from it.

    Attributes
    ----------
    not_in_release
        People of the original whom no record of the release represents.
    shared_records
        Records of the release that represent more than one person.
    steps
        The changes that turned the original into the release.
    explanation
        What this means for the reader of the report.
    """

    not_in_release: Count
    shared_records: Count
    steps: tuple[AppliedStep, ...]
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the audit.

    Attributes
    ----------
    targets
        Largest number of targets for each adversary.
    facts
        Numbers of known facts in the curves.
    phi
        Minimum eccentricity for a claim of the paper's attack.
    posterior
        Minimum posterior for a claim of Likelihood.
    budget
        Largest share of absent targets that may be claimed.
    top
        Number of best-scored records that count for `in_top`.
    quick
        Whether the audit used fewer targets to finish sooner.
    fail_above
        Largest acceptable share of identified people.
    headline
        Name of the adversary that the answer is about.
    ladder
        Origin of the adversaries: default, own, or the name of a file.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check that the audit made of itself.

    Attributes
    ----------
    expected
        The result that a correct audit gives.
    observed
        The result of this audit.
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

    Attributes
    ----------
    trusted
        Whether all checks passed. If not, the other findings may be wrong.
    """

    trusted: bool
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The main result in one sentence, with its number.

    Attributes
    ----------
    adversary
        Name of the adversary that the sentence is about.
    rate
        Share of targets that this adversary identifies.
    people_identified
        The rate as a number of people: of those with enough entries to be targets.
    people_total
        Number of people in the data.
    too_few_items
        Number of people whose records are too short to be targets.
    """

    sentence: str
    adversary: str
    rate: Rate
    people_identified: Count | None
    people_total: PositiveCount
    too_few_items: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPart:
    """Answer to one of the three questions of Opinion 05/2014.

    Attributes
    ----------
    rate
        The measured number that decides the answer.
    """

    title: str
    answer: Literal["yes", "partly", "not by these adversaries"]
    explanation: str
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Answers to the three questions of the Article 29 Working Party's Opinion 05/2014.

    Attributes
    ----------
    singling_out
        Whether one person's record can be singled out.
    linkability
        Whether a record can be linked to another source about the same person.
    inference
        Whether something new can be learned about the person.
    """

    summary: str
    singling_out: VerdictPart
    linkability: VerdictPart
    inference: VerdictPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Comparison with the largest acceptable share of identified people.

    Attributes
    ----------
    measured
        The highest share among the adversaries that count for the threshold.
    adversary
        Name of the adversary that reached it.
    exceeded
        Whether the upper end of its interval is above the threshold; null without a threshold.
    """

    fail_above: Share | None
    measured: Rate | None
    adversary: str | None
    exceeded: bool | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFindings:
    """Everything an audit found. Rates are shares from 0 to 1, and every text is plain text.

    Attributes
    ----------
    complete
        Whether the audit finished. If not, results that are missing were not computed.
    reading
        How the release was read and, if it was sanitized, the original.
    adversaries
        Results by adversary, in the order of the ladder.
    envelope
        The strongest adversary at each number of known facts.
    error_grids
        The headline adversary with other numbers of facts and other errors of dates and values.
    yardstick
        What the headline adversary achieves on other data; null for adversaries of your own.
    limits
        What the findings do not say, in sentences.
    versions
        Versions of the software, by name.
    advice
        Content of advice.json, if advice was asked for.
    before_after
        What the adversaries identify in the original and in the sanitized release; null without an original.
    """

    schema: Literal["standout-findings"] = "standout-findings"
    schema_version: Literal[6] = 6
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
    error_grids: ErrorGrids
    yardstick: Yardstick | None
    exposure: Exposure
    theory: Theory
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
