"""Findings as JSON: the types of their fields, their JSON form, and the JSON Schema that is generated from them.

The first line of a class's docstring describes the object. A property is described where it is declared, by `about`,
or in a line "name: text" of the docstring if that is long (or an "Attributes" section, in the style of NumPy).
`python -m standout.findings.json_types docs` writes the schemas of findings.json, advice.json and links.json.
"""

import inspect
import json
import math
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from standout._version import __version__
from standout.core.json_files import Json, JsonObject
from standout.core.text import escaped_json
from standout.evaluate.estimates import Estimate


class Bounds(NamedTuple):
    """Smallest and largest value of a number; for an `Estimate`, of all its numbers."""

    minimum: float
    maximum: float | None = None


DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
Count = Annotated[int, Bounds(0)]
PositiveCount = Annotated[int, Bounds(1)]
NonNegative = Annotated[float, Bounds(0)]
Share = Annotated[float, Bounds(0, 1)]
Rate = Annotated[Estimate, Bounds(0, 1)]
"""A share of targets with its interval and baseline, all from 0 to 1."""
Day = Annotated[str, DAY]
T = TypeVar("T")


def about(text: str, default: Any = MISSING) -> Any:
    """A field of a finding, with its description in the schema."""
    return field(default=default, metadata={"about": text})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(about,))
def finding(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass whose fields are given by name."""
    return dataclass(frozen=True, slots=True, kw_only=True)(cls)


def to_json(value: Any) -> Json:
    """Plain JSON value of a dataclass, a container or a number; a number that is not finite becomes null.

    A key is the field's name. A trailing underscore is dropped, for keys that Python reserves (`from_`).

    >>> to_json({"bits": [Estimate(2.5, float("-inf"), 3.0, 1)]})
    {'bits': [{'value': 2.5, 'low': None, 'high': 3.0, 'n': 1, 'baseline': None}]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name.removesuffix("_"): to_json(getattr(value, each.name)) for each in fields(value)}
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


# The JSON Schema of a dataclass.


TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


def schema_of(findings: type, title: str) -> JsonObject:
    """JSON Schema of the JSON form of a dataclass: see `to_json`."""
    definitions: dict[str, Json] = {}
    schema: JsonObject = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return schema | _object(findings, definitions) | {"$defs": dict(sorted(definitions.items()))}


def schema_texts() -> dict[str, str]:
    """Texts of all schemas by the name of their file."""
    from standout.findings import audit, link_and_advise

    schemas = {
        "findings": (audit.AuditFindings, audit.SCHEMA_TITLE),
        "advice": (link_and_advise.AdviceFindings, link_and_advise.ADVICE_TITLE),
        "links": (link_and_advise.LinksFile, link_and_advise.LINKS_TITLE),
    }
    return {
        f"{name}.schema.json": json.dumps(schema_of(*schema), indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }


def attribute_descriptions(cls: type) -> dict[str, str]:
    """Descriptions of the fields of a dataclass and its bases, where they are declared or in their docstrings."""
    descriptions: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "") if is_dataclass(base) else ""
        for match in re.finditer(r"^(\w+(?:, \w+)*)(?::|\n   ) (.+(?:\n    .+)*)", text, re.MULTILINE):
            descriptions |= dict.fromkeys(match[1].split(", "), " ".join(match[2].split()))
    return descriptions | {each.name: each.metadata["about"] for each in fields(cls) if each.metadata}


def _object(cls: type, definitions: dict[str, Json], bounds: Bounds | None = None) -> JsonObject:
    """Schema of a dataclass; `bounds` apply to all its floating-point numbers."""
    hints, texts = get_type_hints(cls, include_extras=True), attribute_descriptions(cls)
    properties: dict[str, Json] = {}
    for each in fields(cls):
        hint = hints[each.name]
        if bounds is not None and float in (hint, *get_args(hint)):
            hint = Annotated[float, bounds] | None if NoneType in get_args(hint) else Annotated[float, bounds]
        if cls is Estimate and each.name in ("low", "high"):  # null where the interval is unbounded
            hint = hint | None
        described: JsonObject = {"description": texts[each.name]} if each.name in texts else {}
        properties[each.name.removesuffix("_")] = described | _type(hint, definitions)
    return {
        "description": inspect.cleandoc(cls.__doc__ or "").split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type(hint: Any, definitions: dict[str, Json]) -> JsonObject:
    """Schema of a type hint."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in TYPES or hint is object:
        return {} if hint is object else {"type": TYPES[hint]}
    if is_dataclass(hint) or hint == Rate:
        cls, name, bounds = (Estimate, "Rate", arguments[1]) if hint == Rate else (hint, hint.__name__, None)
        if name not in definitions:
            definitions[name] = None  # stops the recursion of a class that refers to itself
            definitions[name] = _object(cls, definitions, bounds)
        return {"$ref": f"#/$defs/{name}"}
    if origin is Annotated:
        base, rule = arguments
        limits = rule._asdict() if isinstance(rule, Bounds) else {"pattern": rule}
        return _type(base, definitions) | {name: limit for name, limit in limits.items() if limit is not None}
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin is UnionType or str(origin) == "typing.Union":
        return {"anyOf": [_type(choice, definitions) for choice in arguments]}
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": _type(arguments[0], definitions)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _type(arguments[1], definitions)}
    raise TypeError(f"no JSON Schema for {hint}")


if __name__ == "__main__":
    from standout.findings import json_types  # whose types the findings have, unlike those of this script

    for file, content in json_types.schema_texts().items():
        (Path(sys.argv[1]) / file).write_text(content, encoding="utf-8")
