"""The web application: its routes, how requests become answers, and the page of the audit."""

import asyncio
import html
import json
import math
import os
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import standout as so
from standout.core.text import LONG, interval_text, percent, printable, shorten
from standout.explore.exploration import MOST_BYTES, Exploration, answer_lineup, deal, export, prepare, reveal
from standout.explore.requests import (
    AuditRequest,
    DealRequest,
    ExportRequest,
    LineupRequest,
    RequestError,
    RevealRequest,
    capital,
    parse_json,
    to_json,
)
from standout.explore.server import BUG, THREAD_NAME, Guard, Site, Stopped, error_response
from standout.report.audit_charts import FIGURES

T = TypeVar("T")
LONGEST_WAIT, SLOWEST_BODY = 10.0, 10.0
"""Seconds that a request may wait for a thread, and that its body may take to arrive."""
MOST_WAITING, MOST_CLIENTS = 64, 1000
OUTDATED = RequestError(409, "A newer request of this page replaced this one.")
TYPES = {".css": "text/css", ".js": "text/javascript"}
LONGEST_QUERY, MOST_SUGGESTED, MOST_NAMED = 200, 50, 40
PACKAGE = files("standout.explore")
LARGEST_FILE = 20_000_000
TITLE, DESCRIPTION = (re.compile(rf"<{tag}[^>]*>(.*?)</{tag}>", re.S) for tag in ("title", "desc"))
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 \1 \2"')
MARGIN = 24
RERUN = "write it again with standout audit"
OTHER = "give the folder of an audit of this data, or leave --audit out and start one on the page"


class Workers:
    """A pool with one thread for each core. Requests wait outside of it, so that old ones can be dropped."""

    def __init__(self) -> None:
        count = os.cpu_count() or 1
        self.waiting = 0
        self.newest: OrderedDict[str, int] = OrderedDict()  # request number of each page and endpoint
        self.pool = ThreadPoolExecutor(count, thread_name_prefix=THREAD_NAME)
        self._free = asyncio.Semaphore(count)

    async def run(self, compute: Callable[[], T], client: str | None, number: int) -> T:
        """Compute on a thread, unless a newer request of the same client arrives first."""
        if client is not None:
            newest = max(number, self.newest.pop(client, number))
            self.newest[client] = newest
            if len(self.newest) > MOST_CLIENTS:
                self.newest.popitem(last=False)
            if number < newest:
                raise OUTDATED
        if self.waiting >= MOST_WAITING:
            raise RequestError(429, "Too many requests are waiting: try again in a moment.")
        self.waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._free.acquire()
        except TimeoutError:
            raise RequestError(503, "The server is busy: try again in a moment.") from None
        finally:
            self.waiting -= 1
        try:
            if client is not None and number < self.newest.get(client, number):
                raise OUTDATED
            return await asyncio.get_running_loop().run_in_executor(self.pool, compute)
        finally:
            self._free.release()


def create_app(exploration: Exploration, site: Site, audit: "AuditView | None" = None) -> ASGIApp:
    """Make the application for a release, reached at a site, and for an audit of it if there is one.

    >>> import standout as so
    >>> release = so.synthesize(records=100, items=50, entries=1_000, seed=7)
    >>> type(create_app(Exploration(release, "ratings.csv"), Site("127.0.0.1", 8421))).__name__
    'Guard'
    """
    pages = Pages(exploration, AuditRunner(exploration, audit))
    routes = [
        Route("/", pages.index, methods=["GET"]),
        Route("/static/{name}", pages.static, methods=["GET"]),
        Route("/api/release", pages.release, methods=["GET"]),
        Route("/api/items", pages.items, methods=["GET"]),
        Route("/api/items/by-id", pages.items_by_id, methods=["GET"]),
        Route("/api/lineup", pages.answer(LineupRequest, answer_lineup), methods=["POST"]),
        Route("/api/play", pages.answer(DealRequest, deal), methods=["POST"]),
        Route("/api/reveal", pages.answer(RevealRequest, reveal), methods=["POST"]),
        Route("/api/export", pages.export, methods=["POST"]),
        Route("/audit", pages.audit, methods=["GET"]),
        Route("/audit/charts/{name}.svg", pages.audit_chart, methods=["GET"]),
        Route("/api/audit", pages.audit_state, methods=["GET"]),
        Route("/api/audit", pages.start_audit, methods=["POST"]),
    ]
    kinds = (RequestError, HTTPException, so.StandoutError, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(kinds, _error), lifespan=pages.lifespan)
    app.router.redirect_slashes = False
    return Guard(app, site)


async def _error(request: Request, error: Exception) -> Response:
    """An error as one sentence; the library's messages never show the content of a cell."""
    if isinstance(error, HTTPException):
        sentence = "There is no such page." if error.status_code == 404 else f"{error.detail}."
        error = RequestError(error.status_code, sentence)
    elif isinstance(error, so.StandoutError):
        error = RequestError(422, capital(f"{error}."))
    return error_response(request.url.path, error if isinstance(error, RequestError) else BUG)


