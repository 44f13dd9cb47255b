"""The call that an error suggests for a file without a header; the command line shows it as a command."""

from collections.abc import Sequence

from standout.ingest.column_kinds import Sample, column_cells, has_decimals
from standout.ingest.column_names import PLACE_ROLES
from standout.ingest.options import Options
from standout.release.provenance import ColumnKind

__all__ = ["example_command"]

NO_PERSON = "No column looks like a person: add one (record=…), or take the file's name (record_from_name=…)"
RESOLUTION = "grid=0.01"
HIGHEST_LATITUDE = 90.0


def example_command(kinds: Sequence[ColumnKind], sample: Sample, options: Options, source: str) -> str:
    """Suggest a complete call, if a column may be a person, or if the columns look like places."""
    people = [c for kind in ("id", "text", "number") for c in _whole(kinds, sample, kind)]
    record = people[0] if people and options.record_from_name is None else None
    time = next((c for c, kind in enumerate(kinds) if kind == "date"), None)
    if (places := _coordinates(kinds, sample)) and not options.items:
        columns = _typed([*zip(PLACE_ROLES, places, strict=True), ("time", time)])
        return _for_places(columns, kinds, record, options, source)
    if options.record_from_name is not None:
        return f"The record is the file's name: name the item with item=…, such as item={_first(people)}"
    if record is None:
        return NO_PERSON
    if len(people) == 1:
        return f"No column but {record + 1} looks like an item: name it with item=…"
    item = min(people[1:])
    value = next((c for c, kind in enumerate(kinds) if kind == "number" and c not in (record, item)), None)
    roles = [("record", record), ("item", item), ("value", value), ("time", time)]
    return f"For example: so.read({source!r}, {_typed(roles)})"


def _for_places(
    columns: str, kinds: Sequence[ColumnKind], record: int | None, options: Options, source: str
) -> str:
    """Example for places. A column of numbers may be a person, or each file is one."""
    resolution = RESOLUTION
    if options.places is not None:
        resolution = f"grid={options.grid!r}" if options.geohash is None else f"geohash={options.geohash}"
    pattern = options.record_from_name or "REGEX"
    by_file = f"so.read('FOLDER', record_from_name={pattern!r}, {columns}, {resolution})"
    if options.record_from_name is not None:
        return f"For example: {by_file}"
    if record is None:
        return f"No column looks like a person: add one (record=…). If each file is one person: {by_file}"
    instead = " (if each file is one person: record_from_name='REGEX' instead of record=…)"
    note = instead if kinds[record] == "number" else ""
    columns = f"record={record + 1}, {columns}"
    return f"For example{note}: so.read({source!r}, {columns}, {resolution})"


def _typed(roles: Sequence[tuple[str, int | None]]) -> str:
    return ", ".join(f"{role}={column + 1}" for role, column in roles if column is not None)


def _first(columns: Sequence[int]) -> str:
    return str(columns[0] + 1) if columns else "COLUMN"


def _coordinates(kinds: Sequence[ColumnKind], sample: Sample) -> tuple[int, ...]:
    """Columns of latitude and longitude; the first is the latitude unless it is beyond ±90 degrees."""
    columns = [column for column, kind in enumerate(kinds) if kind == "coordinate"][:2]
    if len(columns) < 2:
        return ()
    first = (float(cell.replace(",", ".")) for cell in column_cells(sample, columns[0]) if _is_degree(cell))
    is_swapped = any(abs(degrees) > HIGHEST_LATITUDE for degrees in first)
    return (columns[1], columns[0]) if is_swapped else (columns[0], columns[1])


def _is_degree(cell: str) -> bool:
    return cell.lstrip("+-").replace(",", ".").replace(".", "", 1).isdecimal()


def _whole(kinds: Sequence[ColumnKind], sample: Sample, wanted: str) -> list[int]:
    """Columns of a kind that may be ids: no decimals, and not only yes and no."""
    return [
        column
        for column, kind in enumerate(kinds)
        if kind == wanted
        and not any(map(has_decimals, cells := column_cells(sample, column)))
        and {*cells} not in ({"0"}, {"0", "1"})
    ]
