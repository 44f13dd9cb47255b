"""Types of findings that say more to a JSON Schema than `int` or `float`, and findings as JSON."""

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from typing import Annotated, Any

import numpy as np

from standout._version import __version__
from standout.core.json_files import Json, JsonObject
from standout.core.text import escaped_json
from standout.evaluate.estimates import Estimate


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest value of a number; for an `Estimate`, of all its numbers."""

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Regular expression that a text matches."""

    regex: str


Count = Annotated[int, Bounds(0)]
PositiveCount = Annotated[int, Bounds(1)]
NonNegative = Annotated[float, Bounds(0)]
Share = Annotated[float, Bounds(0, 1)]
Rate = Annotated[Estimate, Bounds(0, 1)]
"""A share of targets with its interval and baseline, all from 0 to 1."""
Day = Annotated[str, Pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


def to_json(value: Any) -> Json:
    """Plain JSON value of a dataclass, a container or a number; a number that is not finite becomes null.

    A key is the field's name. A trailing underscore is dropped, for keys that Python reserves (`from_`).

    >>> to_json({"bits": [Estimate(2.5, float("-inf"), 3.0, 1)]})
    {'bits': [{'value': 2.5, 'low': None, 'high': 3.0, 'n': 1, 'baseline': None}]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name.removesuffix("_"): to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(content) for key, content in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_json(element) for element in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_json_object(value: Any) -> JsonObject:
    """JSON object of a dataclass or a mapping."""
    plain = to_json(value)
    assert isinstance(plain, dict)
    return plain


def json_text(value: Any) -> str:
    """Text of a JSON file: one space of indentation, a line break at the end."""
    return escaped_json(to_json(value), indent=1, allow_nan=False) + "\n"


def software_versions() -> dict[str, str]:
    """Versions of the software that findings name, by name."""
    installed = {name: version(name) for name in ("numpy", "numba", "polars")}
    return {"standout": __version__, "python": platform.python_version(), **installed}
