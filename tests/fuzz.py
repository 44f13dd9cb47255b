"""Fuzz every reader with mutated bytes: the result is a release or a StandoutError, and no partial files.

    python -m tests.fuzz --rounds 1000 --seed 1 [--only csv ...]

The reader, the seed and the round determine a case. Readers run in other processes, so that a crash or a hang
is reported like any other failure.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz_sources import (
    COLONS,
    CSV,
    DATES,
    FILMS,
    FRAME,
    MOVIES,
    NETFLIX,
    ODD,
    U_ITEM,
    arrow,
    arrow_stream,
    duckdb_file,
    gzipped,
    meddle,
    mutated,
    parquet,
    sqlite,
    tarred,
    zipped,
    zstd_frames,
)

import standout as so
from standout.ingest import sources, window
from standout.ingest.options import Options
from standout.ingest.read import SourceReader
from standout.release.index_writer import open_index_writer

__all__ = ["READERS", "survey"]


PATIENCE = 5  # seconds a round
FINGERPRINT = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Reader:
    """Seed files by name, the file to read, and how its bytes are packed (gzip, tar …)."""

    files: dict
    source: str = ""
    pack: object = None
    options: tuple = ({},)
    titles: str | None = None

    def write(self, draw, folder):
        """Write the files with one of them mutated, before or after it is packed."""
        chosen = draw.choice(list(self.files))
        for name, content in self.files.items():
            data, packed = content, self.pack is not None and name == self.source
            inside = not packed or draw.random() < 0.5
            if name == chosen and inside:
                data = mutated(draw, data)
            data = self.pack(data) if packed else data
            if name == chosen and not inside:
                data = mutated(draw, data)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def check(self, draw, folder):
        """Read the mutated source in a wide and a narrow window, and index it, with the same result."""
        self.write(draw, folder)
        options, source = draw.choice(self.options), folder / self.source
        outcomes = [outcome(lambda: self.read(source, folder, options))]
        with narrow(draw.choice([48, 64, 200])):
            outcomes.append(outcome(lambda: self.read(source, folder, options)))
        outcomes.append(indexed(lambda: self.read(source, folder, options), folder / "out"))
        if len({outcome.partition(":")[0] for outcome in outcomes}) > 1:
            raise AssertionError(f"the outcomes differ: {outcomes}")
        return outcomes[0]

    def read(self, source, folder, options):
        return SourceReader(Options(**options)).read(source, folder / self.titles if self.titles else None)


@contextmanager
def narrow(size):
    """Few bytes at a time, so that small files are read in many pieces."""
    before = window.CHUNK, sources.HEAD
    window.CHUNK, sources.HEAD = size, 1 << 12
    try:
        yield
    finally:
        window.CHUNK, sources.HEAD = before


def outcome(read):
    """The fingerprint of the release after every record was read, or the error message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", so.ReadingWarning)
            release = read()
        used(release)
        return release.fingerprint
    except so.StandoutError as error:
        return f"{type(error).__name__}: {one_line(error)}"


def used(release):
    """Use the release as a user may."""
    for index in range(release.n_records):
        release.record_at(index)
    repr(release)
    release.to_frame()
    so.describe(release)


def one_line(error):
    text = str(error)
    if not text or "\n" in text:
        raise AssertionError(f"not one line: {text!r}")
    return text


def indexed(read, folder):
    """The same through an index: afterwards the index is complete or nothing is left."""
    folder.mkdir()
    try:
        with open_index_writer(folder / "index") as writer:
            writer.write(read())
    except so.StandoutError as error:
        left = [path.name for path in folder.iterdir()]
        if left:
            raise AssertionError(f"left behind: {left}") from error
        return f"{type(error).__name__}: {one_line(error)}"
    if [path.name for path in folder.iterdir()] != ["index"]:
        raise AssertionError("files besides the index are left")
    if not all(whole for _, whole in so.verify(folder / "index")):
        raise AssertionError("the index is not whole")
    return outcome(lambda: so.open(folder / "index"))


