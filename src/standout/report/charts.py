"""Charts as Vega-Lite specifications, drawn as SVG and PNG, their figures and tables, and pieces of specifications.

Measured values are in the accent colour; the rest is grey or ink, so that a print in black and white loses
nothing. Every mark has its name next to it, so no chart needs a legend.

vl-convert draws in a child process: it contains a JavaScript engine, which ends its process when memory is
short. In a child it takes only a picture with it. One child draws all pictures of this process.
"""

import atexit
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from standout.core.errors import StandoutError
from standout.core.files import write_content
from standout.core.progress import show_activity
from standout.core.text import estimate_text, interval_text, map_texts, printable_lines
from standout.evaluate.estimates import Estimate

if TYPE_CHECKING:
    import altair as alt
    from markupsafe import Markup

Spec: TypeAlias = dict[str, Any]

SECONDS = 120.0
"""Maximum time for one picture."""
MOST_FAILURES = 3
"""After so many ends in a row, no other child is started."""
NOT_DRAWN = "a picture cannot be drawn and is missing"
WORKER = r"""
import json, sys
sys.path.append(sys.argv[1])
import vl_convert
for line in sys.stdin.buffer:
    form, spec, options = json.loads(line)
    try:
        picture = getattr(vl_convert, f"vegalite_to_{form}")(spec, **options)
        drawn, content = b"\1", picture.encode() if isinstance(picture, str) else bytes(picture)
    except Exception as error:
        drawn, content = b"\0", type(error).__name__.encode()
    sys.stdout.buffer.write(drawn + len(content).to_bytes(8, "big") + content)
    sys.stdout.buffer.flush()
"""
"""The program of the child, which imports nothing of Standout."""
_lock = threading.Lock()
_children: list["subprocess.Popen[bytes]"] = []
_failures: list[str] = []


class DrawingError(StandoutError):
    """A picture cannot be drawn. Everything else can be shown without it."""


def draw(form: Literal["svg", "png"], spec: Spec, **options: Any) -> bytes:
    """The picture of a Vega-Lite chart, or a DrawingError."""
    with _lock:
        show_activity("drawing charts")
        if len(_failures) >= MOST_FAILURES:
            raise DrawingError(_failures[-1])
        try:
            drawn, content = _answer(json.dumps([form, spec, options]).encode() + b"\n")
        except BaseException as error:  # no later answer must belong to this request
            _stop_child()
            if not isinstance(error, OSError):
                raise
            _failures.append(f"{NOT_DRAWN}: vl-convert ended ({error})")
            raise DrawingError(_failures[-1]) from error
        _failures.clear()
    if not drawn:
        raise DrawingError(f"{NOT_DRAWN}: vl-convert failed ({content.decode()})")
    return content


def _answer(request: bytes) -> tuple[bool, bytes]:
    """Whether the child drew the chart, and the picture or the error's name."""
    if _children and _children[0].poll() is not None:
        _stop_child()
    if not _children:
        found = find_spec("vl_convert")
        if found is None or found.origin is None:
            raise DrawingError(f"{NOT_DRAWN}: vl-convert is not installed")
        command = [sys.executable, "-P", "-c", WORKER, str(Path(found.origin).parents[1])]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "bufsize": 0}
        # a session of its own, so that Ctrl-C does not end it before us
        _children.append(subprocess.Popen(command, start_new_session=True, **pipes))
    child = _children[0]
    assert child.stdin is not None and child.stdout is not None
    deadline, rest, content, size = time.monotonic() + SECONDS, memoryview(request), bytearray(), 9
    while rest:
        rest = rest[child.stdin.write(rest) :]
    while len(content) < size:
        if not select.select([child.stdout], [], [], max(deadline - time.monotonic(), 0.0))[0]:
            raise TimeoutError(f"no answer within {SECONDS:g} s")
        part = child.stdout.read(size - len(content))
        if not part:
            raise ChildProcessError(f"exit code {child.wait()}")
        content += part
        if size == 9 and len(content) == 9:
            size += int.from_bytes(content[1:], "big")
    return content[0] == 1, bytes(content[9:])


@atexit.register
def _stop_child() -> None:
    while _children:
        with _children.pop() as child, suppress(OSError):  # leaving it waits and closes the pipes
            child.kill()


os.register_at_fork(after_in_child=_children.clear)

ACCENT, GREY, INK, GRID = "#0b6e99", "#b5b5b5", "#1b1b1b", "#dedede"
PALE_ACCENT = "#8fc3d9"
"""Of a second measurement next to the first."""
WIDE, NARROW = 750, 372
"""Width of a chart on a desktop and on a phone."""
CONFIG: Spec = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "aria": False,
    "background": "white",
    # space for names of marks if the reader's font is wider than ours
    "padding": {"left": 8, "top": 5, "right": 24, "bottom": 5},
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "axis": {
        "gridColor": GRID,
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "domainColor": GRID,
        "tickColor": GRID,
    },
    "title": {"anchor": "start", "fontSize": 13, "color": INK, "frame": "group"},
}
"""Look of all charts."""
NOTE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="24" viewBox="0 0 320 24">'
    f'<text x="0" y="16" font-size="12" fill="{INK}">This picture is missing: it could not be drawn.</text>'
    "</svg>"
)
FORBIDDEN = re.compile(r' (?:style|class|role|aria-\w+|pointer-events)="[^"]*"')
"""Attributes that the policy of a page forbids."""
KINDS = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


