"""The findings of an audit: the content of findings.json.

`AuditFindings` is the whole. Rates are `Estimate`s: a value with its 95 % interval, the number of targets and
the baseline. No finding contains the id of a record or the title of an item. A `Gate` compares them with a limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from standout.core.text import interval_text
from standout.core.text import percent as typeset
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.findings.json_types import Count, Day, NonNegative, PositiveCount, Rate, Share, about, finding
from standout.findings.link_and_advise import AdviceFindings
from standout.findings.reading import Reading
from standout.findings.sections import (
    LINEUP_MASS,
    AdversaryFindings,
    BeforeAfter,
    Classes,
    ColumnSet,
    Disclosure,
    EnvelopePoint,
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
    quick: bool = about("Whether the audit used fewer targets to finish sooner", default=False)
    fail_above: Share | None = about("Largest acceptable share of identified people", default=None)
    headline: str = about("Name of the adversary that the answer is about", default="")
    ladder: str = about("Origin of the adversaries: default, own, or the name of a file", default="default")
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


# A gate: the conditions under which a command that checks a limit passes, and what was found for each.
#
# A gate passes only if every condition does. Conditions name adversaries and rates, never a person, and contain no
# cell of the data.


Rule = Literal["share-above-limit", "no-sufficient-change", "self-check-failed", "not-decided"]


@finding
class GateCondition:
    """One condition of a gate: what is wrong if it is not met, about whom, and what was found."""

    rule: Rule
    about: str
    title: str
    passed: bool
    message: str
    rate: Estimate | None = None


@finding
class Gate:
    """What a command checked; `finished_at` is empty if the results were not written."""

    command: str
    limit: float | None
    conditions: tuple[GateCondition, ...]
    sentences: tuple[str, ...] = ()
    finished_at: str = ""

    @property
    def passed(self) -> bool:
        """Whether all conditions are met, and there is one."""
        return bool(self.conditions) and not self.failed

    @property
    def failed(self) -> list[GateCondition]:
        """The conditions that are not met."""
        return [condition for condition in self.conditions if not condition.passed]


def audit_gate(findings: AuditFindings) -> Gate:
    """The conditions of `standout audit --fail-above`: each adversary that counts, and the run itself.

    A limit that no adversary was compared with is not met.
    """
    limit = findings.threshold.fail_above
    assert limit is not None, "a gate needs a limit"
    counting = [adversary for adversary in findings.adversaries if adversary.gate]
    failed = [check.title for check in findings.trust.checks if not check.passed]
    trusted = findings.trust.trusted
    explanation = f"The audit passed all {len(findings.trust.checks)} of its self-checks."
    return Gate(
        command="standout audit",
        limit=limit,
        conditions=(
            *(_adversary_condition(adversary, limit) for adversary in counting),
            GateCondition(
                rule="self-check-failed",
                about="self-check",
                title="The audit passes its self-checks",
                passed=trusted,
                message=explanation if trusted else f"Do not trust the numbers. Failed: {', '.join(failed)}.",
            ),
            _complete_condition("audit", findings.complete and bool(counting)),
        ),
        sentences=(findings.answer.sentence, findings.verdict.summary),
        finished_at=findings.run.finished_at or "",
    )


def advice_gate(findings: AdviceFindings) -> Gate:
    """The conditions of `standout advise --fail`: a candidate meets the limit, and the search is complete."""
    recommended = findings.recommended
    rate = None if recommended is None else recommended.rate(findings.among)
    return Gate(
        command="standout advise",
        limit=findings.limit,
        conditions=(
            GateCondition(
                rule="no-sufficient-change",
                about="candidates",
                title=f"A change leaves at most {percent(findings.limit)} of people identified",
                passed=recommended is not None,
                message=findings.summary,
                rate=rate,
            ),
            _complete_condition("search", findings.complete),
        ),
        sentences=findings.sentences,
    )


def undecided_gate(command: str, limit: float | None) -> Gate:
    """The gate of a command that has not finished: it does not pass."""
    return Gate(command=command, limit=limit, conditions=(_complete_condition(command.rpartition(" ")[2], False),))


def checked_threshold(fail_above: float | None, adversaries: Sequence[AdversaryFindings]) -> Threshold:
    """Whether the share of identified people may be above the threshold, by the upper end of the interval.

    The share is of people who are in the release: removing people protects only those who were removed.
    """
    counting = [adversary for adversary in adversaries if adversary.gate]
    if fail_above is None or not counting:
        reason = "No threshold was set." if fail_above is None else "No adversary counts for the threshold."
        return Threshold(fail_above=fail_above, measured=None, adversary=None, exceeded=None, explanation=reason)
    worst = max(counting, key=lambda adversary: adversary.as_named.identified_in_release.high)
    condition = _adversary_condition(worst, fail_above)
    return Threshold(
        fail_above=fail_above,
        measured=condition.rate,
        adversary=worst.name,
        exceeded=not condition.passed,
        explanation=condition.message,
    )


def _adversary_condition(adversary: AdversaryFindings, limit: float) -> GateCondition:
    """The upper end of the interval is at most the limit."""
    rate, shown = adversary.as_named.identified_in_release, percent(limit)
    whom = "people" if rate.n == adversary.as_named.identified.n else "people in the release"
    if rate.high <= limit:
        comparison = f"This is within the threshold of {shown}."
    elif rate.low > limit:
        comparison = f"This is above the threshold of {shown}."
    else:
        comparison = f"This may be above the threshold of {shown}: the interval contains the threshold."
    return GateCondition(
        rule="share-above-limit",
        about=adversary.name,
        title=f"The adversary “{adversary.name}” identifies at most {shown} of people",
        passed=rate.high <= limit,
        message=f"The adversary “{adversary.name}” identifies {rate_text(rate)} of {whom}. {comparison}",
        rate=rate,
    )


def _complete_condition(what: str, complete: bool) -> GateCondition:
    return GateCondition(
        rule="not-decided",
        about="completeness",
        title=f"The {what} is complete",
        passed=complete,
        message=f"The {what} finished." if complete else f"The {what} did not finish: see its output.",
    )


# The answer of an audit in a line or two, for people who look at the result in Python.


def answer_line(findings: AuditFindings) -> str:
    """The sentence of the answer, its interval, and why it may not be relied on. It names nobody."""
    rate = findings.answer.rate
    interval = interval_text(rate)
    text = f"{findings.answer.sentence} {f'Interval: {interval}, ' if interval else ''}{rate.n:,} targets."
    if not findings.complete:
        text += " The audit was interrupted."
    if not findings.trust.trusted:
        text += " It failed its own checks: do not trust its numbers."
    return text.replace("\xa0", " ")


# Titles of the measures, defined once, so that console and report use the same name for a number.


class Measure(NamedTuple):
    """A measure: its key in findings.json, its unit and its title with placeholders for settings."""

    key: str
    unit: Literal["share", "number", "phi"]
    title: str


MEASURES = (
    Measure("identified", "share", "Identified"),
    Measure("identified_in_release", "share", "Identified, among people in the release"),
    Measure("in_top", "share", "Right record among the top {top}"),
    Measure("correct_claims", "share", "Correct claims at {threshold}"),
    Measure("wrong_claims", "share", "Wrong claims at {threshold}"),
    Measure("absent_claims", "share", "Claims about absent people at {threshold}"),
    Measure("threshold_at_budget", "phi", "{Measure} for ≤\xa0{budget} false claims"),
    Measure("correct_claims_at_budget", "share", "Correct claims at ≤\xa0{budget} false claims"),
    Measure("absent_claims_at_budget", "share", "Claims about absent people at this {measure}"),
    Measure("bits_gained", "number", "Bits gained (mean)"),
    Measure("bits_left", "number", "Bits missing (mean)"),
    Measure("lineup_size", "number", "Lineup: records that share {mass} of the probability (median)"),
    Measure("revealed", "number", "Items revealed (mean)"),
    Measure("revealed_correct", "number", "Items revealed correctly (mean)"),
    Measure("revealed_correct_share", "share", "Revealed items that are correct"),
)


def measure_titles(
    threshold: ClaimThreshold | None, budget: float, top: int = 10, mass: float = LINEUP_MASS
) -> dict[str, str]:
    r"""Titles of all measures by their keys in findings.json, with the settings filled in.

    Without a threshold they suit several attacks, each with its own.

    >>> titles = measure_titles(ClaimThreshold("phi", 1.5), budget=0.01)
    >>> titles["correct_claims"], titles["correct_claims_at_budget"]
    ('Correct claims at φ\xa0=\xa01.5', 'Correct claims at ≤\xa01\xa0% false claims')
    >>> measure_titles(ClaimThreshold("posterior", 0.95), budget=0.01)["correct_claims"]
    'Correct claims at posterior\xa0≥\xa00.95'
    """
    measure = "threshold" if threshold is None else threshold.symbol
    settings = {
        "threshold": "the\xa0threshold" if threshold is None else threshold.text,
        "measure": measure,
        "Measure": measure if measure == "φ" else measure.capitalize(),
        "budget": typeset(budget),
        "top": str(top),
        "mass": typeset(mass),
    }
    return {each.key: each.title.format(**settings) for each in MEASURES}
