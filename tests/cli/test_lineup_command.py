"""`standout lineup`: how it reads what is typed, what it prints, and that it says what the library says."""

import json
import math
import re
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from command_line import SECRET, check_error, started
from hypothesis import given
from hypothesis import strategies as st

import standout as so
from standout.cli.lineup_screen import bar, probability_text
from standout.cli.main import cli
from standout.cli.typed_facts import Knowledge, parse_joined, parse_length

TITLES = {
    "1": "Brazil (1985)", "2": "Matrix, The (1999)", "3": "Bent (1997)", "4": "Hamlet (1948)",
    "5": "Hamlet (1996)", "6": "E=mc2 (2005)", "7": "me@2004-01-01", "8": "Seven (a.k.a. Se7en) (1995)",
    "9": "Amélie (2001)", "10": "x=4", "11": "x", "12": "Emma (1996)", "13": "EMMA (1996)", "17": "",
    "18": "[bold]Up[/bold] :smile:", "19": "Grease\x1b[2J\n(1978)", "x@2004-12-24": "An id like a fact",
    "20": "Léon (Leon) (1994)",
}  # fmt: skip
DAY = date(2005, 3, 1)


def entries():
    """jane rated nearly everything on her own days; sixty others rated a few things, always alike."""
    for place, item in enumerate(TITLES):
        yield "jane", item, 1 + place % 5, DAY + timedelta(days=place)
    for other in range(60):
        for place, item in enumerate(TITLES):
            if (other + place) % 7 == 0:
                yield f"p{other}", item, 3, DAY + timedelta(days=400 + place)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lineup")
    pl.DataFrame(list(entries()), ["user", "item", "rating", "date"], orient="row").write_csv(
        folder / "r.csv"
    )
    pl.DataFrame({"item": TITLES.keys(), "title": TITLES.values()}).write_csv(folder / "titles.csv")
    so.save(so.read(folder / "r.csv", titles=folder / "titles.csv"), folder / "index")
    return folder


@pytest.fixture(scope="module")
def release(files):
    return so.open(files / "index")


@pytest.fixture
def ask(run, files):
    """ask("Brazil=4", …, "--top", 3): what `standout lineup` makes of the facts."""

    def call(*facts, **options):
        known = [part for fact in facts for part in ("--knows", fact)]
        more = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        return run("lineup", files / "index", *known, *(part for part in more if part is not True))

    return call


def told(outcome):
    """The sentences without their line ends."""
    assert (outcome.code, outcome.err) == (0, "")
    return " ".join(outcome.out.split())


def facts(release, *texts, **more):
    return [named.fact for named in Knowledge.parse(texts, **more).resolve(release)]


# What is typed.


def written(name, value, time):
    """A fact as people write it."""
    ending = "" if value is None else f"={value}"
    return f"{name}{ending}" + ("" if time is None else f"@{time.isoformat()}")


def cased(names):
    return st.tuples(st.sampled_from(names), st.sampled_from([str, str.lower, str.upper, str.title])).map(
        lambda pair: (pair[0], pair[1](TITLES[pair[0]]))
    )


CLEAR = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
CALLED = st.one_of(st.sampled_from(list(TITLES)).map(lambda item: (item, item)), cased(CLEAR))
VALUES = st.none() | st.integers(-9, 9) | st.floats(-1e9, 1e9)
TIMES = st.none() | st.dates() | st.datetimes().map(lambda time: time.replace(microsecond=0))


@given(called=CALLED, value=VALUES, time=TIMES)
def test_a_fact_that_is_written_down_is_read_back(release, called, value, time):
    item, name = called
    if name in ("11", "x") and value == 4:
        return  # x=4 is the title of another item, and that wins
    assert facts(release, written(name, value, time)) == [so.Fact(item, value, time)]


