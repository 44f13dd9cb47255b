"""Whole reproductions: the same bytes from the same seed, results that are reused, interrupted runs."""

import polars as pl
import pytest

import standout as so
from standout.evaluate.simulate import TargetAttacks
from standout.paper.figures import all_figures

pytestmark = pytest.mark.once

SMALL = {"targets": 3, "seed": 1, "threads": 1}


def files_in(folder):
    """The content of each file in the folder, without the checkpoints."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "checkpoints" not in path.parts
    }


def test_the_same_seed_gives_the_same_bytes(release, tmp_path):
    reproduction = so.reproduce(release, tmp_path / "a", only="1,7,table", **SMALL)
    so.reproduce(release, tmp_path / "b", only="1,7,table", **SMALL)
    files = files_in(tmp_path / "a")
    assert files == files_in(tmp_path / "b")
    names = {str(name) for name in files}
    assert {f"figures/{key}.{end}" for key in ("1", "7", "table") for end in ("csv", "svg", "png")} < names
    assert {"index.html", "validation.csv", "about.json"} < names
    assert reproduction.complete and repr(reproduction) == "<Reproduction: 3 figures on 40 records>"
    table = pl.read_csv(tmp_path / "a" / "validation.csv", schema_overrides=reproduction.table.schema)
    expected = reproduction.table["measured"].to_list()
    assert table["measured"].to_list() == pytest.approx(expected, nan_ok=True)
    assert table.height == 6 + 2 + 9 and (tmp_path / "a" / "checkpoints").stat().st_mode & 0o777 == 0o700


def test_another_run_replaces_the_figures(release, tmp_path):
    so.reproduce(release, tmp_path, only="table", **SMALL)
    reproduction = so.reproduce(release, tmp_path, only="7", **SMALL)
    assert set(reproduction.results) == {"7"}
    page = reproduction.page.read_text()
    assert "Figure 7" in page and "Table" not in page
    assert not (tmp_path / "figures" / "table.svg").exists()


def test_an_interrupted_run_keeps_complete_figures_and_can_be_resumed(release, tmp_path, monkeypatch):
    whole = so.reproduce(release, tmp_path / "whole", only="1,6", **SMALL)
    original, calls = TargetAttacks.outcomes, []

    def interrupt_late(*args, **options):
        calls.append(1)
        if len(calls) == 17:  # in the middle of Figure 6
            raise KeyboardInterrupt
        return original(*args, **options)

    monkeypatch.setattr(TargetAttacks, "outcomes", interrupt_late)
    interrupted = so.reproduce(release, tmp_path / "cut", only="1,6", **SMALL)
    assert (interrupted.complete, set(interrupted.results)) == (False, {"1"})
    assert "was interrupted" in interrupted.page.read_text() and "interrupted" in repr(interrupted)
    resumed = so.reproduce(release, tmp_path / "cut", only="1,6", **SMALL)
    assert resumed.complete and len(calls) == 17 + 8  # 12 attacks of Figure 1 and 4 of Figure 6 were reused
    assert files_in(tmp_path / "cut") == files_in(tmp_path / "whole")
    assert resumed.rows == whole.rows


def test_progress_covers_all_figures_together(release, tmp_path):
    reports = []
    so.reproduce(release, tmp_path, only="1,10", **SMALL, progress=lambda *report: reports.append(report))
    stages, done, totals = zip(*reports, strict=True)
    assert set(stages) == {"the paper's figures"} and len(set(totals)) == 1
    assert list(done) == sorted(done) and done[-1] == totals[-1]


@pytest.mark.slow
def test_all_figures_in_one_run(release, tmp_path):
    reproduction = so.reproduce(release, tmp_path, **SMALL)
    keys = {figure.key for figure in all_figures()}
    assert set(reproduction.results) == keys and reproduction.complete
    assert " of 42 attack results " in reproduction.summary
    text = reproduction.page.read_text()
    assert all(f'id="figure-{key}"' in text for key in keys)


def test_parameters_out_of_range_are_rejected(release, tmp_path):
    for wrong in ({"targets": 0}, {"seed": -1}, {"only": "nothing"}, {"threads": 0}):
        with pytest.raises(so.ParameterError, match=next(iter(wrong))):
            so.reproduce(release, tmp_path, **{"only": "1", "targets": 2} | wrong)


def test_a_release_with_repeats_is_rejected(put, tmp_path):
    release = so.read(put("user,item\na,x\na,x\nb,x\n"), repeats="keep")
    with pytest.raises(so.ParameterError, match="repeats must be last, first or max"):
        so.reproduce(release, tmp_path / "paper")
    assert not (tmp_path / "paper").exists()


def test_a_path_that_cannot_be_a_folder_is_rejected(release, put):
    path = put("x")
    for folder in (path, path / "inside"):
        with pytest.raises(so.StandoutError, match="cannot create the folder"):
            so.reproduce(release, folder, only="table")
