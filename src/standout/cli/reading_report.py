"""How a source was read, in lines that `index` and `describe` print."""

from collections.abc import Iterator
from typing import Any

__all__ = ["reading_lines"]


def reading_lines(provenance: dict[str, Any]) -> Iterator[str]:
    """Yield how a source was understood, and which rows were rejected or merged."""
    settings = dict(provenance["settings"])
    files = ", ".join(provenance["files"])
    yield f"read {files} as {provenance['format']}" if files else f"a {provenance['format']} release"
    if provenance["columns"]:
        columns = (f"{role} = {column}" for role, column in provenance["columns"].items())
        yield "  columns: " + ", ".join(columns)
    if settings:
        yield "  " + ", ".join(f"{name}: {setting}" for name, setting in settings.items())
    yield from _losses(provenance, settings)


def _losses(provenance: dict[str, Any], settings: dict[str, Any]) -> Iterator[str]:
    rejected = sum(provenance["rejected"].values())
    if rejected:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in provenance["rejected"].items())
        yield f"  rejected: {rejected:,} of {provenance['rows']:,} rows: {reasons}"
    if provenance["repeats"]:
        yield f"  repeated record and item: {provenance['repeats']:,} rows, {settings['repeats']} kept"
    for part in ("value", "time"):
        if provenance[f"without_{part}"]:
            yield f"  without a {part}: {provenance[f'without_{part}']:,} entries"
