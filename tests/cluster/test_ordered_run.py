"""Results come in the order of tasks, whatever workers do."""

import errno
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest

from standout.cluster import workers
from standout.cluster.workers import GroupLost, TaskGroup, ordered_results, run_group
from standout.core.errors import ParameterError, StandoutError, StoreError
from standout.core.progress import stage_text
from standout.core.threads import current_pool, use_pool

pytestmark = pytest.mark.once


class ThreadBackend:
    """Threads in place of workers, with faults: fault(number, attempt, group) may raise or answer."""

    def __init__(self, fault=lambda number, attempt, group: None, size=2):
        self.fault, self.size, self.seconds = fault, size, {}
        self.pool, self.sent = ThreadPoolExecutor(size), []

    def submit(self, group, number, attempt):
        self.sent.append((number, attempt, len(group.tasks)))
        group = pickle.loads(pickle.dumps(group))
        return self.pool.submit(lambda: self.fault(number, attempt, group) or run_group(group))

    def result(self, future):
        return future.result()

    def preferred(self, number, attempt):
        return f"{number + attempt}"

    def check(self):
        pass


def square(number):
    return number * number


def fail(error):
    raise error


def run(backend, tasks, function=square):
    with backend.pool:
        return list(ordered_results(backend, function, tasks))


def test_results_are_in_the_order_of_tasks_however_many_there_are():
    for count in (0, 1, 2, 7, 300):
        assert run(ThreadBackend(), [(i,) for i in range(count)]) == [i * i for i in range(count)]


def test_groups_grow_until_their_overhead_is_a_twentieth_of_their_time():
    backend = ThreadBackend()
    backend.seconds[f"{square.__module__}.square"] = 0.025
    assert run(backend, [(i,) for i in range(10)]) == [i * i for i in range(10)]
    assert backend.sent[0] == (0, 0, 4)


def test_tasks_are_taken_only_a_little_ahead_of_the_results():
    taken = itertools.count()
    backend = ThreadBackend()
    results = ordered_results(backend, square, ((next(taken),) for _ in range(100_000)))
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    results.close()
    assert next(taken) <= (3 + workers.WINDOW * backend.size) * workers.LARGEST_GROUP


def test_a_group_that_was_lost_with_its_worker_is_sent_again():
    def lose_first(number, attempt, group):
        if number == 1 and attempt == 0:
            raise GroupLost

    backend = ThreadBackend(lose_first)
    assert run(backend, [(i,) for i in range(4)]) == [0, 1, 4, 9]
    assert (1, 1) in [sent[:2] for sent in backend.sent]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
def test_want_of_disk_or_memory_on_one_worker_moves_its_tasks_to_another(error):
    def full(number, attempt, group):
        return run_group(TaskGroup(fail, [(error,)])) if number == 0 and attempt == 0 else None

    assert run(ThreadBackend(full), [(i,) for i in range(4)]) == [0, 1, 4, 9]


def test_an_error_that_all_workers_have_names_the_last_one_and_its_reason():
    everywhere = OSError(errno.ENOSPC, "No space left on device", "somebody.csv")
    with pytest.raises(StandoutError, match=r"^worker 1: No space left on device$"):
        run(ThreadBackend(), [(everywhere,)], fail)
    with pytest.raises(StoreError, match=r"^worker 1: it is damaged$"):
        run(ThreadBackend(), [(StoreError("it is damaged"),)], fail)


def test_errors_of_a_task_are_raised_with_their_place_on_the_worker():
    with pytest.raises(ParameterError, match=r"^phi must be 1") as caught:
        run(ThreadBackend(), [(ParameterError("phi must be 1"),)], fail)
    assert str(caught.value) == "phi must be 1"
    assert "in fail" in "".join(caught.value.__notes__)


class UnsendableError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.lock = Lock()


def test_an_error_that_cannot_be_sent_is_named_without_its_message():
    result = run_group(TaskGroup(fail, [(UnsendableError("007"),)]))
    assert "007" not in str(result.error) and "UnsendableError" in str(result.error)


def test_a_late_group_also_goes_to_another_worker_and_the_first_result_counts(monkeypatch):
    monkeypatch.setattr(workers, "TICK", 0.01)
    monkeypatch.setattr(workers, "LATE_SECONDS", 0.0)
    stopped = Event()

    def stop(number, attempt, group):
        if number == 1 and attempt == 0:
            stopped.wait(20)

    backend = ThreadBackend(stop, size=3)
    results = ordered_results(backend, square, [(i,) for i in range(4)])
    assert [next(results) for _ in range(4)] == [0, 1, 4, 9]
    assert not stopped.is_set()
    stopped.set()
    backend.pool.shutdown()


def test_a_worker_of_another_version_refuses_tasks():
    group = TaskGroup(square, [(2,)])
    group.version = "0.0.0"
    assert "the command has 0.0.0" in str(run_group(group).error)


def test_the_text_of_tasks_and_results_shows_nothing_of_them():
    group = TaskGroup(square, [(424242,)])
    assert repr(group) == "<1 tasks>" and repr(run_group(group)) == "<results of 1 tasks>"


def test_a_pool_is_used_within_its_context_only():
    pool = ThreadBackend()
    with use_pool(pool):
        assert current_pool() is pool
    assert current_pool() is None
    pool.pool.shutdown()


def test_progress_shows_the_number_of_workers_once_they_are_started():
    pool = ThreadBackend(size=3)
    for is_started, text in ((False, "attacking"), (True, "attacking · 3 workers")):
        pool.is_started = is_started
        with use_pool(pool):
            assert stage_text("attacking") == text
    assert stage_text("attacking") == "attacking"
    pool.pool.shutdown()


def test_a_function_that_cannot_be_sent_is_explained():
    with pytest.raises(ParameterError, match="cannot be sent to workers"):
        run(ThreadBackend(), [(1,)], lambda number: number)
