"""Work on threads: results in order, tasks taken a little ahead, errors raised, nothing left running."""

import threading

import pytest

from standout.core.threads import AHEAD, map_on_threads

pytestmark = pytest.mark.once


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_tasks(threads: int) -> None:
    tasks = [(number, 3) for number in range(40)]
    assert list(map_on_threads(pow, tasks, threads)) == [number**3 for number in range(40)]


def test_tasks_are_taken_only_a_little_ahead_of_the_results() -> None:
    taken = 0

    def tasks() -> object:
        nonlocal taken
        for taken in range(1, 101):
            yield (taken,)

    results = map_on_threads(abs, tasks(), 3)
    assert next(results) == 1
    assert taken == 3 * AHEAD
    results.close()
    assert taken == 3 * AHEAD


def test_tasks_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=60)
    places = list(map_on_threads(meeting.wait, [(), (), (), ()], 2))
    assert sorted(places) == [0, 0, 1, 1]


def test_an_error_of_a_task_is_raised_where_its_result_would_be() -> None:
    before = set(threading.enumerate())
    results = map_on_threads(divmod, [(7, 2), (1, 0), (9, 2)], 2)
    assert next(results) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert not any("ThreadPoolExecutor" in thread.name for thread in set(threading.enumerate()) - before)
