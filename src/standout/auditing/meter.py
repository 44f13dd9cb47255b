"""How far all of an audit is: one part after the other, each as long as its cost."""

from collections.abc import Iterator
from contextlib import contextmanager

from standout.release.progress import Progress, quiet

__all__ = ["Meter"]

FINE = 1000
STAGE = "auditing"


class Meter:
    """Told of the parts of the work, it tells how far all of it is."""

    def __init__(self, total: float, progress: Progress = quiet) -> None:
        self.total, self.progress, self.before, self.cost = total, progress, 0.0, 0.0

    @contextmanager
    def part(self, cost: float) -> Iterator[None]:
        """A part of the work that costs so much."""
        self.cost = cost
        yield
        self.before += cost
        self.cost = 0.0
        self("", 0, 1)

    def __call__(self, stage: str, done: int, total: int) -> None:
        reached = (self.before + self.cost * done / max(total, 1)) / max(self.total, 1e-9)
        self.progress(STAGE, min(int(FINE * reached), FINE), FINE)
