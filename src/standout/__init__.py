"""Measure how many people can be identified in anonymised data.

Standout implements the attack of Narayanan and Shmatikov, "Robust De-anonymization of Large Datasets"
(2008), and builds an audit on it. Start with `read`, `audit`, `simulate` and `sanitize`.

Notes
-----
A name is imported when it is first used, so `import standout` loads no other module; __init__.pyi lists them.

Examples
--------
>>> import standout as so
>>> release = so.synthesize(records=200, items=100, entries=4_000, seed=7)
>>> adversary = so.Adversary(knows=6, wrong=1, value_error=1, time_error=14)
>>> aux = adversary.observe(release, "42", seed=1)
>>> so.Likelihood(adversary).attack(release, aux).best
'42'
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from standout._version import __version__ as __version__

_IMPORTS = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_PLACES = {
    alias.asname or alias.name: (node.module, alias.name)
    for node in _IMPORTS.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
"""Where each public name is, as __init__.pyi says it to type checkers: its module, and its name there."""

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _PLACES:
        raise AttributeError(f"module 'standout' has no attribute {name!r}")
    place, attribute = _PLACES[name]
    module = import_module(place)
    return getattr(module, attribute) if hasattr(module, attribute) else import_module(f"{place}.{attribute}")


def __dir__() -> list[str]:
    return __all__
