"""How results show themselves in a notebook: as HTML, and as a chart.

The views are in `standout.report`, which is loaded when a result is first shown: results of lower packages
cannot import it, and a run that shows nothing should not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

__all__ = ["ResultView"]


class ResultView:
    """A result that a notebook shows with a headline, a small table and a chart. It names nobody."""

    __slots__ = ()

    def _shown(self) -> Any:
        """What `standout.report.views` shows: the result itself, or its findings."""
        return self

    def chart(self) -> "alt.TopLevelMixin":
        """The main numbers as a chart, without ids of people.

        Returns
        -------
        altair.Chart, altair.LayerChart or altair.VConcatChart
            An Altair chart, to change, show or save.

        Examples
        --------
        >>> import standout as so
        >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
        >>> release.chart().properties(title="People by number of entries").to_dict()["title"]
        'People by number of entries'
        """
        shown: alt.TopLevelMixin = _views().altair_chart(self._shown())
        return shown

    def _repr_html_(self) -> str:
        """A headline, a small table and the chart, without scripts and without ids of people."""
        html: str = _views().notebook_html(self._shown())
        return html


def _views() -> Any:
    return import_module("standout.report.views")
