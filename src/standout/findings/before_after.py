"""What each adversary identifies before and after sanitizing, on the same targets with the same facts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from standout.core.arrays import Bools, Floats
from standout.evaluate.estimate_text import rate_text
from standout.evaluate.estimates import Estimate, rate
from standout.evaluate.paired import paired_difference
from standout.findings.json_types import Rate

__all__ = ["AdversaryBeforeAfter", "BeforeAfter", "Successes", "before_after", "compare_before_after"]

SMALL_POINTS = 10.0
"""Changes below this many percentage points have one decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successes:
    """How often an attack identifies each target, from 0 to 1, and the chance of a random guess."""

    attack: str
    success: Floats
    baseline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversaryBeforeAfter:
    """One adversary on the original and on the sanitized data.

    Attributes
    ----------
    name
        Name of the adversary.
    attack_before, attack_after
        The strongest attack on each, chosen on other targets.
    before
        Share of targets who are identified in the original.
    after
        Share of the same targets who are identified in the sanitized data. Those who are missing from it
        cannot be identified.
    difference
        after − before, with the interval of paired trials.
    before_in_release, after_in_release, difference_in_release
        The same for the targets whom the sanitized data represent.
    explanation
        The difference in a sentence.
    """

    name: str
    attack_before: str
    attack_after: str
    before: Rate
    after: Rate
    difference: Estimate
    before_in_release: Rate
    after_in_release: Rate
    difference_in_release: Estimate
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """The adversaries before and after sanitizing.

    Attributes
    ----------
    adversaries
        One comparison for each adversary.
    some_missing
        Whether some targets are missing from the sanitized data.
    summary
        What changed for the headline adversary, in sentences.
    """

    adversaries: tuple[AdversaryBeforeAfter, ...]
    some_missing: bool
    summary: str


def compare_before_after(
    name: str, before: Successes, after: Successes, is_present: Bools
) -> AdversaryBeforeAfter:
    """Compare the successes of an adversary on the same targets; `is_present` is after sanitizing."""
    difference = paired_difference(after.success, before.success)
    in_release = paired_difference(after.success[is_present], before.success[is_present])
    return AdversaryBeforeAfter(
        name=name,
        attack_before=before.attack,
        attack_after=after.attack,
        before=_rate(before.success, before.baseline),
        after=_rate(after.success, after.baseline * float(is_present.mean())),
        difference=difference,
        before_in_release=_rate(before.success[is_present], before.baseline),
        after_in_release=_rate(after.success[is_present], after.baseline),
        difference_in_release=in_release,
        explanation=_change(difference),
    )


def before_after(adversaries: Sequence[AdversaryBeforeAfter], headline: str, data: str) -> BeforeAfter | None:
    """All comparisons; None if there is none. `data` names what was sanitized, for the sentences."""
    if not adversaries:
        return None
    some_missing = any(each.after.n != each.after_in_release.n for each in adversaries)
    main = next((each for each in adversaries if each.name == headline), adversaries[0])
    sentences = [
        f"Before sanitizing, the adversary “{main.name}” identifies {rate_text(main.before)} of the targets; "
        f"after sanitizing, {rate_text(main.after)} of the same targets.",
        main.explanation,
    ]
    if main.after.n != main.after_in_release.n and main.after_in_release.n:
        sentences += [
            f"People missing from the {data} cannot be identified. Among those who are still in it, "
            f"{rate_text(main.before_in_release)} are identified before and "
            f"{rate_text(main.after_in_release)} after.",
            _change(main.difference_in_release, " of them"),
        ]
    return BeforeAfter(adversaries=tuple(adversaries), some_missing=some_missing, summary=" ".join(sentences))


def _rate(success: Floats, baseline: float) -> Estimate:
    # The sum of shares like 1/3 may exceed the number of targets by rounding.
    return rate(min(math.fsum(success), len(success)), len(success), baseline)


def _change(difference: Estimate, whom: str = "") -> str:
    """A change, if the interval excludes 0; otherwise that none is shown."""
    if difference.low <= 0 <= difference.high:
        low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in (difference.low, difference.high))
        return (
            "This shows no difference beyond sampling error: the interval of the change is "
            f"{low} to {high} percentage points."
        )
    more = "fewer" if difference.high < 0 else "more"
    sizes = [100 * abs(number) for number in (difference.value, difference.low, difference.high)]
    digits = 0 if max(sizes) >= SMALL_POINTS else 1
    size, low, high = (f"{number:.{digits}f}" for number in (sizes[0], *sorted(sizes[1:])))
    return f"The adversary identifies {more}{whom}: by {size} percentage points ({low} to {high})."
