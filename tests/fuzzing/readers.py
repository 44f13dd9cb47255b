"""Sources of histories in every format, indexes, and odd options of `so.read`."""

import hashlib
import json
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fuzzing.case import Case
from tests.fuzzing.mutations import meddle, mutated, mutated_text
from tests.fuzzing.outcomes import READ, SECRET, attempt
from tests.fuzzing.seeds import (
    COLONS,
    CSV,
    DATES,
    FILMS,
    FRAME,
    MOVIES,
    NETFLIX,
    ODD,
    PLACES,
    U_ITEM,
    as_utf16,
    duckdb_file,
    gzipped,
    sqlite,
    tarred,
    zipped,
    zstd_frames,
)

import standout as so
from standout.data.store import open_index_writer
from standout.ingest import sources
from standout.ingest import tokens as window
from standout.ingest.formats import Options
from standout.ingest.read import SourceReader

__all__ = ["READERS", "index_files"]

THOROUGH = 0.15
"""Share of the rounds that also read in a narrow window, and build an index."""
HEAD = 1 << 12
"""Bytes of the first piece in a narrow window."""
BINARY = (".db", ".duckdb")


@dataclass(frozen=True)
class Reader:
    """Seed files by name, the file to read, and how its bytes are packed (gzip, tar …)."""

    files: dict
    source: str = ""
    pack: object = None
    options: tuple = ({},)
    titles: str | None = None

    def case(self, draw):
        """The files with one of them mutated, before or after it is packed."""
        chosen, files = draw.choice(list(self.files)), {}
        for name, content in self.files.items():
            data, packed = content, self.pack is not None and name == self.source
            inside = not packed or draw.random() < 0.5
            if name == chosen and inside:
                data = mutated(draw, data) if name.endswith(BINARY) else mutated_text(draw, data)
            data = self.pack(data) if packed else data
            if name == chosen and not inside:
                data = mutated(draw, data)
            files[name] = data
        narrow = draw.choice([48, 64, 200]) if draw.random() < THOROUGH else 0
        return Case(files, {"read": draw.choice(self.options), "narrow": narrow})

    def good_cases(self):
        """The files unchanged, with each of the options."""
        packed = {
            name: self.pack(content) if self.pack is not None and name == self.source else content
            for name, content in self.files.items()
        }
        return [Case(packed, {"read": options, "narrow": 64}) for options in self.options]

    def run(self, case, folder):
        """Read the source; sometimes also in a narrow window and through an index, with the same result."""
        read = lambda: self._read(folder, case.options["read"])  # noqa: E731
        secret = not _secret_in_header(case)
        outcomes = [_fingerprint(read, secret)]
        narrow = case.options["narrow"]
        if narrow and all(_has_short_lines(folder / name) for name in case.files):
            with _narrow_window(narrow):
                outcomes.append(_fingerprint(read, secret))
            outcomes.append(_indexed(read, folder / "out", secret))
        if len({outcome.partition(":")[0] for outcome in outcomes}) > 1:
            raise AssertionError(f"the outcomes differ: {outcomes}")
        return outcomes[0] if ":" in outcomes[0] else READ

    def _read(self, folder, options):
        titles = folder / self.titles if self.titles else None
        return SourceReader(Options(**{"kind": "history"} | options)).read(folder / self.source, titles)


def _secret_in_header(case):
    """Whether a mutation made a cell a name, which messages may show."""
    for packed in case.files.values():
        content = packed.replace(b"\0", b"")  # UTF-16
        first = content.partition(b"\n")[0]
        if SECRET.encode() in first or first.count(b'"') % 2 or b"\r" in first[:-1]:
            return True
        if any(f"{SECRET}{end}".encode() in content for end in ('":', '" :', ":\n")):
            return True
    return False


