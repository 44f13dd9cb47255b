"""How a source was read, in lines that `index` and `describe` print."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from standout.release.provenance import Provenance

__all__ = ["reading_lines"]


def reading_lines(provenance: "Provenance") -> Iterator[str]:
    """Yield how a source was understood, and which rows were rejected or merged."""
    files = ", ".join(provenance.files)
    yield f"read {files} as {provenance.format}" if files else f"a {provenance.format} release"
    if provenance.columns:
        columns = (f"{role} = {column}" for role, column in provenance.columns.items())
        yield "  columns: " + ", ".join(columns)
    if provenance.settings:
        yield "  " + ", ".join(f"{name}: {setting}" for name, setting in provenance.settings.items())
    yield from _losses(provenance)


def _losses(provenance: "Provenance") -> Iterator[str]:
    rejected = sum(provenance.rejected.values())
    if rejected:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in provenance.rejected.items())
        yield f"  rejected: {rejected:,} of {provenance.rows:,} rows: {reasons}"
    if provenance.repeats:
        kept = provenance.settings["repeats"]
        what = "all kept" if kept == "keep" else f"{kept} kept"
        yield f"  repeated record and item: {provenance.repeats:,} rows, {what}"
    for part, missing in (("value", provenance.without_value), ("time", provenance.without_time)):
        if missing:
            yield f"  without a {part}: {missing:,} entries"
