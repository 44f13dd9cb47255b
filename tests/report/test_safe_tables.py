"""CSV files that a spreadsheet cannot execute."""

import polars as pl

from standout.data.export import inert


def test_texts_that_a_spreadsheet_would_execute_get_an_apostrophe():
    texts = ["=1", "+1", "-1", "@1", "\t1", "\r1", "＝1", "1=1", "", None]
    table = inert(pl.DataFrame({"text": texts, "n": range(10)}))
    assert table["text"].to_list() == ["'=1", "'+1", "'-1", "'@1", "'\t1", "'\r1", "'＝1", "1=1", "", None]
