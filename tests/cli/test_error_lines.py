"""Whatever goes wrong is one line with an exit code, and shows nobody's data."""

from standout.cli.commands import sparsity
from standout.cli.error_lines import error_line
from standout.core.errors import ParameterError

SECRET = "Jane Doe"


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def test_every_error_is_one_line_without_data():
    for error, code, part in [
        (ParameterError("knows must be a number"), 1, "knows must be a number"),
        (MemoryError(), 1, "not enough memory"),
        (RecursionError(SECRET), 1, "nested too deeply"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (PermissionError(13, "Permission denied", "out.csv"), 1, "out.csv: Permission denied"),
        (KeyError(SECRET), 70, "an error of Standout itself, KeyError"),
        (ZeroDivisionError(SECRET), 70, "Please report it"),
    ]:
        line, number = error_line(error)
        assert (number, "\n" in line, SECRET in line) == (code, False, False)
        assert part in line


def test_a_bug_is_one_line_that_names_the_place_and_debug_shows_the_traceback(run, monkeypatch):
    monkeypatch.setattr(sparsity, "print_json", failing(KeyError(SECRET)))
    command = ("bounds", "--records", 1000, "--json")
    outcome = run(*command)
    assert outcome.code == 70
    assert outcome.err.count("\n") == 1
    assert "KeyError in cli/commands/sparsity.py, line " in outcome.err
    assert SECRET not in outcome.err
    debug = run("--debug", *command)
    assert debug.code == 70
    assert debug.err.startswith("Traceback") and f"KeyError: '{SECRET}'" in debug.err
