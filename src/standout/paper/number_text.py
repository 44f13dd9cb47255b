"""Numbers of a reproduction as text, for the page, the console and the documentation."""

from standout.paper.comparison_rows import ComparisonRow

__all__ = ["difference", "interval", "likelihood", "number", "signed"]


def number(value: float | None, unit: str = "rate", like: float | None = None) -> str:
    """A number as text: rates with three digits, bits with two, large counts without any.

    `like` is the number that decides how many digits there are; default: the value itself.

    >>> number(0.5), number(14.25, "bits"), number(1181.0, "number"), number(None)
    ('0.500', '14.25', '1,181', '–')
    """
    if value is None:
        return "–"
    if unit == "number" and (value.is_integer() or abs(value if like is None else like) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3f}" if unit == "rate" else f"{value:.2f}"


def interval(row: ComparisonRow, between: str = " to ") -> str:
    """The interval of a row; empty if it has none."""
    if row.low is None or row.high is None:
        return ""
    return number(row.low, row.unit) + between + number(row.high, row.unit)


def likelihood(row: ComparisonRow, between: str = " to ") -> str:
    """What the Bayesian attack reaches, with its interval; empty if it was not run."""
    if row.likelihood is None:
        return ""
    low, high = number(row.likelihood_low, row.unit), number(row.likelihood_high, row.unit)
    return f"{number(row.likelihood, row.unit)} ({low}{between}{high})"


def difference(row: ComparisonRow) -> str:
    """The difference from the paper, or from full size, with its sign; empty if there is none."""
    return "" if row.difference is None else signed(row.difference, row.unit, row.compared_with)


def signed(value: float, unit: str = "bits", like: float | None = None) -> str:
    """A number with its sign; 0 has none."""
    text = number(abs(value), unit, like)
    return text if not text.strip("0.") else f"{'+' if value > 0 else '−'}{text}"