def _has_short_lines(path):
    """Whether each line, decompressed, fits twice into the narrow first window, as the layout needs it."""
    with suppress(so.StandoutError):
        members = sources.zip_names(path) if sources.first_bytes(path) == sources.ZIP else [None]
        for member in members:
            text = b""
            with suppress(so.StandoutError), sources.open_stream(path, member) as stream:
                while piece := stream.more(HEAD):  # of a damaged file, what is before the damage
                    text = text.rpartition(b"\n")[2] + piece
                    if any(len(line) >= HEAD // 2 for line in text.split(b"\n")):
                        return False
    return True


@contextmanager
def _narrow_window(size):
    """Few bytes at a time, so that small files are read in many pieces."""
    before = window.CHUNK, sources.HEAD
    window.CHUNK, sources.HEAD = size, HEAD
    try:
        yield
    finally:
        window.CHUNK, sources.HEAD = before


def _fingerprint(read, secret=True):
    """The fingerprint of the release after every record was read, or the error message."""
    releases = []
    outcome = attempt(lambda: releases.append(_used(read())), secret)
    return releases[0].fingerprint if releases else outcome


def _used(release):
    """Use the release as a user may."""
    for index in range(release.n_records):
        release.record_at(index)
    repr(release)
    release.to_frame()
    so.describe(release)
    return release


def _indexed(read, folder, secret):
    """The same through an index: afterwards the index is complete or nothing is left."""
    folder.mkdir()

    def write():
        with open_index_writer(folder / "index") as writer:
            writer.write(read())

    outcome, left = attempt(write, secret), [path.name for path in folder.iterdir()]
    if left != (["index"] if outcome == READ else []):
        raise AssertionError(f"left behind: {left}")
    if outcome != READ:
        return outcome
    if not all(whole for _, whole in so.verify(folder / "index")):
        raise AssertionError("the index is not whole")
    return _fingerprint(lambda: so.open(folder / "index"))


@cache
def index_files(kind):
    """The files of a small index."""
    release = so.synthesize(records=6, items=5, entries=18, seed=1) if kind else so.read(FRAME[:3], kind="history")
    with tempfile.TemporaryDirectory() as folder:
        so.save(release, f"{folder}/index")
        return {f"index/{path.name}": path.read_bytes() for path in sorted(Path(folder, "index").iterdir())}


@dataclass(frozen=True)
class Index:
    """An index with one file mutated; verification must detect it."""

    def case(self, draw):
        """An index with one file changed, the manifest more often than others."""
        kind = draw.random() < 0.5
        files = dict(index_files(kind))
        chosen = draw.choice([*files, *["index/manifest.json"] * (len(files) // 2)])
        files[chosen] = self._changed(draw, chosen, files[chosen])
        return Case(files, {"changed": chosen, "kind": kind})

    def _changed(self, draw, name, data):
        if name.endswith(".bin") and data and draw.random() < 0.5:  # same size, so that the index opens
            data = bytearray(data)
            for _ in range(draw.choice([1, 4])):
                data[draw.randrange(len(data))] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
            return bytes(data)
        if name.endswith(".json") and draw.random() < 0.7:
            manifest = json.loads(data)
            meddle(draw, manifest)
            rest = {key: part for key, part in manifest.items() if key != "checksum"}
            manifest["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
            return json.dumps(manifest).encode()
        return mutated_text(draw, data) if name.endswith(".json") else mutated(draw, data)

    def run(self, case, folder):
        """Open, read and verify the index."""
        outcome = _fingerprint(lambda: so.open(folder / "index"))
        attempt(lambda: so.read(folder / "index"))
        reports = []
        checked = attempt(lambda: reports.extend(so.verify(folder / "index")))
        whole = checked == READ and all(whole for _, whole in reports)
        name, before = case.options["changed"], index_files(case.options["kind"])
        if name.endswith(".bin") and case.files[name] != before[name] and whole:
            raise AssertionError(f"{name} was changed but verifies as whole")
        return outcome if ":" in outcome else READ


@dataclass(frozen=True)
class OddOptions:
    """Good files with odd options, whether they fit or not."""

    def case(self, draw):
        """A good file, and a few options."""
        name, content = draw.choice([("a.csv", CSV), ("b.csv", DATES), ("c.dat", COLONS), ("d.txt", NETFLIX)])
        options = {key: draw.choice(ODD[key]) for key in draw.sample(list(ODD), draw.choice([1, 2, 4]))}
        if draw.random() < 0.5:
            options.setdefault("max_rejects", "100%")
        return Case({name: content}, options)

    def run(self, case, folder):
        """Read the file. Without a header or with another separator, cells are taken for names."""
        (name,) = case.files
        read = lambda: so.read(folder / name, **case.options)  # noqa: E731
        return attempt(lambda: _used(read()), secret=False)


# The format is given, because the narrow first window is too small to recognise it.
KIND = {"max_rejects": "100%"}
LENIENT = {**KIND, "time_format": "s"}
NUMBERED = {**LENIENT, "record": 1, "item": 2, "value": 3, "time": 4}
ISO = {**LENIENT, "time_format": "iso"}
CATEGORIES = {**LENIENT, "value_type": "text", "repeats": "max"}
BERLIN = {**ISO, "zone": "Europe/Berlin", "time_unit": "minute"}
JOINED = {**LENIENT, "record": "1", "item": ["2", "4"], "time": False}
PATTERN = {**LENIENT, "time_format": "%Y-%m-%d"}
WIDE = {**ISO, "encoding": "utf-16"}
GRID = {**ISO, "latitude": "lat", "longitude": "lon", "grid": 0.01, "time_unit": "hour"}
GEOHASH = {**ISO, "latitude": "lat", "longitude": "lon", "geohash": 5, "time_bin": "6h"}
NAMED = {**LENIENT, "sql_table": "t"}
READERS = {
    "csv": Reader({"a.csv": CSV}, "a.csv", options=({}, LENIENT, CATEGORIES)),
    "dates": Reader({"a.csv": DATES}, "a.csv", options=({}, ISO, BERLIN)),
    "patterns": Reader({"a.csv": DATES}, "a.csv", options=(PATTERN,)),
    "joined": Reader({"a.csv": CSV}, "a.csv", options=(JOINED,)),
    "colons": Reader({"a.dat": COLONS}, "a.dat", options=(NUMBERED,)),
    "places": Reader({"a.csv": PLACES}, "a.csv", options=(GRID, GEOHASH)),
    "gzip": Reader({"a.csv.gz": CSV}, "a.csv.gz", gzipped, ({}, LENIENT)),
    "zstd": Reader({"a.csv.zst": CSV}, "a.csv.zst", zstd_frames, ({}, LENIENT)),
    "zip": Reader({"a.zip": CSV}, "a.zip", zipped("a.csv"), ({}, LENIENT, {"member": "a.csv"})),
    "recoded": Reader({"a.csv": DATES}, "a.csv", options=({**ISO, "encoding": "cp1252"},)),
    "utf-16": Reader({"a.csv": DATES}, "a.csv", as_utf16, (ISO, WIDE)),
    "movielens": Reader({"ratings.csv": CSV, "movies.csv": MOVIES}, "", options=(LENIENT,)),
    "movielens 1m": Reader({"ratings.dat": COLONS, "movies.dat": COLONS}, "", options=(LENIENT,)),
    "movielens zip": Reader({"a.zip": CSV}, "a.zip", zipped("ml/ratings.csv", 0), (LENIENT,)),
    "titles": Reader({"a.csv": CSV, "t.csv": MOVIES}, "a.csv", options=(LENIENT,), titles="t.csv"),
    "u.item": Reader({"a.dat": COLONS, "u.item": U_ITEM}, "a.dat", options=(NUMBERED,), titles="u.item"),
    "netflix": Reader({"combined_data_1.txt": NETFLIX, "movie_titles.txt": FILMS}, "", options=({}, KIND)),
    "netflix gzip": Reader({"mv_0000001.txt.gz": NETFLIX}, "mv_0000001.txt.gz", gzipped, ({}, KIND)),
    "tar": Reader({"download.tar": NETFLIX}, "download.tar", tarred, ({}, KIND)),
    "tar gzip": Reader({"a.tar.gz": NETFLIX}, "a.tar.gz", lambda data: gzipped(tarred(data)), ({}, KIND)),
    "json lines": Reader({"a.jsonl": FRAME.write_ndjson().encode()}, "a.jsonl", options=(LENIENT,)),
    "json array": Reader({"a.json": FRAME.write_json().encode()}, "a.json", options=(LENIENT,)),
    "sqlite": Reader({"a.db": sqlite()}, "a.db", options=(LENIENT, NAMED)),
    "duckdb": Reader({"a.duckdb": duckdb_file()}, "a.duckdb", options=(LENIENT, NAMED)),
    "options of read": OddOptions(),
    "index": Index(),
}  # fmt: skip
