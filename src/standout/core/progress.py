"""How long work tells how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "ProgressMeter", "no_progress"]

FINE = 1000

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def no_progress(stage: str, done: int, total: int) -> None:
    """No progress shown."""


class ProgressMeter:
    """How far all of a long work is: told of one part after the other, each as long as its cost."""

    def __init__(self, stage: str = "", total: float = 0.0, progress: Progress = no_progress) -> None:
        self.stage, self.total, self.progress, self.before, self.cost = stage, total, progress, 0.0, 0.0

    @contextmanager
    def part(self, cost: float) -> Iterator[None]:
        """A part of the work that costs so much."""
        self.cost = cost
        yield
        self.before += cost
        self.cost = 0.0
        self("", 0, 1)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """A part tells how far it is."""
        reached = (self.before + self.cost * done / max(total, 1)) / max(self.total, 1e-9)
        self.progress(self.stage, min(int(FINE * reached), FINE), FINE)
