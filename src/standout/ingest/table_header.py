"""Decide whether the first line of a table has the names of its columns."""

import re
from collections import Counter
from collections.abc import Sequence
from math import prod

from standout.core.errors import ColumnError
from standout.ingest.cell_texts import WITH_NUMBERS
from standout.ingest.column_kinds import column_cells, looks_like_dates
from standout.ingest.column_names import is_id_name, is_quasi_identifier
from standout.ingest.column_types import default_role
from standout.ingest.header import is_repeated
from standout.ingest.id_column import has_id_name
from standout.ingest.options import Options

__all__ = ["has_header"]

UNCLEAR = "the first line may be a header or a row: add header=True or header=False"
NUMBER = re.compile(r"[+-]?[$€£¥]?\s?\.?\d[\d.,]*([eE][+-]?\d+)?\s?[%$€£¥]?")
MOSTLY = 0.9
DOUBT = 0.01
"""Largest probability that a line of names is a row of data."""
KNOWN = 0.1
"""Factor of this probability for each well-known name."""


def has_header(rows: Sequence[Sequence[str]], options: Options) -> bool:
    """Whether the first row has the names of the columns.

    A row with a number or a date, or with a cell that occurs again in its column, has no names (unless a word
    in it is above numbers: then the user must decide). Otherwise it
    has names if a row of data would hardly look like this: its cells are new in columns whose cells repeat,
    and there are words above numbers or well-known names. If this is not clear, the user must decide: a wrong
    guess would lose a person.
    """
    if options.header is not None:
        return options.header
    first, sample = rows[0], rows[1:]
    named = [cell for cell in first if cell.strip()]
    columns = [column_cells(sample, column) for column in range(len(first))]
    if any(map(_is_value, named)) and not any(map(_is_word_above_values, first, columns)):
        return False
    if is_repeated([cell or "\0" for cell in first], sample):
        return False
    if any(map(_is_value, named)):
        raise ColumnError(UNCLEAR)
    known = sum(map(_is_known, named))
    chance = KNOWN**known * prod(map(_chance_of_a_new_word, columns))
    if chance <= DOUBT and (known or any(_is_value(cell) for cells in columns for cell in cells)):
        return True
    raise ColumnError(UNCLEAR)


def _chance_of_a_new_word(cells: Sequence[str]) -> float:
    """Probability that a further cell is a word that did not occur: the share of words that occur once."""
    words = Counter(cell for cell in cells if not _is_value(cell))
    once = sum(count == 1 for count in words.values())
    return (once + 1) / (len(cells) + 1)


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
