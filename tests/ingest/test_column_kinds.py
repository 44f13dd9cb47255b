"""Kinds of columns: by their names, and by a few cells."""

import pytest

from standout.ingest.names import name_rank
from standout.ingest.roles import column_kinds, has_decimals, looks_like_dates

pytestmark = pytest.mark.once

DATES = [
    *("2005-03-01", "2005-03-01T23:59:59.5+01:00", "2005/3/1 8:26", "1.3.2005", "12/1/2010 8:26", "31-12-99"),
    *("20050301", "1 March 2005", "Mar 1, 2005", "01-Jan-1995", "Sat May 17 10:00:04 2008", "1. Mai 2005"),
    *("1109635200", "1109635200.5", "1109635200000", "03 4, 2005", "23:59", "8:26 pm", "2005-03"),
]
OTHERS = ["4", "2.55", "1.2.3", "85123A", "10.0.0.1", "99999999", "123456789012345678901", "May", "x"]


def test_dates_are_recognised_in_many_forms():
    assert [date for date in DATES if not looks_like_dates([date])] == []
    assert [text for text in OTHERS if looks_like_dates([text])] == []


def test_a_few_other_cells_do_not_hide_a_date():
    assert looks_like_dates([*["2005-03-01"] * 19, "unknown"])
    assert not looks_like_dates(["2005-03-01", "unknown"])
    assert not looks_like_dates([])


def test_the_kind_comes_from_the_name_or_the_cells():
    for name, cells, kind in [
        ("moment", ["2005-03-01", ""], "date"),
        ("reviewTime", ["spring 2005", "May 2006"], "date"),
        ("UnitPrice", ["2.55", "-3"], "number"),
        ("price", ["€ 2,55", "1.234,50"], "number"),
        ("flag", ["0", "1"], "number"),
        ("lat", ["52", "48"], "coordinate"),
        ("Longitude", ["13.4", "11.6"], "coordinate"),
        ("InvoiceNo", ["536365", "536366"], "id"),
        ("session", ["a", "b"], "id"),
        ("e-mail", ["a", "b"], "id"),
        ("contact", ["a@b.org", "c@d.org"], "id"),
        ("x", ["8f14e45f-ceea-467f-a0e6-91b2c3d4e5f6"], "id"),
        ("reference", [f"AB-{i:05}" for i in range(40)], "id"),
        ("first_name", ["Ann"], "id"),
        ("product_name", ["red lantern", "white lantern"], "text"),
        ("colour", ["blue"] * 30, "text"),
        ("genres", ["Drama|War", "Comedy"], "text"),
        ("page_count_note", ["long", "short"], "text"),
        ("whatever", ["", ""], "empty"),
        ("visit_score", ["", ""], "number"),
    ]:
        assert column_kinds([name], [[cell] for cell in cells]) == [kind], name


def test_quasi_identifiers_are_known_in_several_languages_and_spellings():
    for name in [
        *("postcode", "ZIP Code", "zip", "Age", "patient_age", "sex", "GENDER", "birth_date", "dateOfBirth", "PLZ"),
        *("Geburtsdatum", "Geschlecht", "code postal", "sexe", "fecha_nacimiento", "occupation", "marital-status"),
        *("income", "Country", "city", "ethnicity", "nationality", "Beruf", "edad"),
    ]:
        assert column_kinds([name], [["1"]]) == ["quasi-identifier"], name
    for name in ["page", "image", "storage", "message", "essex", "capacity", "homepage"]:
        assert column_kinds([name], [["some text"]]) == ["text"], name


def test_decimals_are_fractions_that_are_not_zero():
    assert all(map(has_decimals, ["0.5", "-122.39", "52,5161", ".5", "1.50", "0,25"]))
    assert not any(map(has_decimals, ["17850.0", "7", "1,234", "1.2.3", "12.", "a.5", "", "007"]))


def test_a_name_has_a_role_by_its_last_words():
    for role, names in {
        "record": ["user", "User-ID", "CustomerID", "app_user_id", "id_user", "customer number"],
        "item": ["ISBN", "movieId", "StockCode", "store_product_id", "product code"],
        "value": ["Book-Rating", "bookrating", "ratingvalue", "Rating Value", "star_rating", "order_quantity"],
        "time": ["when", "seen", "visited", "created", "created_at", "purchase_time", "visitTime", "ts", "tx_date"],
    }.items():
        assert [name for name in names if name_rank(name, role) is None] == []
    for role, names in {
        "record": ["user_agent", "is_user", "new customer", "user 1", "username_hash"],
        "item": ["item_price", "movie_title", "page_count", "show 2"],
        "value": ["rating_count", "score_board", "value_date"],
        "time": ["date_of_birth", "birthdate", "release_date", "time_zone", "updated_at", "sometimes"],
    }.items():
        assert [name for name in names if name_rank(name, role) is not None] == []
