"""Maps of items made by hand."""

import pytest
from linking_data import data, pairs_of

import standout as so
from standout.linking.align import align

pytestmark = pytest.mark.once

OURS, THEIRS = ["1", "2", "3"], ["0114709", "0113497", "007"]
LINKS = "movieId,imdbId,tmdbId\n1,0114709,862\n2,0113497,\n9,007,1\n3,8,\n,,\n"


def align_by(items, ours=OURS, theirs=THEIRS):
    public = data([("x", item) for item in theirs])
    alignment = align(data([("p", item) for item in ours]), public, items=items)
    return pairs_of(alignment, public), alignment


def test_a_map_is_read_with_any_separator_header_and_direction(put):
    for content in (
        LINKS,
        LINKS.replace(",", ";"),
        LINKS.replace(",", "\t"),
        "\ufeff" + LINKS.replace("\n", "\r\n"),
        LINKS + "\n\n",
        "tmdb,Release , public\n5,1,0114709\n5,2,0113497\n6,9,007\n7,3,8\n",
        'from,to\n"0114709",1\n0113497,2\n0113497,2\n007,9\n8,3\n',
    ):
        pairs, alignment = align_by(put(content, "map.csv"))
        assert pairs == {"0114709": "1", "0113497": "2"}, content
        counts = alignment.counts
        assert (counts.by_map, counts.map_rows, counts.unknown) == (2, 4, 1)
        assert (counts.map_unknown_public, counts.map_unknown_release) == (1, 1)
        assert "2 by map" in alignment.explanation and "1 row of the map names" in alignment.explanation


def test_a_dict_maps_public_items_to_the_release():
    assert align_by({"0114709": "3", "x": "y"})[0] == {"0114709": "3"}
    with pytest.raises(so.ParameterError, match="must map public items to items of the release"):
        align_by({"3": "0114709"})
    with pytest.raises(so.ParameterError, match="ids are text, so 0114709 is not 114709"):
        align_by({"114709": "3"})
    with pytest.raises(so.ParameterError, match="text to text"):
        align_by({114709: "3"})


def test_a_bad_map_is_an_error_in_one_line(put):
    for content, message in (
        ("public,release\n0114709,1\n0113497,1\n007,2\n", "several public items to 1 item of the release"),
        ("public,release\n0114709,1\n0114709,2\n007,3\n", "1 public item to several items of"),
        ("a,b\n0114709,1\n0113497,1\n0113497,2\n007,2\n", "1 public item to several .* to 2 items of"),
        ("a\n1\n", "must name at least two columns"),
        ("", "must name at least two columns"),
        ("1,0114709\n2,0113497\n", "must name the columns"),
        ("a,b\n1,2,3\n", "line 2: 2 cells expected as in the first line, got 3"),
        ('a,b\n"1,2\n', "not a CSV file"),
        (b"a,b\n\xff\xfe,1\n", "UTF-8"),
        ("a,b\n5,6\n", "pairs no public item with an item of the release"),
    ):
        with pytest.raises(so.StandoutError, match=message) as caught:
            align_by(put(content, "map.csv"))
        assert "\n" not in str(caught.value)
