"""Who may ask: checks of host, origin, method and token on every request, and headers on every response.

Loopback is no protection by itself: every program of the machine and every web page in a browser can send
requests to it. A page on a foreign name that resolves to this machine (DNS rebinding) has a foreign Host; a
page of another site has a foreign Origin and no cookie; another user of the machine has no token.
"""

import hmac
import ipaddress
import logging
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from standout.explore.answers import to_json
from standout.explore.errors import RequestError

__all__ = ["BUG", "SECURITY_HEADERS", "Guard", "Site", "error_response", "is_loopback"]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
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
BUG = RequestError(500, "An error of Standout itself: please report it.")
NO_TOKEN = "Open the address that `standout explore` printed: it contains the token."
FOREIGN = "This address is only for the page of `standout explore`: open the printed address in a new tab."


class Site:
    """Where the server is reached, and the secrets that admit to it."""

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(32)
        self.session = secrets.token_urlsafe(32)
        self.launch_tokens: set[str] = set()
        shown = f"[{host}]" if ":" in host else host
        names = {shown.lower()}
        if is_loopback(host) or _is_every_address(host):
            names |= {"127.0.0.1", "localhost", "[::1]"}
        self.any_address = _is_every_address(host)
        self.hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        self.shown_host = "127.0.0.1" if self.any_address else shown

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{self.shown_host}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie. Cookies do not depend on the port, so the name does."""
        return f"standout-explore-{self.port}"

    def launch_address(self) -> str:
        """An address for opening a browser, which works once: other users can see a program's arguments."""
        token = secrets.token_urlsafe(32)
        self.launch_tokens.add(token)
        return f"http://{self.shown_host}:{self.port}/?token={token}"

    def admits_host(self, host: str) -> bool:
        """Whether a Host header names this server: by a known name, or by an address if all are served."""
        if host.lower() in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        return self.any_address and port == str(self.port) and _is_address(name)

    def admits_token(self, token: str) -> bool:
        """Whether a token from an address is right."""
        for launch in list(self.launch_tokens):
            if _same(token, launch):
                self.launch_tokens.discard(launch)
                return True
        return _same(token, self.token)

    def admits_cookies(self, header: str) -> bool:
        """Whether a Cookie header has the session of this server, next to anything that others have set."""
        pairs = [pair.partition("=") for pair in header.split(";")]
        values = [value.strip() for name, _, value in pairs if name.strip() == self.cookie]
        return any(_same(value, self.session) for value in values)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_every_address(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app = app
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            response = self._checked(scope)
            await (response or self.app)(scope, receive, send_guarded)
        except RequestError as error:
            await error_response(scope["path"], error)(scope, receive, send_guarded)
        except Exception as error:
            logging.getLogger("standout.explore").error(
                "standout: unexpected %s; please report it", type(error).__name__
            )
            if not started:
                await error_response(scope["path"], BUG)(scope, receive, send_guarded)

    def _checked(self, scope: Scope) -> Response | None:
        """Refuse a request by an exception; return a redirect for a right token, else None."""
        headers, method = Headers(scope=scope), scope["method"]
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self.site.admits_host(hosts[0]):
            raise RequestError(403, FOREIGN)
        if any(origin.lower() != f"http://{hosts[0]}".lower() for origin in origins):
            raise RequestError(403, FOREIGN)
        if headers.get("sec-fetch-site") not in LOCAL_FETCHES:
            raise RequestError(403, FOREIGN)
        if method not in METHODS:
            raise RequestError(405, "Only GET, HEAD and POST are allowed.")
        if method == "POST" and not origins:
            raise RequestError(403, FOREIGN)
        tokens = (
            parse_qs(scope["query_string"].decode("latin-1")).get("token") if scope["path"] == "/" else None
        )
        if tokens:
            if method == "POST" or not self.site.admits_token(tokens[0]):
                raise RequestError(403, NO_TOKEN)
            return self._welcome()
        if not self.site.admits_cookies("; ".join(headers.getlist("cookie"))):
            raise RequestError(403, NO_TOKEN)
        return None

    def _welcome(self) -> Response:
        """Set the cookie and go to the page, whose address has no token."""
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(self.site.cookie, self.site.session, httponly=True, samesite="strict", path="/")
        return response


def error_response(path: str, error: RequestError) -> Response:
    """The sentence of an error: JSON for the page, plain text for a person."""
    headers = {"allow": ", ".join(METHODS)} if error.status == 405 else None
    if path.startswith("/api/"):
        content = to_json({"error": error.sentence})
        return Response(content, error.status, headers, media_type="application/json")
    return PlainTextResponse(error.sentence + "\n", error.status, headers)
