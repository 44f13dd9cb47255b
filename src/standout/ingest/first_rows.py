"""What the first rows of a source show: whether the first line is a header, and what each column looks like.

If it is not clear whether there is a header, the user must decide: a wrong guess would lose a person or an entry.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import prod

from standout.core.errors import ColumnError
from standout.data.labels import ColumnKind
from standout.ingest.cells import WITH_NUMBERS
from standout.ingest.column_names import (
    PLACE_ROLES,
    ROLES,
    default_role,
    has_id_name,
    is_coordinate_name,
    is_id_name,
    is_quasi_identifier,
    name_rank,
    recognise,
)
from standout.ingest.options import Options

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


def _mostly(cells: Sequence[str], holds: Callable[[str], object]) -> bool:
    return bool(cells) and sum(bool(holds(cell)) for cell in cells) >= MOSTLY * len(cells)


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
    if any(_mostly(cells, pattern.fullmatch) for pattern in CODES):
        return True
    distinct = len(set(cells)) >= DISTINCT * len(cells)
    return len(cells) >= ENOUGH and distinct and _mostly(cells, CODE.fullmatch)


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


# Whether the first line of a file has the names of its columns, in a history and in a survey.

TABLE_COLUMNS = 3
"""A table with one row per person has at least so many columns."""
UNCLEAR = "the first line may be a header or a row: add header=True or header=False"
SINGLE = "the file has a single line, which may be a header or a row: add header=True or header=False"
DIGITS = re.compile(r"[+-]?[\d.,:/-]*\d[\d.,:/-]*")
VALUE = re.compile(r"[+-]?[$€£¥]?\s?\.?\d[\d.,]*([eE][+-]?\d+)?\s?[%$€£¥]?")
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
    if any(not cell.strip() or _is_digits(cell) for cell in first) or len(set(first)) < len(first):
        return False
    if second is None:
        raise ColumnError(SINGLE)
    if are_names(first, [second]):
        return True
    if any(map(_is_digits, second)):
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
    return recognised > 1 or (recognised == 1 and bool(sample) and all(map(_is_digits, sample[0])))


def is_repeated(names: Sequence[str], sample: Sample) -> bool:
    """Whether a row repeats a name in its own column, so that the names may be a row of data."""
    return any(name in row[i : i + 1] for row in sample for i, name in enumerate(names))


def _is_digits(cell: str) -> bool:
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
    return VALUE.fullmatch(cell.strip()) is not None or looks_like_dates([cell.strip()])


def _is_known(name: str) -> bool:
    known = is_quasi_identifier(name) or has_id_name(name) or is_id_name(name)
    return known or default_role(name) == "sensitive"
