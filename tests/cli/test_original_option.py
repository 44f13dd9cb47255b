"""`standout simulate` and `standout audit` of what was sanitized, with the original and without it."""

import json

import pytest

import standout as so

pytestmark = pytest.mark.once

STEPS = ("sample-records 0.6", "perturb-value 1 0.5", "round-time month")
ADVERSARY = so.Adversary(knows=4, value_error=1, time_error=14)
ASK = ("--knows", 4, "--targets", 30, "--seed", 3)


@pytest.fixture(scope="module")
def release():
    return so.synthesize(records=120, items=60, entries=2_400, seed=3)


@pytest.fixture
def files(release, tmp_path):
    """(original, output with its ids, output with new ids, its key)."""
    original, kept, new, key = (tmp_path / name for name in ("in.csv", "kept.csv", "new.csv", "key.csv"))
    release.to_frame().write_csv(original)
    so.write_sanitized(so.sanitize(release, *STEPS, seed=7), kept)
    so.write_sanitized(so.sanitize(release, *STEPS, seed=7, renumber=True), new, key=key)
    return original, kept, new, key


def numbers(table):
    """The measures without what names the release."""
    return {(row["measure"], row["setting"]): row["estimate"] for row in table}


def test_simulate_takes_facts_from_the_original(run, release, files):
    original, kept, new, key = files
    done = run("simulate", kept, "--original", original, *ASK, "--json")
    assert (done.code, done.err) == (0, "")
    direct = so.simulate(so.sanitize(release, *STEPS, seed=7), ADVERSARY, targets=30, seed=3)
    found = json.loads(done.out)
    assert found["table"] == direct.table.to_dicts()
    assert found["original"] == release.fingerprint and found["present"] == direct.cell().present < 1
    renumbered = run("simulate", new, "--original", original, "--key", key, *ASK, "--json")
    assert numbers(json.loads(renumbered.out)["table"]) == pytest.approx(numbers(found["table"]))


def test_simulate_says_whose_facts_they_are(run, files):
    original, kept, *_ = files
    told = run("simulate", kept, "--original", original, *ASK).out
    assert "They are people of the original, and so is what is known of them" in told
    plain = run("simulate", original, *ASK)
    assert plain.err == "" and "people of the original" not in plain.out


@pytest.mark.parametrize("command", ["simulate", "audit"])
def test_sanitized_data_without_its_original_is_warned_of(run, files, command, tmp_path):
    options = ASK if command == "simulate" else ("--quick", "--targets", 5, "-o", tmp_path / "out")
    done = run(command, files[1], *options)
    assert done.code == 0
    assert "kept.csv was sanitized, and without --original it is taken for the truth itself" in done.err


def test_audit_is_about_the_original_and_says_so(run, release, files, tmp_path):
    original, _, new, key = files
    risk = tmp_path / "risk.csv"
    done = run("audit", new, "--original", original, "--key", key, "--targets", 20, "--quick", "--seed", 3,
               "-o", tmp_path / "out", "--risk-table", risk)  # fmt: skip
    assert done.code == 0 and done.err == ""
    found = json.loads((tmp_path / "out" / "findings.json").read_text())
    assert found["original"]["records"] == 120 and found["original"]["not_in_release"] > 0
    assert found["original"]["words"] in done.out.replace("\n", " ").replace("  ", " ")
    assert [one["step"] for one in found["original"]["done"]] == [str(so.step(one)) for one in STEPS]
    assert (
        f"{found['original']['not_in_release']} of whom are not in this release"
        in found["answer"]["sentence"]
    )
    assert risk.read_text().splitlines()[1].split(",")[0] == release.records[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["{new}", "--key", "{key}"], "--key is for --original"),
        (["{new}", "--original-record", "who"], "--original-record is for --original"),
        (["{kept}", "--original", "{original}", "--record", "record"], "--record is for other data"),
        (["{new}", "--original", "{original}"], "new ids"),
        (["{original}", "--original", "{original}"], "cannot be read"),
        (["{kept}", "--original", "{new}"], "was not made from this original"),
        (["{new}", "--original", "{original}", "--key", "{original}"], "is not a key"),
        (["{kept}", "--original", "nowhere.csv"], "nowhere.csv"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "audit"])
def test_what_does_not_fit_is_an_error_in_one_line(run, files, tmp_path, command, given, words):
    names = dict(zip(("original", "kept", "new", "key"), map(str, files), strict=True))
    more = ("--knows", 2) if command == "simulate" else ("--quick", "-o", tmp_path / "out")
    done = run(command, *(one.format(**names) for one in given), *more)
    assert done.code == 1 and done.out == ""
    assert words in done.err and len(done.err.strip().splitlines()) == 1


def test_the_original_is_read_by_its_own_options(run, release, files, tmp_path):
    other = tmp_path / "other.tsv"
    frame = release.to_frame().rename({"record": "who", "item": "what", "value": "stars", "time": "day"})
    frame.write_csv(other, separator="\t")
    read = ("--original-record", "who", "--original-item", "what", "--original-value", "stars",
            "--original-time", "day", "--original-separator", "\\t")  # fmt: skip
    one, two = (
        run("simulate", files[1], "--original", *given, *ASK, "--json").out
        for given in ((files[0],), (other, *read))
    )
    assert json.loads(one) == json.loads(two)