class Chart:
    """A finished chart. The same numbers give the same bytes."""

    def __init__(self, spec: Spec) -> None:
        self.spec: Spec = map_texts(spec, printable_lines) | {"config": dict(CONFIG)}

    def altair(self) -> "alt.TopLevelMixin":
        """The chart as an object of Altair, for notebooks."""
        import altair as alt

        chart: alt.TopLevelMixin = alt.Chart.from_dict(self.spec)
        return chart

    def png(self) -> bytes:
        """The chart as PNG, for papers and slides; a DrawingError if it cannot be drawn."""
        return draw("png", self.spec, scale=2)

    def svg(self, title: str = "", description: str = "") -> str:
        """The chart as SVG, with a title and a description for screen readers; a DrawingError as above."""
        return _described(draw("svg", self.spec).decode(), title, description)

    def svg_or_note(self, title: str = "", description: str = "") -> str:
        """The chart as SVG; if it cannot be drawn, a note that says so, and a warning."""
        try:
            return self.svg(title, description)
        except DrawingError as error:
            _warn(error)
            return _described(NOTE, title, description)

    def write(self, path: Path, title: str = "", description: str = "") -> None:
        """Write the chart as .svg and .png; what cannot be drawn is a note or missing, with a warning."""
        write_content(path.with_suffix(".svg"), self.svg_or_note(title, description) + "\n")
        try:
            write_content(path.with_suffix(".png"), self.png())
        except DrawingError as error:
            path.with_suffix(".png").unlink(missing_ok=True)
            _warn(error)


def _warn(error: DrawingError) -> None:
    warnings.warn(str(error), RuntimeWarning, stacklevel=1)  # from here, so that Python shows it only once


def _described(svg: str, title: str, description: str) -> str:
    """The SVG with a title for screen readers, and without attributes that the policy of a page forbids."""
    svg = re.sub(r"<\w[^<>]*>", lambda tag: FORBIDDEN.sub("", tag[0]), svg)
    svg = svg.replace('<path d="" display="none"/>', "")
    texts = f"<title>{escape(title)}</title>" if title else ""
    texts += f"<desc>{escape(description)}</desc>" if description else ""
    head, rest = svg.split(">", 1)
    return printable_lines(f'{head} role="img">{texts}{rest}')


def remove_charts(folder: Path, names: Iterable[str]) -> None:
    """Remove charts of an earlier report that the new one does not have."""
    for name in names:
        for ending in ("svg", "png"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)


# A figure of a page: a chart in two widths, with its title, its description and its numbers as a table.

Cells: TypeAlias = tuple[str | tuple[str, str], ...]
"""One row of a table; a pair is a number and its interval."""


class Table(NamedTuple):
    """Numbers as text. The first column names the rows."""

    heads: tuple[str, ...]
    rows: Sequence[Cells]


class Figure(NamedTuple):
    """A chart that can be drawn at any width; `description` is for readers who do not see it."""

    title: str
    description: str
    draw: Callable[[int], Chart]
    table: Table


class Drawing(NamedTuple):
    """A figure with its SVG for wide and for narrow screens."""

    figure: Figure
    wide: "Markup"
    narrow: "Markup"


def draw_figure(figure: Figure) -> Drawing:
    """The figure drawn for both widths."""
    from markupsafe import Markup

    svgs = [Markup(figure.draw(width).svg_or_note(figure.title, figure.description)) for width in (WIDE, NARROW)]
    return Drawing(figure, *svgs)


def with_interval(estimate: Estimate | None, unit: str = "share") -> tuple[str, str]:
    """A cell of a table: an estimate and its interval, which is omitted for a number that was counted."""
    is_counted = estimate is not None and not estimate.low < estimate.high
    return estimate_text(estimate, unit), "" if is_counted else interval_text(estimate, unit)


def points_cell(difference: Estimate) -> tuple[str, str]:
    """A cell of a table: a difference of shares and its interval, in percentage points with signs: −12.5, +0.3, 0."""
    texts = (f"{100 * end:+.1f}".replace("-", "−") for end in (difference.value, difference.low, difference.high))
    value, low, high = ("0" if text[1:] == "0.0" else text for text in texts)
    return value, f"{low}\xa0to\xa0{high}"


# Pieces of specifications.


def field(name: str, **options: Any) -> Spec:
    """A channel that shows a field of the data, such as "share:Q"; Q, N and O are Vega-Lite's types."""
    name, _, kind = name.partition(":")
    return {"field": name, "type": KINDS[kind], **options} if kind else {"field": name, **options}


def mark(kind: str, rows: Sequence[Any] | None = None, encoding: Spec | None = None, **style: Any) -> Spec:
    """A mark with the channels of its encoding; rows are dicts or named tuples, default: those of the chart."""
    spec: Spec = {"mark": {"type": kind, **style}, "encoding": encoding or {}}
    return spec if rows is None else spec | {"data": data(rows)}


def data(rows: Sequence[Any]) -> Spec:
    """Rows as data of a chart or a mark."""
    return {"values": [row if isinstance(row, dict) else row._asdict() for row in rows]}


class Point(NamedTuple):
    """A point of a curve, with its interval if it has one."""

    series: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    panel: str = ""


def share_point(series: str, x: float, share: Estimate, panel: str = "") -> Point:
    """A share with its interval as a point of a curve."""
    return Point(series, x, share.value, share.low, share.high, panel)


class Axis(NamedTuple):
    """Title, range, scale (`log` for x only), number format and approximate number of ticks of an axis."""

    title: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    form: str = ""
    ticks: int = 5

    def channel(self, name: str) -> Spec:
        """The channel of a field with this axis."""
        axis: Spec = {"tickCount": self.ticks, "ticks": False, "domain": False, "labelPadding": 5}
        if self.form:
            axis["format"] = self.form
        limits = self.low is not None and self.high is not None
        scale: Spec = {"domain": [self.low, self.high], "nice": False} if limits else {}
        return field(f"{name}:Q", title=self.title or None, scale=scale, axis=axis)
