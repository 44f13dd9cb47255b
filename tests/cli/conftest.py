"""Fixtures for tests of the command line: a small release with titles that are hard to type."""

from datetime import timedelta

import polars as pl
import pytest
from titles import DAY, TITLES

import standout as so
from standout.report.charts import Chart, Figure


def _entries():
    """Yield jane, who rated everything on her own days, and sixty others who rated a few items alike."""
    for position, item in enumerate(TITLES):
        yield "jane", item, 1 + position % 5, DAY + timedelta(days=position)
    for other in range(60):
        for position, item in enumerate(TITLES):
            if (other + position) % 7 == 0:
                yield f"p{other}", item, 3, DAY + timedelta(days=400 + position)


@pytest.fixture(scope="session")
def titled_files(tmp_path_factory):
    """A folder with r.csv, titles.csv and their index."""
    folder = tmp_path_factory.mktemp("titled")
    columns = ["user", "item", "rating", "date"]
    pl.DataFrame(list(_entries()), columns, orient="row").write_csv(folder / "r.csv")
    pl.DataFrame({"item": TITLES.keys(), "title": TITLES.values()}).write_csv(folder / "titles.csv")
    so.save(so.read(folder / "r.csv", titles=folder / "titles.csv"), folder / "index")
    return folder


@pytest.fixture(scope="session")
def titled_release(titled_files):
    return so.open(titled_files / "index")


@pytest.fixture(scope="session")
def people_index(tmp_path_factory):
    """An index of 300 synthetic people."""
    path = tmp_path_factory.mktemp("people") / "people.index"
    so.save(so.synthesize(records=300, items=120, entries=6_000, seed=3), path)
    return path


@pytest.fixture
def no_charts(monkeypatch):
    """Make no charts, for tests about something else."""
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9"><g></g></svg>'
    monkeypatch.setattr("standout.report.charts.draw", lambda *args, **options: empty.encode())
    nothing = Chart({"mark": "point"})
    monkeypatch.setattr(Figure, "draw", property(lambda figure: lambda width: nothing))
