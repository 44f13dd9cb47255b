"""Where a label has space in a chart of curves: next to its point, but on no line and on no other label.

All numbers are pixels; y grows downwards.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Box", "free_box"]

Line = Sequence[tuple[float, float]]
STEP = 3.0
"""Distance between two places that are tried."""


class Box(NamedTuple):
    """A rectangle: its left and right edge, and its top and bottom."""

    left: float
    right: float
    top: float
    bottom: float

    def moved(self, down: float) -> "Box":
        """The same rectangle, lower by some pixels."""
        return self._replace(top=self.top + down, bottom=self.bottom + down)


def free_box(box: Box, lines: Sequence[Line], boxes: Sequence[Box], height: float) -> Box:
    """The nearest place above or below, within the height of the chart, that covers nothing.

    The box itself if there is none. Of two places that are equally near, the lower one.

    >>> free_box(Box(0, 10, 0, 10), [[(0.0, 4.0), (20.0, 4.0)]], [], 100).top
    6.0
    """
    shifts = sorted(
        (STEP * step for step in range(-int(height / STEP), int(height / STEP) + 1)),
        key=lambda shift: (abs(shift), -shift),
    )
    for shift in shifts:
        place = box.moved(shift)
        if place.top >= 0 and place.bottom <= height and _is_free(place, lines, boxes):
            return place
    return box


def _is_free(box: Box, lines: Sequence[Line], boxes: Sequence[Box]) -> bool:
    overlaps = any(
        box.left < other.right
        and other.left < box.right
        and box.top < other.bottom
        and other.top < box.bottom
        for other in boxes
    )
    return not overlaps and not any(_crosses(box, line) for line in lines)


def _crosses(box: Box, line: Line) -> bool:
    """Whether a part of the line lies in the box."""
    for (x0, y0), (x1, y1) in pairwise(line):
        left, right = max(min(x0, x1), box.left), min(max(x0, x1), box.right)
        if left > right:
            continue
        slope = (y1 - y0) / (x1 - x0) if x1 != x0 else 0.0
        ends = (y0 + slope * (left - x0), y0 + slope * (right - x0)) if x1 != x0 else (y0, y1)
        if min(ends) < box.bottom and max(ends) > box.top:
            return True
    return False
