"""Ids of people that are decimal numbers: a latitude or a price was taken for a person."""

import numpy as np
from numpy.typing import NDArray

from standout.ingest.column_kinds import has_decimals
from standout.ingest.column_roles import decimals_error
from standout.release.labels import Labels
from standout.release.provenance import Provenance

__all__ = ["check_people"]

ZERO, NINE, POINT = ord("0"), ord("9"), ord(".")
IN_NUMBERS = np.zeros(256, bool)
IN_NUMBERS[[*range(ZERO, NINE + 1), *b"+-,."]] = True


def check_people(records: Labels, provenance: Provenance) -> None:
    """Raise an error if the id of any record is a number with decimals.

    Only ids that consist of digits and signs are looked at one by one, and only if one has a point or comma.
    """
    column = provenance.columns.get("record", "")
    if any(has_decimals(records[record]) for record in _numeric_ids(records)):
        raise decimals_error(column.removeprefix("column ") if column.startswith("column ") else repr(column))


def _numeric_ids(records: Labels) -> NDArray[np.int64]:
    """Positions of ids of digits and signs with a point or comma."""
    data, offsets = records.data, records.offsets
    separators = np.flatnonzero((data == POINT) | (data == ord(",")))
    if not len(separators):
        return separators
    owners = np.unique(np.searchsorted(offsets, separators, side="right") - 1)
    others = np.concatenate([[0], np.cumsum(~IN_NUMBERS[data])])
    numeric: NDArray[np.int64] = owners[others[offsets[owners + 1]] == others[offsets[owners]]]
    return numeric
