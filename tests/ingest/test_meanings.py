"""What names, texts and cells mean, by example."""

import numpy as np
import polars as pl

from standout.ingest.cells import ALWAYS, distinct_cells, evident_order, missing_in, numbers_in, recognise_separator
from standout.ingest.kinds import one_digit
from standout.ingest.names import default_role, has_id_name, is_code_name, name_rank, name_words, place_roles
from standout.ingest.places import Geohash, Grid
from standout.ingest.roles import column_kinds
from standout.ingest.sources import public_url
from standout.ingest.times import TimeBin, are_dates, dates_in
from standout.ingest.tokens import TextDecoder, without_marks


def test_one_text_means_what_it_says():
    for function, meanings in [
        (name_words, {"Book-Rating": ["book", "rating"], "customerID": ["customer", "id"]}),
        (lambda name: name_rank(name, "record"), {"userId": 0, "user": 1, "age": None}),
        (place_roles, {"start_lat": ["latitude"], "Längengrad": ["longitude"], "x": ["latitude", "longitude"]}),
        (has_id_name, {"patient_id": True, "ID": True, "age": False, "film_id": False}),
        (is_code_name, {"ZIP": True, "icd_code": True, "age": False, "education-num": False}),
        (default_role, {"native-country": "quasi-identifier", "Diagnosis": "sensitive", "hours": "other"}),
        (one_digit, {1.8: 2.0, 0.034: 0.03, 4_870.0: 5000.0}),
        (lambda text: str(TimeBin.of(text)), {"90 min": "90 minutes", "24h": "day", "7d": "7 days", "week": "week"}),
        (public_url, {"https://me:secret@example.org/a.csv?signature=abc": "https://example.org/a.csv"}),
        (without_marks, {b"\xef\xbb\xbf\xef\xbb\xbfuser": b"user"}),
    ]:
        assert {text: function(text) for text in meanings} == meanings


def test_several_cells_mean_what_they_say():
    cells = distinct_cells(pl.Series([" b", "a", None, "b", ""]))
    assert (cells.values.to_list(), cells.codes.tolist()) == (["a", "b"], [1, 0, 2, 1, 2])
    assert numbers_in(pl.Series(["1,5", "2"]))[1] == "with a decimal comma"
    assert evident_order(["high", "low", "medium"]) == ([1, 2, 0], "the names are a scale")
    assert evident_order(["20-29", "30-39", "<20", "40+"]) == ([2, 0, 1, 3], "the levels are bands of numbers")
    assert evident_order(["1 - never", "5 - always", "3"]) == ([0, 2, 1], "the levels are numbered")
    assert evident_order(["red", "green"]) is None and evident_order(["1 - low", "2 - high", "3" * 5_000]) is None
    assert recognise_separator(pl.Series(["a;b", "a", "b;c;a"]), np.array([4, 2, 3])) == ";"
    assert recognise_separator(pl.Series(["Smith, Jane", "Jones, Tim"]), np.array([1, 1])) is None
    assert missing_in(pl.Series(["?", "private", "N/A"]), ALWAYS).to_list() == [True, False, True]
    rows = [["a", "52.517", "13.389", "1"], ["b", "48.137", "11.575", "0"]]
    assert column_kinds(["1", "2", "3", "4"], rows) == ["text", "number", "number", "number"]
    assert dates_in(pl.Series(["1970-01-02", "1970-01-11 08:30"])).days.tolist() == [1, 10]
    assert not dates_in(pl.Series(["3/4/2005", "4/3/2005"])).fits.any()
    assert are_dates(pl.Series(["25/12/2004", "2004-12-25"])) and not are_dates(pl.Series(["12:30", "soon"]))


def test_resolutions_nest_if_each_cell_lies_within_one():
    assert Grid(0.01).nests_in(Grid(0.1)) and not Grid(0.02).nests_in(Grid(0.05))
    assert Geohash(6).nests_in(Geohash(5)) and not Geohash(5).nests_in(Geohash(6))


def test_text_that_is_not_utf8_is_windows_1252_or_damaged():
    decoder, damaged = TextDecoder(), TextDecoder()
    assert decoder.to_utf8(b"user,item\na,caf\xe9\n", 1).decode() == "user,item\na,café\n"
    assert decoder.is_windows and decoder.invalid_line is None
    assert damaged.to_utf8("a,café".encode() + b"\xff\n", 1).decode() == "a,café\ufffd\n"
    assert damaged.invalid_line == 1
