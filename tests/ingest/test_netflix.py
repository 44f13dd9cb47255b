"""The Netflix Prize files: in all their wrappings, every byte checked, every bad line named."""

import gzip
import io
import random
import tarfile
import zipfile
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import standout as so
from conftest import content, outcome, windows
from standout.core.errors import RejectedRows
from standout.ingest.report import Reason

FILMS = {
    "mv_0000001.txt": "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n",
    "mv_0000002.txt": "2:\n1488844,4,2005-09-05\n",
    "mv_0000010.txt": "10:\n007,1,1999-12-31\n7,2,2000-02-29\n",
}
ALL = "".join(FILMS.values())
TITLES = "1,2003,Dinosaur Planet\n2,NULL,Vive l'Été, Encore, Toujours\n".encode("latin-1")
KEPT = {
    ("1488844", "1"): (3.0, naive.day("2005-09-06")),
    ("822109", "1"): (5.0, naive.day("2005-05-13")),
    ("1488844", "2"): (4.0, naive.day("2005-09-05")),
    ("007", "10"): (1.0, naive.day("1999-12-31")),
    ("7", "10"): (2.0, naive.day("2000-02-29")),
}


def tar(files, mode="w", folder="training_set/"):
    """A tar of the files, and of things that are not wanted."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        archive.addfile(directory(folder))
        for name, data in {**files, "README": "read me\n"}.items():
            data = data if isinstance(data, bytes) else data.encode()
            info = tarfile.TarInfo(folder + name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def directory(name):
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(f"download/{name}", data)
    return made.getvalue()


WRAPPINGS = {
    "folder of films": FILMS,
    "folder of folders": {f"training_set/{name}": text for name, text in FILMS.items()},
    "folder of gzip": {f"{name}.gz": gzip.compress(text.encode()) for name, text in FILMS.items()},
    "folder of combined": {"combined_data_1.txt": FILMS["mv_0000001.txt"],
                           "combined_data_2.txt": FILMS["mv_0000002.txt"] + FILMS["mv_0000010.txt"]},
    "folder with a tar": {"training_set.tar": tar(FILMS)},
    "folder with a tar.gz": {"training_set.tar.gz": tar(FILMS, "w:gz")},
    "file": {"ratings.txt": ALL},
    "file with a byte order mark": {"ratings.txt": "\ufeff" + ALL},
    "crlf": {"ratings.txt": ALL.replace("\n", "\r\n")},
    "no last line end": {"ratings.txt": ALL.removesuffix("\n")},
    "blank lines": {"ratings.txt": ALL.replace("2:", "\n\n2:\r\n")},
    "tar": {"films.tar": tar(FILMS)},
    "tar.gz": {"films.tgz": tar(FILMS, "w:gz")},
    "tar in a tar.gz": {"prize.tar.gz": tar({"training_set.tar": tar(FILMS)}, "w:gz", "download/")},
    "zip": {"archive.zip": zipped(FILMS)},
    "zip of combined": {"archive.zip": zipped({"combined_data_1.txt": ALL, "probe.txt": "1:\n30878\n"})},
}  # fmt: skip


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("size", [1 << 20, 9])
def test_the_wrapping_changes_nothing(put, tmp_path, wrapping, size):
    for name, data in WRAPPINGS[wrapping].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (tmp_path / "movie_titles.txt").write_bytes(TITLES)
    source = tmp_path if wrapping.startswith("folder") else tmp_path / next(iter(WRAPPINGS[wrapping]))
    with windows(size):
        release = so.read(source)
    assert content(release) == KEPT
    assert release.provenance.format == "Netflix Prize"
    assert release.provenance.rows == len(KEPT)
    assert release.fingerprint == so.read(put(ALL)).fingerprint
    if "zip" not in wrapping:
        assert list(release.titles) == ["Dinosaur Planet (2003)", "Vive l'Été, Encore, Toujours", ""]


def test_titles_may_lie_among_the_films(put):
    for packed in [zipped, tar, partial(tar, mode="w:gz")]:
        for first in [True, False]:
            titles = {"movie_titles.txt": TITLES}
            release = so.read(put(packed(titles | FILMS if first else FILMS | titles), "prize"))
            assert list(release.titles) == ["Dinosaur Planet (2003)", "Vive l'Été, Encore, Toujours", ""]


def test_a_title_is_everything_behind_the_year(put):
    for title in ["Up, Up and Away", "Él", "Wait\x85 What", "A\x0bB\x1cC\x1eD", " x "]:
        titles = put(b"1,1999," + title.encode("latin-1") + b"\n2,NULL,Other\r\n", "movie_titles.txt")
        release = so.read(put(ALL), titles=titles)
        assert list(release.titles) == [f"{title} (1999)", "Other", ""]


def test_ratings_and_dates_can_be_left_out(put):
    for value in [None, False]:
        for time in [None, False]:
            release = so.read(put(ALL), value=value, time=time)
            assert content(release) == {
                pair: (None if value is False else rating, None if time is False else day)
                for pair, (rating, day) in KEPT.items()
            }
            assert ("value" in release.provenance.columns, "time" in release.provenance.columns) == (
                value is None,
                time is None,
            )


def test_dates_become_the_first_hour_or_minute_of_their_day(put):
    for unit, count in [("hour", 24), ("minute", 1440)]:
        wanted = {pair: (rating, day * count) for pair, (rating, day) in KEPT.items()}
        assert content(so.read(put(ALL), time_unit=unit)) == wanted


def test_a_date_beyond_the_range_of_minutes_is_rejected(put):
    text = ALL + "8,2,9999-12-31\n"
    assert outcome(put(text))[1] == {}
    kept, bad = outcome(put(text), time_unit="minute")
    assert set(kept) == set(KEPT)
    assert set(bad) == {len(text.splitlines())}


BAD_LINES = [
    "12", "12,", "12,3", "12,3,", "12,3,2005-09-0", "12,3,2005-09-061", "12,3,2005-09-06,",
    "12,3,2005-09-06 ", " 12,3,2005-09-06", "12, 3,2005-09-06", "12,0,2005-09-06", "12,6,2005-09-06", ":",
    "12,33,2005-09-06", "12,,2005-09-06", ",3,2005-09-06", "-12,3,2005-09-06", "1a,3,2005-09-06", "12::",
    "12,3,2005/09/06", "12,3,2005-13-06", "12,3,2005-02-29", "12,3,2005-09-00", "12,3,0000-01-01", "12:34",
    "12,3,20050906", "12,3,2005-9-6", "12,x,2005-09-06", "12,3,2005-0x-06", "12,3,2a05-09-06", "12: ", " 12:",
    "a:", "-1:", "customer,rating,date", "é", "12,3,2005-09-0é", "\r\r", "12;3;2005-09-06",
    "12,3.5,2005-09-06", "1234567890123456789,3,2005-09-06",
]  # fmt: skip


def test_a_bad_line_is_named_and_the_film_goes_on_unless_it_may_have_been_a_films(put):
    for bad in BAD_LINES:
        for size in [1 << 20, 9]:
            path = put(f"1:\n1,3,2005-09-06\n{bad}\n2,3,2005-09-06\n{bad}", "combined_data_1.txt")
            with windows(size):
                kept, bad_lines = outcome(path.parent)
            lost = {} if "," in bad else {4: Reason.NO_FILM_YET}
            assert set(kept) == ({("1", "1")} if lost else {("1", "1"), ("2", "1")})
            assert bad_lines == dict.fromkeys((3, 5), Reason.NOT_A_RATING_LINE) | lost


def test_a_rating_before_the_first_film_belongs_to_nothing(put):
    path = put("1,3,2005-09-06\n\n2:\n1,3,2005-09-06\n", "mv_0000002.txt")
    kept, bad = outcome(path.parent)
    assert (set(kept), bad) == ({("1", "2")}, {1: Reason.NO_FILM_YET})


def test_a_film_ends_with_its_file(tmp_path):
    (tmp_path / "mv_0000001.txt").write_text("1:\n1,3,2005-09-06\n")
    (tmp_path / "mv_0000002.txt").write_text("2,3,2005-09-06\n")
    assert outcome(tmp_path)[1] == {1: Reason.NO_FILM_YET}
    with pytest.raises(RejectedRows, match="rating without a film"):
        so.read(tmp_path)


digits = st.text("0123456789", min_size=1, max_size=9)
good_lines = st.builds("{},{},{}".format, digits, st.integers(1, 5), st.dates(naive.EPOCH.replace(year=1).date()))
spoiled = st.builds(
    lambda line, at, mark, gone: line[: at % len(line)] + mark + line[at % len(line) + gone :],
    good_lines, st.integers(0, 30), st.text("0,:-\r xé", max_size=2), st.integers(0, 2),
)  # fmt: skip
lines_of_text = st.lists(
    st.one_of(digits.map("{}:".format), good_lines, good_lines, spoiled, st.sampled_from(["", *BAD_LINES])),
    min_size=1,
    max_size=25,
)


@given(lines_of_text, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(2, 64))
@example(["1:", "1,3,2005-09-06"], "\r\n", False, 15)
def test_windows_of_any_size_give_the_same_rows_as_a_regular_expression(put, lines, end, last, size):
    text = end.join(lines) + (end if last else "")
    rows, bad = naive.netflix(text)
    path = put(text, "mv_0000001.txt").parent
    with windows(size):
        if rows or bad:
            kept, bad_lines = outcome(path)
            assert kept == naive.entries(rows)
            assert set(bad_lines) == set(bad)
        else:
            with pytest.raises(so.SourceError):
                so.read(path)


@pytest.mark.large
def test_lines_on_the_edge_of_a_real_window_stay_whole(put):
    seed = 5
    draw = random.Random(seed)
    lines = []
    for film in range(1, 120):
        lines.append(f"{film}:\n")
        for _ in range(draw.randrange(2_000)):
            date = f"200{draw.randrange(6)}-0{draw.randint(1, 9)}-11"
            lines.append(f"{draw.randrange(500_000)},{draw.randint(1, 5)},{date}\n")
    text = "".join(lines)
    assert len(text) > 2 << 20
    rows, bad = naive.netflix(text)
    assert not bad
    frame = so.read(put(text)).to_frame()
    entries = {(record, item): (value, naive.day(str(time))) for record, item, value, time in frame.rows()}
    assert entries == naive.entries(rows)


def test_a_tar_that_is_cut_off_anywhere_is_refused(put):
    for mode in ["w", "w:gz"]:
        seed = 8
        draw = random.Random(seed)
        film = "1:\n" + "".join(f"{draw.randrange(10**9)},3,2005-09-06\n" for _ in range(300))
        whole = tar({"mv_0000001.txt": film, "mv_0000002.txt": FILMS["mv_0000002.txt"]}, mode)
        last = whole.rindex(b"2005-09-05") if mode == "w" else len(whole) - 9
        for cut in range(600, last, 97):
            with pytest.raises(so.SourceError):
                so.read(put(whole[:cut], "films.tar"))


def test_a_tar_that_is_cut_off_between_two_films_is_refused(put):
    whole = tar(FILMS)
    cut = whole.index(b"training_set/mv_0000010.txt")
    with pytest.raises(so.SourceError):
        so.read(put(whole[:cut], "films.tar"))


def test_a_tar_without_films_is_refused_with_the_reason(put):
    with pytest.raises(so.SourceError, match="has no Netflix Prize files"):
        so.read(put(tar({"notes.txt": "nothing"}), "other.tar"))


def test_bytes_that_are_no_text_are_refused(put):
    for bad in [b"\0", "é".encode("latin-1")]:
        path = put(ALL.encode() + bad + b"\n", "combined_data_1.txt")
        with windows(9), pytest.raises(so.SourceError):
            so.read(path.parent)


def test_files_without_a_rating_hold_no_release(put):
    for text in ("", "1:\n", "1:\n\n2:\n"):
        with pytest.raises(so.SourceError):
            so.read(put(text, "mv_0000001.txt").parent)


def test_repeated_ratings_are_counted(put):
    path = put("1:\n5,3,2005-09-06\n5,4,2005-09-07\n5,1,2005-09-05\n")
    assert content(so.read(path)) == {("5", "1"): (4.0, naive.day("2005-09-07"))}
    assert so.read(path).provenance.repeats == 2
    assert content(so.read(path, repeats="first"))["5", "1"][0] == 1.0


@pytest.mark.parametrize("option", [{"record": 1}, {"time_format": "iso"}, {"encoding": "latin-1"}])
def test_options_that_do_not_apply_to_the_files_or_an_index_are_refused(put, tmp_path, option):
    path = put(ALL, "combined_data_1.txt")
    with pytest.raises(so.ParameterError, match=f"{next(iter(option))} cannot be set"):
        so.read(path, **option)
    so.save(so.read(path), tmp_path / "index")
    with pytest.raises(so.ParameterError, match="cannot be set for the index"):
        so.read(tmp_path / "index", **option)
