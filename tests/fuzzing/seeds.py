"""Good files to start from, and odd values of the options for reading."""

import gzip
import io
import re
import sqlite3
import tarfile
import tempfile
import zipfile
from datetime import date
from pathlib import Path

import duckdb
import polars as pl

from standout.ingest.sources import zstd

__all__ = [
    "COLONS",
    "COLUMN",
    "CSV",
    "DATES",
    "FILMS",
    "FRAME",
    "MOVIES",
    "NETFLIX",
    "ODD",
    "PLACES",
    "U_ITEM",
    "archived",
    "as_utf16",
    "duckdb_file",
    "gzipped",
    "sqlite",
    "tarred",
    "zipped",
    "zstd_frames",
]

CSV = (
    b"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n7,31,4.0,1260759182\n"
    b'007,"a ""Zq7Jx"", one",0.5,1260759185\n7Zq7Jx,1029,,1260759205\n42,31,5.0,\n'
)
DATES = (
    b"user;item;value;date\nZq7Jx;x;good Zq7Jx;2005-03-01\n"
    b"q;y;bad;2005-03-01T23:59:59.5+01:00\nZq7Jx;z;;2005-12-31 08:00\n"
)
PLACES = (
    b"user,lat,lon,time\n1,52.5201,13.4049,2010-05-01T08:15:00Z\n1,-89.9,179.99,2010-05-01T09:00:00Z\n"
    b"7Zq7Jx,52.52,13.41,2010-05-02T23:59:59Z\n7Zq7Jx,0,0,2010-05-03T00:00:00Z\n"
)
COLONS = b"1::1193::5::978300760\r\n1::661::3::978302109\r\n2::1193::4::978298413\r\n12::9::1::978824291\r\n"
MOVIES = b'movieId,title,genres\n31,Dangerous Minds (1995),Drama\n1029,"Dumbo, the (1941)",Animation|Children\n'
U_ITEM = "1193|One Flew Over|01-Jan-1975||x|0\n661|Jäm\xe9s|01-Jan-1996||x|0\n".encode("latin-1")
NETFLIX = b"1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n2:\n1488844,4,2005-09-07\n30878,1,1999-12-31\n"
FILMS = "1,2003,Dinosaur Planet\n2,NULL,Caf\xe9, the\n".encode("latin-1")
FRAME = pl.DataFrame(
    {
        "user": ["1", "1", "7Zq7Jx", "007"],
        "item": ["a", "Zq7Jx b", "a", None],
        "rating": [1.0, None, 2.5, 4.0],
        "time": [date(2005, 3, 1), None, date(1999, 1, 1), date(2020, 2, 29)],
    }
)

COLUMN = ["userId", "user", "movieId", "item", "1", "2", "4", "5", "0", "-1", "x", "", 1, 4, 0, -1, 2**70, "²", "٣"]

ODD = {
    "record": COLUMN,
    "item": [*COLUMN, [], ["1", "2"], [1, 1], (3, 4), ["x"]],
    "value": [*COLUMN, False, True],
    "time": [*COLUMN, False, True],
    "ignore": [*COLUMN, [], ["1", "2"], [1, 1], ["rating", "timestamp"]],
    "separator": ["", ",", ";", "::", ":", " ", "\t", "ab", "é", "🙂", "\0", "\n", '"', "'", "1", "\\"],
    "header": [True, False],
    "quote": ["", '"', "'", ",", ";", "é", "\n", '""', "\0", "1"],
    "encoding": [
        "utf-8", "UTF8", "latin-1", "ascii", "utf-16", "utf-32", "utf-7", "cp1252", "utf-8-sig", "",
        "no such", "idna", "punycode", "rot13", "base64", "hex", "unicode_escape",
        "raw_unicode_escape", "undefined", "mbcs", "\0",
    ],
    "member": ["a.csv", ""],
    "value_type": ["auto", "number", "text", "", "integer"],
    "value_bin": [1, 0.5, 0, -1, 1e-300, 1e300, float("nan"), float("inf"), 5e-324],
    "time_format": [
        "s", "ms", "us", "ns", "iso", "%Y", "%Y-%m-%d", "%d.%m.%Y", "%", "%Q", "%d%d", "", "x", "%Y%z", "(%",
    ],
    "time_unit": ["day", "hour", "minute", "second", ""],
    "zone": ["UTC", "Europe/Berlin", "", "Europe", "../UTC", "no such", "\0", "/etc/localtime", "x" * 300],
    "repeats": ["last", "first", "max", "error", "", "newest"],
    "max_rejects": [0, 1, -1, "5%", "100%", "101%", "nan%", "x", "", "1e3", 10**30, "%"],
}  # fmt: skip


def as_utf16(data):
    """Text as UTF-16 with its mark."""
    return data.decode("utf-8", "replace").encode("utf-16")


def gzipped(data):
    """Compress with gzip, without a time stamp."""
    return gzip.compress(data, mtime=0)


def zstd_frames(data):
    """Compress as two Zstandard frames."""
    half = len(data) // 2
    return b"".join(zstd.compress(part) for part in (data[:half], data[half:]))


def zipped(name, kind=zipfile.ZIP_DEFLATED):
    """A function that packs data as a zip archive with one member."""

    def pack(data):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", kind) as archive:
            archive.writestr(zipfile.ZipInfo(name), data, kind)
        return buffer.getvalue()

    return pack


def tarred(data):
    """The films as a tar inside a tar, like the original download."""
    films = re.split(rb"(?m)^(?=\d+:$)", data) if data else [b""]
    inner = archived({f"mv_{i:07}.txt": film for i, film in enumerate(films)})
    return archived({"README": b"films", "training_set.tar": inner})


def archived(files):
    """The files as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def duckdb_file():
    """A DuckDB file with the rows of the frame, in small blocks."""
    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect() as database:
            database.execute(f"ATTACH '{folder}/a.duckdb' AS a (BLOCK_SIZE 16384)")
            database.execute('CREATE TABLE a.t ("user" TEXT, item TEXT, rating DOUBLE, time DATE)')
            database.executemany("INSERT INTO a.t VALUES (?, ?, ?, ?)", FRAME.rows())
            database.execute("DETACH a")
        return Path(folder, "a.duckdb").read_bytes()


def sqlite():
    """A SQLite file with the rows of the frame."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (user TEXT, item TEXT, rating REAL, time TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", FRAME.cast({"time": pl.String}).rows())
    database.commit()
    content = database.serialize()
    database.close()
    return content
