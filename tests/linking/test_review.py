"""The review file."""

import csv

import pytest
from linking_data import catalogue, data, pairs_of

import standout as so
from standout.linking.align import align

pytestmark = pytest.mark.once


def doubtful_catalogues():
    """Two catalogues with every kind of doubt."""
    release = {
        "=1": "Sabrina (1995)",
        "2": "Hamlet (1996)",
        "'=3": "Godfather, The (1972)",
        "4": "Alien (1979)",
        "5": "-Alien- (1992)",
        "+6": "Star Wars: Episode IV - A New Hope (1977)",
    }
    public = {
        "@a": "Sabrina (1954)",
        "-b": "Hamlet (1996)",
        "c": "=Hamlet= (1996)",
        "d": "The Godfahter (1972)",
        "＝e": "Alien (1979)",
        "'f": "Star Wars (1977)",
        "g": "Nobody's Film (2001)",
    }
    return catalogue(release), catalogue(public)


def edit(path, decisions):
    """Change decisions of the review file, by its cells, as a person might."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["decision"] = decisions.get((row["public_item"], row["release_item"]), row["decision"])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(reversed(rows))


def test_the_review_file_is_written_edited_and_passed_back(tmp_path):
    release, public = doubtful_catalogues()
    path = tmp_path / "review.csv"
    first = align(release, public, items="title", review=path)
    assert pairs_of(first, public) == {"d": "'=3", "＝e": "4"}
    decisions = {row[0]: row[5] for row in first.doubtful.rows()}
    assert decisions == {"@a": "?", "-b": "?", "c": "?", "'f": "?", "d": "yes"}
    again = align(release, public, items="title", review=path)
    assert pairs_of(again, public) == pairs_of(first, public)
    assert again.doubtful.equals(first.doubtful)
    edit(path, {("'@a", "'=1"): "YES ", ("'-b", "2"): "no", ("d", "''=3"): "no", ("'f", "'+6"): "yes"})
    last = align(release, public, items="title", review=path)
    # One of the two Hamlets is rejected, so the other one is clear.
    assert pairs_of(last, public) == {"@a": "=1", "＝e": "4", "'f": "+6", "c": "2"}
    assert last.counts.by_review == 2 and last.counts.by_title == 2
    assert (last.counts.doubtful, last.counts.unknown) == (0, 3)
    decisions = {row[0]: row[5] for row in last.doubtful.rows()}
    assert decisions == {"@a": "yes", "'f": "yes", "-b": "no", "d": "no"}
    last.write_review(tmp_path / "next.csv")
    passed_on = align(release, public, items="title", review=tmp_path / "next.csv")
    assert pairs_of(passed_on, public) == pairs_of(last, public)


def test_decisions_override_ids_and_maps(put):
    release, public = data([("p", item) for item in "123"]), data([("x", item) for item in "125"])
    path = put("public_item,release_item,decision\n1,2,yes\n5,3,yes\n2,1,no\n8,1,no\n9,9,?\n", "review.csv")
    for items in ("id", {"1": "1", "2": "2"}):
        alignment = align(release, public, items=items, review=path)
        assert pairs_of(alignment, public) == {"1": "2", "5": "3"}
        assert alignment.counts.review_unknown == 1 and alignment.counts.by_review == 2


def test_a_bad_review_is_an_error_in_one_line(put):
    side, header = data([("p", "1"), ("p", "2")]), "public_item,release_item,decision\n"
    for content, message in (
        (header + "1,1,maybe\n", "line 2: decision must be yes, no or ?"),
        (header + "1,1,yes\n1,1,no\n", "line 3: an earlier line decides the same pair differently"),
        (header + "1,1,yes\n2,1,yes\n", "several public items to 1 item"),
        (header + "1,1,yes\n1,2,yes\n", "1 public item to several"),
        (header + "07,1,yes\n", "no decision names items of both data sets"),
        ("public_item,decision\n1,yes\n", "public_item, release_item, decision are required"),
        (header + "1,1,no\n2,2,no\n", "after the review"),
    ):
        with pytest.raises(so.StandoutError, match=message) as caught:
            align(side, side, review=put(content, "review.csv"))
        assert "\n" not in str(caught.value)
