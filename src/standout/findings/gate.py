"""A gate: the conditions under which a command that checks a limit passes, and what was found for each.

A gate passes only if every condition does. Conditions name adversaries and rates, never a person, and contain
no cell of the data.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from standout.core.text import interval_text
from standout.core.text import percent as typeset
from standout.evaluate.claims import ClaimThreshold
from standout.evaluate.estimates import Estimate, percent, rate_text
from standout.findings.adversaries import LINEUP_MASS, AdversaryFindings
from standout.findings.advice import AdviceFindings
from standout.findings.audit import AuditFindings, Threshold
from standout.findings.json_types import finding

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
