"""Files: compressed, encoded, cut off, empty or missing."""

import gzip
import io
import itertools
import random
import zipfile

import pytest
from sample_texts import PLAIN, TEXT

import standout as so
from conftest import content, windows
from standout.ingest.sources import zstd


def compressed(kind, data):
    """The data, half by half where the format allows it."""
    half = len(data) // 2
    if kind == "gz":
        return gzip.compress(data)
    if kind == "multi gz":
        return gzip.compress(data[:half]) + gzip.compress(b"") + gzip.compress(data[half:])
    if kind == "zst":
        return zstd.compress(data)
    if kind == "multi zst":
        return zstd.compress(data[:half]) + zstd.compress(data[half:])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.mkdir("folder")
        made.writestr("folder/data.csv", data)
    return archive.getvalue()


def test_compressed_text_reads_whatever_its_name(put):
    for kind in ["gz", "multi gz", "zst", "multi zst", "zip"]:
        for name in ["data.csv", "data.bin"]:
            with windows(16):
                assert content(so.read(put(compressed(kind, TEXT.encode()), name))) == PLAIN


def test_compressed_text_that_is_truncated_anywhere_is_refused(put):
    for kind in ["gz", "zst", "zip"]:
        whole = compressed(kind, TEXT.encode())
        for cut in range(len(whole)):
            with pytest.raises(so.SourceError):
                so.read(put(whole[:cut]))


