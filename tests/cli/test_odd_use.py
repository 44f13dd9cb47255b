"""Odd environments and ids: one line, or an answer that fits on a screen."""

import pytest


@pytest.mark.parametrize("epoch", ["never", "-", "99999999999999", "9" * 5_000, "1.5"])
def test_an_impossible_epoch_is_refused_before_the_audit(run, monkeypatch, tmp_path, epoch):
    (tmp_path / "a.csv").write_text("user,item,rating\nu1,i1,3\nu2,i1,3\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    outcome = run("audit", tmp_path / "a.csv", "--quick", "-o", tmp_path / "out")
    assert outcome.code == 1 and "SOURCE_DATE_EPOCH must be a whole number" in outcome.err
    assert not (tmp_path / "out" / "findings.json").exists()


def test_a_very_long_id_is_shortened_on_the_screen(run, tmp_path):
    rows = "".join(f"u{n},i{n % 3},2\n" for n in range(40))
    (tmp_path / "a.csv").write_text("user,item,rating\n" + rows + "x" * 300_000 + ",i1,3\n")
    outcome = run("lineup", tmp_path / "a.csv", "--knows", "i1=3")
    assert outcome.code == 0 and "xxx" in outcome.out and len(outcome.out) < 20_000


@pytest.mark.parametrize("text", ["k" * 5_000, "ab " * 2_000, "it's " * 1_000], ids=["word", "words", "quotes"])
@pytest.mark.parametrize(
    "command",
    [("simulate", "--knows"), ("describe", "--read"), ("describe", "--record"), ("audit", "--ladder")],
    ids=" ".join,
)
def test_errors_repeat_only_the_ends_of_a_very_long_argument(run, tmp_path, command, text):
    (tmp_path / "a.csv").write_text("user,item,rating\nu1,i1,3\nu2,i1,3\n")
    outcome = run(command[0], tmp_path / "a.csv", command[1], text)
    assert outcome.code in (1, 2) and "…" in outcome.err and len(outcome.err) < 1_000
