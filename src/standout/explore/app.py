"""The web application: its routes, and how requests become answers."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import standout as so
from standout.explore.answers import to_json
from standout.explore.audits import AuditRunner, AuditView
from standout.explore.exploration import MOST_BYTES, Exploration
from standout.explore.lineups import answer_lineup, deal, export, prepare, reveal
from standout.explore.requests import (
    DealRequest,
    ExportRequest,
    Fields,
    LineupRequest,
    RequestError,
    RevealRequest,
    capital,
    parse_json,
)
from standout.explore.server import BUG, THREAD_NAME, Guard, Site, error_response

T = TypeVar("T")

# When a request is computed: on a few threads, only the newest of a page, with a limit on waiting.


LONGEST_WAIT = 10.0
"""Seconds that a request may wait for a thread."""
MOST_WAITING = 64
MOST_CLIENTS = 1000
OUTDATED = RequestError(409, "A newer request of this page replaced this one.")


class LatestRequests:
    """The newest request number of each page and endpoint.

    >>> latest = LatestRequests()
    >>> latest.arrive("page", 2), latest.is_current("page", 2), latest.is_current("page", 1)
    (True, True, False)
    """

    def __init__(self) -> None:
        self._newest: OrderedDict[str, int] = OrderedDict()

    def arrive(self, client: str, number: int) -> bool:
        """Note a request; return whether it is not older than another one."""
        newest = max(number, self._newest.pop(client, number))
        self._newest[client] = newest
        if len(self._newest) > MOST_CLIENTS:
            self._newest.popitem(last=False)
        return number >= newest

    def is_current(self, client: str, number: int) -> bool:
        """Whether no newer request has arrived."""
        return number >= self._newest.get(client, number)


class Workers:
    """A pool with one thread for each core. Requests wait outside of it, so that old ones can be dropped."""

    def __init__(self) -> None:
        count = os.cpu_count() or 1
        self.latest = LatestRequests()
        self.waiting = 0
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=THREAD_NAME)
        self._free = asyncio.Semaphore(count)

    async def run(self, compute: Callable[[], T], client: str | None, number: int) -> T:
        """Compute on a thread, unless a newer request of the same client arrives first."""
        if client is not None and not self.latest.arrive(client, number):
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
            if client is not None and not self.latest.is_current(client, number):
                raise OUTDATED
            return await asyncio.get_running_loop().run_in_executor(self._pool, compute)
        finally:
            self._free.release()

    def prepare(self, compute: Callable[[], object]) -> None:
        """Compute something in advance, whose result is kept elsewhere."""
        self._pool.submit(compute)

    def close(self) -> None:
        """Drop what waits, and let the threads end."""
        self._pool.shutdown(wait=False, cancel_futures=True)


TYPES = {"css": "text/css", "ico": "image/x-icon", "js": "text/javascript", "png": "image/png", "svg": "image/svg+xml"}
LONGEST_QUERY, MOST_SUGGESTED, MOST_NAMED = 200, 50, 40
SLOWEST_BODY = 10.0
"""Seconds that the body of a request may take to arrive."""


def create_app(exploration: Exploration, site: Site, audit: AuditView | None = None) -> ASGIApp:
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
        Route("/api/lineup", pages.lineup, methods=["POST"]),
        Route("/api/play", pages.play, methods=["POST"]),
        Route("/api/reveal", pages.reveal, methods=["POST"]),
        Route("/api/export", pages.export, methods=["POST"]),
        Route("/audit", pages.audit, methods=["GET"]),
        Route("/audit/charts/{name}.svg", pages.audit_chart, methods=["GET"]),
        Route("/api/audit", pages.audit_state, methods=["GET"]),
        Route("/api/audit", pages.start_audit, methods=["POST"]),
    ]
    handlers = {
        RequestError: _request_error,
        HTTPException: _http_error,
        so.StandoutError: _library_error,
        Exception: _bug,
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=pages.lifespan)
    app.router.redirect_slashes = False
    return Guard(app, site)


class Pages:
    """The endpoints."""

    def __init__(self, exploration: Exploration, runner: AuditRunner) -> None:
        self.exploration = exploration
        self.runner = runner
        self.static_files = _static_files()

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Have threads ready while the server runs."""
        self.workers = Workers()
        self.workers.prepare(partial(prepare, self.exploration))
        try:
            yield
        finally:
            self.workers.close()
            self.runner.close()

    async def index(self, request: Request) -> Response:
        """GET /: the main page."""
        release, name = self.exploration.release, self.exploration.title
        sizes = {"records": release.n_records, "items": release.n_items, "entries": release.n_entries}
        return HTMLResponse(render_template("index.html", name=name, **sizes))

    async def static(self, request: Request) -> Response:
        """GET /static/NAME: a file of a fixed list."""
        name = request.path_params["name"]
        if name not in self.static_files:
            raise RequestError(404, "There is no such file.")
        content = (files("standout.explore") / "static" / name).read_bytes()
        return Response(content, media_type=TYPES[name.rpartition(".")[2]])

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
        return await self._computed(request, partial(self.exploration.named, ids))

    async def lineup(self, request: Request) -> Response:
        """POST /api/lineup: which records known facts point to."""
        asked = await _read(request, LineupRequest.read)
        return await self._computed(request, partial(answer_lineup, self.exploration, asked))

    async def play(self, request: Request) -> Response:
        """POST /api/play: deal facts about somebody drawn at random."""
        asked = await _read(request, DealRequest.read)
        return await self._computed(request, partial(deal, self.exploration, asked))

    async def reveal(self, request: Request) -> Response:
        """POST /api/reveal: whether the guess was right."""
        asked = await _read(request, RevealRequest.read)
        return await self._computed(request, partial(reveal, self.exploration, asked))

    async def export(self, request: Request) -> Response:
        """POST /api/export: a file with facts or lineup."""
        asked = await _read(request, ExportRequest.read)
        file = await self.workers.run(partial(export, self.exploration, asked), None, 0)
        headers = {"content-disposition": f'attachment; filename="{file.name}"'}
        return Response(file.content, headers=headers, media_type=file.media_type)

    async def audit(self, request: Request) -> Response:
        """GET /audit: the audit, or the button that starts one."""
        page = render_template(
            "audit.html",
            name=self.exploration.title,
            view=self.runner.view,
            state=self.runner.state,
            playable=list(self.exploration.adversaries),
        )
        return HTMLResponse(page)

    async def audit_chart(self, request: Request) -> Response:
        """GET /audit/charts/NAME.svg: a chart of the audit."""
        return Response(self.runner.chart(request.path_params["name"]).svg, media_type="image/svg+xml")

    async def audit_state(self, request: Request) -> Response:
        """GET /api/audit: whether there is an audit, and its progress."""
        return Response(to_json(self.runner.state), media_type="application/json")

    async def start_audit(self, request: Request) -> Response:
        """POST /api/audit: start a quick audit, unless there is one."""
        await _read(request, lambda fields: None)
        return Response(to_json(self.runner.start()), media_type="application/json")

    async def _computed(self, request: Request, compute: Callable[[], object]) -> Response:
        """Compute an answer on a thread, if the page has not sent a newer request."""
        client, number = _request_number(request)
        answer = await self.workers.run(lambda: to_json(compute()), client, number)
        return Response(answer, media_type="application/json")


