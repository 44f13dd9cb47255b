"""Run commands where things go wrong, and record what they say: `make faults`.

    python -m tools.faults [--only full "read-only" …] [--record docs/lab/campaign/faults.jsonl]

Each row has a place (a full disk, a folder that cannot be written, …), a command, its last line and its exit
code. A traceback, more than one line, another exit code than expected, and files that are left behind are
failures.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.crash_runs import make_inputs
from tools.fault_places import PLACES, Place, is_available

ROOT = Path(__file__).parents[1]
LONGEST = 120
LONG_NAME = "n" * 300
QUICK = "--targets 5 --threads 1"


class Fault(NamedTuple):
    """A command in a place, and the exit codes that are right there. `before` is a line of shell."""

    place: str
    command: str
    codes: tuple[int, ...] = (1,)
    before: str = ""


INTO_A_FOLDER = [
    "index people.csv -o place/people.index",
    'sanitize people.csv -o place/safer.csv --step "round-time month" --renumber --key place/key.csv',
    'sanitize people.csv -o place/safer.parquet --step "round-time month"',
    "sanitize table.csv --table -o place/safer.csv --step 'top-code age ..60' --key place/key.csv",
    f"audit people.csv -o place/audit --quick {QUICK}",
    f"audit people.csv -o audit --quick {QUICK} --risk-table place/risk.csv",
    f"audit table.csv --table -o place/audit --quick {QUICK}",
    "link people.csv public.csv -o place/links --threads 1",
    'advise people.csv -o place/advice --targets 8 --people 8 --try "round-time month" --threads 1',
    f"paper --data people.csv -o place/paper --only table {QUICK}",
    f"simulate people.csv --knows 3 {QUICK} --save place/save",
    f"simulate people.csv --knows 3 {QUICK} -o place/simulation.csv",
    "sparsity people.csv -o place/sparsity.csv --threads 1",
    f"unicity places.csv --grid 0.01 --time-bin 1h --points 1,2 {QUICK} --chart place/unicity.svg",
    "schema table.csv -o place/schema.toml",
    "synthesize --records 200 --items 50 --entries 2000 -o place/synthetic.index",
    "describe rejects.csv --read max_rejects=100% --read rejects=place/rejects.csv",
]
SHORT = "schema table.csv -o place/schema.toml"
SMALL = ("simulat", "sparsity", "risk.csv", "unicity")
"""Commands whose files may be smaller than a full disk has room for."""
PRINTING = [
    "describe people.csv",
    "describe people.csv --json",
    "lineup people.csv --knows 1=2",
    "verify people.index",
    f"simulate people.csv --knows 3 {QUICK}",
    "--help",
    "--version",
]
FAULTS = [
    *[
        Fault(
            "full", line, (0, 1) if line in (SHORT, INTO_A_FOLDER[-1]) or any(word in line for word in SMALL) else (1,)
        )
        for line in INTO_A_FOLDER
    ],
    *[Fault("read-only", line) for line in INTO_A_FOLDER],
    *[Fault("no permission", line) for line in INTO_A_FOLDER],
    *[Fault("size limit", line) for line in (INTO_A_FOLDER[0], INTO_A_FOLDER[1], INTO_A_FOLDER[4], INTO_A_FOLDER[7])],
    *[
        Fault("unreadable", line, (1, 2))
        for line in (
            "describe people.csv",
            "audit people.csv --quick",
            "verify people.index",
            "describe table.csv --table",
        )
    ],
    *[Fault("stdout full", line) for line in PRINTING],
    *[Fault("stdout closed", line, (0, 1)) for line in PRINTING],
    *[Fault("stderr closed", line, (0,)) for line in PRINTING[:3]],
    *[
        Fault("latin-1", line, (0,))
        for line in [*PRINTING, "describe names.csv", f"audit names.csv --quick {QUICK} -o audit"]
    ],
    *[
        Fault("ascii", line, (0,))
        for line in [*PRINTING, "describe names.csv", f"audit names.csv --quick {QUICK} -o audit"]
    ],
    Fault("no home", "describe people.csv", (0,)),
    Fault("cache read-only", "describe people.csv", (0,)),
    Fault("cache full", "describe people.csv", (0,)),
    Fault("no temporary files", "describe people.csv", (0,)),
    Fault("bad epoch", f"audit people.csv -o audit --quick {QUICK}"),
    Fault("little memory", f"audit people.csv -o audit --quick {QUICK}", (0, 1, 4)),
    Fault("", "audit missing.csv"),
    Fault("", "describe ."),
    Fault("", "audit ."),
    Fault("", "audit . --table"),
    Fault("", "describe empty.csv"),
    Fault("", "verify people.csv"),
    Fault("", "lineup people.csv --aux missing.csv", (1, 2)),
    Fault("", "describe loop"),
    Fault("", "index people.csv -o loop/people.index"),
    Fault("", "index people.csv -o loop"),
    Fault("", "schema table.csv -o loop", (1, 2)),
    Fault("", f"describe {LONG_NAME}.csv"),
    Fault("", f"index people.csv -o {LONG_NAME}"),
    Fault("", f"schema table.csv -o {LONG_NAME}.toml"),
    Fault("", f"audit people.csv --quick {QUICK} -o {LONG_NAME}"),
    Fault("", f'sanitize people.csv -o {LONG_NAME}.csv --step "round-time month"'),
    Fault("", "schema table.csv -o /dev/full", (1, 2)),
    Fault("", "simulate people.csv --knows 3 -o /dev/full"),
    Fault("", "schema table.csv -o people.csv/schema.toml"),
    Fault("", f"audit people.csv --quick {QUICK} -o people.csv"),
    Fault("", "schema table.csv -o missing/schema.toml"),
    Fault("", "simulate people.csv --knows 3 -o place"),
    Fault("", "describe pipe < /dev/null", (1,), "mkfifo pipe; (cat people.csv > pipe) &"),
    Fault("", "cat people.csv | standout describe /dev/stdin", (0, 1)),
    Fault("", "describe /dev/null"),
    Fault("", "standout describe people.csv | true", (0, 1)),
]


SILENT = ("verify", "standout describe people.csv |")
"""`verify` says it on standard output; a reader that has closed a pipe wants no more."""


class Row(NamedTuple):
    """What a command said. `wrong` is empty if that is right."""

    place: str
    command: str
    line: str
    code: int | None
    wrong: str = ""


def run(fault: Fault) -> Row:
    """Run a command in its place."""
    place = PLACES[fault.place]
    shown = fault.command if fault.command.startswith(("standout", "cat ")) else f"standout {fault.command}"
    shown = shown.replace(LONG_NAME, "nnn…n")
    if not is_available(place.needs):
        return Row(place.title, shown, f"not run: this machine does not allow it ({place.needs})", None)
    with tempfile.TemporaryDirectory(prefix="faults") as name:
        folder = Path(name)
        _prepare(folder)
        for line in filter(None, (place.before, fault.before)):
            subprocess.run(["bash", "-c", line], cwd=folder, check=True)
        before = set(folder.rglob("*"))
        code, out, errors = _started(fault, place, folder)
        subprocess.run(["chmod", "-R", "u+rwX", name], check=False)
        left = [path.name for path in folder.rglob("*") if path not in before and path.name.startswith(".standout")]
    lines = [line for line in errors.splitlines() if line.startswith("standout: ")]
    last = (lines or errors.splitlines() or out.splitlines()[:1] or [""])[-1 if errors else 0]
    last = last.replace(f"{folder}/", "").replace(LONG_NAME, "nnn…n")
    return Row(place.title, shown, last[:400], code, _wrong(fault, code, errors, lines, left))


def _prepare(folder: Path) -> None:
    """Files and folders that the commands use."""
    make_inputs(folder)
    (folder / "place").mkdir()
    (folder / "empty.csv").touch()
    (folder / "loop").symlink_to("loop")
    (folder / "rejects.csv").write_text("user,item,rating,date\nu1,1,x,2005-01-01\nu2,1,3,never\n,2,3,2005-01-01\n")
    places = [f"u{i % 6},52.{i * 37 % 97},13.{i * 53 % 97},2010-05-{1 + i % 28:02d}T08:15" for i in range(60)]
    (folder / "places.csv").write_text("\n".join(["user,lat,lon,time", *places, ""]))
    (folder / "names.csv").write_text((folder / "people.csv").read_text().replace("u1", "Zoë-Ω-🙂"), encoding="utf-8")
    shutil.copytree(_small_index(), folder / "people.index")


def _small_index() -> Path:
    """An index, built once."""
    if not INDEX.exists():
        INDEX.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            make_inputs(Path(folder))
            subprocess.run(
                [*STANDOUT, "index", f"{folder}/people.csv", "-o", str(INDEX)],
                env=_environment(),
                check=True,
                capture_output=True,
            )
    return INDEX


INDEX = Path(tempfile.gettempdir()) / f"faults-index-{os.getpid()}" / "people.index"
STANDOUT = [sys.executable, "-m", "standout"]


def _environment(**more: str) -> dict[str, str]:
    path = f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "80", **more}


def _started(fault: Fault, place: Place, folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    standout = shlex.join(STANDOUT)
    if fault.command.startswith(("standout ", "cat ")):
        text = re.sub(r"\bstandout ", f"{standout} ", fault.command)
        command = ["bash", "-c", f"set -o pipefail; {text}"]
    else:
        inner = ["bash", "-c", f"exec {standout} {fault.command} {place.redirect}"]
        wrap = [word.replace("{folder}", str(folder)) for word in place.wrap]
        command = [*wrap, *inner]
    environment = {key: text.replace("{folder}", str(folder)) for key, text in place.environment.items()}
    try:
        finished = subprocess.run(
            command,
            cwd=folder,
            env=_environment(**environment),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, "", "it did not end"
    return (finished.returncode, finished.stdout.decode(errors="replace"), finished.stderr.decode(errors="replace"))


def _wrong(fault: Fault, code: int, errors: str, lines: list[str], left: list[str]) -> str:
    """What is wrong with the answer; empty if nothing is."""
    problems = [line for line in lines if not line.startswith("standout: warning")]
    if "Traceback" in errors or "Exception ignored" in errors:
        return f"a traceback: {errors[-700:]}"
    if code not in fault.codes:
        return f"exit code {code} instead of {' or '.join(map(str, fault.codes))}: {errors[-500:]}"
    if code == 1 and len(problems) > 1:
        return f"{len(problems)} lines of errors"
    if code == 1 and not problems and PLACES[fault.place].redirect != "2>&-" and not fault.command.startswith(SILENT):
        return f"no line says why: {errors[-300:]}"
    return f"left behind: {left}" if left else ""


def main() -> None:
    """Run the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", choices=PLACES, help="Places; default: all.")
    parser.add_argument("--record", type=Path, help="Write the rows to this file, one JSON object per row.")
    arguments = parser.parse_args()
    rows = []
    try:
        for fault in FAULTS:
            if arguments.only is None or fault.place in arguments.only:
                rows.append(run(fault))
                print(*_shown(rows[-1]), sep="\n", flush=True)
    finally:
        shutil.rmtree(INDEX.parent, ignore_errors=True)
    if arguments.record:
        from tests.fuzzing.campaign import commit

        arguments.record.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"commit": commit(), **row._asdict()}, ensure_ascii=False) for row in rows]
        arguments.record.write_text("\n".join([*lines, ""]))
    wrong = sum(bool(row.wrong) for row in rows)
    skipped = sum(row.code is None for row in rows)
    print(f"{len(rows)} rows, {wrong} wrong, {skipped} not run")
    sys.exit(wrong > 0)


def _shown(row: Row) -> list[str]:
    mark = "WRONG " if row.wrong else ""
    return [
        f"{mark}[{row.place}] {row.command}",
        f"    {row.code}: {row.line}",
        *([f"    {row.wrong}"] if row.wrong else []),
    ]


if __name__ == "__main__":
    main()
