"""What progress=True shows: a bar in a terminal or a notebook, and nothing anywhere else."""

import io
import sys

import pytest

import standout as so
from standout.core import progress as bars
from standout.core.errors import ParameterError
from standout.core.progress import no_progress, show_activity, with_progress

pytestmark = pytest.mark.once


class Recorder:
    """A display that records what it is asked to show."""

    def __init__(self):
        self.shown, self.closed = [], False

    def show(self, stage, done, total):
        self.shown.append((stage, done, total))

    def close(self):
        self.closed = True


@pytest.fixture
def display(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(bars, "_display", lambda: recorder)
    monkeypatch.setattr(bars, "DELAY", 0.0)
    return recorder


@with_progress
def work(steps, progress=no_progress):
    for step in range(steps):
        progress("working", step + 1, steps)
    show_activity("drawing charts")
    return progress


def test_true_shows_a_bar_that_is_closed_even_after_an_error(display):
    with bars.progress_bar(delay=0.0) as report:
        report("working", 1, 2)
    assert display.shown == [("working", 1, 2)] and display.closed
    display.closed = False
    with pytest.raises(KeyboardInterrupt), bars.progress_bar(delay=0.0):
        raise KeyboardInterrupt
    assert display.closed


def test_an_activity_between_two_reports_has_a_name_on_the_bar(display):
    work(1, progress=True)
    assert ("drawing charts", 0, None) in display.shown


def test_a_callback_is_passed_on_and_false_reports_nothing(display):
    calls = []
    assert work(2, progress=lambda *call: calls.append(call)) is not None
    assert calls == [("working", 1, 2), ("working", 2, 2)]
    assert work(1) is work(1, progress=False) is work(1, progress=None) is no_progress
    assert not display.shown


def test_anything_else_is_an_error_that_names_the_parameter():
    with pytest.raises(ParameterError, match="progress must be True, False or a function, got int"):
        work(1, progress=7)


def test_compiling_is_an_activity(display):
    numba = pytest.importorskip("numba")
    if numba.config.DISABLE_JIT:
        pytest.skip("the compiler is off")
    with bars.progress_bar(delay=0.0):
        inner = numba.njit(lambda number: number + 1)
        numba.njit(lambda number: inner(number) + 1)(1)
    assert display.shown == [("compiling, once", 0, None)]
    numba.njit(lambda number: number + 2)(1)
    assert len(display.shown) == 1


def test_there_is_no_bar_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bars.progress_bar() as report:
        assert report is no_progress


def test_a_terminal_shows_the_stage_and_the_share_and_then_clears_them(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with bars.progress_bar(delay=0.0) as report:
        report("comparing", 1, 4)
        show_activity("compiling, once")
        report("comparing\x1b[2J", 2, 4)
    assert "comparing" in terminal.getvalue() and "\x1b[2J" not in terminal.getvalue()


def test_public_functions_that_take_long_take_progress_true(display):
    release = so.synthesize(records=60, items=30, entries=600, seed=7, progress=True)
    so.simulate(release, so.Adversary(knows=2), targets=5, progress=True)
    so.sparsity(release, progress=True)
    so.unicity(release, 2, progress=True)
    assert display.closed
