"""When a request is computed: on a few threads, only the newest of a page, with a limit on waiting."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from standout.explore.ending import THREAD_NAME
from standout.explore.errors import RequestError

__all__ = ["LatestRequests", "Workers"]

T = TypeVar("T")
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
