"""Run the application with Uvicorn on a socket of our own until a signal stops it, and check who may ask."""

import asyncio
import hmac
import ipaddress
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from urllib.parse import parse_qs

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from standout.core.errors import ParameterError
from standout.explore.requests import RequestError, to_json

SLOWEST_HEAD = 10.0
"""Seconds that the head of a request may take to arrive, or the rest of a body that nobody reads."""
DEFAULT_PORT = 8421
THREAD_NAME = "standout-explore"
"""Beginning of the names of all threads of the explorer."""
PATIENCE, PAUSE = 0.5, 0.02
"""Seconds for threads to end by themselves: a lineup takes less."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
METHODS = ("GET", "HEAD", "POST")
LOCAL_FETCHES = (None, "same-origin", "none")
EVERY_ADDRESS = ("0.0.0.0", "::", "")
BUG = RequestError(500, "An error of Standout itself: please report it.")
NO_TOKEN = "Open the address that `standout explore` printed: it contains the token."
FOREIGN = "This address is only for the page of `standout explore`: open the printed address in a new tab."


class Connection(H11Protocol):
    """A connection that is closed if it waits too long for its client; Uvicorn waits forever.

    While a request is answered, the application limits the time (`app.SLOWEST_BODY`, `app.LONGEST_WAIT`).
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._limit()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; single bytes do not prolong the time."""
        super().data_received(data)
        self._limit()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the limit."""
        self._forget()
        super().connection_lost(exc)

    def _limit(self) -> None:
        if self.conn.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(SLOWEST_HEAD, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at a port; None: the default, or a free one if it is taken.

    The socket is known to be TCP: asyncio switches Nagle's algorithm off only for these. Otherwise the body of each
    answer would wait 40 ms for the client to acknowledge the headers.
    """
    problem = ""
    for candidate in (DEFAULT_PORT, 0) if port is None else (port,):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, candidate))
            listener.listen()
            return listener
        except OSError as error:
            listener.close()
            problem = error.strerror or "it is not an address of this machine"
    advice = "" if port is None else "; choose another --port, or leave it out for a free one"
    raise ParameterError(f"cannot listen at host {host}, port {port or DEFAULT_PORT}: {problem}{advice}")


def serve(app: ASGIApp, listener: socket.socket, on_start: Callable[[], None]) -> None:
    """Serve the application until Ctrl-C or SIGTERM. Nothing is logged: addresses hold what was typed.

    The socket already listens, so `on_start` may announce it: who connects now is answered in a moment.
    """
    config = uvicorn.Config(
        app,
        http=Connection,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=256,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):  # Uvicorn raises it again when it has stopped: that is no error
        signal.signal(number, server.handle_exit)
    with listener:
        on_start()
        server.run(sockets=[listener])


def open_browser(address: str) -> None:
    """Open the address in a browser, if there is one, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


class Stopped(BaseException):
    """The server ends, and with it what it computes."""


def end_process_if_busy() -> None:
    """Wait a moment for the explorer's threads; if one still computes, end the process with success.

    A kernel that is being compiled takes seconds and cannot be interrupted safely, and nobody needs it any
    more. It is as if the process were killed, which leaves no unfinished file behind (docs/security.md).
    """
    end = time.monotonic() + PATIENCE
    while busy := [each for each in threading.enumerate() if each.name.startswith(THREAD_NAME)]:
        if time.monotonic() > end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        busy[0].join(PAUSE)


# Who may ask: checks of host, origin, method and token on every request, and headers on every response.
#
# Loopback is no protection by itself: every program of the machine and every web page in a browser can send
# requests to it. A page on a foreign name that resolves to this machine (DNS rebinding) has a foreign Host; a
# page of another site has a foreign Origin and no cookie; another user of the machine has no token.


class Site:
    """Where the server is reached, and the secrets that admit to it."""

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self.token, self.session = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.launch_tokens: set[str] = set()
        self.any_address = host in EVERY_ADDRESS
        shown = f"[{host}]" if ":" in host else host
        names = {shown.lower()}
        if is_loopback(host) or self.any_address:
            names |= {"127.0.0.1", "localhost", "[::1]"}
        self.hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        self.root = f"http://{'127.0.0.1' if self.any_address else shown}:{port}/"
        self.cookie = f"standout-explore-{port}"  # cookies do not depend on the port, so their name does

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"{self.root}?token={self.token}"

    def launch_address(self) -> str:
        """An address for opening a browser, which works once: other users can see a program's arguments."""
        token = secrets.token_urlsafe(32)
        self.launch_tokens.add(token)
        return f"{self.root}?token={token}"

    def admits_host(self, host: str) -> bool:
        """Whether a Host header names this server: by a known name, or by an address if all are served."""
        if host.lower() in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        if not self.any_address or port != str(self.port):
            return False
        try:
            return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
        except ValueError:
            return False

    def admits_token(self, token: str) -> bool:
        """Whether a token from an address is right."""
        launched = {launch for launch in self.launch_tokens if _same(token, launch)}
        self.launch_tokens -= launched
        return bool(launched) or _same(token, self.token)

    def admits_cookies(self, header: str) -> bool:
        """Whether a Cookie header has the session of this server, next to anything that others have set."""
        pairs = [pair.partition("=") for pair in header.split(";")]
        return any(_same(value.strip(), self.session) for name, _, value in pairs if name.strip() == self.cookie)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app = app
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":  # the application has no web sockets and closes them
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        try:
            response = self._checked(scope)
            await (response or self.app)(scope, receive, send_guarded)
        except RequestError as error:
            await error_response(scope["path"], error)(scope, receive, send_guarded)
        except Exception as error:  # the application has answered
            name = type(error).__name__
            logging.getLogger("standout.explore").error("standout: unexpected %s; please report it", name)

    def _checked(self, scope: Scope) -> Response | None:
        """Refuse a request by an exception; a right token sets the cookie and leads to the page without it."""
        headers, method = Headers(scope=scope), scope["method"]
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if (
            len(hosts) != 1
            or not self.site.admits_host(hosts[0])
            or any(origin.lower() != f"http://{hosts[0]}".lower() for origin in origins)
            or headers.get("sec-fetch-site") not in LOCAL_FETCHES
        ):
            raise RequestError(403, FOREIGN)
        if method not in METHODS:
            raise RequestError(405, "Only GET, HEAD and POST are allowed.")
        if method == "POST" and not origins:
            raise RequestError(403, FOREIGN)
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token") if scope["path"] == "/" else None
        if tokens:
            if method == "POST" or not self.site.admits_token(tokens[0]):
                raise RequestError(403, NO_TOKEN)
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(self.site.cookie, self.site.session, httponly=True, samesite="strict", path="/")
            return response
        if not self.site.admits_cookies("; ".join(headers.getlist("cookie"))):
            raise RequestError(403, NO_TOKEN)
        return None


def error_response(path: str, error: RequestError) -> Response:
    """The sentence of an error: JSON for the page, plain text for a person."""
    headers = {"allow": ", ".join(METHODS)} if error.status == 405 else None
    if path.startswith("/api/"):
        content = to_json({"error": error.sentence})
        return Response(content, error.status, headers, media_type="application/json")
    return PlainTextResponse(error.sentence + "\n", error.status, headers)
