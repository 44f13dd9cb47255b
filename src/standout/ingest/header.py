"""Decide whether the first line of a file has the names of its columns, in a history and in a survey.

If it is not clear, the user must decide: a wrong guess would lose a person or somebody's entry.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import prod

from standout.core.errors import ColumnError
from standout.ingest.cells import WITH_NUMBERS
from standout.ingest.column_kinds import Sample, column_cells, looks_like_dates
from standout.ingest.column_names import (
    PLACE_ROLES,
    ROLES,
    default_role,
    has_id_name,
    is_id_name,
    is_quasi_identifier,
    recognise,
)
from standout.ingest.options import Options

TABLE_COLUMNS = 3
"""A table with one row per person has at least so many columns."""
UNCLEAR = "the first line may be a header or a row: add header=True or header=False"
SINGLE = "the file has a single line, which may be a header or a row: add header=True or header=False"
DIGITS = re.compile(r"[+-]?[\d.,:/-]*\d[\d.,:/-]*")
NUMBER = re.compile(r"[+-]?[$€£¥]?\s?\.?\d[\d.,]*([eE][+-]?\d+)?\s?[%$€£¥]?")
MOSTLY = 0.9
DOUBT, KNOWN = 0.01, 0.1
"""Largest probability that a line of names is a row of data, and its factor for each well-known name."""


def history_has_header(rows: Sequence[Sequence[str]], options: Options) -> bool:
    """Whether the first line of a history is a header.

    It is one if it contains a column that the user named, or if its names are well known. It may be either if
    there are words above numbers, or if there is a single line.
    """
    if options.header is not None:
        return options.header
    first, second = rows[0], rows[1] if len(rows) > 1 else None
    if any(isinstance(name, str) and not name.isdecimal() and name in first for name in options.named):
        return True
    wanted = ("record", "item") if options.places is None else PLACE_ROLES
    if all(recognise(first, role) for role in wanted):
        return True
    if any(not cell.strip() or _is_number(cell) for cell in first) or len(set(first)) < len(first):
        return False
    if second is None:
        raise ColumnError(SINGLE)
    if are_names(first, [second]):
        return True
    if any(map(_is_number, second)):
        raise ColumnError(UNCLEAR + table_hint(first, [second]))
    return False


def table_hint(names: Sequence[str], sample: Sample) -> str:
    """How to read a source that may be a table with one row per person; "" if a person has several rows."""
    if len(names) < TABLE_COLUMNS or recognise(names, "item"):
        return ""
    for column in recognise(names, "record"):
        cells = column_cells(sample, column)
        if len(set(cells)) < len(cells):
            return ""
    return ". If each row is one person, it is a table: add kind='table'"


def are_names(names: Sequence[str], sample: Sample) -> bool:
    """Whether two roles are recognised, or one above a row of numbers, and no row repeats a name."""
    if is_repeated(names, sample):
        return False
    recognised = sum(bool(recognise(names, role)) for role in ROLES)
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(_is_number, sample[0])))


def is_repeated(names: Sequence[str], sample: Sample) -> bool:
    """Whether a row repeats a name in its own column, so that the names may be a row of data."""
    return any(name in row[i : i + 1] for row in sample for i, name in enumerate(names))


def _is_number(cell: str) -> bool:
    return DIGITS.fullmatch(cell.strip()) is not None


def table_has_header(rows: Sequence[Sequence[str]], options: Options) -> bool:
    """Whether the first row of a survey has the names of the columns.

    A row with a number or a date, or with a cell that occurs again in its column, has no names (unless a word
    in it is above numbers: then the user must decide). Otherwise it has names if a row of data would hardly look
    like this: its cells are new in columns whose cells repeat, and there are words above numbers or well-known
    names.
    """
    if options.header is not None:
        return options.header
    first, sample = rows[0], rows[1:]
    named = [cell for cell in first if cell.strip()]
    columns = [column_cells(sample, column) for column in range(len(first))]
    has_values = any(map(_is_value, named))
    if has_values and not any(map(_is_word_above_values, first, columns)):
        return False
    if is_repeated([cell or "\0" for cell in first], sample):
        return False
    known = sum(map(_is_known, named))
    chance = KNOWN**known * prod(map(_chance_of_a_new_word, columns))
    if not has_values and chance <= DOUBT and (known or any(_is_value(cell) for cells in columns for cell in cells)):
        return True
    raise ColumnError(UNCLEAR)


def _chance_of_a_new_word(cells: Sequence[str]) -> float:
    """Probability that a further cell is a word that did not occur: the share of words that occur once."""
    words = Counter(cell for cell in cells if not _is_value(cell))
    return (sum(count == 1 for count in words.values()) + 1) / (len(cells) + 1)


def _is_word_above_values(cell: str, cells: Sequence[str]) -> bool:
    """Whether a cell is a word, and no usual one for an empty cell, and most cells below are values."""
    if not cell.strip() or _is_value(cell) or cell.strip().lower() in WITH_NUMBERS or not cells:
        return False
    return sum(map(_is_value, cells)) >= MOSTLY * len(cells)


def _is_value(cell: str) -> bool:
    """Whether a cell is a number or a date."""
    return NUMBER.fullmatch(cell.strip()) is not None or looks_like_dates([cell.strip()])


def _is_known(name: str) -> bool:
    known = is_quasi_identifier(name) or has_id_name(name) or is_id_name(name)
    return known or default_role(name) == "sensitive"
