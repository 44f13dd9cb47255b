"""Dataclasses as plain JSON values."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from standout.core.foreign_text import escaped_json
from standout.findings.json_types import Json, JsonObject

__all__ = ["json_text", "to_json", "to_json_object"]


def to_json(value: Any) -> Json:
    """Plain JSON value of a dataclass, a container or a number; a number that is not finite becomes null.

    A key is the field's name. A trailing underscore is dropped, for keys that Python reserves (`from_`).

    >>> from standout.evaluate.estimates import Estimate
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