class Pages:
    """The endpoints."""

    def __init__(self, exploration: Exploration, runner: "AuditRunner") -> None:
        self.exploration = exploration
        self.runner = runner
        self.static_files = {path.name: path for path in (PACKAGE / "static").iterdir()}

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Have threads ready while the server runs; then drop what waits, and let them end."""
        self.workers = Workers()
        self.workers.pool.submit(prepare, self.exploration)
        try:
            yield
        finally:
            self.workers.pool.shutdown(wait=False, cancel_futures=True)
            self.runner.stopping.set()

    async def index(self, request: Request) -> Response:
        """GET /: the main page."""
        release = self.exploration.release
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        return _page("index.html", name=self.exploration.title, **sizes)

    async def static(self, request: Request) -> Response:
        """GET /static/NAME: a file of a fixed list."""
        file = self.static_files.get(request.path_params["name"])
        if file is None:
            raise RequestError(404, "There is no such file.")
        return Response(file.read_bytes(), media_type=TYPES[Path(file.name).suffix])

    async def release(self, request: Request) -> Response:
        """GET /api/release: what the page needs to know about the data."""
        return await self._computed(request, lambda: self.exploration.summary)

    async def items(self, request: Request) -> Response:
        """GET /api/items: items that a text may mean."""
        text = request.query_params.get("q", "")
        if len(text) > LONGEST_QUERY:
            raise RequestError(400, f"“q” must have at most {LONGEST_QUERY} characters.")
        count = request.query_params.get("count", "8")
        if not (count.isdecimal() and count.isascii() and 1 <= int(count[:9]) <= MOST_SUGGESTED):
            raise RequestError(400, f"“count” must be a whole number from 1 to {MOST_SUGGESTED}.")
        return await self._computed(request, partial(self.exploration.suggest, text, int(count)))

    async def items_by_id(self, request: Request) -> Response:
        """GET /api/items/by-id: the items with some ids."""
        ids = request.query_params.getlist("item")
        if len(ids) > MOST_NAMED:
            raise RequestError(400, f"At most {MOST_NAMED} items can be named.")
        return await self._computed(request, lambda: {"items": list(map(self.exploration.item, ids))})

    def answer(self, kind: type[T], compute: Callable[[Exploration, T], object]) -> Callable[..., Any]:
        """POST /api/lineup, /api/play and /api/reveal: read a request, and compute its answer on a thread."""

        async def endpoint(request: Request) -> Response:
            asked = await _read(request, kind)
            return await self._computed(request, partial(compute, self.exploration, asked))

        return endpoint

    async def export(self, request: Request) -> Response:
        """POST /api/export: a file with facts or lineup."""
        asked = await _read(request, ExportRequest)
        name, kind, content = await self.workers.run(partial(export, self.exploration, asked), None, 0)
        return Response(content, headers={"content-disposition": f'attachment; filename="{name}"'}, media_type=kind)

    async def audit(self, request: Request) -> Response:
        """GET /audit: the audit, or the button that starts one."""
        shown = {"view": self.runner.view, "state": self.runner.state, "playable": list(self.exploration.adversaries)}
        return _page("audit.html", name=self.exploration.title, **shown)

    async def audit_chart(self, request: Request) -> Response:
        """GET /audit/charts/NAME.svg: a chart of the audit."""
        view, name = self.runner.view, request.path_params["name"]
        if view is None or name not in view.charts:
            raise RequestError(404, "There is no such chart.")
        return Response(view.charts[name].svg, media_type="image/svg+xml")

    async def audit_state(self, request: Request) -> Response:
        """GET /api/audit: whether there is an audit, and its progress."""
        return Response(to_json(self.runner.state), media_type="application/json")

    async def start_audit(self, request: Request) -> Response:
        """POST /api/audit: start a quick audit, unless there is one."""
        await _read(request, AuditRequest)
        return Response(to_json(self.runner.start()), media_type="application/json")

    async def _computed(self, request: Request, compute: Callable[[], object]) -> Response:
        """Compute an answer on a thread, if the page has not sent a newer request."""
        client, number = request.headers.get("x-client"), request.headers.get("x-number", "")
        if client is not None or number:
            if not client or len(client) > 64 or not (number.isascii() and number.isdecimal() and len(number) <= 15):
                raise RequestError(400, "X-Client must be a short text, and X-Number a whole number.")
            client = f"{request.url.path} {client}"
        answer = await self.workers.run(lambda: to_json(compute()), client, int(number or 0))
        return Response(answer, media_type="application/json")


def _page(template: str, **context: object) -> Response:
    """A page of templates/, with everything in the context escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=PackageLoader("standout.explore"))
    return HTMLResponse(environment.get_template(template).render(version=so.__version__, **context))


