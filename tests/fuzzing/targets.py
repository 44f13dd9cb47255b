"""All targets, and their share of the inputs of a campaign."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.fuzzing.commands import COMMANDS
from tests.fuzzing.kernels import KERNELS
from tests.fuzzing.readers import READERS
from tests.fuzzing.states import STATES
from tests.fuzzing.tables import TABLES
from tests.fuzzing.texts import TEXTS

__all__ = ["TARGETS", "Entry"]

CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(__file__).parents[2] / "build" / "checked-kernels")}
"""Compiled code that checks its bounds, kept apart from the code that does not."""


OUTPUTS = ("sidecar", "key", "output", "table-sidecar", "table-output", "table-key")
SLOW = ("command advise", "command audit", "command demo", "command link", "command paper")


class Entry(NamedTuple):
    """A target, its share of the inputs, what a round takes, and the environment that its process needs.

    The shares are such that a million inputs have thousands of all sources, and hundreds of what is slow.
    """

    target: Any
    share: float
    milliseconds: float
    environment: Mapping[str, str] = MappingProxyType({})


def _named(group, share, milliseconds, environment=None):
    """The entries of a group. Names have no spaces, so that they can be options of make."""
    return {_slug(name): Entry(target, share, milliseconds, environment or {}) for name, target in group.items()}


def _slug(name):
    return name.replace(":", "").replace(" ", "-")


TARGETS = {
    **_named(READERS, 3, 7),
    **_named(TABLES, 3, 20),
    **_named(TEXTS, 50, 1),
    **_named(STATES, 0.35, 100),
    **_named({name: COMMANDS[name] for name in COMMANDS if name not in SLOW}, 1, 30),
    **_named({name: COMMANDS[name] for name in SLOW}, 0.35, 300),
    **_named(KERNELS, 0.6, 60, CHECKED),
}
for name, share, milliseconds in (
    ("checkpoint", 130, 1),
    ("schema-file", 8, 3),
    ("state-of-paper", 0.35, 1500),
    ("command-demo", 0.1, 3000),
    *((name, 10, 5) for name in OUTPUTS),
):
    TARGETS[name] = TARGETS[name]._replace(share=share, milliseconds=milliseconds)
