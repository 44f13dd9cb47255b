"""Helpers for tests of the command line: `standout` in its own process, and the form of an error."""

import re
import subprocess
import sys
from pathlib import Path

from conftest import Outcome

JSON_PAGE = Path(__file__).parents[2] / "docs" / "json.md"
SECRET = "JaneDoe"
TIMEOUT = 120


def run_process(*args, **settings):
    """Run `python -m standout` in its own process."""
    command = [sys.executable, "-m", "standout", *map(str, args)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, **settings)
    return Outcome.of(process.returncode, process.stdout, process.stderr)


def check_error(outcome):
    """One line, exit code 1, and no content of a cell."""
    assert outcome.code == 1 and outcome.out == ""
    assert outcome.err.startswith("standout: ") and outcome.err.endswith("\n") and outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err and SECRET not in outcome.err
    assert 20 < len(outcome.err) < 600


def undocumented(name, content):
    """Return the keys of a command's JSON output that docs/json.md does not mention."""
    words = set(re.findall(r"\w+", JSON_PAGE.read_text().partition(f"## standout {name}\n")[2].partition("\n## ")[0]))
    rows = [value[0] for value in content.values() if isinstance(value, list) and value]
    keys = {*content, *(key for row in rows if isinstance(row, dict) for key in row)}
    return sorted(keys - words)


def file_names(folder):
    return sorted(path.name for path in folder.iterdir())
