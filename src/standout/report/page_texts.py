"""What the pages of audits share: functions of their templates, and sentences about thresholds."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from standout.core.foreign_text import LONG, SHORT, shorten
from standout.core.formatting import count, decimal, estimate_text, interval_text, percent
from standout.findings.adversaries import AdversaryFindings
from standout.findings.audit import Threshold
from standout.findings.table_adversaries import TableAdversaryFindings

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["isolated", "rarely_claimed", "template_functions", "threshold_status", "with_options"]

OPTION = re.compile(r"(--[a-z-]+|standout advise)")
MANY = 0.2
"""From this share of identified targets on, few claims need an explanation."""


def template_functions() -> dict[str, Any]:
    """The functions that templates call, by their names there."""
    return {
        "name": isolated(SHORT),
        "say": isolated(LONG),
        "instruct": with_options,
        "shorten": shorten,
        "share": estimate_text,
        "interval": interval_text,
        "percent": percent,
        "count": count,
        "decimal": decimal,
        "rarely_claimed": rarely_claimed,
    }


def isolated(most: int) -> "Callable[[str], Markup]":
    """A function that shortens and escapes a text from outside and isolates its writing direction."""
    from markupsafe import Markup

    def isolate(text: str) -> Markup:
        unbroken = text.replace(" %", "\xa0%").replace("± ", "±\xa0").replace("φ = ", "φ\xa0=\xa0")
        return Markup("<bdi>{}</bdi>").format(shorten(unbroken, most))

    return isolate


def with_options(text: str) -> "Markup":
    """A sentence of ours, escaped, with options as code that is not broken at its hyphens.

    >>> str(with_options("Repeat it without --quick & <wait>."))
    'Repeat it without <code class="option">--quick</code> &amp; &lt;wait&gt;.'
    """
    from markupsafe import Markup, escape

    parts = OPTION.split(text.replace(" %", "\xa0%"))
    code = Markup('<code class="option">{}</code>')
    return Markup("").join(code.format(part) if OPTION.fullmatch(part) else escape(part) for part in parts)


def rarely_claimed(adversaries: Sequence[AdversaryFindings | TableAdversaryFindings]) -> list[str]:
    """Names of adversaries who identify many targets and claim less than half of them within the budget."""
    rates = [
        (each.name, each.as_named.identified.value, each.as_named.correct_claims_at_budget.value)
        for each in adversaries
    ]
    return [shorten(name, 40) for name, identified, claimed in rates if claimed < identified / 2 >= MANY / 2]


def threshold_status(threshold: Threshold) -> str:
    """The first words of the sentence about the threshold."""
    if threshold.exceeded is None:
        return "Not compared with"
    if not threshold.exceeded:
        return "Not above"
    limit, measured = threshold.fail_above, threshold.measured
    is_certain = measured is None or limit is None or measured.low > limit
    return "Above" if is_certain else "May be above"
