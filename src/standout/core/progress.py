"""How long-running work reports its progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "ProgressMeter", "no_progress"]

STEPS = 1000

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the amount of work done, and the total amount."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class ProgressMeter:
    """Progress of work that consists of several parts; each part counts in proportion to its cost."""

    def __init__(self, stage: str = "", total: float = 0.0, progress: Progress = no_progress) -> None:
        self.stage, self.total, self.progress = stage, total, progress
        self.finished, self.cost = 0.0, 0.0

    @contextmanager
    def part(self, cost: float) -> Iterator[None]:
        """Run one part of the work, of the given cost."""
        self.cost = cost
        yield
        self.finished += cost
        self.cost = 0.0
        self("", 0, 1)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report the progress of the current part."""
        share = (self.finished + self.cost * done / max(total, 1)) / max(self.total, 1e-9)
        self.progress(self.stage, min(int(STEPS * share), STEPS), STEPS)
