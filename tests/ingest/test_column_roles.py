"""Columns: named by the user, by their place, or recognised; what is not sure is not guessed."""

import pytest

import standout as so
from conftest import content

HEADERS = [
    "userId,movieId,rating,timestamp",
    "user_id,item_id,score,date",
    "Customer ID,Product-ID,Quantity,Order Date",
    "CustomerID,StockCode,Quantity,InvoiceDate",
    "reviewerID,asin,overall,unixReviewTime",
    "PERSON,PLACE,WEIGHT,DAY",
    "record,item,value,time",
    "Kundennummer,Artikel,Bewertung,Datum",
    "Kunde,Artikel-Nr,Menge,Zeitpunkt",
    "client,produit,quantité,date",
    "id_cliente,producto,cantidad,fecha",
]


def test_well_known_names_are_recognised_in_any_order(put):
    for header in HEADERS:
        for order in [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)]:
            names, cells = header.split(","), ["u", "i", "4", "86400"]
            text = "".join(",".join([*(row[i] for i in order), "note"]) + "\n" for row in (names, cells))
            release = so.read(put(text))
            assert content(release) == {("u", "i"): (4.0, 1)}
            columns = release.provenance.columns
            assert list(columns.values()) == names


def test_the_better_known_of_two_names_is_used(put):
    columns = so.read(put("title,userId,movieId,rating\nx,1,2,3\n"), kind="history").provenance.columns
    assert (columns["record"], columns["item"]) == ("userId", "movieId")


ODD = "who,what,how,when\nu,i,4,86400\n"
KEPT = {("u", "i"): (4.0, 1)}


def test_columns_are_given_by_name_or_number(put):
    for named in [
        {"record": "who", "item": "what", "value": "how", "time": "when"},
        {"record": 1, "item": 2, "value": 3, "time": 4},
        {"record": "1", "item": ["2"], "value": "3", "time": "4"},
        {"record": "who", "item": ("what",), "value": 3, "time": "4"},
    ]:
        assert content(so.read(put(ODD), header=True, **named)) == KEPT


def test_a_first_line_that_may_be_a_row_is_neither_lost_nor_shown(put):
    for text in ["alice,85123A\nbob,22423\n", "who,what\nu,5\n", "uid,iid\n", "alice,milk\n"]:
        with pytest.raises(so.ColumnError, match="add header=True or header=False") as error:
            so.read(put(text), record=1, item=2)
        assert "alice" not in str(error.value)
        assert so.read(put(text), record=1, item=2, header=False).n_entries == text.count("\n")


def test_a_name_that_is_a_number_is_a_name_first(put):
    text = "2,1,x\nu,i,5\n"
    assert set(content(so.read(put(text), header=True, record="2", item="1", value="x"))) == {("u", "i")}
    assert set(content(so.read(put(text), header=True, record=2, item=1, value=3))) == {("i", "u")}


def test_column_numbers_do_not_imply_a_header(put):
    for positions in [(1, 2), ("1", "2"), (2, 1), ("2", "1")]:
        text = "1,2,x\n2,3,x\n3,1,y\n"
        rows = [line.split(",") for line in text.split()]
        wanted = {(row[int(positions[0]) - 1], row[int(positions[1]) - 1]) for row in rows}
        assert set(content(so.read(put(text), record=positions[0], item=positions[1]))) == wanted


def test_a_file_of_unknown_format_without_a_header_needs_record_and_item(put):
    for rows, kinds in [
        ("a,x,5\nb,x,4\n", "1 text, 2 text, 3 number"),
        ("a,x,1970-01-02\nb,x,1970-01-03\n", "1 text, 2 text, 3 date"),
        ("6,2,4,1289241912\n6,5,2,1289241942\n", "1 number, 2 number, 3 number, 4 date"),
        ("ann,37.75134,-122.39488\nann,37.75134,-122.39488\n", "1 text, 2 number, 3 number"),
    ]:
        path = put(rows, "a file.csv")
        for given in [{}, {"record": 1}, {"item": 2}, {"header": False}]:
            with pytest.raises(so.ColumnError) as error:
                so.read(path, **given)
            message = str(error.value)
            assert f"the file has {rows.splitlines()[0].count(',') + 1} columns and no recognised header" in message
            assert message.endswith(f"such as record=1, item=2. The columns look like: {kinds}")
            assert "\n" not in message and "37.7" not in message


