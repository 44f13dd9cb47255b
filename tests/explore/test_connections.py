"""A client that says nothing, or too slowly, loses its connection; others keep theirs."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from standout.explore import server as connections
from standout.explore.server import Connection

pytestmark = pytest.mark.once
TIMEOUT = 60
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UNREAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"


async def refuse(scope, receive, send):
    """An application that reads no body."""
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


async def talk(act):
    """Let a client act on a connection to a server."""
    config = uvicorn.Config(refuse, log_config=None, lifespan="off", timeout_keep_alive=TIMEOUT)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
    async with server, asyncio.timeout(TIMEOUT):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            return await act(reader, writer)
        finally:
            writer.close()
            for task in list(state.tasks):
                await task


@pytest.mark.parametrize("start", [b"", b"GET / HT", REQUEST + b"GET", UNREAD])
def test_a_client_that_sends_single_bytes_loses_its_connection(monkeypatch, start):
    monkeypatch.setattr(connections, "SLOWEST_HEAD", 0.05)

    async def act(reader, writer):
        writer.write(start)
        ends = asyncio.ensure_future(reader.read())
        while not ends.done():
            try:
                writer.write(b"x")
                await writer.drain()
            except ConnectionError:
                break
            await asyncio.wait([ends], timeout=0.01)
        await asyncio.wait([ends])
        return ends.exception() or ends.result()

    assert isinstance(asyncio.run(talk(act)), bytes | ConnectionError)


def test_a_client_that_asks_keeps_its_connection(monkeypatch):
    limits = []
    monkeypatch.setattr(Connection, "_forget", lambda self: limits.append(self._deadline))

    async def act(reader, writer):
        for _ in range(3):
            writer.write(REQUEST)
            assert b" 403 " in await reader.readuntil(b"\r\n\r\n")

    asyncio.run(talk(act))
    assert len(limits) >= 3