async def _read(request: Request, asked: type[T]) -> T:
    """Read the body of a request, which must be small, prompt and JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "The body must be application/json.")
    body = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise RequestError(413, f"The body must have at most {MOST_BYTES:,} bytes.")
    except TimeoutError:
        raise RequestError(408, "The body took too long to arrive.") from None
    except ClientDisconnect:
        raise RequestError(400, "The body is incomplete.") from None
    return parse_json(bytes(body), asked)


# The page of the audit: from a folder that `standout audit` wrote, or a quick one of our own.


class AuditChart(NamedTuple):
    """A chart of the report as an SVG image, with its text for screen readers."""

    title: str
    description: str
    svg: bytes


class AuditView(NamedTuple):
    """What the page of the audit shows; a row says what one adversary achieves."""

    sentence: str
    trusted: bool
    quick: bool
    rows: list[dict[str, str]]
    charts: Mapping[str, AuditChart]


def read_audit(folder: Path, release: so.Release) -> AuditView:
    """Read the folder of an audit of this release."""
    path, charts = folder / "findings.json", {}
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise so.SourceError(f"{path} is too large for the findings of an audit")
        findings = json.loads(path.read_text(encoding="utf-8"))
        for name in FIGURES:
            chart = folder / "charts" / f"{name}.svg"
            if chart.is_file() and chart.stat().st_size <= LARGEST_FILE:
                charts[name] = _chart(chart.read_text(encoding="utf-8"))
        fingerprint, view = findings["data"]["fingerprint"], view_of(findings, charts)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise so.SourceError(f"{folder} is not a folder that standout audit wrote: {OTHER}") from error
    except OSError as error:
        raise so.SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, RecursionError):
        raise so.SourceError(f"{path} is not a file of an audit: {RERUN}") from None
    if fingerprint != release.fingerprint:
        raise so.ParameterError(f"{folder} is an audit of other data: {OTHER}")
    return view


def _chart(svg: str) -> AuditChart:
    """The chart with room at both sides: a picture is cut at its edge, and browsers have wider fonts."""

    def widen(size: re.Match[str]) -> str:
        width, height = float(size[1]) + 2 * MARGIN, size[2]
        return f'width="{width:g}" height="{height}" viewBox="{-MARGIN} 0 {width:g} {height}"'

    title, description = (html.unescape(found[1]) if (found := tag.search(svg)) else "" for tag in (TITLE, DESCRIPTION))
    return AuditChart(title, description, SIZE.sub(widen, svg, count=1).encode())


def view_of(findings: Any, charts: Mapping[str, AuditChart]) -> AuditView:
    """What to show of the findings of an audit, in their JSON form; any error says that they are something else."""

    def text(content: Any) -> str:
        if not isinstance(content, str):
            raise TypeError
        return shorten(printable(content), LONG)

    rows = []
    for adversary in findings["adversaries"]:
        estimate = adversary["as_named"]["identified"]
        ends = [estimate[name] for name in ("value", "low", "high")]
        value, low, high = (end if isinstance(end, (int, float)) else math.nan for end in ends)
        row = {name: text(adversary[name]) for name in ("name", "title", "description")}
        rows.append(row | {"identified": percent(value), "interval": interval_text(so.Estimate(value, low, high, n=0))})
    trusted, quick = findings["trust"]["trusted"] is True, findings["settings"]["quick"] is True
    return AuditView(text(findings["answer"]["sentence"]), trusted, quick, rows, dict(charts))


class AuditRunner:
    """At most one audit at a time, on a thread of its own. Its result is shown, and kept in memory only."""

    def __init__(self, exploration: Exploration, view: AuditView | None) -> None:
        self.exploration = exploration
        self.view = view
        self.state = _audit_state("none" if view is None else "finished")
        self.stopping = threading.Event()  # ends a running audit at its next step

    def start(self) -> dict[str, Any]:
        """Start a quick audit, unless there is one."""
        if self.state["state"] in ("none", "failed"):
            self.state = _audit_state("running")
            self._thread = threading.Thread(target=self._run, name=f"{THREAD_NAME}-audit", daemon=True)
            self._thread.start()
        return self.state

    def _run(self) -> None:
        from standout.report.audit_page import audit_svgs

        release, name = self.exploration.release, self.exploration.name
        threads = max(1, (os.cpu_count() or 1) // 2)  # the page stays responsive
        try:
            audit = so.audit(release, quick=True, name=name, threads=threads, progress=self._progress)
            charts = {name: _chart(svg) for name, svg in audit_svgs(audit.findings).items()}
            self.view = view_of(audit.to_dict(), charts)
            self.state = _audit_state("finished")
        except Stopped:
            self.state = _audit_state("none")
        except Exception:
            self.state = _audit_state("failed")

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self.stopping.is_set():
            raise Stopped
        self.state = {"state": "running", "share": done / total if total else 0.0}


def _audit_state(state: str) -> dict[str, Any]:
    """Whether there is an audit, and how much of it is done."""
    return {"state": state, "share": float(state == "finished")}
