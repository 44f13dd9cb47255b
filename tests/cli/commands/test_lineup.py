"""`standout lineup`: what it prints, what it refuses, and that it says what the library says."""

import json
import math
import re
from datetime import date, timedelta
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import SECRET, check_error, run_process, undocumented

import standout as so
from standout.cli.command_group import cli


@pytest.fixture
def ask(run, titled_files):
    """ask("Brazil=4", …, top=3) runs `standout lineup --attack paper` with these facts and options."""

    def call(*facts, **options):
        options = {"attack": "paper"} | options
        known = [part for fact in facts for part in ("--knows", fact)]
        more = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        return run("lineup", titled_files / "index", *known, *(part for part in more if part is not True))

    return call


def sentences(outcome):
    """Return the output without its line ends."""
    assert (outcome.code, outcome.err) == (0, "")
    return " ".join(outcome.out.split())


BAD = {
    "bad date": (["--knows", "Brazil=4@2005-13-01"], "'2005-13-01'"),
    "half a date": (["--knows", "Brazil@2005-03"], "'2005-03'"),
    "bad date, unknown item": (["--knows", "qqzzqq=4@2005-02-30"], "'2005-02-30'"),
    "empty date": (["--knows", "Brazil@"], "2005-03-01"),
    "zone": (["--knows", "Brazil@2005-03-01T20:15+02:00"], "zone"),
    "bad error": (["--knows", "Brazil=4±x"], "must be a number, got '4±x'"),
    "bad error of a date": (["--knows", "Brazil@2005-03-01±x"], "2005-03-01±14"),
    "large error of a date": (["--knows", "Brazil@2005-03-01±99999"], "2005-03-01±14"),
    "bad value": (["--knows", "Brazil=good"], "must be a number, got 'good'"),
    "empty value": (["--knows", "Brazil="], "must be a number"),
    "nan": (["--knows", "Brazil=nan"], "must be a number"),
    "infinite": (["--knows", "Brazil=1e999"], "must be a number"),
    "no item": (["--knows", "=4"], "ITEM=VALUE@DATE"),
    "empty": (["--knows", ""], "ITEM=VALUE@DATE"),
    "nothing": ([], "no known facts"),
    "twice": (["--knows", "Brazil", "--knows", "1=4"], "Brazil (1985) [1]"),
    "unknown twice": (["--knows", "qqzz", "--knows", "qqzz=4"], "'qqzz'"),
    "phi": (["--knows", "Brazil", "--attack", "paper", "--phi", "-0.1"], "--phi must be"),
    "phi nan": (["--knows", "Brazil", "--attack", "paper", "--phi", "nan"], "--phi must be"),
    "posterior": (["--knows", "Brazil", "--posterior", "0"], "--posterior must be"),
    "phi of the other attack": (["--knows", "Brazil", "--phi", "2"], "--phi is an option of --attack paper and"),
    "errors of the other attack": (
        ["--knows", "Brazil", "--attack", "paper", "--time-error", "3"],
        "--time-error is an option of --attack likelihood and algorithm-1a, not of paper",
    ),
    "wrong facts": (["--knows", "Brazil", "--wrong", "2"], "--wrong must be at most"),
    "negative error": (["--knows", "Brazil", "--value-error", "-1"], "--value-error must be"),
    "length": (["--knows", "Brazil", "--length", "some"], "'some'"),
    "length backwards": (["--knows", "Brazil", "--length", "300-100"], "'300-100'"),
    "length below": (["--knows", "Brazil", "--length", "-5"], "'-5'"),
    "length too long": (["--knows", "Brazil", "--length", "9" * 30], "200±50%"),
    "joined": (["--knows", "Brazil", "--joined", "2004±30"], "'2004±30'"),
    "joined too early": (["--knows", "Brazil", "--joined", "2004-01-01±999999"], "2004-01-01±30"),
    "missing file": (["--aux", "missing.csv"], "missing.csv"),
    "empty file": (["--aux", "nothing.csv"], "no known facts"),
    "bad line": (["--aux", "bad.csv"], "line 3"),
    "no columns": (["--aux", "columns.csv"], "item"),
    "index": (["--knows", "Brazil", "--record", "user"], "is an index"),
}


