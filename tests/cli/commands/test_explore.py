"""`standout explore` refuses what it cannot show, and says what to do instead."""

import sys

import pytest
from click.testing import CliRunner

import standout as so
from standout.cli.command_group import cli
from standout.sanitizing.files import write_sanitized

pytestmark = pytest.mark.once


@pytest.fixture
def served(monkeypatch):
    """What would be served: the application and the printed lines come from the real command."""
    import standout.explore.server as server

    calls = []

    def serve(app, listener, on_start):
        with listener:
            on_start()
        calls.append(app)

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(server, "open_browser", calls.append)
    # Servers of other tests have threads in this process: it would end here, without an error.
    monkeypatch.setattr("standout.explore.server.end_process_if_busy", lambda: None)
    return calls


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = so.synthesize(records=60, items=40, entries=900, seed=7)
    release.to_frame().write_csv("ratings.csv")
    return so.read("ratings.csv")


def run(*words):
    return CliRunner().invoke(cli, ["explore", *words])


def test_one_address_is_printed_and_the_browser_gets_another_one(ratings, served):
    result = run("ratings.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("http://127.0.0.1:") == result.stdout.count("token=") == 1
    launched, app = served
    assert launched.startswith("http://127.0.0.1:") and launched not in result.stdout
    assert launched.partition("token=")[2] in app.site.launch_tokens


def test_no_browser_is_opened_if_none_is_wanted(ratings, served):
    assert run("ratings.csv", "--no-browser").exit_code == 0
    assert len(served) == 1


def test_a_host_off_loopback_causes_a_warning(ratings, served):
    result = run("ratings.csv", "--host", "0.0.0.0", "--no-browser")
    assert result.exit_code == 0
    assert "warning: --host 0.0.0.0: everybody who can reach this machine" in result.stderr
    assert "http://127.0.0.1:" in result.stdout and "token=" in result.stdout


def exploration(app):
    """What the application explores."""
    return app.app.routes[0].endpoint.__self__.exploration


def test_what_if_takes_an_output_of_sanitize_or_any_other_data(ratings, served, tmp_path):
    write_sanitized(so.sanitize(ratings, "round-time month"), "safer.csv")
    assert run("ratings.csv", "--what-if", "safer.csv", "--no-browser").exit_code == 0
    safer = exploration(served[-1]).what_if
    assert isinstance(safer, so.Sanitized) and safer.step_reports[0].step == "round-time month"
    so.save(so.synthesize(records=9, items=5, entries=20, seed=1), "other.index")
    assert run("ratings.csv", "--what-if", "other.index", "--no-browser").exit_code == 0
    assert exploration(served[-1]).what_if.n_records == 9


def test_the_source_options_that_were_given_are_in_the_command(ratings, served):
    options = ["--record", "record", "--read", "repeats=last", "--time", "none"]
    assert run("ratings.csv", *options, "--no-browser").exit_code == 0
    assert sorted(exploration(served[-1]).source_arguments) == sorted(options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ratings.csv", "--key", "key.csv"], "--key needs --what-if"),
        (["ratings.csv", "--what-if", "ratings.csv", "--key", "k"], "--key: ratings.csv is not an output"),
        (["ratings.csv", "--audit", "nothing"], "nothing is not a folder that standout audit wrote"),
        (["ratings.csv", "--table"], "the explorer needs entries"),
        (["ratings.csv", "--host", "no-such-host.invalid"], "cannot listen at host no-such-host.invalid"),
    ],
)
def test_what_cannot_be_shown_is_one_error(ratings, served, words, message):
    result = run(*words)
    assert result.exit_code == 1 and message in str(result.exception)
    assert not served


def test_a_missing_extra_is_named_with_the_command_that_installs_it(ratings, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("ratings.csv")
    assert result.exit_code == 1
    assert "pip install 'starlette>=1' 'uvicorn>=0.40'" in str(result.exception)
