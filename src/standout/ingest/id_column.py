"""Find the column with the ids of the rows."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from standout.core.errors import ColumnError
from standout.data.labels import Labels
from standout.ingest.column_names import is_quasi_identifier, name_rank, name_words, plain_name
from standout.ingest.distinct_cells import DistinctCells
from standout.ingest.known_names import IDS

__all__ = ["check_ids", "choose_id", "has_id_name", "id_labels", "may_be_id"]

CODE = re.compile(r"[A-Za-z]{0,12}[-_]?\d+|[0-9a-fA-F]{16,}|\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?")
FEWEST = 5
SAMPLE = 1_000


def has_id_name(name: str) -> bool:
    """Whether a name is that of the id of a person or a row.

    >>> has_id_name("patient_id"), has_id_name("ID"), has_id_name("age"), has_id_name("film_id")
    (True, True, False, False)
    """
    if is_quasi_identifier(name):
        return False
    return plain_name(name) in IDS or name_rank(name, "record") is not None or name_words(name)[:1] == ["id"]


def id_rank(name: str) -> int:
    """How well known a name is as that of the id; 0 is best."""
    if plain_name(name) == "id":
        return 0
    rank = name_rank(name, "record")
    return 1 + (rank if rank is not None else 50)


def row_number_reason(position: int, name: str, cells: DistinctCells) -> str:
    """Why a first column without a known name may be the id: row numbers or codes; "" if not."""
    if position or cells.n_rows < FEWEST or not cells.all_differ or is_quasi_identifier(name):
        return ""
    values = cells.values
    numbers = values.cast(pl.Int64, strict=False) if cells.is_text else values
    if numbers.dtype.is_integer() and not numbers.is_null().any():
        lowest, highest = int(np.min(numbers.to_numpy())), int(np.max(numbers.to_numpy()))
        return "it numbers the rows" if lowest in (0, 1) and highest - lowest + 1 == cells.n_rows else ""
    if cells.is_text and all(CODE.fullmatch(text) for text in values.head(SAMPLE).to_list()):
        return "it is the first column, and each row has a code of its own"
    return ""


def may_be_id(position: int, name: str, cells: DistinctCells) -> bool:
    """Whether a column may be the id of the rows."""
    if cells.starts is not None or not cells.all_differ:
        return False
    return has_id_name(name) or bool(row_number_reason(position, name, cells))


def check_ids(name: str, cells: DistinctCells) -> None:
    """Raise an error unless each row has an id of its own."""
    if empty := int(cells.counts[cells.empty]):
        raise ColumnError(
            f"column {name!r} has no id in {empty:,} rows: fill them in, or name another column with id=…"
        )
    if not cells.all_differ:
        shared = int(cells.counts[:-1][cells.counts[:-1] > 1].sum())
        raise ColumnError(
            f"{shared:,} of {cells.n_rows:,} rows share their id in column {name!r}: a table "
            "has one row per person; a history is read with so.read"
        )
    if cells.values.dtype.is_float() and not cells.texts.str.contains(r"^-?\d+$").all():
        raise ColumnError(f"column {name!r} has fractions: ids must be text or whole numbers")


def id_labels(cells: DistinctCells) -> Labels:
    """Ids of all rows, as text."""
    texts = cells.texts.gather(cells.codes.astype(np.uint32))
    ends = np.cumsum(texts.str.len_bytes().to_numpy().astype(np.int64))
    joined = "".join(texts.to_list()).encode()
    return Labels(np.append(0, ends), np.frombuffer(joined, np.uint8))


def choose_id(names: Sequence[str], cells: Mapping[int, DistinctCells]) -> tuple[int, str] | None:
    """Position of the id column and why, from those whose cells all differ; None if there is none."""
    named = [i for i in cells if has_id_name(names[i]) and cells[i].all_differ]
    if named:
        best = min(named, key=lambda i: (id_rank(names[i]), i))
        return best, "its name, and no two rows are equal"
    for position, own in cells.items():
        if reason := row_number_reason(position, names[position], own):
            return position, reason
    return None