@given(name=st.text("ab=@-2005 ", min_size=1).filter(str.strip), value=st.integers(0, 9), time=st.dates())
def test_an_unknown_item_with_value_and_date_is_read_back_whatever_it_is_called(release, name, value, time):
    assert facts(release, f"§{name}={value}@{time}", allow_unknown=True) == [so.Fact(f"§{name}", value, time)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Brazil=4@2005-03-01", so.Fact("1", 4.0, DAY)),
        ("Bent=1", so.Fact("3", 1.0)),
        ("17@2004-12-24", so.Fact("17", None, date(2004, 12, 24))),
        ("Matrix, The (1999)", so.Fact("2")),
        ("the MATRIX", so.Fact("2")),
        ("The Matrix (1999)=3.5", so.Fact("2", 3.5)),
        ("  brazil (1985) = 4 @ 2005-03-01 ", so.Fact("1", 4.0, DAY)),
        ("Brazil@2005-03-01T20:15", so.Fact("1", None, datetime(2005, 3, 1, 20, 15))),
        ("E=mc2", so.Fact("6")),
        ("e=MC2=4", so.Fact("6", 4.0)),
        ("me@2004-01-01", so.Fact("7")),
        ("me@2004-01-01@2005-03-01", so.Fact("7", None, DAY)),
        ("se7en", so.Fact("8")),
        ("Seven=2", so.Fact("8", 2.0)),
        ("seven (1995)", so.Fact("8")),
        ("AMELIE", so.Fact("9")),
        ("leon", so.Fact("20")),
        ("x=4", so.Fact("10")),
        ("x=4=4", so.Fact("10", 4.0)),
        ("x=5", so.Fact("11", 5.0)),
        ("x@2004-12-24", so.Fact("x@2004-12-24")),
        ("x@2004-12-25", so.Fact("11", None, date(2004, 12, 25))),
        ("EMMA (1996)", so.Fact("13")),
        ("Hamlet (1948)=2", so.Fact("4", 2.0)),
        ("Brazil=-1e3", so.Fact("1", -1000.0)),
    ],
)
def test_the_longest_name_that_an_item_has_is_its_name(release, text, fact):
    assert facts(release, text) == [fact]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("200±50%", (100, 300)), ("200+-50%", (100, 300)), ("200+/-50 %", (100, 300)),
        ("200 ± 50", (150, 250)),
        ("100-300", (100, 300)), ("100 – 300", (100, 300)), ("7", (7, 7)), ("7±50%", (4, 10)),
        ("10±12.5%", (9, 11)), ("3±9", (0, 12)), ("0", (0, 0)), ("200±300%", (0, 800)),
    ],
)  # fmt: skip
def test_a_length_has_many_forms(text, ends):
    assert parse_length(text) == ends


@given(length=st.integers(0, 10**6), share=st.integers(0, 300))
def test_a_length_within_a_share_is_what_the_words_say(length, share):
    low, high = parse_length(f"{length}±{share}%")
    assert all(100 * abs(end - length) <= share * length for end in (low, high))
    assert all(100 * abs(end - length) > share * length for end in (low - 1, high + 1) if end >= 0)


@pytest.mark.parametrize(
    ("text", "days"),
    [("2004-01-31±30", 30), ("2004-01-31+-30", 30), ("2004-01-31 +/- 0", 0), ("2004-01-31", 0)],
)
def test_a_beginning_has_many_forms(text, days):
    day = date(2004, 1, 31)
    assert parse_joined(text) == (day - timedelta(days=days), day + timedelta(days=days))


