"""Which schedulers are refused, what is said about versions, and what the command line says about workers."""

import socket
import threading
import warnings

import dask
import pytest

import standout as so
from standout.cluster.workers import check_address, compare_versions, warn_without_tls
from standout.core.errors import ParameterError, StandoutError

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786", "tls://10.0.0.1:8786"]
)
def test_loopback_and_tls_are_accepted(address):
    check_address("scheduler", address, insecure=False)


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tcp://example.org:8786", "tcp://127.0.0.1.example.org:8786", "tcp://0.0.0.0:1"]
)
def test_tcp_to_another_machine_is_refused_unless_insecure_is_said(address):
    with pytest.raises(ParameterError, match="must be a tls:// address, or on this machine"):
        check_address("scheduler", address, insecure=False)
    check_address("scheduler", address, insecure=True)


@pytest.mark.parametrize(
    "address", ["", "host:8786", "http://127.0.0.1:80", "tcp://127.0.0.1", "tcp://:1", "tcp://a:x"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ParameterError, match="must be an address such as"):
        check_address("scheduler", address, insecure=True)


def test_a_client_without_tls_on_another_machine_is_a_warning():
    warn_without_tls(["tcp://127.0.0.1:8786", "tls://10.0.0.1:1", "inproc://10.0.0.1/1"])
    with pytest.warns(UserWarning, match="the client has no TLS"):
        warn_without_tls(["tcp://127.0.0.1:8786", "tcp://10.0.0.1:1"])


def answer(python="3.11.4.final.0", **packages):
    return {"host": {"python": python}, "packages": {"standout": "1", "numpy": "2", "numba": "3", **packages}}


def versions(**workers):
    return {"client": answer(), "scheduler": answer(standout=None, numba=None), "workers": workers}


def test_equal_versions_are_not_mentioned_and_a_scheduler_needs_no_standout():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_versions(versions(a=answer(), b=answer()))


def test_differing_versions_are_named_in_one_line_by_package():
    lines = "python 3.11.4 here, 3.12.0 on worker c; numpy 2 here, 1 on worker a and 1 more$"
    with pytest.warns(UserWarning, match=f"versions differ, .*: {lines}"):
        compare_versions(versions(a=answer(numpy="1"), b=answer(numpy="1"), c=answer("3.12.0.final.0")))


def test_another_version_of_standout_on_a_worker_is_an_error():
    with pytest.raises(StandoutError, match="same version of Standout: standout 1 here, missing on worker a"):
        compare_versions(versions(a=answer(standout=None)))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("scheduler") / "small.index"
    so.save(so.synthesize(records=60, items=30, entries=600, seed=7), path)
    return path


def test_options_that_cannot_work_are_refused_in_one_line(run, index, put):
    table = put("user,item\n1,a\n2,b\n")
    for args, problem in (
        ((table, "--workers", 2), "--workers needs an index"),
        ((index, "--workers", "tcp://10.0.0.1:1"), "or write insecure+tcp://10.0.0.1:1"),
        ((index, "--workers", "tls://127.0.0.1:1"), "a tls:// address, but Dask has no cert"),
    ):
        outcome = run("sparsity", *args)
        assert outcome.code == 1 and problem in outcome.err, (args, outcome)
        assert outcome.err.count("\n") == 1


def test_a_scheduler_that_does_not_answer_is_an_error_in_one_line(run, index, monkeypatch):
    monkeypatch.setattr("standout.cluster.workers.CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (1, silent.getsockname()[1]):
            outcome = run("sparsity", index, "--workers", f"tcp://127.0.0.1:{port}")
            assert outcome.err.startswith(f"standout: no scheduler answers at tcp://127.0.0.1:{port}")
            assert outcome.code == 1 and outcome.err.count("\n") == 1


@pytest.mark.parametrize("scheme", ["tls", "tcp"])
def test_certificates_that_cannot_be_loaded_are_an_error_in_one_line(run, index, tmp_path, scheme):
    missing = str(tmp_path / "nowhere.pem")
    settings = {"distributed.comm.tls.ca-file": missing, "distributed.comm.tls.client.cert": missing}
    with dask.config.set(settings):
        outcome = run("sparsity", index, "--workers", f"{scheme}://127.0.0.1:1")
    assert outcome.code == 1 and outcome.err.startswith("standout: Dask cannot load its certificates: a file")
    assert outcome.err.count("\n") == 1


def hear_and_close(server):
    with server.accept()[0] as connection:
        connection.recv(1)


def test_a_scheduler_that_closes_the_connection_may_need_tls(run, index):
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=hear_and_close, args=(server,))
        thread.start()
        outcome = run("sparsity", index, "--workers", f"tcp://127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert outcome.code == 1 and outcome.err.endswith("with TLS, its address begins with tls://\n")
    assert outcome.err.count("\n") == 1