def test_a_long_file_that_is_truncated_is_refused_with_the_reason(put):
    for kind, word in [("gz", "truncated"), ("zst", "truncated"), ("zip", "damaged")]:
        seed = 3
        noise = "".join(f"u{random.Random(seed + i).random()},x,1\n" for i in range(20_000))
        whole = compressed(kind, (TEXT + noise).encode())
        with pytest.raises(so.SourceError, match=word):
            so.read(put(whole[:-20] if kind == "zip" else whole[: len(whole) * 3 // 4]))


def test_extra_bytes_after_compressed_text_are_refused(put):
    for kind in ["gz", "zst"]:
        with pytest.raises(so.SourceError, match="damaged"):
            so.read(put(compressed(kind, TEXT.encode()) + b"rubbish"))


def test_a_zip_of_several_files_needs_a_member(put):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("one.csv", TEXT)
        made.writestr("two.csv", TEXT.replace("a", "c"))
    path = put(archive.getvalue())
    with pytest.raises(so.SourceError, match=r"member=… \(one.csv, two.csv\)"):
        so.read(path)
    with pytest.raises(so.SourceError, match="member="):
        so.read(path, member="three.csv")
    assert content(so.read(path, member="one.csv")) == PLAIN
    with pytest.raises(so.ParameterError, match="member"):
        so.read(put(TEXT), member="one.csv")


ACCENTS = "user,item\nJosé,Amélie\nMüller,Šum\n"


def test_text_in_a_declared_encoding_is_the_same_text(put):
    for encoding in ["utf-8", "utf-8-sig", "UTF8", "utf-16", "utf-16-le", "cp1250"]:
        for packed in [bytes, gzip.compress]:
            path = put(packed(ACCENTS.encode(encoding)))
            with windows(16):
                assert set(content(so.read(path, encoding=encoding))) == {("José", "Amélie"), ("Müller", "Šum")}


def test_latin_1_reads_when_it_is_declared(put):
    path = put("user§item\nJosé§Amélie\n".encode("latin-1"))
    assert set(content(so.read(path, encoding="latin-1", separator="§"))) == {("José", "Amélie")}


def test_the_line_of_bytes_that_are_not_utf_8_is_reported(put):
    for size in [1 << 20, 16]:
        for bad in ["é".encode("latin-1"), b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"]:
            for end in [b"\n", b""]:
                text = "user,item\na,é\n\nb,x\n".encode() + b"c," + bad + end
                with windows(size), pytest.raises(so.SourceError, match=r"line 5 is not UTF-8.*encoding="):
                    so.read(put(text))


def test_utf_16_with_its_mark_is_read(put):
    for options in [{}, {"record": "user", "item": "item"}, {"record": 1, "item": 2}]:
        for encoding in ["utf-16", "utf-16-be"]:
            mark = "\ufeff" if encoding == "utf-16-be" else ""
            for pack in [bytes, gzip.compress]:
                release = so.read(put(pack((mark + ACCENTS).encode(encoding))), **options)
                assert content(release) == content(so.read(put(ACCENTS)))
                assert release.provenance.settings["encoding"] == "UTF-16"


def test_utf_16_without_its_mark_is_named_in_the_error(put):
    with pytest.raises(so.SourceError, match="utf-16"):
        so.read(put(TEXT.encode("utf-16-be")))


def test_clean_text_that_is_not_utf_8_is_read_as_windows_1252(put):
    lines = [f"u{i},{'café' if i % 7 == 0 else 'tea'} “{i}” £\n" for i in range(40)]
    for ascii_rows in [0, 1000]:
        text = "user,item\n" + "a,b\n" * ascii_rows + "".join(lines)
        for size in [1 << 20, 64]:
            with windows(size):
                release = so.read(put(text.encode("cp1252")))
                assert content(release) == content(so.read(put(text)))
            assert release.provenance.settings["encoding"] == "Windows-1252"


def test_control_characters_do_not_decide_the_encoding_wherever_they_are(put):
    plain, marked = "u,café\n", "u,te\x16a\n"
    filler = "".join(f"u,{i}\n" for i in range(30))
    for text in [plain + filler + marked, marked + filler + plain, plain + marked]:
        for size in [1 << 20, 64]:
            with windows(size):
                release = so.read(put(("user,item\n" + text).encode("cp1252")))
            assert release.provenance.settings["encoding"] == "Windows-1252"
            assert {("u", "café"), ("u", "te\x16a")} <= set(content(release))


def test_a_header_in_windows_1252_can_be_named(put):
    text = "prénom,œuvre\nJosé,Amélie\n"
    assert set(content(so.read(put(text.encode("cp1252")), record="prénom", item="œuvre"))) == {("José", "Amélie")}


def test_damaged_utf_8_is_never_taken_for_windows_1252(put):
    rows = [f"u{i},é{i}\n".encode() for i in range(40)]
    for damaged in [0, 20, 39]:
        text = rows.copy()
        text[damaged] = b"u,\xe9" + text[damaged]
        with windows(64), pytest.raises(so.SourceError, match=r"is not UTF-8.*encoding='latin-1'"):
            so.read(put(b"user,item\n" + b"".join(text)))


def test_the_size_of_the_window_does_not_decide_the_encoding(put):
    ascii_line, windows_line, utf8_line = b"u,tea\n", b"u,caf\xe9\n", "u,thé\n".encode()
    undefined, filler = b"u,\x81\n", ascii_line * 20
    for lines in itertools.product([windows_line, utf8_line, undefined, windows_line * 30], repeat=2):
        text = b"user,item\n" + ascii_line + filler.join(lines) + ascii_line
        outcomes = set()
        for size in [1 << 20, 64]:
            with windows(size):
                try:
                    outcomes.add(so.read(put(text)).fingerprint)
                except so.SourceError as error:
                    outcomes.add(str(error).partition("csv")[2])
        assert len(outcomes) == 1


def test_a_wrong_encoding_is_a_source_error(put):
    for encoding, cell in [
        ("ascii", "é"),
        ("utf-16", "é"),
        ("utf-32", "é"),
        ("cp1252", "\x81"),
        ("utf-7", "é"),
        ("utf-7", "+2AA-"),
        ("unicode-escape", "\\ud800"),
        ("undefined", "e"),
    ]:
        with pytest.raises(so.SourceError, match="encoding"):
            so.read(put(f"user,item\na,b\na,{cell}\n"), encoding=encoding)


def test_an_unknown_encoding_is_refused(put):
    for encoding in ["klingon", "rot13", "hex", ""]:
        with pytest.raises(so.ParameterError, match="encoding must be"):
            so.read(put(TEXT), encoding=encoding)


def test_nul_bytes_are_refused(put):
    for text in [TEXT + "c,\0,1\n", TEXT + "\0", "\0" + TEXT, TEXT.encode("utf-16-le")]:
        with windows(16), pytest.raises(so.SourceError, match="NUL"):
            so.read(put(text))


def test_an_empty_file_is_refused_with_the_reason(put):
    for text in ["", "\n", " \r\n\n", "\ufeff", gzip.compress(b"", mtime=0), zstd.compress(b"")]:
        with pytest.raises(so.SourceError, match="is empty"):
            so.read(put(text))


def test_a_header_without_rows_is_refused_with_the_reason(put):
    for text, options in [
        ("user,item\n", {}),
        ("user,item", {}),
        ("u,i\n", {"record": "u", "item": "i"}),
        ("u,i\n\n\r\n", {"header": True, "record": 1, "item": 2}),
    ]:
        with pytest.raises(so.SourceError, match="header and no rows"):
            so.read(put(text), **options)


def test_a_row_that_never_ends_is_refused(put, monkeypatch):
    monkeypatch.setattr("standout.ingest.tokens.LONGEST_ROW", 64)
    with windows(16), pytest.raises(so.SourceError, match="line 3 is longer than"):
        so.read(put("user,item\na,b\nc," + "d" * 100 + "\n"))


@pytest.mark.parametrize("source", ["nowhere.csv", "no*where.csv", ["nowhere.csv"], "", "a\0b", "\udcff"])
def test_a_missing_source_is_a_source_error(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(so.SourceError):
        so.read(source)


def test_an_invalid_source_is_refused():
    for source in [[], 5, None, b"data.csv", [5], object()]:
        with pytest.raises(so.StandoutError):
            so.read(source)


def test_several_files_and_globs_are_one_release(tmp_path):
    for i, line in enumerate(TEXT.splitlines()[1:]):
        (tmp_path / f"part-{i}.csv").write_text(f"user,item,rating\n{line}\n")
    files = sorted(tmp_path.iterdir())
    for source in (str(tmp_path / "part-*.csv"), files, [tmp_path / "part-[01].csv", str(files[2])]):
        release = so.read(source)
        assert content(release) == PLAIN
        assert release.provenance.files == ("part-0.csv", "part-1.csv", "part-2.csv")


def test_a_file_whose_name_looks_like_a_glob_is_the_file(put):
    assert content(so.read(str(put(TEXT, "a[1]*.csv")))) == PLAIN


def test_the_later_file_wins_between_equal_times(put):
    files = [put(f"user,item,rating\na,x,{stars}\n") for stars in (3, 5, 4)]
    assert content(so.read(files, repeats="last")) == {("a", "x"): (4.0, None)}
    assert content(so.read(files, repeats="first")) == {("a", "x"): (3.0, None)}


def test_files_with_different_layouts_are_refused(put):
    for other in ["item,user,stars\nx,a,4\n", "user;item;rating\na;x;4\n", "a,x,4\n", "user,item\na,x\n"]:
        with pytest.raises(so.SourceError, match="has another layout than"):
            so.read([put(TEXT), put(other)])
