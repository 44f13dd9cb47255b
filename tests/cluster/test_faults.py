"""The table of faults: workers that are killed, stopped or without disk, and a scheduler that is lost."""

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import fields

import pytest

import standout as so
from standout.cluster import workers
from standout.cluster.workers import local_workers, scheduler_workers
from standout.core.errors import WorkersLost
from standout.evaluate import simulate as target_attacks

pytestmark = [pytest.mark.once, pytest.mark.slow]
ADVERSARY = so.Adversary(knows=4, wrong=1, value_error=1, time_error=14)
TIMEOUT = 60
FOLDERS = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR", "HOME")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("faults") / "small.index"
    so.save(so.synthesize(records=1_000, items=150, entries=20_000, seed=7), path)
    return path


def simulated(index, **settings):
    result = so.simulate(so.open(index), ADVERSARY, facts=[2, 4], targets="all", seed=3, **settings)
    columns = [getattr(cell.outcomes, field.name) for cell in result.cells for field in fields(cell.outcomes)]
    return [column.tobytes() for column in columns]


@pytest.fixture(scope="module")
def expected(index):
    return simulated(index)


def once(action):
    """Progress that does something after the first batch of targets."""
    done = []

    def report(stage, n_done, total):
        if not done and n_done < total:
            done.append(action())

    report.done = done
    return report


def test_audits_are_byte_identical_in_one_process_on_workers_and_in_parts(tmp_path, monkeypatch):
    release = so.synthesize(records=17_000, items=60, entries=60_000, seed=7)
    so.save(release, tmp_path / "one.index")
    ladder = {"acquaintance": so.Adversary(knows=3, value_error=1, time_error=14)}
    settings = {"quick": True, "ladder": ladder, "targets": 20, "facts": [2], "seed": 3}
    expected = so.audit(so.open(tmp_path / "one.index"), **settings).to_dict()
    with local_workers(2) as pool:
        assert so.audit(so.open(tmp_path / "one.index"), **settings, client=pool).to_dict() == expected
        monkeypatch.setattr(workers, "FEWEST_ENTRIES", 0)
        monkeypatch.setattr(target_attacks, "LARGEST_SHARE", 0.0)
        in_parts = so.audit(so.open(tmp_path / "one.index"), **settings, client=pool).to_dict()
    assert json.dumps(in_parts) == json.dumps(expected)


def worker_ids(pool):
    return sorted(pool.client.run(os.getpid).items())


def test_a_worker_killed_in_a_simulation_changes_no_byte(index, expected):
    with local_workers(2) as pool:
        (_, first), _ = worker_ids(pool)
        report = once(lambda: os.kill(first, signal.SIGKILL))
        assert simulated(index, client=pool, progress=report) == expected
        assert report.done and first not in dict(worker_ids(pool)).values()


def test_a_worker_killed_in_a_search_for_neighbours_changes_no_byte(index):
    alone = so.sparsity(so.open(index), so.Within(value=1, time=14))
    with local_workers(2) as pool:
        (_, first), _ = worker_ids(pool)
        report = once(lambda: os.kill(first, signal.SIGKILL))
        result = so.sparsity(so.open(index), so.Within(value=1, time=14), client=pool, progress=report)
        assert report.done and first not in dict(worker_ids(pool)).values()
    assert result.nearest.tobytes() == alone.nearest.tobytes()
    assert result.neighbour.tobytes() == alone.neighbour.tobytes()


def test_a_worker_that_stops_delays_the_result_but_does_not_change_it(index, expected, monkeypatch):
    monkeypatch.setattr(workers, "LATE_SECONDS", 1.0)
    with local_workers(2) as pool:
        (_, first), _ = worker_ids(pool)
        report = once(lambda: os.kill(first, signal.SIGSTOP))
        try:
            assert simulated(index, client=pool, progress=report) == expected
            assert report.done
        finally:
            os.kill(first, signal.SIGCONT)


def forbid_writing():
    """Let no file of this process grow."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def test_a_worker_that_can_write_no_file_changes_no_byte(index, expected):
    with local_workers(2) as pool:
        (address, _), _ = worker_ids(pool)
        pool.client.run(forbid_writing, workers=[address])
        assert simulated(index, client=pool) == expected


@contextmanager
def dask_process(program, *args, disk=None):
    """A scheduler or worker of Dask in its own process, with a disk for all that it may write."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *map(str, args)]
    environment = os.environ | (dict.fromkeys(FOLDERS, str(disk)) if disk else {})
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait(TIMEOUT)


@contextmanager
def cluster(folder, disk=None):
    """The processes of a scheduler and a worker, and the address of the scheduler."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    loopback = ("--host", "127.0.0.1", "--no-dashboard")
    settings = ("--port", 0, "--dashboard-address", "127.0.0.1:0", "--scheduler-file", file)
    work = ("--nthreads", 1, "--memory-limit", 0, "--local-directory", disk or folder, "--scheduler-file", file)
    with (
        dask_process("scheduler", *loopback, *settings) as scheduler,
        dask_process("worker", *loopback, *work, "--no-nanny", disk=disk) as worker,
    ):
        while not file.exists() or not file.read_text().strip():
            assert scheduler.poll() is None and worker.poll() is None
        yield scheduler, worker, json.loads(file.read_text())["address"]


def test_a_lost_scheduler_ends_the_run_and_the_checkpoint_resumes_it(tmp_path, index, expected):
    with cluster(tmp_path) as (scheduler, _, address), scheduler_workers(address) as pool:
        report = once(scheduler.kill)
        with pytest.raises(WorkersLost, match="the scheduler is lost"):
            simulated(index, client=pool, progress=report, save=tmp_path / "run")
    assert report.done and list(tmp_path.glob("run.*.checkpoint"))
    assert simulated(index, save=tmp_path / "run") == expected


def test_lost_workers_end_the_run_after_a_while(tmp_path, index, monkeypatch):
    monkeypatch.setattr(workers, "EMPTY_SECONDS", 1)
    monkeypatch.setattr(workers, "CHECK_SECONDS", 0)
    with (
        cluster(tmp_path) as (_, worker, address),
        scheduler_workers(address) as pool,
        pytest.raises(WorkersLost, match="all workers are lost"),
    ):
        simulated(index, client=pool, progress=once(worker.kill))


def test_the_command_line_says_in_one_line_that_the_scheduler_is_lost(tmp_path, index, run, monkeypatch):
    with cluster(tmp_path) as (scheduler, _, address):
        report = nullcontext(once(scheduler.kill))
        monkeypatch.setattr("standout.cli.commands.simulate.progress", lambda: report)
        outcome = run("simulate", index, "--targets", "all", "--workers", address)
    assert outcome.code == 3, outcome
    assert outcome.err.startswith("standout: the scheduler is lost") and outcome.err.count("\n") == 1


def end_worker(number):
    return os.kill(os.getpid(), signal.SIGKILL)


def test_a_task_that_ends_every_worker_ends_the_run():
    with local_workers(2) as pool, pytest.raises(WorkersLost, match="one task ended 4 workers: check their memory"):
        list(pool.map(end_worker, [(1,)]))
