"""What an unused column looks like: a date, a coordinate, a number, an id, a quasi-identifier or text."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from standout.data.labels import ColumnKind
from standout.ingest.column_names import is_coordinate_name, is_id_name, is_quasi_identifier, name_rank

__all__ = ["NESTED", "Sample", "column_cells", "column_kinds", "has_decimals", "looks_like_dates"]

Sample = Sequence[Sequence[str]]
"""A few rows of a source, as text."""

MOSTLY = 0.9
"""Smallest share of cells that decides about a column."""
DISTINCT, ENOUGH = 0.95, 10
"""Codes are ids if nearly all of them differ, in at least ENOUGH cells."""
NUMBER = re.compile(r"[+-]?[$€£]?\s?(\d+|\d{1,3}([ ,.'’]\d{3})+)?([.,]\d*)?([eE][+-]?\d+)?\s?[%$€£]?")
DECIMAL = re.compile(r"[+-]?\d*[.,](\d*[1-9]\d*)0*([eE][+-]?\d+)?")
PRECISE = re.compile(r"[+-]?\d{0,3}[.,]\d{3,}")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|fév|avr|juin|aoû|déc)"
DAY = r"(0?[1-9]|[12]\d|3[01])"
DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(1[6-9]|20|21)\d\d[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])([T ,].*)?",  # 2005-03-01
        rf"{DAY}[-/. ]{DAY}[-/., ]\s?((1[6-9]|20|21)\d\d|\d\d)([T ,].*)?",  # 1.3.2005
        r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([T ]?\d{4,6})?",  # 20050301
        rf"(\w{{2,9}}\.?,? )?\d{{1,2}}\.?[- /]{MONTH}\w*\.?[- /,]*\d{{2,4}}.*",  # 1 March 2005
        rf"(\w{{2,9}}\.?,? )?{MONTH}\w*\.?[- ]\d{{1,2}}\b.*\d{{4}}.*",  # March 1, 2005
        r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[ap]\.?m\.?)?",  # 12:30, a time of day
        r"(19|20)\d\d-(0[1-9]|1[0-2])",  # 2005-03
    )
]
UNIX = re.compile(r"(\d{9,10}|\d{12,13}|\d{15,16}|\d{18,19})(\.\d*)?")
CODES = [
    re.compile(pattern)
    for pattern in (
        r"[^@\s]+@[^@\s]+\.[^@\s]+",  # an e-mail address
        r"\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?",  # a UUID
        r"[0-9a-fA-F]{16,}",  # a hash
        r"\d{1,3}(\.\d{1,3}){3}",  # an IP address
        r"\+?[\d ()/-]{7,}",  # a telephone number
    )
]
CODE = re.compile(r"(?=.*\d)[^\s]{4,}")
NESTED = "{}"
"""Cell that represents an object, a list or bytes."""


def column_cells(sample: Sample, column: int) -> list[str]:
    """Cells of a column that are not empty, without surrounding spaces."""
    cells = (row[column].strip() for row in sample if column < len(row))
    return [cell for cell in cells if cell]


def column_kinds(names: Sequence[str], sample: Sample) -> list[ColumnKind]:
    """Kind of each column, from its name and a few rows; two adjacent columns may be coordinates together.

    >>> rows = [["a", "52.517", "13.389", "1"], ["b", "48.137", "11.575", "0"]]
    >>> column_kinds(["column 1", "column 2", "column 3", "column 4"], rows)
    ['text', 'coordinate', 'coordinate', 'number']
    """
    cells = [column_cells(sample, column) for column in range(len(names))]
    kinds = [column_kind(name, own) for name, own in zip(names, cells, strict=True)]
    for left in range(len(names) - 1):
        pair = (cells[left], cells[left + 1])
        if kinds[left] == kinds[left + 1] == "number" and _are_coordinates(*pair):
            kinds[left] = kinds[left + 1] = "coordinate"
    return kinds


def column_kind(name: str, cells: Sequence[str]) -> ColumnKind:
    """Kind of one column, from its name and some of its cells."""
    if is_quasi_identifier(name):
        return "quasi-identifier"
    if _mostly(cells, _is_nested):
        return "nested"
    numbers = _mostly(cells, _is_number)
    if is_coordinate_name(name) and (numbers or not cells):
        return "coordinate"
    if is_id_name(name):
        return "id"
    if looks_like_dates(cells) or (name_rank(name, "time") is not None and not numbers and _have_digits(cells)):
        return "date"
    if numbers or (not cells and name_rank(name, "value") is not None):
        return "number"
    if not cells:
        return "empty"
    return "id" if _are_codes(cells) else "text"


def looks_like_dates(cells: Sequence[str]) -> bool:
    """Whether cells look like dates, times of day or Unix times.

    >>> looks_like_dates(["1/12/2010 8:26", "13.1.2010"]), looks_like_dates(["7", "8"])
    (True, False)
    """
    return _mostly(cells, _is_date)


def has_decimals(cell: str) -> bool:
    """Whether a cell is a number with a fraction that is not zero.

    >>> has_decimals("52.516"), has_decimals("17850.0"), has_decimals("1,234")
    (True, False, False)
    """
    return DECIMAL.fullmatch(cell) is not None and THOUSANDS.fullmatch(cell) is None


def _mostly(cells: Sequence[str], holds: Callable[[str], bool]) -> bool:
    return bool(cells) and sum(map(holds, cells)) >= MOSTLY * len(cells)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None and any(map(str.isdigit, cell))


def _is_date(cell: str) -> bool:
    if UNIX.fullmatch(cell):
        digits = cell.split(".")[0]
        seconds = int(digits[: len(digits) - 3 * ((len(digits) - 9) // 3)])
        return 10**8 <= seconds < 23 * 10**8  # 1973 to 2042
    return any(pattern.fullmatch(cell) for pattern in DATES)


def _is_nested(cell: str) -> bool:
    return cell.startswith(("{", "[")) and cell.endswith(("}", "]"))


def _have_digits(cells: Sequence[str]) -> bool:
    return not cells or any(character.isdigit() for cell in cells for character in cell)


def _are_codes(cells: Sequence[str]) -> bool:
    if any(_mostly(cells, partial(_matches, pattern)) for pattern in CODES):
        return True
    distinct = len(set(cells)) >= DISTINCT * len(cells)
    return len(cells) >= ENOUGH and distinct and _mostly(cells, partial(_matches, CODE))


def _matches(pattern: re.Pattern[str], cell: str) -> bool:
    return pattern.fullmatch(cell) is not None


def _is_precise(cell: str) -> bool:
    """Whether a cell has three decimals or more, as coordinates have and prices do not."""
    return PRECISE.fullmatch(cell) is not None and THOUSANDS.fullmatch(cell) is None


def _are_coordinates(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two columns have decimals within ±90 and ±180 degrees, in either order."""
    if not (_mostly(left, _is_precise) and _mostly(right, _is_precise)):
        return False
    ends = sorted(max(abs(_number(cell)) for cell in cells) for cells in (left, right))
    return ends[0] <= 90 and ends[1] <= 180


def _number(cell: str) -> float:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return 0.0
