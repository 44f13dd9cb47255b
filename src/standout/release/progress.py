"""How long work tells how far it is."""

from collections.abc import Callable

__all__ = ["Progress", "quiet"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def quiet(stage: str, done: int, total: int) -> None:
    """No progress shown."""
