"""Run the application with Uvicorn on a socket of our own, until a signal stops it."""

import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from standout.core.errors import ParameterError
from standout.explore.connections import Connection

__all__ = ["DEFAULT_PORT", "listen", "open_browser", "serve"]

DEFAULT_PORT = 8421


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at a port; None: the default, or a free one if it is taken."""
    for candidate in (DEFAULT_PORT, 0) if port is None else (port,):
        try:
            return _bound(host, candidate)
        except OSError as error:
            problem = error.strerror or "it is not an address of this machine"
    advice = "" if port is None else "; choose another --port, or leave it out for a free one"
    raise ParameterError(f"cannot listen at host {host}, port {port or DEFAULT_PORT}: {problem}{advice}")


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is known to be TCP.

    asyncio switches Nagle's algorithm off only for these. Otherwise the body of each answer would wait 40 ms
    for the client to acknowledge the headers.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere the option has another meaning
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """A server that stops at a signal without raising it again: to stop is not an error."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self.on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at Ctrl-C and SIGTERM; at once if it comes twice."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(app: ASGIApp, listener: socket.socket, on_start: Callable[[], None]) -> None:
    """Serve the application until Ctrl-C or SIGTERM. Nothing is logged: addresses hold what was typed."""
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
    with listener:
        _Server(config, on_start).run(sockets=[listener])


def open_browser(address: str) -> None:
    """Open the address in a browser, if there is one, without waiting for it."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
