"""Files read on workers give the index, the counts and the warnings of reading them one after another."""

import os
import signal
import warnings

import numpy as np
import polars as pl
import pytest

import standout as so
from standout.cluster.workers import local_workers
from standout.core.threads import use_pool
from standout.ingest.formats import Options
from standout.ingest.read import SourceReader, read_part

pytestmark = pytest.mark.once


def write(folder, texts):
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"part-{number:02}.csv").write_text(text)
    return folder


def rows(seed, count=400, date="2005-{:02}-11"):
    """Rows with some that are unusable; ids of one seed are partly those of others."""
    draw = np.random.default_rng(seed)
    lines = ["user,item,stars,date"]
    for _ in range(count):
        user, item, stars, month = draw.integers([0, 0, 0, 1], [60 + 20 * seed, 90, 11, 13])
        name = "" if user == 3 else f'"u{user}"' if user % 2 else f"u{user}"
        lines.append(f"{name},{item},{'x' if stars == 10 and seed > 1 else stars},{date.format(month)}")
    return "\n".join(lines) + "\n"


def read(source, pool=None, **options):
    """The release, everything that was said about it, and its rejects."""
    reader = SourceReader(Options(max_rejects="50%", **options))
    with use_pool(pool), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = reader.read(source)
    return release.fingerprint, release.provenance, list(reader.rejects)


class Counting:
    """A pool that counts the tasks it is given."""

    def __init__(self, pool):
        self.pool, self.tasks = pool, 0

    def map(self, function, tasks, places=0):
        for result in self.pool.map(function, tasks, places):
            self.tasks += 1
            yield result


def check_equal(source, pool, least_tasks, **options):
    counting = Counting(pool)
    assert read(source, counting, **options) == read(source, **options)
    assert counting.tasks >= least_tasks


def test_text_files_read_on_workers_give_the_same_release_counts_and_rejects(tmp_path, pool):
    source = write(tmp_path / "csv", [rows(seed) for seed in range(5)])
    check_equal(source, pool, least_tasks=4)
    check_equal(source, pool, least_tasks=4, time_bin="month", repeats="keep")


def test_the_first_times_of_all_files_decide_the_format_of_those_that_follow(tmp_path, pool):
    texts = [rows(0, date=""), rows(1, date=""), rows(2, date="2005-{:02}-11"), rows(3, date="{:02}/11/2005"), rows(4)]
    check_equal(write(tmp_path / "late", texts), pool, least_tasks=1)


def test_dates_that_a_later_text_decides_are_read_here(tmp_path, pool):
    texts = [rows(seed, date="{:02}/11/2005" if seed < 2 else "{:02}/21/2005") for seed in range(3)]
    check_equal(write(tmp_path / "deferred", texts), pool, least_tasks=0)


def test_parquet_files_read_on_workers_give_the_same_release(tmp_path, pool):
    (tmp_path / "parquet").mkdir()
    for seed in range(4):
        frame = pl.read_csv(rows(seed).encode(), schema_overrides={"stars": pl.String}, try_parse_dates=True)
        frame.write_parquet(tmp_path / "parquet" / f"{seed}.parquet")
    check_equal(tmp_path / "parquet", pool, least_tasks=3)


def test_files_behind_urls_are_read_on_workers(tmp_path, pool):
    source = write(tmp_path / "url", [rows(seed) for seed in range(3)])
    fingerprint, provenance, _ = read(f"file://{source}/*.csv", counting := Counting(pool))
    assert fingerprint == read(source)[0] and provenance.rows == 1200
    assert counting.tasks == 2


def test_an_error_in_a_file_is_the_same_on_a_worker(tmp_path, pool):
    source = write(tmp_path / "open", [rows(0), rows(1), 'user,item,stars,date\n"u1,2,3,2005-01-01\n'])
    messages = []
    for used in (None, pool):
        with pytest.raises(so.SourceError) as caught:
            read(source, used)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_an_index_is_built_from_files_read_on_workers(tmp_path, pool):
    source = write(tmp_path / "csv", [rows(seed) for seed in range(3)])
    settings = {"max_rejects": "50%", "memory": "1GB"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = so.index(source, tmp_path / "alone.index", **settings)
        built = so.index(source, tmp_path / "built.index", **settings, client=pool)
    assert built.fingerprint == alone.fingerprint


def read_or_die(*task, read=read_part):
    """Read a file, but end the first worker that gets here."""
    first = task[1].path.parent.parent / "killed"
    try:
        first.touch(exist_ok=False)
    except FileExistsError:
        return read(*task)
    return os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_killed_while_it_reads_changes_nothing(tmp_path, monkeypatch):
    source = write(tmp_path / "csv", [rows(seed) for seed in range(4)])
    expected = read(source)
    monkeypatch.setattr("standout.ingest.read.read_part", read_or_die)
    with local_workers(2) as pool:
        assert read(source, pool) == expected
    assert (tmp_path / "killed").exists()
