"""A JSON schema as a page: one table of keys for the file, and one for each object in it."""

import json
from pathlib import Path
from typing import Any

SCHEMAS = {"findings": "findings.json of an audit", "advice": "advice.json", "links": "links.json"}
"""Title of the page of each schema of docs/."""


def schema_page(path: Path, title: str) -> str:
    """The schema as Markdown."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    intro = f"{schema.get('description', '')} The [schema]({path.name}) checks such a file; this page shows it."
    objects = [f"## {name}\n\n{_object(part)}" for name, part in schema["$defs"].items()]
    return "\n\n".join([f"# {title}", intro, "## The file", _table(schema), *objects]) + "\n"


def _object(part: dict[str, Any]) -> str:
    text = part.get("description", "")
    return f"{text}\n\n{_table(part)}" if "properties" in part else f"{text}\n\n{_kind(part)}"


def _table(part: dict[str, Any]) -> str:
    needed = set(part.get("required", ()))
    rows = [
        f"| `{key}`{'' if key in needed else ' (optional)'} | {_kind(value)} | {_text(value)} |"
        for key, value in part.get("properties", {}).items()
    ]
    return "\n".join(["| key | type | content |", "|---|---|---|", *rows])


def _kind(value: dict[str, Any]) -> str:
    """The type of a value in words, with links to the objects of the page."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in value:
        return " or ".join(f"`{json.dumps(choice, ensure_ascii=False)}`" for choice in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const'], ensure_ascii=False)}`"
    if "anyOf" in value:
        return " or ".join(_kind(choice) for choice in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_kind(value['items'])}" if "items" in value else "list"
    if isinstance(value.get("additionalProperties"), dict):
        return f"object of {_kind(value['additionalProperties'])}"
    return str(value.get("type", "any")) + _bounds(value)


def _bounds(value: dict[str, Any]) -> str:
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" ≥ {low}" if low is not None else f" ≤ {high}" if high is not None else ""


def _text(value: dict[str, Any]) -> str:
    return str(value.get("description", "")).replace("|", "\\|").replace("\n", " ")