def test_bad_input_is_one_line_and_exit_code_1(run, titled_files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("nothing.csv").write_text("item,value,time\n")
    Path("bad.csv").write_text(f"item,value,time\n1,4,2005-03-01\n2,3,{SECRET}\n")
    Path("columns.csv").write_text(f"{SECRET},x\n1,2\n")
    for name, (args, part) in BAD.items():
        outcome = run("lineup", titled_files / "index", *args)
        check_error(outcome)
        assert part in outcome.err, name


def test_missing_data_is_an_error_of_one_line(run):
    check_error(run("lineup", "no such data", "--knows", "Brazil"))


@pytest.mark.parametrize("args", [["--top", "0"], ["--top", "1001"], ["--attack", "both"], ["--nonsense"]])
def test_wrong_usage_is_explained(titled_files, args):
    outcome = CliRunner().invoke(cli, ["lineup", str(titled_files / "index"), "--knows", "1", *args])
    assert outcome.exit_code == 2 and "Usage: " in outcome.output


# Names that no item has, or several.


@pytest.mark.parametrize("typed", ["Brasil", "brasil=4@2005-03-01", "Brazill", "Brazil (1986)"])
def test_a_title_that_comes_close_is_suggested(ask, typed):
    outcome = ask(typed, "Bent")
    check_error(outcome)
    name = typed.partition("=")[0]
    assert f"no item is called '{name}': did you mean Brazil (1985) [1]" in outcome.err
    assert "--allow-unknown" in outcome.err


def test_a_name_close_to_an_item_can_be_allowed(ask):
    out = sentences(ask("Brasil=4", "Bent", allow_unknown=True))
    assert "Brasil 4 not in the release" in out
    assert "1 of 2 facts names an item that the release does not have" in out


def test_a_title_of_several_items_lists_them_with_years_and_ids(ask):
    outcome = ask("hamlet=4")
    check_error(outcome)
    assert "2 items have the title 'hamlet'" in outcome.err
    assert "Hamlet (1996) [5]" in outcome.err and "Hamlet (1948) [4]" in outcome.err
    assert "add the year, or use the id" in outcome.err
    outcome = ask("emma (1996)")
    check_error(outcome)
    assert "Emma (1996) [12]" in outcome.err and "use the id" in outcome.err and "year" not in outcome.err


def test_a_name_unlike_any_item_is_accepted_and_reported(ask):
    out = sentences(ask("Brazil=1", "qqzzqq=3@2005-03-01", "zzqqzz"))
    assert "2 of 3 facts name items that the release does not have" in out
    assert "qqzzqq 3 2005-03-01 not in the release" in out


def test_unknown_items_alone_give_no_conclusion(ask):
    out = sentences(ask("qqzzqq=3", "zzqqzz"))
    assert "No conclusion: the release has none of these items." in out
    assert "Lineup" not in out and "Claim" not in out
    given = json.loads(ask("qqzzqq=3", "zzqqzz", json=True).out)
    assert (given["lineup"], given["outside"], given["match"], given["explain"]) == ([], 1.0, None, [])
    assert given["unknown"] == ["qqzzqq", "zzqqzz"]
    assert given["bits"]["left"] == given["bits"]["prior"] == math.log2(61)


def test_ids_that_are_words_are_suggested_and_numbers_are_not(run, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("user,item\np,Paris\nq,Rome\nr,1001\n")
    outcome = run("lineup", path, "--knows", "paris")
    check_error(outcome)
    assert "did you mean Paris?" in outcome.err
    assert "No conclusion" in sentences(run("lineup", path, "--knows", "1002"))


# What is printed.


def test_an_eccentric_record_is_claimed(ask):
    out = sentences(ask("brazil=1@2005-03-02", "BENT=3", "me@2004-01-01@2005-03-07", "17"))
    assert "Brazil (1985) [1] 1 2005-03-02 10" in out
    assert re.search(
        r"Claim: record jane\. Its score is \d+\.\d standard deviations above the second best \(φ = 1\.5\)\.", out
    )
    assert re.search(r"1 jane (> )?\d\d\.\d\d % \d\.\d{3}", out)
    assert "somebody else (" in out
    assert "of 5.9 bits (log2 61) are still missing to identify the best guess." in out


def test_an_eccentricity_below_phi_gives_no_claim(ask, titled_release):
    facts = ("brazil=1@2005-03-02", "BENT=3")
    verdict = so.ScoreboardRH().attack(titled_release, so.Aux([so.Fact("1", 1, date(2005, 3, 2)), so.Fact("3", 3)]))
    assert verdict.match(1.5)
    out = sentences(ask(*facts, phi=verdict.eccentricity + 1))
    assert f"No claim: the best score is only {verdict.eccentricity:.1f} standard deviations above" in out
    assert f"less than φ = {verdict.eccentricity + 1:g}." in out
    out = sentences(ask(*facts, phi=verdict.eccentricity))
    assert "Claim: record jane." in out
    out = sentences(ask(*facts, phi=verdict.eccentricity + 1e-4))
    shown = re.search(r"only ([\d.]+) standard deviations", out)[1]
    assert float(shown) < verdict.eccentricity + 1e-4


def test_a_tie_gives_no_claim(ask, titled_release):
    out = sentences(ask("Bent", top=2))
    assert f"No claim: {len(titled_release.item('3')):,} records tie for the best score." in out
    assert "the first of the tied records" in out
    assert re.search(r"Lineup record probability score 1 \S+ \d+\.\d\d % \S+ 1 \S+ \d+\.\d\d %", out)


def test_no_candidate_or_a_single_one_gives_no_claim(ask):
    out = sentences(ask("Bent", length="1000-2000"))
    assert "Candidates have 1,000 to 2,000 items: 0 of 61 records." in out
    assert "No claim: no record fits the length and the first date." in out and "Lineup" not in out
    out = sentences(ask("Bent", length="10-99"))
    assert "No claim: only one record fits" in out and "100 %" in out
    assert "0.0 of 0.0 bits (log2 1)" in out and "somebody else" not in out


def test_facts_that_favour_no_record_give_no_conclusion(ask):
    assert "No conclusion: these facts do not favour any record." in sentences(ask("Brazil@0001-01-01"))


def test_length_and_first_date_limit_the_candidates(ask, titled_release):
    out = sentences(ask("Bent", length="3±50%", joined="2006-04-05±5"))
    assert "Candidates have 2 to 4 items and begin from 2006-03-31 to 2006-04-10" in out
    given = json.loads(ask("Bent", length="3±50%", joined="2006-04-05±5", json=True).out)
    aux = so.Aux([so.Fact("3")], length=(2, 4), joined=(date(2006, 3, 31), date(2006, 4, 10)))
    assert given["candidates"] == so.ScoreboardRH().attack(titled_release, aux).candidates
    assert 0 < given["candidates"] < 61
    assert (given["length"], given["joined"]) == ([2, 4], ["2006-03-31", "2006-04-10"])


def test_each_fact_shows_its_contribution(ask):
    outcome = ask("brazil=1@2005-03-01", "Bent=5", "qqzzqq=1")
    lines = outcome.out.partition("What each fact adds to the score of record jane")[2].splitlines()
    assert re.fullmatch(r"Brazil \(1985\) \[1\] +\d\.\d{3} +█{16} *", lines[2])
    assert re.fullmatch(r"Bent \(1997\) \[3\] +\d\.\d{3} +█+[▉-▏]? *", lines[3])
    assert re.fullmatch(r"qqzzqq +0\.000 +not in the release *", lines[4])
    parts, total = ([float(re.search(r"\d\.\d{3}", line)[0]) for line in part] for part in (lines[2:5], lines[5:6]))
    assert sum(parts) == pytest.approx(total[0], abs=0.002)


def test_an_item_that_the_best_guess_lacks_is_marked(ask):
    assert "does not have it" in sentences(ask("1=3@2006-04-05", "2=3@2006-04-06", "12", length="1-9"))


def test_values_and_times_that_the_release_lacks_are_reported_as_ignored(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,item\np,x\nq,x\nq,y\n")
    out = sentences(run("lineup", tmp_path / "a.csv", "--knows", "y=4@2005-03-01"))
    assert "The release has no values: known values are ignored." in out
    assert "The release has no times: known times are ignored." in out
    assert "Claim: record q" in out or "No claim" in out


CATEGORIES = ["p,x,good", "q,x,bad", "r,x,4", "s,y,4"]


def test_categories_are_values_too(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,item,value,date\n" + "".join(f"{row},2005-03-01\n" for row in CATEGORIES))
    ask = ("lineup", path, "--read", "value-type=text", "--attack", "paper", "--knows")
    for value, record in (("good", "p"), ("4", "r")):
        given = json.loads(run(*ask, f"x={value}@2005-03-01", "--json").out)
        assert given["lineup"][0]["record"] == record and given["ties"] == 1
        assert given["facts"][0]["value"] == value and given["explain"][0]["similarity"] == 2
    outcome = run(*ask, "x=worse")
    check_error(outcome)
    assert "no value 'worse'" in outcome.err and "good" not in outcome.err
    assert "No conclusion" in sentences(run(*ask, "x=worse", "--allow-unknown"))


def test_titles_are_shown_as_they_are_and_cannot_reach_the_terminal(ask):
    outcome = ask("18", "19")
    assert "[bold]Up[/bold] :smile: [18]" in sentences(outcome)
    assert "\x1b" not in outcome.out and "Grease�[2J (1978) [19]" in sentences(outcome)
    outcome = ask("Grease")
    assert outcome.err.count("\n") == 1 and "\x1b" not in outcome.err


def test_nothing_is_ever_called_safe(ask):
    for facts in (["Bent"], ["qqzzqq"], ["Brazil=1@2005-03-01", "17"], ["Brazil=1", "2=3"]):
        assert "safe" not in ask(*facts).out.lower()


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("attack", ["likelihood", "paper", "algorithm-1a"])
def test_no_line_is_wider_than_the_screen_and_nothing_is_cut_off(ask, monkeypatch, width, attack):
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = ask("Brazil=1@2005-03-01", "seven@2005-03-08", "An id like a fact", "17", attack=attack)
    assert all(len(line) <= width for line in outcome.out.splitlines())
    assert "…" not in outcome.out
    for part in ("Brazil", "2005-03-01" if width > 40 else "2005", "jane", "fact", "bits", "laim:"):
        assert part in outcome.out


# The Bayesian attack, which is the default.


def test_a_probable_record_is_claimed_by_default(run, titled_files):
    facts = ("brazil=1@2005-03-01", "BENT=3@2005-03-03", "me@2004-01-01@2005-03-07", "17")
    known = [part for fact in facts for part in ("--knows", fact)]
    out = sentences(run("lineup", titled_files / "index", *known)).replace("\xa0", " ")
    assert (
        "Assumes: the person's record has 98 % of the known items; 1 in 10 facts wrong, otherwise values and "
        "dates roughly right; the person is in the data with a chance of 50 %."
    ) in out
    assert re.search(r"Claim: record jane, with a probability of (> )?99\.\d\d % \(at least 95 %\)\.", out)
    assert re.search(r"nobody in the data (< )?\d\.\d\d %", out)
    assert "if the person is in the data." in out and "How much likelier each fact is about record jane" in out
    assert re.search(r"Brazil \(1985\) \[1\] × [\d.,]+ × [\d.]+ \d+\.\d{3} █+", out)


def test_a_posterior_below_the_threshold_gives_no_claim(ask, titled_release):
    verdict = so.Likelihood().attack(titled_release, so.Aux([so.Fact("1", 1.0)]))
    likely = verdict.lineup(1)[0].probability
    assert 0 < likely < 0.95
    out = sentences(ask("Brazil=1", attack="likelihood"))
    assert f"No claim: the most likely record, jane, has a probability of {100 * likely:.2f} %" in out
    assert "less than 95 %." in out
    claimed = sentences(ask("Brazil=1", attack="likelihood", posterior=likely * 0.999))
    assert "Claim: record jane" in claimed
    close = sentences(ask("Brazil=1", attack="likelihood", posterior=likely + 1e-6))
    said, least = re.search(r"a probability of ([\d.]+) %, less than ([\d.]+) %", close).groups()
    assert float(said) < float(least)


def test_json_of_the_bayesian_attack_equals_the_result_of_the_library(ask, titled_release):
    options = {"wrong": 1, "value_error": 0, "time_error": 2, "present": 0.8, "coverage": 0.9, "top": 4}
    typed = ("brazil=1@2005-03-02", "Bent=3", "17", "qqzz=1")
    given = json.loads(ask(*typed, attack="likelihood", json=True, **options).out)
    facts = [so.Fact("1", 1.0, date(2005, 3, 2)), so.Fact("3", 3.0), so.Fact("17"), so.Fact("qqzz", 1.0)]
    adversary = so.Adversary(knows=4, wrong=1, value_error=0, time_error=2)
    attack = so.Likelihood(adversary, coverage=0.9, present=0.8)
    verdict = attack.attack(titled_release, so.Aux(facts), top=4)
    assert list(given) == KEYS and undocumented("lineup", given) == []
    assert [tuple(one.values()) for one in given["lineup"]] == [tuple(one) for one in verdict.lineup(4)]
    assert (given["attack"], given["nobody"]) == ("likelihood", verdict.nobody)
    assert (given["phi"], given["posterior"]) == (None, 0.95)
    assert given["assumes"].replace("\xa0", " ") == (
        "Assumes: the person's record has 90 % of the known items; 1 of 4 facts wrong, otherwise values "
        "exact, dates ± 2 days; the person is in the data with a chance of 80 %."
    )
    claim = verdict.claim(0.95)
    assert given["match"] == (claim and claim.record)
    best = verdict.best
    assert given["bits"]["left"] == verdict.entropy(best)
    assert [part["part"] for part in given["explain"]] == [part.score for part in verdict.explain(best)]


def test_errors_of_single_facts_are_used_by_the_bayesian_attack(ask, titled_release):
    given = json.loads(ask("brazil=1±2@2005-03-02+-30?", "Bent=3±0", attack="likelihood", json=True).out)
    facts = [so.Fact("1", 1.0, date(2005, 3, 2), 2, 30, 0.5), so.Fact("3", 3.0, value_error=0)]
    verdict = so.Likelihood().attack(titled_release, so.Aux(facts))
    assert [tuple(one.values()) for one in given["lineup"]] == [tuple(one) for one in verdict.lineup(10)]
    errors = [(fact["value_error"], fact["time_error"], fact["doubt"]) for fact in given["facts"]]
    assert errors == [(2, 30, 0.5), (0, None, None)]
    assert "roughly right (except where a fact states its own error); " in given["assumes"]
    for part, expected in zip(given["explain"], verdict.explain(verdict.best), strict=True):
        assert (part["by_item"], part["by_value"], part["by_time"]) == expected[-3:]
        assert part["by_item"] + part["by_value"] + part["by_time"] == part["part"]
    assert undocumented("lineup", given) == []


def test_errors_of_single_facts_are_shown_and_said_to_be_ignored_by_the_paper(ask):
    out = sentences(ask("brazil=1±2@2005-03-02+-30?", "Bent=3±0"))
    assert "Brazil (1985) [1] 1 ± 2 2005-03-02 ± 30 days 50 %" in out.replace("\xa0", " ")
    assert "3 ± 0" in out.replace("\xa0", " ")
    ignored = "ignores the errors and doubts of single facts"
    assert ignored in out
    assert ignored not in sentences(ask("Brazil=1"))
    assert ignored not in sentences(ask("brazil=1±2", attack="likelihood"))


def test_errors_that_are_not_given_are_stated(ask):
    given = json.loads(ask("Brazil=1", "Bent", attack="likelihood", wrong=1, json=True).out)
    assert "; 1 of 2 facts wrong, otherwise values ± 1, dates ± 14 days; " in given["assumes"]


def test_nothing_is_assumed_about_values_that_the_release_lacks(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,item\np,x\nq,x\nq,y\n")
    out = sentences(run("lineup", tmp_path / "a.csv", "--knows", "y"))
    assert "Assumes: the person's record has 98 % of the known items; the person is in the data" in out


def test_a_fact_that_the_best_guess_lacks_is_marked(ask):
    out = sentences(ask("1=1@2005-03-01", "2", "qqzz", attack="likelihood"))
    assert "qqzz 0.000 not in the release" in out


def test_algorithm_1a_claims_the_only_record_that_matches(ask, titled_release):
    out = sentences(ask("brazil=1@2005-03-02", "Bent", attack="algorithm-1a", value_error=0, time_error=1))
    assert "Claim: record jane. No other record matches all facts." in out
    assert "How well each fact fits record jane" in out and "lowest 1.000" in out
    out = sentences(ask("brazil=1@2005-03-02", "Bent", attack="algorithm-1a", time_error=0))
    assert "No claim: no record matches all facts." in out
    out = sentences(ask("Bent", attack="algorithm-1a"))
    assert f"No claim: {len(titled_release.item('3'))} records match all facts." in out


# For machines.

KEYS = [
    "attack", "assumes", "facts", "candidates", "lineup", "outside", "nobody", "eccentricity", "sigma",
    "mean", "phi", "posterior", "match", "ties", "bits", "explain", "unknown", "length", "joined",
    "read", "fingerprint", "version",
]  # fmt: skip


def test_json_equals_the_result_of_the_library(ask, titled_release):
    given = json.loads(ask("brazil=1@2005-03-02", "Bent=3", "17", "qqzz=1", phi=2, top=4, json=True).out)
    facts = [so.Fact("1", 1.0, date(2005, 3, 2)), so.Fact("3", 3.0), so.Fact("17"), so.Fact("qqzz", 1.0)]
    verdict = so.ScoreboardRH().attack(titled_release, so.Aux(facts), top=4)
    lineup, best = verdict.lineup(4), verdict.best
    assert list(given) == KEYS
    assert undocumented("lineup", given) == []
    assert given["facts"][0] == {
        "name": "brazil", "item": "1", "title": "Brazil (1985)", "value": 1.0, "time": "2005-03-02",
        "value_error": None, "time_error": None, "doubt": None,
        "records": len(titled_release.item("1")),
    }  # fmt: skip
    assert [fact["item"] for fact in given["facts"]] == ["1", "3", "17", None]
    assert [fact["title"] for fact in given["facts"]] == ["Brazil (1985)", "Bent (1997)", None, None]
    assert [tuple(one.values()) for one in given["lineup"]] == [
        (one.record, one.score, one.probability) for one in lineup
    ]
    assert list(given["lineup"][0]) == ["record", "score", "probability"]
    assert given["outside"] == lineup.outside
    for name in ("candidates", "eccentricity", "sigma", "mean", "ties"):
        assert given[name] == getattr(verdict, name)
    assert (given["attack"], given["assumes"], given["nobody"], given["posterior"]) == ("paper", None, None, None)
    assert (given["phi"], given["match"]) == (2.0, "jane") and verdict.match(2).record == best == "jane"
    assert given["bits"] == {"prior": verdict.bits, "left": verdict.entropy(best)}
    assert [part["part"] for part in given["explain"]] == [part.score for part in verdict.explain(best)]
    assert [part["has"] for part in given["explain"]] == [True, True, True, False]
    assert math.fsum(part["part"] for part in given["explain"]) == given["lineup"][0]["score"]
    assert (given["unknown"], given["length"], given["joined"]) == (["qqzz"], None, None)
    assert (given["fingerprint"], given["version"]) == (titled_release.fingerprint, so.__version__)


def test_the_mass_of_a_lineup_is_1(ask):
    for facts, top, attack in product(
        [["Bent"], ["qqzz"], ["Brazil=1", "Bent=3@2005-03-01", "17"]], [1, 10, 1000], ["likelihood", "paper"]
    ):
        given = json.loads(ask(*facts, top=top, attack=attack, json=True).out)
        assert len(given["lineup"]) <= top
        total = math.fsum([given["outside"], *(one["probability"] for one in given["lineup"])])
        assert total == pytest.approx(1, abs=1e-9)


def test_a_raw_source_and_its_index_give_the_same_output(run, ask, titled_files):
    source = (titled_files / "r.csv", "--read", f"titles={titled_files / 'titles.csv'}")
    facts = ("--knows", "Brazil=1@2005-03-01", "--knows", "Bent", "--attack", "paper", "--json")
    assert run("lineup", *source, *facts).out == ask("Brazil=1@2005-03-01", "Bent", json=True).out


def test_facts_of_a_file_and_of_the_command_line_add_up(ask, tmp_path):
    path = tmp_path / "aux.csv"
    path.write_text("item,value,time\nbent,3,\n17,,2005-03-14\nBrasil,,\n")
    given = json.loads(ask("brazil=1@2005-03-02", aux=path, json=True).out)
    assert [(fact["name"], fact["item"]) for fact in given["facts"]] == [
        ("brazil", "1"), ("bent", "3"), ("17", "17"), ("Brasil", None),
    ]  # fmt: skip
    assert given["unknown"] == ["Brasil"] and given["match"] == "jane"
    alone = json.loads(ask(aux=path, json=True).out)
    assert alone["facts"] == given["facts"][1:]
    outcome = ask("Bent=4", aux=path)
    check_error(outcome)
    assert "Bent (1997) [3]" in outcome.err


# The process.


def test_output_to_a_pipe_is_plain_text(titled_files):
    outcome = run_process("lineup", titled_files / "index", "--knows", "Brazil=1@2005-03-01")
    assert (outcome.code, outcome.err) == (0, "")
    assert "\r" not in outcome.out and "\x1b" not in outcome.out


@pytest.mark.realdata
@pytest.mark.large
def test_a_few_titles_identify_a_real_record(run, realdata):
    """Six films of a real record, three values one star off, dates a week off."""
    data = realdata / "movielens-latest-small"
    release = so.read(data)
    record = min((release.record_at(i) for i in range(release.n_records)), key=lambda one: abs(len(one) - 150))
    rare = sorted(record.entries, key=lambda entry: len(release.item(entry.item)))[:60:10]
    stars = [max(entry.value - position % 2, 0.5) for position, entry in enumerate(rare)]
    known = [
        f"{release.item(entry.item).title}={star}@{entry.time + timedelta(days=7)}"
        for star, entry in zip(stars, rare, strict=True)
    ]
    facts = [part for text in known for part in ("--knows", text)]
    for attack in ("likelihood", "paper"):
        given = json.loads(run("lineup", data, *facts, "--attack", attack, "--json").out)
        assert given["match"] == record.id
        assert [fact["item"] for fact in given["facts"]] == [entry.item for entry in rare]
        assert f"Claim: record {record.id}" in sentences(run("lineup", data, *facts, "--attack", attack))
    check_error(outcome := run("lineup", data, "--knows", "Brasil"))
    assert "did you mean" in outcome.err and "Brazil (1985) [1199]" in outcome.err


def test_two_facts_may_be_about_one_item_where_people_have_it_several_times(run, tmp_path):
    rows = [("a", 1), ("a", 8), ("a", 20), ("b", 1), ("b", 28), ("c", 20)]
    lines = [f"{who},bread,2005-03-{day:02}" for who, day in rows]
    (tmp_path / "visits.csv").write_text("\n".join(["record,item,time", *lines, "c,wine,2005-03-01"]))
    facts = ["--knows", "bread@2005-03-01", "--knows", "bread@2005-03-20", "--attack", "paper", "--json"]
    given = json.loads(run("lineup", tmp_path / "visits.csv", "--read", "repeats=keep", *facts).out)
    assert [fact["time"] for fact in given["facts"]] == ["2005-03-01", "2005-03-20"]
    assert [part["similarity"] for part in given["explain"]] == [1.0, 1.0]
    assert given["lineup"][0]["record"] == "a" and given["ties"] == 1
    once = [*lines[:1], lines[3], lines[5]]
    (tmp_path / "once.csv").write_text("\n".join(["record,item,time", *once]))
    outcome = run("lineup", tmp_path / "once.csv", "--read", "repeats=keep", *facts)
    assert outcome.code == 1 and "combine them into one" in outcome.err
