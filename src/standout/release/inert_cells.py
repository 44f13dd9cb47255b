"""Texts of a CSV file that a spreadsheet would execute: written so that they stay text, and read back."""

import polars as pl

__all__ = ["exact", "exact_text", "inert", "inert_text"]

FORMULA_START = "=+-@\t\r\n＝＋－＠"
"""Beginnings of a formula in a spreadsheet, including the full-width forms."""
FORMULA = r"[=+\-@\t\r\n＝＋－＠]"


def inert(table: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text that a spreadsheet would execute.

    Texts that already begin with apostrophes and then such a character get one more, so that `exact` restores
    every text. Numbers and dates stay as they are.

    >>> inert(pl.DataFrame({"record": ["7", "=1+1", "-3", "'-3"]}))["record"].to_list()
    ['7', "'=1+1", "'-3", "''-3"]
    """
    texts = pl.col(pl.String)
    changed = pl.when(texts.str.contains(f"^'*{FORMULA}")).then("'" + texts).otherwise(texts)
    return table.with_columns(changed.name.keep())


def exact(table: pl.DataFrame) -> pl.DataFrame:
    """The table as it was before `inert`.

    >>> exact(inert(pl.DataFrame({"record": ["7", "=1+1", "'-3", "'t"]})))["record"].to_list()
    ['7', '=1+1', "'-3", "'t"]
    """
    texts = pl.col(pl.String)
    changed = pl.when(texts.str.contains(f"^'+{FORMULA}")).then(texts.str.slice(1)).otherwise(texts)
    return table.with_columns(changed.name.keep())


def inert_text(text: str) -> str:
    """A text as `inert` writes it.

    >>> inert_text("=1+1"), inert_text("'Round Midnight")
    ("'=1+1", "'Round Midnight")
    """
    return f"'{text}" if text.lstrip("'").startswith(tuple(FORMULA_START)) else text


def exact_text(text: str) -> str:
    """Return a text as it was before `inert`.

    >>> exact_text("'=1+1"), exact_text("'Round Midnight"), exact_text("''-3")
    ('=1+1', "'Round Midnight", "'-3")
    """
    return text[1:] if text.startswith("'") and inert_text(text) != text else text
