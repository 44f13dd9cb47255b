"""The lines of docs/lab/scale.md make a cluster with TLS: its findings are those of threads, and it is closed."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

import standout as so

pytestmark = [
    pytest.mark.once,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]
PAGE = (Path(__file__).parents[2] / "docs" / "lab" / "scale.md").read_text().replace("\\\n", "")
TIMEOUT = 120


def lines(start):
    """The lines of the page that begin with a word."""
    return [shlex.split(line) for line in re.findall(rf"^    ({start} .*)", PAGE, re.MULTILINE)]


def environment():
    """The variables that the page exports."""
    exported = [each.split("=", 1) for words in lines("export") for each in words[1:]]
    return {**os.environ, **dict(exported)}


@contextmanager
def started(command, folder, *options):
    """A process of Dask."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command, *map(str, options)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        children = psutil.Process(process.pid).children(recursive=True)
        for each in (process, *children):
            each.kill()
        process.wait(TIMEOUT)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Folder with the certificates, the scheduler's address, and the processes."""
    folder = tmp_path_factory.mktemp("tls")
    for command in lines("openssl"):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=TIMEOUT)
    scheduler, worker = lines("dask")
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        options = ("--host", "127.0.0.1", "--port", 0, "--scheduler-file", file)
        processes = [stack.enter_context(started(scheduler, folder, *options))]
        while not file.exists() or not file.read_text().strip():
            assert processes[0].poll() is None
        address = json.loads(file.read_text())["address"]
        worker = [address if word.startswith("tls://") else "1" if word == "8" else word for word in worker]
        processes.append(stack.enter_context(started(worker, folder, "--local-directory", folder)))
        while len(ports(processes[1])) < 3:  # of the nanny, and two of the worker
            assert processes[1].poll() is None
        yield folder, address, processes


def ports(process):
    """Addresses at which a process or its children listen."""
    every = [psutil.Process(process.pid)]
    every += every[0].children(recursive=True)
    return [each.laddr for one in every for each in one.net_connections() if each.status == "LISTEN"]


def simulate(folder, *options):
    """What a small simulation prints for programs."""
    command = [sys.executable, "-m", "standout", "simulate", "data.index", "--targets", "20", "--json"]
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment(), capture_output=True, text=True, timeout=4 * TIMEOUT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_simulation_over_tls_has_the_numbers_of_threads(cluster):
    folder, address, _ = cluster
    assert address.startswith("tls://127.0.0.1:")
    so.save(so.synthesize(records=300, items=60, entries=4_000, seed=7), folder / "data.index")
    over_tls = simulate(folder, "--workers", address)
    assert over_tls and over_tls == simulate(folder)


def answers_without_tls(port):
    """Whether a web server answers at a port."""
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        try:
            return connection.recv(100).startswith(b"HTTP")
        except ConnectionError:
            return False


def test_nobody_elsewhere_can_read_from_a_cluster_without_a_certificate(cluster):
    listening = [address for process in cluster[2] for address in ports(process)]
    assert any(answers_without_tls(port) for host, port in listening)
    assert not any(answers_without_tls(port) for host, port in listening if host != "127.0.0.1")
