"""A cell is empty only if it is a listed marker, and equal cells have equal levels."""

import warnings

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import standout as so

ALWAYS = {"na", "n/a", "n.a.", "#n/a", "<na>", "?", "null", "nan", "nil", "missing", ""}
WITH_NUMBERS = ALWAYS | {"-", "--", ".", "none", "unknown", "not available", "not known", "k.a.", "unbekannt"}
POOL = [
    "1", "2", "2.5", "1,5", "1,234", "1e3", "-3", "007", "$5", "5 %", "yes", "no", "Yes", "0", "low", "high",
    "20-29", "30+", "<20", "2020-01-01", "2020-02-30", "1.2.2020", "31/12/2020", "2020-05", "20201231", "a;b",
    "a", "b;c", "a|b", "x, y", "NA", "N/A", "?", "-", "none", "unknown", "", " ", "inf", "nan", "Ä",
    "1 - never", "12:30", "1970-01-01T10:00", "99999999999999999999", "é" * 50,
]  # fmt: skip
CELLS = st.lists(st.sampled_from(POOL), min_size=1, max_size=6, unique=True).flatmap(
    lambda pool: st.lists(st.sampled_from(pool), min_size=2, max_size=25)
)


@given(CELLS)
def test_a_cell_is_empty_only_if_it_is_a_marker(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", so.ReadingWarning)
        table = so.read(pl.DataFrame({"c": cells, "row": ["r"] * len(cells)}), record=False)
    column = table.column("c")
    markers = WITH_NUMBERS if column.kind in ("number", "date", "boolean") else ALWAYS
    stripped = [cell.strip() for cell in cells]
    expected = [cell.lower() in markers for cell in stripped]
    assert column.is_missing.tolist() == expected
    note = table.provenance.column_notes["c"]
    assert f"{sum(expected):,} empty cell" in note
    if column.starts is None:
        levels = dict(zip(stripped, column.codes.tolist(), strict=True))
        assert [levels[cell] for cell in stripped] == column.codes.tolist()


@given(CELLS)
def test_the_schema_of_a_table_reads_it_again(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", so.ReadingWarning)
        frame = pl.DataFrame({"c": cells, "row": ["r"] * len(cells)})
        table = so.read(frame, record=False)
        again = so.read(frame, schema=so.Schema.of(table))
    assert again.fingerprint == table.fingerprint
    assert [column.similarity for column in again.columns] == [column.similarity for column in table.columns]
