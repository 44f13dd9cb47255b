"""Executors for tests: parts in this process, with everything that would travel to a worker pickled."""

import pickle
from contextlib import contextmanager
from dataclasses import fields
from types import SimpleNamespace

import numpy as np

from standout.core.threads import Part, even_parts, use_pool
from standout.data.entries import block_count


class PicklingExecutor:
    """Runs each part on what a worker would get, and counts the bytes that travel."""

    def __init__(self, release, parts):
        self.release, self.parts, self.sent, self.received = release, tuple(parts), 0, 0

    def map(self, function, *arguments):
        sent = pickle.dumps((function, arguments))
        self.sent += len(sent)
        return [self._run(sent, part) for part in self.parts]

    def _run(self, sent, part):
        function, arguments = pickle.loads(sent)
        result = pickle.dumps(function(self.release, part, *arguments))
        self.received += len(result)
        return pickle.loads(result)


def divisions(release):
    """The release in 1, 2, 3 and 7 parts, if it has so many blocks, and in unequal parts."""
    n = block_count(release)
    all_divisions = {even_parts(n, count) for count in (1, 2, 3, 7)}
    if n > 2:
        all_divisions |= {(Part(0, 1), Part(1, n)), (Part(0, n - 1), Part(n - 1, n))}
    return sorted(all_divisions)


@contextmanager
def divided(release, parts):
    """Attack the release in these parts."""
    executor = PicklingExecutor(release, parts)
    with use_pool(SimpleNamespace(executor_of=lambda other: executor if other is release else None)):
        yield executor


def check_same_columns(verdicts, other):
    """Every number of all verdicts, to the last bit."""
    for column in fields(verdicts.columns):
        mine, theirs = getattr(verdicts.columns, column.name), getattr(other.columns, column.name)
        assert np.array_equal(mine, theirs), column.name


def check_all_divisions(release, attack):
    """attack() gives the same columns for all divisions into parts as without any."""
    expected = attack()
    for parts in divisions(release):
        with divided(release, parts):
            check_same_columns(attack(), expected)
    return expected
