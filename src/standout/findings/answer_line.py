"""The answer of an audit in a line or two, for people who look at the result in Python."""

from typing import Protocol

from standout.core.formatting import HasInterval, interval_text

__all__ = ["HasAnswer", "answer_line"]


class _Rate(HasInterval, Protocol):
    """A share with its interval, and the number of targets."""

    @property
    def n(self) -> int:
        """Number of targets."""


class _Answer(Protocol):
    """The main result."""

    @property
    def sentence(self) -> str:
        """The result in words."""

    @property
    def rate(self) -> _Rate:
        """The share that the sentence names."""


class _Trust(Protocol):
    """The result of the self-check."""

    @property
    def trusted(self) -> bool:
        """Whether it passed."""


class HasAnswer(Protocol):
    """Findings of an audit of a release or a table."""

    @property
    def answer(self) -> _Answer:
        """The main result."""

    @property
    def trust(self) -> _Trust:
        """The self-check."""

    @property
    def complete(self) -> bool:
        """Whether the audit finished."""


def answer_line(findings: HasAnswer) -> str:
    """The sentence of the answer, its interval, and why it may not be relied on. It names nobody."""
    rate = findings.answer.rate
    interval = interval_text(rate)
    text = f"{findings.answer.sentence} {f'Interval: {interval}, ' if interval else ''}{rate.n:,} targets."
    if not findings.complete:
        text += " The audit was interrupted."
    if not findings.trust.trusted:
        text += " It failed its own checks: do not trust its numbers."
    return text.replace("\xa0", " ")
