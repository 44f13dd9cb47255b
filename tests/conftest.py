"""What the tests share: places for files, a release as a dict, small windows, the real data."""

import json
import os
import signal
import sys
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings

import naive
import standout as so
from standout.cli.main import main
from standout.data.labels import Labels
from standout.ingest.formats import Options
from standout.ingest.places import PlaceReader
from standout.ingest.read import SourceReader
from standout.report import charts

EXAMPLES = int(os.environ.get("STANDOUT_EXAMPLES", "25"))
"""Number of examples of each property; fewer where a test says so. `make test-slow` sets 200."""
settings.register_profile("standout", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile("standout")


def pytest_itemcollected(item):
    """A property that asks for more examples than this run allows gets what it allows."""
    test, own = getattr(item, "obj", None), "_hypothesis_internal_use_settings"
    if (wanted := getattr(test, own, None)) is not None and wanted.max_examples > EXAMPLES:
        setattr(test, own, settings(wanted, max_examples=EXAMPLES))


@pytest.fixture(scope="session")
def put(tmp_path_factory):
    """put(content, name) writes a file into a folder of its own and returns its path."""
    root, numbers = tmp_path_factory.mktemp("put"), count()

    def put(content, name="data.csv", encoding="utf-8"):
        path = root / str(next(numbers)) / name
        path.parent.mkdir()
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return put


@pytest.fixture(scope="session", autouse=True)
def pictures():
    """A picture depends only on its specification, and takes longer than most tests: it is drawn once in a process."""
    drawn, draw_chart = {}, charts.draw

    def draw(form, spec, **options):
        key = json.dumps([form, spec, options])
        if key not in drawn:
            drawn[key] = draw_chart(form, spec, **options)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "draw", draw)
        yield


class Outcome(NamedTuple):
    """What a command returned and printed; `read` has the lines on how data was read, without `err`."""

    code: int
    out: str
    err: str
    read: str = ""

    @classmethod
    def of(cls, code, out, err):
        """Separate the lines on how data was read (and their indented details) from the other errors."""
        lines, reading = err.splitlines(keepends=True), []
        while lines and lines[0].startswith(("Read ", "  ")):
            reading.append(lines.pop(0))
        return cls(code, out, "".join(lines), "".join(reading))


@pytest.fixture
def run(monkeypatch, capsys):
    """`standout` in this process: its exit code, its output and its errors."""

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["standout", *map(str, args)])
        numbers, hook, code = (signal.SIGINT, signal.SIGTERM), sys.unraisablehook, 0
        before = [*map(signal.getsignal, numbers)]
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            sys.unraisablehook = hook
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
        return Outcome.of(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def realdata():
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("STANDOUT_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no real data: neither $STANDOUT_DATA nor ../shared/data is there")
    return folder


def content(release):
    """{(record, item): (value, time)}, times in whole units since 1970, as `naive.entries` gives it."""
    unit = release.clock.unit if release.clock else None
    records = [release.record_at(i) for i in range(release.n_records)]
    return {
        (record.id, entry.item): (entry.value, _units(entry.time, unit))
        for record in records
        for entry in record.entries
    }


def _units(time, unit):
    if time is None:
        return None
    return naive.units(time if isinstance(time, datetime) else datetime(*time.timetuple()[:3]), unit)


def place_ids(cells, latitudes, longitudes):
    """The ids of the places of some texts, None without a place."""
    reader, status = PlaceReader(cells), np.zeros(len(latitudes), np.uint8)
    reader.checked = True  # swapped columns have their own test
    columns = [(own.data, own.offsets[:-1], own.offsets[1:]) for own in map(Labels.of, (latitudes, longitudes))]
    # arrays that can be written to, as a window of a file has, so that the kernels are compiled for one kind only
    names = cells.names(reader.read(*(tuple(map(np.array, column)) for column in columns), status))
    return [None if bad else name for name, bad in zip(names, status, strict=True)]


def outcome(source, **options):
    """(entries, {line: reason}), with any number of rejects allowed; no entries where no row is left."""
    ingest = SourceReader(Options(**{"kind": "history", "max_rejects": "100%"} | options))
    try:
        kept = content(ingest.read(source))
    except so.SourceError:
        if not len(ingest.rejects):
            raise
        kept = {}
    return kept, {line: reason for _, line, reason in ingest.rejects}


@contextmanager
def windows(size):
    """Streams are read in windows of so many bytes, so that every row straddles some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("standout.ingest.tokens.CHUNK", size)
        yield
