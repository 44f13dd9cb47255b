"""What a notebook shows of a result: a headline, remarks, a small table and a chart."""

import math
from typing import NamedTuple

from standout.core.text import estimate_text, interval_text
from standout.evaluate.estimates import Estimate
from standout.report.figures import Figure, Table
from standout.report.interval_charts import ShareBar

__all__ = ["View", "share_bar", "share_cell"]


class View(NamedTuple):
    """A result for a notebook. Remarks say why numbers may not be relied on, or how to see more."""

    headline: str
    figure: Figure
    remarks: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """The numbers of the table, which are not all of the result."""
        return self.figure.table


def share_cell(share: Estimate | None) -> tuple[str, str]:
    """A cell of a table: a share and its interval, which is omitted for a share that was counted."""
    counted = share is not None and not share.low < share.high
    return estimate_text(share), "" if counted else interval_text(share)


def share_bar(panel: str, label: str, share: Estimate, main: bool = True) -> ShareBar:
    """A share with its interval as a bar."""
    value = share.value if math.isfinite(share.value) else None
    return ShareBar(panel, label, value, share.low, share.high, main)
