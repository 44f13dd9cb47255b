"""Threads that compute are ended, and those that have ended are left alone."""

import threading

import pytest

from standout.explore.ending import Stopped, end_threads

pytestmark = pytest.mark.once


def test_a_thread_that_never_ends_is_ended():
    started, ended = threading.Event(), []

    def compute():
        try:
            started.set()
            while True:
                sum(range(1000))
        except Stopped as error:
            ended.append(error)

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    started.wait()
    end_threads([thread])
    thread.join()
    assert len(ended) == 1


def test_threads_that_have_ended_or_never_started_are_left_alone():
    finished, never = threading.Thread(target=lambda: None), threading.Thread(target=lambda: None)
    finished.start()
    finished.join()
    end_threads([finished, never])