def test_a_person_has_no_decimals(put):
    late = "".join(f"{user},x\n" for user in range(200)) + "7.5,x\n"
    for text, named in [
        ("user,item\n52.5,x\n", {}),
        ("user;item\n52,516;x\n0,25;y\n", {}),
        (f"user,item\n{late}", {}),
        ("37.75,-122.39,0,1213084687\n", {"record": 1, "item": 2, "header": False}),
    ]:
        with pytest.raises(so.ColumnError, match=r"column ('user'|1) has decimals: it cannot be a person"):
            so.read(put(text), **named)
    for ids in [["17850.0", "12.00"], ["1,234", "7"], ["v1.5", "a.b"], ["1.2.3", "10.0.0.1"], ["007", "-1"]]:
        text = "user;item\n" + "".join(f"{each};x\n" for each in ids)
        assert sorted(so.read(put(text)).records) == sorted(ids)


def test_a_header_is_recognised_as_one(put):
    for text, header in [
        ("user,item\na,b\n", "yes"),
        ("userId,movieId\nuserId,movieId\n", "yes"),
        ("who,what,how\na,b,5\n", "yes"),
        (",userId,movieId,rating\nx,1,2,3.5\ny,1,3,4\n", "yes"),
        ("userId,movieId,tag,tag\n1,2,a,b\n", "yes"),
        ("a,b\nc,d\n", "no"),
        ("a,b,5\nc,d,4\n", "no"),
        ("1,2\n3,4\n", "no"),
        ("user1,item1\nuser2,item1\n", "no"),
        ("user 1,item 1,5\nuser 2,item 1,4\n", "no"),
        ("Session-7,Show-2,2005-03-01\nSession-8,Show-2,2005-03-02\n", "no"),
    ]:
        named = {"record": "who", "item": "what", "value": "how"} if "who" in text else {}
        named = (
            {"record": 1, "item": 2, "ignore": [3][: text.count(",5") + text.count("2005")]}
            if header == "no"
            else named
        )
        release = so.read(put(text), separator=",", **named)
        assert release.provenance.settings["header"] == header
        assert release.provenance.rows == text.count("\n") - (header == "yes")
        if "rating" in text:
            assert release.provenance.columns["record"] == "userId"


def test_the_user_has_the_last_word_on_the_header(put):
    rows = so.read(put("user,item\na,b\n"), header=False, record=1, item=2)
    assert set(content(rows)) == {("user", "item"), ("a", "b")}
    assert set(content(so.read(put("a,b\nc,d\n"), header=True, record="a", item="b"))) == {("c", "d")}


def test_the_error_about_a_missing_column_names_the_next_step(put):
    for text, named, words in [
        (ODD, {"header": True, "kind": "history"}, ["record", "record=…"]),
        (ODD, {}, ["header=True"]),
        ("user,what,how\n1,2,3\n", {"kind": "history"}, ["item", "item=…", "user, what, how"]),
        ("user,item\n1,2\n", {"record": "usr"}, ["'usr' not found", "user, item", "record=…"]),
        ("user,item\n1,2\n", {"value": "stars"}, ["'stars' not found", "value=…"]),
        ("user,item\n1,2\n", {"time": 3}, ["time must be a column number from 1 to 2, got 3"]),
        ("user,item\n1,2\n", {"record": 0}, ["record must be a column number from 1 to 2, got 0"]),
        ("user,item\n1,2\n", {"record": -1}, ["record must be a column number from 1 to 2, got -1"]),
        ("user,item\n1,2\n", {"item": ["item", "item"]}, ["'item' would have two roles"]),
        ("user,item\n1,2\n", {"record": "item"}, ["no column is recognised as the item", "item=…"]),
        ("1,2,3\n1,2,3\n", {"record": 1}, ["item", "no recognised header"]),
        ("1,2,3\n1,2,3\n", {"record": "user"}, ["'user' not found", "no recognised header", "header=True"]),
        ("1,2,3\n1,2,3\n", {"record": 1, "item": 2, "value": 1}, ["would have two roles"]),
        ("1,2,3\n1,2,3\n", {"record": 1, "item": 2, "value": 2}, ["would have two roles"]),
        ("a,b\n1,2\n", {"record": 1, "item": 7, "header": True}, ["item must be a column number from 1 to 2, got 7"]),
    ]:
        with pytest.raises(so.ColumnError) as error:
            so.read(put(text), **named)
        assert [word for word in words if word not in str(error.value)] == []


def test_an_error_lists_only_the_first_column_names(put):
    header = ",".join(["user", *(f"c{i}" for i in range(1, 40))])
    with pytest.raises(so.ColumnError, match="c19, …"):
        so.read(put(f"{header}\n{','.join('1' * 40)}\n"), kind="history")


def test_a_column_that_the_user_named_gets_no_second_role(put):
    text = "user,place,day\na,cafe,mon\nb,cafe,tue\n"
    release = so.read(put(text), item=["place", "day"])
    assert content(release) == {("a", "cafe|mon"): (None, None), ("b", "cafe|tue"): (None, None)}


def test_true_is_not_a_column():
    for wrong in [{"value": True}, {"time": True}]:
        with pytest.raises(so.ParameterError, match="False for none"):
            so.read("anything.csv", **wrong)
