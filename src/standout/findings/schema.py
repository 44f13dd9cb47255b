"""JSON Schema generated from the dataclasses of findings.

The first line of a class's docstring describes the object, and its lines "name: text" describe the
properties (or an "Attributes" section, in the style of NumPy).
`python -m standout.findings.schema docs` writes the schemas of findings.json, advice.json and links.json.
"""

import inspect
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from standout.core.json_files import Json, JsonObject
from standout.evaluate.estimates import Estimate
from standout.findings.json_types import Bounds, Pattern, Rate

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN: dict[Any, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    object: {},
}
UNKNOWN_ENDS = ("low", "high")
"""Numbers of an estimate that are null where the interval is unbounded."""


def schema_of(findings: type, title: str) -> JsonObject:
    """JSON Schema of the JSON form of a dataclass: see `to_json`."""
    definitions: dict[str, Json] = {}
    schema: JsonObject = {"$schema": DIALECT, "title": title}
    schema |= _object(findings, definitions)
    schema["$defs"] = dict(sorted(definitions.items()))
    return schema


def schema_texts() -> dict[str, str]:
    """Texts of all schemas by the name of their file."""
    from standout.findings import advice, audit, links

    schemas = {
        "findings": (audit.AuditFindings, audit.SCHEMA_TITLE),
        "advice": (advice.AdviceFindings, advice.SCHEMA_TITLE),
        "links": (links.LinksFile, links.SCHEMA_TITLE),
    }
    return {
        f"{name}.schema.json": json.dumps(schema_of(*schema), indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }


def attribute_descriptions(cls: type) -> dict[str, str]:
    """Descriptions in the docstrings of a class and its bases, by name of the attribute."""
    descriptions: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "") if is_dataclass(base) else ""
        for match in re.finditer(r"^(\w+(?:, \w+)*)(?::|\n   ) (.+(?:\n    .+)*)", text, re.MULTILINE):
            descriptions |= dict.fromkeys(match[1].split(", "), " ".join(match[2].split()))
    return descriptions


def _object(cls: type, definitions: dict[str, Json], bounds: Bounds | None = None) -> JsonObject:
    """Schema of a dataclass; `bounds` apply to all its floating-point numbers."""
    hints, texts = get_type_hints(cls, include_extras=True), attribute_descriptions(cls)
    properties: dict[str, Json] = {}
    for field in fields(cls):
        hint = hints[field.name]
        if bounds is not None and float in (hint, *get_args(hint)):
            hint = Annotated[float, bounds] | None if NoneType in get_args(hint) else Annotated[float, bounds]
        if cls is Estimate and field.name in UNKNOWN_ENDS:
            hint = hint | None
        described: JsonObject = {"description": texts[field.name]} if field.name in texts else {}
        properties[field.name.removesuffix("_")] = described | _type(hint, definitions)
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
    if hint in PLAIN:
        return dict(PLAIN[hint])
    if is_dataclass(hint):
        return _reference(hint, definitions)  # type: ignore[arg-type]
    if hint == Rate:
        return _reference(Estimate, definitions, "Rate", arguments[1])
    if origin is Annotated:
        base, rule = arguments
        limits = (
            {"pattern": rule.regex}
            if isinstance(rule, Pattern)
            else {"minimum": rule.minimum} | {"maximum": rule.maximum}
        )
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


def _reference(cls: type, definitions: dict[str, Json], name: str = "", bounds: Bounds | None = None) -> JsonObject:
    """Reference to the definition of a dataclass, which is added where it is missing."""
    name = name or cls.__name__
    if name not in definitions:
        definitions[name] = None  # stops the recursion of a class that refers to itself
        definitions[name] = _object(cls, definitions, bounds)
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    for file, text in schema_texts().items():
        (Path(sys.argv[1]) / file).write_text(text, encoding="utf-8")
