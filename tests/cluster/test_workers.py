"""Workers give the results of one process, also when some are lost."""

import os
from contextlib import closing
from dataclasses import fields
from itertools import pairwise
from urllib.error import HTTPError
from urllib.request import urlopen

import dask
import numpy as np
import pytest

import standout as so
from standout.cluster import workers
from standout.cluster.workers import scheduler_workers
from standout.core.errors import StoreError
from standout.core.threads import use_pool
from standout.data.store import SharedIndex
from standout.evaluate import simulate as target_attacks

pytestmark = pytest.mark.once
ADVERSARY = so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "small.index"
    so.save(so.synthesize(records=300, items=80, entries=5_000, seed=7), path)
    return path


def simulated(release, targets=200, **settings):
    result = so.simulate(release, ADVERSARY, facts=[2, 4], targets=targets, seed=3, **settings)
    columns = [getattr(cell.outcomes, field.name) for cell in result.cells for field in fields(cell.outcomes)]
    return [column.tobytes() for column in columns]


def neighbours(release, similarity, **settings):
    result = so.sparsity(release, similarity, **settings)
    return result.nearest.tobytes(), result.neighbour.tobytes()


def process_id(_):
    return os.getpid()


def release_seen(index):
    return id(index.open())


def test_simulations_on_workers_are_byte_identical(index, pool):
    for attack in (so.ScoreboardRH(), so.Likelihood()):
        expected = simulated(so.open(index), attack=attack)
        assert simulated(so.open(index), attack=attack, client=pool) == expected


def test_nearest_neighbours_on_workers_are_byte_identical(index, pool):
    for similarity, sample in ((so.Present(), None), (so.Within(value=1, time=14), 50), (so.Decay(), 50)):
        expected = neighbours(so.open(index), similarity, sample=sample)
        assert neighbours(so.open(index), similarity, sample=sample, client=pool) == expected


def test_unicity_on_workers_is_equal(index, pool):
    settings = {"k": [1, 2, 3], "value": 1, "time": 30, "targets": 250}
    assert so.unicity(so.open(index), **settings, client=pool) == so.unicity(so.open(index), **settings)


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """An index of four blocks of records."""
    path = tmp_path_factory.mktemp("blocks") / "index"
    so.save(so.synthesize(records=25_000, items=60, entries=80_000, seed=7), path)
    return path


def test_attacks_on_parts_of_an_index_are_byte_identical(blocks, pool, monkeypatch):
    """Every attack goes over parts if the index is too large for the memory of a machine."""
    monkeypatch.setattr(workers, "FEWEST_ENTRIES", 0)
    monkeypatch.setattr(target_attacks, "LARGEST_SHARE", 0.0)
    sent = []
    run = type(pool).map
    monkeypatch.setattr(type(pool), "map", lambda *args, **named: sent.append(args) or run(*args, **named))
    for attack in (so.ScoreboardRH(), so.Likelihood()):
        expected = simulated(so.open(blocks), attack=attack, targets=20)
        assert simulated(so.open(blocks), attack=attack, targets=20, client=pool) == expected
    assert sent and all(args[1] is workers._run_on_part for args in sent)


def test_links_found_on_parts_of_an_index_are_equal(index, pool, monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ENTRIES", 0)
    public = so.sanitize(so.open(index), "drop-entries 0.5", "cap-records 12", seed=3)
    alone, linked = (
        so.link(so.open(index), public, decoys=99, seed=1, client=client).to_dict() for client in (None, pool)
    )
    assert linked == alone


def test_an_index_has_a_part_for_each_worker(blocks, pool, monkeypatch):
    monkeypatch.setattr(workers, "FEWEST_ENTRIES", 0)
    parts = pool.executor_of(so.open(blocks)).parts
    assert parts[0].first_block == 0 and parts[-1].last_block == 4 and len(parts) == 2
    assert all(part.last_block == after.first_block for part, after in pairwise(parts))
    assert pool.executor_of(so.synthesize(records=30, items=10, entries=90, seed=1)) is None


def test_work_is_done_by_other_processes_and_each_opens_an_index_once(index, pool):
    pids = set(pool.map(process_id, [(i,) for i in range(20)]))
    assert pids and os.getpid() not in pids
    seen = set(pool.map(release_seen, [(SharedIndex.of(so.open(index)),)] * 20))
    assert len(seen) <= 2


def test_a_release_in_memory_stays_in_this_process(pool):
    release = so.synthesize(records=100, items=40, entries=1_000, seed=7)
    assert SharedIndex.of(release) is None
    assert simulated(release, client=pool) == simulated(release)


def test_a_worker_refuses_an_index_of_another_fingerprint_and_is_named(tmp_path, pool):
    so.save(so.synthesize(records=50, items=20, entries=300, seed=7), tmp_path / "data.index")
    release = so.open(tmp_path / "data.index")
    so.save(so.synthesize(records=50, items=20, entries=300, seed=8), tmp_path / "data.index")
    with pytest.raises(StoreError, match=r"^worker tls://127\.0\.0\.1:\d+: .*its fingerprint differs"):
        simulated(release, client=pool)


def test_a_worker_that_reads_other_files_checks_them(tmp_path, index, monkeypatch):
    """Files that this machine checked are not checked again; the same path elsewhere may be damaged."""
    elsewhere = SharedIndex.of(so.open(index))._replace(checked=("another machine", 0, 0))
    checked = []
    monkeypatch.setattr(so.Release, "check", lambda release: checked.append(release) or release)
    SharedIndex.of(so.open(index)).open()
    assert not checked
    elsewhere.open()
    assert len(checked) == 1


def test_scheduler_and_workers_listen_on_the_loopback_address_only(pool):
    info = pool.client.scheduler_info(n_workers=-1)
    addresses = [info["address"], *info["workers"], *(each["nanny"] for each in info["workers"].values())]
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    for page in ("", "status", "info/main/workers.html", "json/identity.json"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{info['services']['dashboard']}/{page}", timeout=20)


def test_keys_of_tasks_are_numbers_and_logs_show_no_task(index, pool):
    with closing(pool.map(np.square, [(424242,)] * 4)) as results:
        next(results)
        keys = pool.client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
    assert keys and all(key.replace("-", "").isdigit() for key in keys)
    logs = str(pool.client.get_worker_logs()) + str(pool.client.get_scheduler_logs())
    assert "424242" not in logs


def test_a_scheduler_with_tls_is_used_with_the_certificates_of_dask_s_configuration(index, pool):
    security, address = pool.client.security, pool.client.scheduler.address
    certificates = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
    with dask.config.set(certificates), scheduler_workers(address) as again:
        assert simulated(so.open(index), client=again) == simulated(so.open(index))
        assert again.size == 2


def test_a_client_of_dask_is_all_that_python_code_needs(index, pool):
    settings = {"k": 2, "targets": 100}
    alone = so.unicity(so.open(index), **settings)
    assert so.unicity(so.open(index), **settings, client=pool.client) == alone


def test_a_client_must_be_one():
    with pytest.raises(so.ParameterError, match=r"client must be a distributed\.Client, got str"):
        so.sparsity(so.synthesize(records=20, items=10, entries=100, seed=1), client="tcp://127.0.0.1:1")


def test_a_context_without_workers_uses_threads(index):
    with use_pool(None):
        assert simulated(so.open(index)) == simulated(so.open(index), client=None)
