"""`standout simulate` and `standout audit` of a sanitized release, with and without its original."""

import json

import pytest

import standout as so
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.once

STEPS = ("sample-records 0.6", "perturb-value 1 0.5", "round-time month")
ADVERSARY = so.Adversary(knows=4, value_error=1, time_error=14)
OPTIONS = ("--knows", 4, "--targets", 30, "--seed", 3)


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=120, items=60, entries=2_400, seed=3)


@pytest.fixture(scope="module")
def files(release, tmp_path_factory):
    """Paths of the original, of the release with its ids, of the release with new ids, and of its key."""
    folder = tmp_path_factory.mktemp("files")
    original, kept, new, key = (folder / name for name in ("in.csv", "kept.csv", "new.csv", "key.csv"))
    release.to_frame().write_csv(original)
    write_sanitized(so.sanitize(release, *STEPS, seed=7), kept)
    write_sanitized(so.sanitize(release, *STEPS, seed=7, renumber=True), new, key=key)
    return original, kept, new, key


def estimates(table):
    """Return the measures without the fingerprint of the release."""
    return {(row["attack"], row["measure"], row["setting"]): row["estimate"] for row in table}


def test_simulate_takes_targets_and_facts_from_the_original(run, release, files):
    original, kept, new, key = files
    outcome = run("simulate", kept, "--original", original, *OPTIONS, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    sanitized, content = so.sanitize(release, *STEPS, seed=7), json.loads(outcome.out)
    for name, attack in (("likelihood", so.Likelihood()), ("paper", so.ScoreboardRH())):
        direct = so.simulate(sanitized, ADVERSARY, attack=attack, targets=30, seed=3)
        rows = [row for row in content["table"] if row["attack"] == name]
        assert rows == [{"attack": name, **row} for row in direct.table.to_dicts()]
    assert content["original"] == release.fingerprint and content["present"] == direct.cell().present < 1
    renumbered = run("simulate", new, "--original", original, "--key", key, *OPTIONS, "--json")
    assert estimates(json.loads(renumbered.out)["table"]) == pytest.approx(estimates(content["table"]))


def test_simulate_says_that_the_facts_are_those_of_the_original(run, files):
    original, kept, *_ = files
    out = run("simulate", kept, "--original", original, *OPTIONS).out
    assert "Targets and known facts are those of the original" in out
    plain = run("simulate", original, *OPTIONS)
    assert plain.err == "" and "those of the original" not in plain.out


def test_a_sanitized_release_without_its_original_gives_a_warning(run, files):
    outcome = run("simulate", files[1], *OPTIONS)
    assert outcome.code == 0
    assert "kept.csv was sanitized, but --original is missing" in outcome.err


def test_an_audit_is_about_the_people_of_the_original(no_charts, run, release, files, tmp_path):
    original, _, new, key = files
    risk = ("--risk-table", tmp_path / "risk.csv")
    options = ("--original", original, "--key", key, "--targets", 20, "--quick", "--seed", 3)
    outcome = run("audit", new, *options, "-o", tmp_path / "out", *risk)
    assert outcome.code == 0 and outcome.err == ""
    findings = json.loads((tmp_path / "out" / "findings.json").read_text())
    content = findings["original"]
    assert content["records"] == 120 and content["not_in_release"] > 0
    assert content["explanation"] in outcome.out.splitlines()
    assert [step["step"] for step in content["steps"]] == [str(so.step(step)) for step in STEPS]
    assert str(content["not_in_release"]) in findings["answer"]["sentence"]
    assert (tmp_path / "risk.csv").read_text().splitlines()[1].split(",")[0] == release.records[0]


MISFITS = [
    ("{new} --key {key}", "--key needs --original"),
    ("{kept} --original {original} --record nothing", "nothing"),
    ("{kept} --original {original} --workers 2", "cannot be used with --original"),
    ("{new} --original {original}", "its ids are new"),
    ("{original} --original {original}", "cannot be read"),
    ("{kept} --original {new}", "was not made from this original"),
    ("{new} --original {original} --key {original}", "is not a key"),
    ("{kept} --original nowhere.csv", "nowhere.csv"),
]


def test_files_and_options_that_do_not_fit_are_errors_of_one_line(run, files, tmp_path):
    paths = dict(zip(("original", "kept", "new", "key"), files, strict=True))
    for command, more in (("simulate", ("--knows", 2)), ("audit", ("--quick", "-o", tmp_path / "out"))):
        for args, message in MISFITS:
            outcome = run(command, *args.format(**paths).split(), *more)
            assert outcome.code == 1 and outcome.out == "", args
            assert message in outcome.err and outcome.err.count("\n") == 1, (args, outcome.err)


def test_the_original_is_read_with_its_own_options(run, release, files, tmp_path):
    other = tmp_path / "other.tsv"
    frame = release.to_frame().rename({"record": "who", "item": "what", "value": "stars", "time": "day"})
    frame.write_csv(other, separator="\t")
    columns = "--record who --item what --value stars --time day"
    options = (*columns.split(), "--read", "separator=\\t")
    plain = run("simulate", files[1], "--original", files[0], *OPTIONS, "--json")
    renamed = run("simulate", files[1], "--original", other, *options, *OPTIONS, "--json")
    assert json.loads(plain.out) == json.loads(renamed.out)