BAD = {
    "bad date": (["--knows", "Brazil=4@2005-13-01"], "'2005-13-01'"),
    "half a date": (["--knows", "Brazil@2005-03"], "'2005-03'"),
    "bad date, unknown item": (["--knows", "qqzzqq=4@2005-02-30"], "'2005-02-30'"),
    "empty date": (["--knows", "Brazil@"], "2005-03-01"),
    "zone": (["--knows", "Brazil@2005-03-01T20:15+02:00"], "zone"),
    "bad value": (["--knows", "Brazil=good"], "must be a number, got 'good'"),
    "empty value": (["--knows", "Brazil="], "must be a number"),
    "nan": (["--knows", "Brazil=nan"], "must be a number"),
    "infinite": (["--knows", "Brazil=1e999"], "must be a number"),
    "no item": (["--knows", "=4"], "ITEM=VALUE@DATE"),
    "empty": (["--knows", ""], "ITEM=VALUE@DATE"),
    "nothing": ([], "nothing is known"),
    "twice": (["--knows", "Brazil", "--knows", "1=4"], "Brazil (1985) [1]"),
    "unknown twice": (["--knows", "qqzz", "--knows", "qqzz=4"], "'qqzz'"),
    "phi": (["--knows", "Brazil", "--phi", "-0.1"], "phi must be"),
    "phi nan": (["--knows", "Brazil", "--phi", "nan"], "phi must be"),
    "length": (["--knows", "Brazil", "--length", "some"], "'some'"),
    "length backwards": (["--knows", "Brazil", "--length", "300-100"], "'300-100'"),
    "length below": (["--knows", "Brazil", "--length", "-5"], "'-5'"),
    "length too long": (["--knows", "Brazil", "--length", "9" * 30], "200±50%"),
    "joined": (["--knows", "Brazil", "--joined", "2004±30"], "'2004±30'"),
    "joined too early": (["--knows", "Brazil", "--joined", "2004-01-01±999999"], "2004-01-01±30"),
    "missing file": (["--aux", "missing.csv"], "missing.csv"),
    "empty file": (["--aux", "nothing.csv"], "nothing is known"),
    "bad line": (["--aux", "bad.csv"], "line 3"),
    "no columns": (["--aux", "columns.csv"], "item"),
    "index": (["--knows", "Brazil", "--record", "user"], "is an index"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_code_1(run, files, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("nothing.csv").write_text("item,value,time\n")
    Path("bad.csv").write_text(f"item,value,time\n1,4,2005-03-01\n2,3,{SECRET}\n")
    Path("columns.csv").write_text(f"{SECRET},x\n1,2\n")
    args, part = BAD[name]
    outcome = run("lineup", files / "index", *args)
    check_error(outcome)
    assert part in outcome.err


def test_data_that_is_not_there_is_one_line(run):
    check_error(run("lineup", "no such data", "--knows", "Brazil"))


@pytest.mark.parametrize("args", [["--top", "0"], ["--top", "1001"], ["--phi", "much"], ["--nonsense"]])
def test_wrong_usage_is_explained(files, args):
    outcome = CliRunner().invoke(cli, ["lineup", str(files / "index"), "--knows", "1", *args])
    assert outcome.exit_code == 2 and "Usage: " in outcome.output


# Names that no item has, or several.


@pytest.mark.parametrize("typed", ["Brasil", "brasil=4@2005-03-01", "Brazill", "Brazil (1986)"])
def test_a_title_that_comes_close_is_suggested(ask, typed):
    outcome = ask(typed, "Bent")
    check_error(outcome)
    name = typed.partition("=")[0]
    assert f"no item is called '{name}': did you mean Brazil (1985) [1]" in outcome.err
    assert "--allow-unknown" in outcome.err


def test_a_name_that_comes_close_can_be_meant(ask):
    out = told(ask("Brasil=4", "Bent", allow_unknown=True))
    assert "Brasil 4 not in the release" in out
    assert "1 of 2 facts names an item that the release does not have" in out


def test_a_title_of_several_items_lists_them_with_years_and_ids(ask):
    outcome = ask("hamlet=4")
    check_error(outcome)
    assert "'hamlet' is the title of 2 items" in outcome.err
    assert "Hamlet (1996) [5]" in outcome.err and "Hamlet (1948) [4]" in outcome.err
    assert "add its year, or name it by its id" in outcome.err
    outcome = ask("emma (1996)")
    check_error(outcome)
    assert "Emma (1996) [12]" in outcome.err and "by its id" in outcome.err and "year" not in outcome.err


def test_what_nothing_comes_close_to_is_kept_and_reported(ask, release):
    out = told(ask("Brazil=1", "qqzzqq=3@2005-03-01", "zzqqzz"))
    assert "2 of 3 facts name items that the release does not have" in out
    assert "qqzzqq 3 2005-03-01 not in the release" in out


def test_if_all_items_are_unknown_nothing_is_said(ask):
    out = told(ask("qqzzqq=3", "zzqqzz"))
    assert "Nothing can be said: the release has none of these items." in out
    assert "Lineup" not in out and "match" not in out
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
    assert "Nothing can be said" in told(run("lineup", path, "--knows", "1002"))


# What is printed.


def test_a_record_that_stands_out_is_a_match(ask):
    out = told(ask("brazil=1@2005-03-02", "BENT=3", "me@2004-01-01@2005-03-07", "17"))
    assert "Brazil (1985) [1] 1 2005-03-02 10" in out
    assert re.search(
        r"Record jane stands out: its score lies \d+\.\d standard deviations above the next best "
        r"\(φ = 1\.5\): a match\.", out,
    )  # fmt: skip
    assert re.search(r"1 jane (> )?\d\d\.\d\d % \d\.\d{3}", out)
    assert "somebody else (" in out
    assert "of 5.9 bits (log2 61) are still missing to point at the best record." in out


def test_what_does_not_stand_out_enough_is_no_match(ask, release):
    facts = ("brazil=1@2005-03-02", "BENT=3")
    found = so.ScoreboardRH().attack(release, so.Aux([so.Fact("1", 1, date(2005, 3, 2)), so.Fact("3", 3)]))
    assert found.match(1.5)
    out = told(ask(*facts, phi=found.eccentricity + 1))
    assert f"No match: the best score lies only {found.eccentricity:.1f} standard deviations above" in out
    assert f"with φ = {found.eccentricity + 1:g} nobody is claimed." in out
    out = told(ask(*facts, phi=found.eccentricity))
    assert "Record jane stands out" in out
    out = told(ask(*facts, phi=found.eccentricity + 1e-4))
    shown = re.search(r"only ([\d.]+) standard deviations", out)[1]
    assert float(shown) < found.eccentricity + 1e-4


def test_a_tie_is_no_match(ask, release):
    out = told(ask("Bent", top=2))
    assert f"No match: {len(release.item('3')):,} records tie for the best score." in out
    assert "the first of those that tie" in out
    assert re.search(r"Lineup record probability score 1 \S+ \d+\.\d\d % \S+ 1 \S+ \d+\.\d\d %", out)


def test_nobody_is_left_or_only_one(ask):
    out = told(ask("Bent", length="1000-2000"))
    assert "Only those can be meant that have 1,000 to 2,000 items: 0 of 61 records." in out
    assert "No match: nobody is left who could be meant." in out and "Lineup" not in out
    out = told(ask("Bent", length="10-99"))
    assert "No match: only one record is left" in out and "100 %" in out
    assert "0.0 of 0.0 bits (log2 1)" in out and "somebody else" not in out


def test_facts_that_speak_for_nobody_say_nothing(ask):
    assert "Nothing can be said: these facts speak for no record" in told(ask("Brazil@0001-01-01"))


def test_who_could_be_meant_is_said(ask, release):
    out = told(ask("Bent", length="3±50%", joined="2006-04-05±5"))
    assert "Only those can be meant that have 2 to 4 items and begin from 2006-03-31 to 2006-04-10" in out
    given = json.loads(ask("Bent", length="3±50%", joined="2006-04-05±5", json=True).out)
    aux = so.Aux([so.Fact("3")], length=(2, 4), joined=(date(2006, 3, 31), date(2006, 4, 10)))
    assert given["candidates"] == so.ScoreboardRH().attack(release, aux).candidates
    assert 0 < given["candidates"] < 61
    assert (given["length"], given["joined"]) == ([2, 4], ["2006-03-31", "2006-04-10"])


def test_each_fact_shows_what_it_adds(ask):
    outcome = ask("brazil=1@2005-03-01", "Bent=5", "qqzzqq=1")
    lines = outcome.out.partition("What each fact adds to the score of record jane")[2].splitlines()
    assert re.fullmatch(r"Brazil \(1985\) \[1\] +\d\.\d{3} +█{16} *", lines[2])
    assert re.fullmatch(r"Bent \(1997\) \[3\] +\d\.\d{3} +█+[▉-▏]? *", lines[3])
    assert re.fullmatch(r"qqzzqq +0\.000 +not in the release *", lines[4])
    parts, total = (
        [float(re.search(r"\d\.\d{3}", line)[0]) for line in part] for part in (lines[2:5], lines[5:6])
    )
    assert sum(parts) == pytest.approx(total[0], abs=0.002)


def test_a_record_that_lacks_an_item_is_said_to(ask):
    assert "does not have it" in told(ask("1=3@2006-04-05", "2=3@2006-04-06", "12", length="1-9"))


def test_values_and_times_that_the_release_has_none_of_are_said_not_to_count(run, tmp_path):
    (tmp_path / "a.csv").write_text("user,item\np,x\nq,x\nq,y\n")
    out = told(run("lineup", tmp_path / "a.csv", "--knows", "y=4@2005-03-01"))
    assert "The release has no values: they are not compared." in out
    assert "The release has no times: they are not compared." in out
    assert "Record q stands out" in out or "No match" in out


CATEGORIES = ["p,x,good", "q,x,bad", "r,x,4", "s,y,4"]


def test_categories_are_values_too(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,item,value,date\n" + "".join(f"{row},2005-03-01\n" for row in CATEGORIES))
    ask = ("lineup", path, "--value-type", "text", "--knows")
    for value, record in (("good", "p"), ("4", "r")):
        given = json.loads(run(*ask, f"x={value}@2005-03-01", "--json").out)
        assert given["lineup"][0]["record"] == record and given["ties"] == 1
        assert given["facts"][0]["value"] == value and given["explain"][0]["similarity"] == 2
    outcome = run(*ask, "x=worse")
    check_error(outcome)
    assert "no value 'worse'" in outcome.err and "good" not in outcome.err
    assert "Nothing can be said" in told(run(*ask, "x=worse", "--allow-unknown"))


def test_titles_are_shown_as_they_are_and_cannot_reach_the_terminal(ask):
    outcome = ask("18", "19")
    assert "[bold]Up[/bold] :smile: [18]" in told(outcome)
    assert "\x1b" not in outcome.out and "Grease�[2J�(1978) [19]" in told(outcome)
    outcome = ask("Grease")
    assert outcome.err.count("\n") == 1 and "\x1b" not in outcome.err


def test_nothing_is_ever_called_safe(ask):
    for facts in (["Bent"], ["qqzzqq"], ["Brazil=1@2005-03-01", "17"], ["Brazil=1", "2=3"]):
        assert "safe" not in ask(*facts).out.lower()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_screen_and_nothing_is_cut_off(ask, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = ask("Brazil=1@2005-03-01", "seven@2005-03-08", "An id like a fact", "17")
    assert all(len(line) <= width for line in outcome.out.splitlines())
    assert "…" not in outcome.out
    for part in ("Brazil", "2005-03-01" if width > 40 else "2005", "jane", "fact", "bits", "match."):
        assert part in outcome.out


# For machines.

KEYS = [
    "facts", "candidates", "lineup", "outside", "eccentricity", "sigma", "mean", "phi", "match", "ties",
    "bits", "explain", "unknown", "length", "joined", "fingerprint", "version",
]  # fmt: skip


def test_json_is_what_the_library_says(ask, release):
    given = json.loads(ask("brazil=1@2005-03-02", "Bent=3", "17", "qqzz=1", phi=2, top=4, json=True).out)
    facts = [so.Fact("1", 1.0, date(2005, 3, 2)), so.Fact("3", 3.0), so.Fact("17"), so.Fact("qqzz", 1.0)]
    verdict = so.ScoreboardRH().attack(release, so.Aux(facts), top=4)
    lineup, best = verdict.lineup(4), verdict.best
    assert list(given) == KEYS
    assert given["facts"][0] == {
        "named": "brazil", "item": "1", "title": "Brazil (1985)", "value": 1.0, "time": "2005-03-02",
        "records": len(release.item("1")),
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
    assert (given["phi"], given["match"]) == (2.0, "jane") and verdict.match(2).record == best == "jane"
    assert given["bits"] == {"prior": verdict.bits, "left": verdict.entropy(best)}
    assert [part["part"] for part in given["explain"]] == [part.score for part in verdict.explain(best)]
    assert [part["has"] for part in given["explain"]] == [True, True, True, False]
    assert math.fsum(part["part"] for part in given["explain"]) == given["lineup"][0]["score"]
    assert (given["unknown"], given["length"], given["joined"]) == (["qqzz"], None, None)
    assert (given["fingerprint"], given["version"]) == (release.fingerprint, so.__version__)


@pytest.mark.parametrize("facts", [["Bent"], ["qqzz"], ["Brazil=1", "Bent=3@2005-03-01", "17"]])
@pytest.mark.parametrize("top", [1, 10, 1000])
def test_the_mass_of_a_lineup_is_1(ask, facts, top):
    given = json.loads(ask(*facts, top=top, json=True).out)
    assert len(given["lineup"]) <= top
    total = math.fsum([given["outside"], *(one["probability"] for one in given["lineup"])])
    assert total == pytest.approx(1, abs=1e-9)


def test_a_raw_source_gives_what_its_index_gives(run, ask, files):
    source = (files / "r.csv", "--titles", files / "titles.csv")
    facts = ("--knows", "Brazil=1@2005-03-01", "--knows", "Bent", "--json")
    assert run("lineup", *source, *facts).out == ask("Brazil=1@2005-03-01", "Bent", json=True).out


def test_facts_of_a_file_and_of_the_command_line_add_up(ask, tmp_path):
    path = tmp_path / "aux.csv"
    path.write_text("item,value,time\nbent,3,\n17,,2005-03-14\nBrasil,,\n")
    given = json.loads(ask("brazil=1@2005-03-02", aux=path, json=True).out)
    assert [(fact["named"], fact["item"]) for fact in given["facts"]] == [
        ("brazil", "1"), ("bent", "3"), ("17", "17"), ("Brasil", None),
    ]  # fmt: skip
    assert given["unknown"] == ["Brasil"] and given["match"] == "jane"
    alone = json.loads(ask(aux=path, json=True).out)
    assert alone["facts"] == given["facts"][1:]
    outcome = ask("Bent=4", aux=path)
    check_error(outcome)
    assert "Bent (1997) [3]" in outcome.err


# The process.


def test_the_process_is_quiet_and_plain_when_nobody_watches(files):
    for args in (["--knows", "Brazil=1@2005-03-01"], ["--knows", "Bent", "--json"], ["--knows", "qqzz"]):
        outcome = started("lineup", files / "index", *args)
        assert (outcome.code, outcome.err) == (0, "")
        assert "\r" not in outcome.out and "\x1b" not in outcome.out
    check_error(started("lineup", files / "index", "--knows", "Brasil"))


def test_probabilities_are_never_rounded_to_certainty():
    assert [probability_text(p) for p in (0, 1e-12, 0.0001, 0.5, 0.9999, 1 - 1e-12, 1)] == [
        "0 %", "< 0.01 %", "0.01 %", "50.00 %", "99.99 %", "> 99.99 %", "100 %",
    ]  # fmt: skip


@given(share=st.floats(0, 1), width=st.integers(1, 40))
def test_a_bar_is_as_long_as_its_share(share, width):
    drawn = bar(share, width)
    eighths = sum(8 if sign == "█" else " ▏▎▍▌▋▊▉".index(sign) for sign in drawn)
    assert len(drawn) <= width and abs(eighths - 8 * width * share) <= 1 and bool(drawn) == (share > 0)


@pytest.mark.realdata
@pytest.mark.large
def test_a_real_record_is_found_by_a_few_of_its_titles(run, realdata):
    """Six films of a real record, three values one star off, dates a week off: it stands out."""
    data = realdata / "movielens-latest-small"
    release = so.read(data)
    record = min(
        (release.record_at(i) for i in range(release.n_records)), key=lambda one: abs(len(one) - 150)
    )
    rare = sorted(record.entries, key=lambda entry: len(release.item(entry.item)))[:60:10]
    stars = [max(entry.value - place % 2, 0.5) for place, entry in enumerate(rare)]
    known = [
        f"{release.item(entry.item).title}={star}@{entry.time + timedelta(days=7)}"
        for star, entry in zip(stars, rare, strict=True)
    ]
    facts = [part for text in known for part in ("--knows", text)]
    given = json.loads(run("lineup", data, *facts, "--json").out)
    assert given["match"] == record.id and [fact["item"] for fact in given["facts"]] == [e.item for e in rare]
    assert f"Record {record.id} stands out" in told(run("lineup", data, *facts))
    check_error(outcome := run("lineup", data, "--knows", "Brasil"))
    assert "did you mean Brazil (1985) [1199]" in outcome.err
