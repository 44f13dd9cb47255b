"""Connections of clients that take their time: each is closed, so that they cannot use up all connections."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["SLOWEST_HEAD", "Connection"]

SLOWEST_HEAD = 10.0
"""Seconds that the head of a request may take to arrive, or the rest of a body that nobody reads."""
ANSWERING = (h11.SEND_RESPONSE, h11.SEND_BODY)


class Connection(H11Protocol):
    """A connection that is closed if it waits too long for its client; Uvicorn waits forever.

    While a request is answered, the application limits the time (`app.SLOWEST_BODY`, `workers.LONGEST_WAIT`).
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
        if self.conn.our_state in ANSWERING:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(SLOWEST_HEAD, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