@dataclass(frozen=True)
class Index:
    """An index with one file mutated; verification must detect it."""

    def check(self, draw, folder):
        release = (
            so.synthesize(records=6, items=5, entries=18, seed=1)
            if draw.random() < 0.5
            else so.read(FRAME[:3])
        )
        so.save(release, folder / "index")
        files = sorted((folder / "index").iterdir())
        chosen = draw.choice([*files, *[folder / "index" / "manifest.json"] * (len(files) // 2)])
        before = chosen.read_bytes()
        after = self.changed(draw, chosen, before)
        chosen.write_bytes(after)
        opened = outcome(lambda: so.open(folder / "index"))
        outcome(lambda: so.read(folder / "index"))
        checked = self.verified(folder / "index")
        if chosen.suffix == ".bin" and after != before and checked == "whole":
            raise AssertionError(f"{chosen.name} was changed but verifies as whole")
        return opened

    def changed(self, draw, file, data):
        if file.suffix == ".bin" and draw.random() < 0.5:  # same size, so that the index opens
            data = bytearray(data)
            for _ in range(draw.choice([1, 4])):
                data[draw.randrange(len(data))] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
            return bytes(data)
        if file.suffix == ".json" and draw.random() < 0.7:
            manifest = json.loads(data)
            meddle(draw, manifest)
            rest = {key: part for key, part in manifest.items() if key != "checksum"}
            manifest["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
            return json.dumps(manifest).encode()
        return mutated(draw, data)

    def verified(self, path):
        try:
            return "whole" if all(whole for _, whole in so.verify(path)) else "damaged"
        except so.StandoutError as error:
            return one_line(error)


@dataclass(frozen=True)
class OddOptions:
    """Good files with odd options, whether they fit or not."""

    def check(self, draw, folder):
        name, content = draw.choice([("a.csv", CSV), ("b.csv", DATES), ("c.dat", COLONS), ("d.txt", NETFLIX)])
        (folder / name).write_bytes(content)
        arguments = {key: draw.choice(ODD[key]) for key in draw.sample(list(ODD), draw.choice([1, 2, 4]))}
        if draw.random() < 0.5:
            arguments.setdefault("max_rejects", "100%")
        return outcome(lambda: so.read(folder / name, **arguments))


# The format is given, because the narrow first window is too small to recognise it.
KIND = {"max_rejects": "100%"}
LENIENT = {**KIND, "time_format": "s"}
NUMBERED = {**LENIENT, "record": 1, "item": 2, "value": 3, "time": 4}
ISO = {**LENIENT, "time_format": "iso"}
CATEGORIES = {**LENIENT, "value_type": "text", "repeats": "max"}
BERLIN = {**ISO, "zone": "Europe/Berlin", "time_unit": "minute"}
JOINED = {**LENIENT, "record": "1", "item": ["2", "4"], "time": False}
PATTERN = {**LENIENT, "time_format": "%Y-%m-%d"}
RECODED = ({**ISO, "encoding": "utf-16"}, {**ISO, "encoding": "cp1252"})
READERS = {
    "csv": Reader({"a.csv": CSV}, "a.csv", options=({}, LENIENT, CATEGORIES)),
    "dates": Reader({"a.csv": DATES}, "a.csv", options=({}, ISO, BERLIN)),
    "patterns": Reader({"a.csv": DATES}, "a.csv", options=(PATTERN,)),
    "joined": Reader({"a.csv": CSV}, "a.csv", options=(JOINED,)),
    "colons": Reader({"a.dat": COLONS}, "a.dat", options=({}, LENIENT, NUMBERED)),
    "gzip": Reader({"a.csv.gz": CSV}, "a.csv.gz", gzipped, ({}, LENIENT)),
    "zstd": Reader({"a.csv.zst": CSV}, "a.csv.zst", zstd_frames, ({}, LENIENT)),
    "zip": Reader({"a.zip": CSV}, "a.zip", zipped("a.csv"), ({}, LENIENT, {"member": "a.csv"})),
    "recoded": Reader({"a.csv": DATES}, "a.csv", options=RECODED),
    "movielens": Reader({"ratings.csv": CSV, "movies.csv": MOVIES}, "", options=(LENIENT,)),
    "movielens 1m": Reader({"ratings.dat": COLONS, "movies.dat": COLONS}, "", options=(LENIENT,)),
    "movielens zip": Reader({"a.zip": CSV}, "a.zip", zipped("ml/ratings.csv", 0), (LENIENT,)),
    "titles": Reader({"a.csv": CSV, "t.csv": MOVIES}, "a.csv", options=(LENIENT,), titles="t.csv"),
    "u.item": Reader({"a.dat": COLONS, "u.item": U_ITEM}, "a.dat", options=(NUMBERED,), titles="u.item"),
    "netflix": Reader({"combined_data_1.txt": NETFLIX, "movie_titles.txt": FILMS}, "", options=({}, KIND)),
    "netflix gzip": Reader({"mv_0000001.txt.gz": NETFLIX}, "mv_0000001.txt.gz", gzipped, ({}, KIND)),
    "tar": Reader({"download.tar": NETFLIX}, "download.tar", tarred, ({}, KIND)),
    "tar gzip": Reader({"a.tar.gz": NETFLIX}, "a.tar.gz", lambda data: gzipped(tarred(data)), ({}, KIND)),
    "parquet": Reader({"a.parquet": parquet()}, "a.parquet", options=(LENIENT,)),
    "json lines": Reader({"a.jsonl": FRAME.write_ndjson().encode()}, "a.jsonl", options=(LENIENT,)),
    "json array": Reader({"a.json": FRAME.write_json().encode()}, "a.json", options=(LENIENT,)),
    "sqlite": Reader({"a.db": sqlite()}, "a.db", options=(LENIENT,)),
    "arrow": Reader({"a.arrow": arrow()}, "a.arrow", options=(LENIENT,)),
    "arrow stream": Reader({"a.arrows": arrow_stream()}, "a.arrows", options=(LENIENT,)),
    "duckdb": Reader({"a.duckdb": duckdb_file()}, "a.duckdb", options=(LENIENT,)),
    "options": OddOptions(),
    "index": Index(),
}  # fmt: skip


@dataclass
class Survey:
    """Outcomes of the rounds of one reader."""

    name: str
    read: int = 0
    refused: int = 0
    aborted: int = 0
    wrong: list = field(default_factory=list)

    def __str__(self):
        aborted = f"{self.aborted} aborted by Polars, " if self.aborted else ""
        summary = f"{self.name}: {self.read} read, {self.refused} refused, {aborted}{len(self.wrong)} wrong"
        return "\n".join([summary, *self.wrong])


def survey(name, rounds, seed):
    """Run the rounds in another process; start a new one after the round in which it died."""
    summary, first = Survey(name), 0
    while first < rounds:
        command = [sys.executable, "-W", "error", "-m", "tests.fuzz", "--from", f"{first}", "--only", name]
        command += ["--rounds", f"{rounds}", "--seed", f"{seed}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            try:
                out, errors = child.communicate(timeout=PATIENCE * (rounds - first) + 60)
            except subprocess.TimeoutExpired:
                child.kill()
                out, errors = child.communicate()
        for line in out.splitlines():
            outcome = json.loads(line)
            summary.read += outcome == "read"
            summary.refused += outcome == "refused"
            summary.wrong += [] if outcome in ("read", "refused") else [outcome]
            first += 1
        if child.returncode:
            if "memory allocation of" in errors:  # a size in a damaged Parquet file that Polars believes
                summary.aborted += 1
            else:
                summary.wrong.append(
                    f"{name}, seed {seed}, round {first}: ended by {child.returncode}\n{errors}"
                )
            first += 1
    return summary


def run(name, rounds, seed):
    """Yield one outcome per round: "read", "refused", or the failure."""
    for at in rounds:
        draw, folder = random.Random(f"{name}/{seed}/{at}"), Path(tempfile.mkdtemp(prefix="fuzz"))
        try:
            outcome = READERS[name].check(draw, folder)
            yield "read" if FINGERPRINT.fullmatch(outcome) else "refused"
        except Exception:
            yield f"{name}, seed {seed}, round {at}:\n{traceback.format_exc()}"
        finally:
            shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000, help="Number of mutations of each reader.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the mutations.")
    parser.add_argument(
        "--only", nargs="*", choices=READERS, default=list(READERS), help="Readers to run; default: all."
    )
    parser.add_argument(
        "--from",
        dest="first",
        type=int,
        help="Run in this process from this round on, and print one line per round.",
    )
    arguments = parser.parse_args()
    if arguments.first is not None:
        for name in arguments.only:
            for outcome in run(name, range(arguments.first, arguments.rounds), arguments.seed):
                sys.stdout.write(json.dumps(outcome) + "\n")
                sys.stdout.flush()
        return
    wrong = 0
    for name in arguments.only:
        summary = survey(name, arguments.rounds, arguments.seed)
        sys.stdout.write(f"{summary}\n")
        sys.stdout.flush()
        wrong += len(summary.wrong)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
