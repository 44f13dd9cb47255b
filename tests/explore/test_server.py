"""The server as a process: it prints one address, answers there, and stops when asked without a trace."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest

import standout as so
from standout.core.errors import ParameterError
from standout.explore.server import DEFAULT_PORT, listen

pytestmark = pytest.mark.once
TIMEOUT = 120


@pytest.fixture(scope="module")
def index(tmp_path_factory, release):
    path = tmp_path_factory.mktemp("explore") / "ratings.index"
    so.save(release, path)
    return path


@contextmanager
def running(index, *options):
    """Run the command; yield the process and the address that it prints."""
    command = [sys.executable, "-W", "error", "-m", "standout", "explore", str(index), "--no-browser", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    watchdog = threading.Timer(TIMEOUT, process.kill)
    watchdog.start()
    try:
        line = process.stdout.readline()
        assert "http://" in line, line + process.stderr.read()
        yield process, urlsplit(line.split()[-1])
    finally:
        process.kill()
        process.communicate()
        watchdog.cancel()


def ask(connection, method, path, body=None, **headers):
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read()


@contextmanager
def logged_in(address):
    """A connection that stays open, and the headers of a page."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=TIMEOUT)
    status, headers, _ = ask(connection, "GET", f"/?{address.query}")
    assert status == 303
    origin = f"http://{address.hostname}:{address.port}"
    cookie = headers["set-cookie"].partition(";")[0]
    with closing(connection):
        yield connection, {"Cookie": cookie, "Origin": origin, "Content-Type": "application/json"}


NONSENSE = (b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\r\n\r\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_server_with_success_and_without_a_word(index, number):
    with running(index) as (process, address), logged_in(address) as (connection, headers):
        status, _, content = ask(connection, "POST", "/api/lineup", '{"facts": [{"item": "17"}]}', **headers)
        assert status == 200 and b"candidate 1" in content
        for path in ("/api/items?q=whatwastyped", "/whatwastyped", "/?token=whatwastyped"):
            ask(connection, "GET", path, **headers)
        process.send_signal(number)  # while the connection is open
        process.wait(timeout=TIMEOUT)
        out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 0
    assert out.strip() == "Press Ctrl-C to stop."  # neither a token nor what was typed
    assert err.startswith("Read index") and len(err.splitlines()) == 1


def test_large_chunks_and_nonsense_are_refused_and_do_not_stop_the_server(index):
    with running(index) as (_, address):
        with logged_in(address) as (connection, headers):
            chunks = iter([b'{"facts": []', *[b" " * 1000] * 70, b"}"])
            connection.request("POST", "/api/lineup", chunks, headers, encode_chunked=True)
            with connection.getresponse() as response:
                assert response.status == 413
        for nonsense in NONSENSE:
            with socket.create_connection((address.hostname, address.port), timeout=TIMEOUT) as sent:
                sent.sendall(nonsense)
                sent.shutdown(socket.SHUT_WR)
                assert b" 200 " not in sent.recv(1000)
        with logged_in(address) as (connection, headers):
            assert ask(connection, "GET", "/api/release", **headers)[0] == 200


def test_a_version_without_a_sidecar_is_compared_with_a_warning(index):
    with running(index, "--what-if", str(index)) as (process, _):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=TIMEOUT)
        assert "can look safer than it is" in process.stderr.read()


def test_a_free_port_is_used_if_the_default_is_taken():
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        ports = [first.getsockname()[1], second.getsockname()[1]]
        assert ports[0] != ports[1]
        assert first.getsockname()[0] == second.getsockname()[0] == "127.0.0.1"
        with pytest.raises(ParameterError, match=f"port {ports[1]}"):
            listen("127.0.0.1", ports[1])
        assert DEFAULT_PORT != ports[1]


def test_answers_are_not_delayed_until_their_headers_are_acknowledged():
    with listen("127.0.0.1", None) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # or asyncio would leave Nagle's algorithm on


def test_an_address_of_another_machine_is_an_error():
    with pytest.raises(ParameterError, match=r"host 192\.0\.2\.1"):
        listen("192.0.2.1", None)
    with pytest.raises(ParameterError, match="host no-such-host"):
        listen("no-such-host.invalid", 0)
