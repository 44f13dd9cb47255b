"""The page of the audit: from a folder that `standout audit` wrote, or a quick one of our own."""

import html
import json
import math
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import standout as so
from standout.core.json_files import Json
from standout.core.text import LONG, interval_text, percent, printable, shorten
from standout.explore.exploration import Exploration
from standout.explore.requests import RequestError
from standout.explore.server import THREAD_NAME, Stopped
from standout.report.audit_charts import FIGURES

LARGEST_FILE = 20_000_000
TITLE, DESCRIPTION = (re.compile(rf"<{tag}[^>]*>(.*?)</{tag}>", re.S) for tag in ("title", "desc"))
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 \1 \2"')
MARGIN = 24
RERUN = "write it again with standout audit"
OTHER = "give the folder of an audit of this data, or leave --audit out and start one on the page"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """What one adversary achieves."""

    name: str
    title: str
    description: str
    identified: str
    interval: str


@dataclass(frozen=True, slots=True)
class AuditChart:
    """A chart of the report as an SVG image, with its text for screen readers."""

    title: str
    description: str
    svg: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AuditView:
    """What the page of the audit shows."""

    sentence: str
    trusted: bool
    quick: bool
    rows: Sequence[AuditRow]
    charts: Mapping[str, AuditChart]


@dataclass(frozen=True, slots=True)
class AuditState:
    """Answer of GET and POST /api/audit."""

    state: Literal["none", "running", "finished", "failed"]
    share: float


def read_audit(folder: Path, release: so.Release) -> AuditView:
    """Read the folder of an audit of this release."""
    findings = _findings(folder / "findings.json")
    try:
        fingerprint = _member(findings, "data", "fingerprint")
        view = view_of(findings, _read_charts(folder / "charts"))
    except (KeyError, TypeError, ValueError):
        raise so.SourceError(f"{folder / 'findings.json'} is not a file of an audit: {RERUN}") from None
    if fingerprint != release.fingerprint:
        raise so.ParameterError(f"{folder} is an audit of other data: {OTHER}")
    return view


def _findings(path: Path) -> Json:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise so.SourceError(f"{path} is too large for the findings of an audit")
        content: Json = json.loads(path.read_text(encoding="utf-8"))
        return content
    except (FileNotFoundError, NotADirectoryError) as error:
        raise so.SourceError(f"{path.parent} is not a folder that standout audit wrote: {OTHER}") from error
    except OSError as error:
        raise so.SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise so.SourceError(f"{path} is not a file of an audit: {RERUN}") from None


def _read_charts(folder: Path) -> dict[str, AuditChart]:
    charts = {}
    for name in FIGURES:
        path = folder / f"{name}.svg"
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            charts[name] = _chart(path.read_text(encoding="utf-8"))
    return charts


def _chart(svg: str) -> AuditChart:
    """The chart with room at both sides: a picture is cut at its edge, and browsers have wider fonts."""

    def widen(size: re.Match[str]) -> str:
        width, height = float(size[1]) + 2 * MARGIN, size[2]
        return f'width="{width:g}" height="{height}" viewBox="{-MARGIN} 0 {width:g} {height}"'

    title, description = (html.unescape(found[1]) if (found := tag.search(svg)) else "" for tag in (TITLE, DESCRIPTION))
    return AuditChart(title, description, SIZE.sub(widen, svg, count=1).encode())


def view_of(findings: Json, charts: Mapping[str, AuditChart]) -> AuditView:
    """What to show of the findings of an audit, in their JSON form."""
    adversaries = _member(findings, "adversaries")
    if not isinstance(adversaries, list):
        raise TypeError
    return AuditView(
        sentence=_text(findings, "answer", "sentence"),
        trusted=_member(findings, "trust", "trusted") is True,
        quick=_member(findings, "settings", "quick") is True,
        rows=[_row(adversary) for adversary in adversaries],
        charts=dict(charts),
    )


def _row(adversary: Json) -> AuditRow:
    estimate = _member(adversary, "as_named", "identified")
    ends = [_member(estimate, name) for name in ("value", "low", "high")]
    value, low, high = (end if isinstance(end, (int, float)) else math.nan for end in ends)
    rate = so.Estimate(value, low, high, n=0)
    return AuditRow(
        name=_text(adversary, "name"),
        title=_text(adversary, "title"),
        description=_text(adversary, "description"),
        identified=percent(rate.value),
        interval=interval_text(rate),
    )


def _member(content: Json, *names: str) -> Json:
    for name in names:
        if not isinstance(content, dict):
            raise TypeError(name)
        content = content[name]
    return content


def _text(content: Json, *names: str) -> str:
    text = _member(content, *names)
    if not isinstance(text, str):
        raise TypeError(names[-1])
    return shorten(printable(text), LONG)


class AuditRunner:
    """At most one audit at a time, on a thread of its own. Its result is shown, and kept in memory only."""

    def __init__(self, exploration: Exploration, view: AuditView | None) -> None:
        self.exploration = exploration
        self.view = view
        self._share = 1.0 if view else 0.0
        self._failed = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> AuditState:
        """Whether there is an audit, and how much of it is done."""
        if self.view is not None:
            return AuditState("finished", 1.0)
        if self._thread is not None and self._thread.is_alive():
            return AuditState("running", self._share)
        return AuditState("failed" if self._failed else "none", 0.0)

    def start(self) -> AuditState:
        """Start a quick audit, unless there is one."""
        if self.state.state in ("none", "failed"):
            self._failed = False
            self._thread = threading.Thread(target=self._run, name=f"{THREAD_NAME}-audit", daemon=True)
            self._thread.start()
        return self.state

    def chart(self, name: str) -> AuditChart:
        """A chart of the audit."""
        if self.view is None or name not in self.view.charts:
            raise RequestError(404, "There is no such chart.")
        return self.view.charts[name]

    def close(self) -> None:
        """Stop a running audit at its next step."""
        self._stopping.set()

    def _run(self) -> None:
        from standout.report.audit_page import audit_svgs

        exploration = self.exploration
        threads = max(1, (os.cpu_count() or 1) // 2)  # the page stays responsive
        try:
            audit = so.audit(
                exploration.release, quick=True, name=exploration.name, threads=threads, progress=self._progress
            )
            svgs = audit_svgs(audit.findings)
            self.view = view_of(audit.to_dict(), {name: _chart(svg) for name, svg in svgs.items()})
        except Stopped:
            pass
        except Exception:
            self._failed = True

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self._stopping.is_set():
            raise Stopped
        self._share = done / total if total else 0.0