def render_template(template: str, **context: object) -> str:
    """A page of templates/, with everything in the context escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str | None:
        path = files("standout.explore") / "templates" / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(load))
    return environment.get_template(template).render(version=so.__version__, **context)


def _static_files() -> frozenset[str]:
    folder = files("standout.explore") / "static"
    names = [path.name for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    return frozenset(name for name in names if name.rpartition(".")[2] in TYPES)


async def _read(request: Request, read: Callable[[Fields], T]) -> T:
    """Read the body of a request, which must be small, prompt and JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "The body must be application/json.")
    return parse_json(await _body(request)).read(read)


async def _body(request: Request) -> bytes:
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
    return bytes(body)


def _request_number(request: Request) -> tuple[str | None, int]:
    """The page and endpoint of a request, and its number; None if the page does not count its requests."""
    client, number = request.headers.get("x-client"), request.headers.get("x-number", "")
    if client is None and not number:
        return None, 0
    if not client or len(client) > 64 or not (number.isascii() and number.isdecimal() and len(number) <= 15):
        raise RequestError(400, "X-Client must be a short text, and X-Number a whole number.")
    return f"{request.url.path} {client}", int(number)


async def _request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return error_response(request.url.path, error)


async def _bug(request: Request, error: Exception) -> Response:
    return error_response(request.url.path, BUG)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = "There is no such page." if error.status_code == 404 else f"{error.detail}."
    return error_response(request.url.path, RequestError(error.status_code, sentence))


async def _library_error(request: Request, error: Exception) -> Response:
    """An error that the user can mend; the library's messages never show the content of a cell."""
    return error_response(request.url.path, RequestError(422, capital(f"{error}.")))
