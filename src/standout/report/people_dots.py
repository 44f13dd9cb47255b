"""A picture of people: one dot for each target, coloured if the target is identified."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from standout.core.formatting import HasInterval, count

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["MOST_DOTS", "PeopleDots", "people_dots"]

MOST_DOTS = 1000
WIDE_COLUMNS, NARROW_COLUMNS = 100, 50
STEPS = (1, 2, 5)
PITCH, DOT = 10, 7.4


@dataclass(frozen=True, slots=True)
class PeopleDots:
    """How many dots there are, how many are coloured, and how many people one dot represents.

    Attributes
    ----------
    targets
        Number of people who were attacked.
    identified
        Number of them who were identified, rounded: a tie of t records counts 1/t.
    """

    dots: int
    coloured: int
    people_per_dot: int
    targets: int
    identified: int

    @property
    def title(self) -> str:
        """The picture in one line."""
        return f"{count(self.identified)} of {count(self.targets, 'target is', 'targets are')} identified"

    @property
    def scale(self) -> str:
        """What one dot represents, and that the numbers are rounded."""
        if self.people_per_dot == 1:
            return "Each dot is one person whom the adversary looked for."
        return f"Each dot represents {count(self.people_per_dot)} people whom the adversary looked for."

    def svg(self, columns: int) -> "Markup":
        """The picture with so many dots in a row, the coloured ones first.

        A dot is a line without length and with a round end: a thousand of them take a few kilobytes.
        """
        from markupsafe import Markup

        columns = min(columns, self.dots)
        rows = math.ceil(self.dots / columns)
        paths = Markup("").join(
            Markup('<path class="{}" d="{}"/>').format(name, _path(range(first, last), columns))
            for name, first, last in (("found", 0, self.coloured), ("other", self.coloured, self.dots))
            if first < last
        )
        text = f"{self.scale} {count(self.coloured)} of {count(self.dots, 'dot is', 'dots are')} coloured."
        return Markup(
            '<svg class="people" role="img" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
            'stroke-width="{dot}" stroke-linecap="round"><title>{title}</title>'
            "<desc>{text}</desc>{paths}</svg>"
        ).format(w=columns * PITCH, h=rows * PITCH, dot=DOT, title=self.title, text=text, paths=paths)

    @property
    def wide(self) -> "Markup":
        """The picture for a desk and for paper."""
        return self.svg(WIDE_COLUMNS)

    @property
    def narrow(self) -> "Markup":
        """The picture for a phone."""
        return self.svg(NARROW_COLUMNS)


def people_dots(rate: HasInterval, targets: int) -> PeopleDots | None:
    """The dots of a measured share; None if nobody was attacked.

    At most `MOST_DOTS` dots are drawn, so one of them may represent several people. Numbers are rounded, but
    at least one dot is coloured if anybody was identified.

    >>> from standout.evaluate.estimates import Estimate
    >>> dots = people_dots(Estimate(0.975, 0.96, 0.985, n=610), 610)
    >>> dots.dots, dots.coloured, dots.title
    (610, 595, '595 of 610 targets are identified')
    >>> people_dots(Estimate(0.001, 0, 0.01, n=4_000), 4_000).coloured
    1
    """
    if targets < 1 or not math.isfinite(rate.value):
        return None
    scale = _people_per_dot(targets)
    dots = max(1, _rounded(targets / scale))
    coloured = max(_rounded(rate.value * targets / scale), int(rate.value > 0))
    return PeopleDots(dots, min(coloured, dots), scale, targets, _rounded(rate.value * targets))


def _people_per_dot(targets: int) -> int:
    """The least of 1, 2, 5, 10, 20, … with which there are few enough dots."""
    power = 1
    while True:
        for step in STEPS:
            if _rounded(targets / (step * power)) <= MOST_DOTS:
                return step * power
        power *= 10


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)


def _path(positions: range, columns: int) -> str:
    """Dots at positions of a grid, as data of an SVG path."""
    middle = PITCH // 2
    return "".join(
        f"M{position % columns * PITCH + middle} {position // columns * PITCH + middle}h0"
        for position in positions
    )
