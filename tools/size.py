"""Print how large the code is: lines, files, public names, options, and what one audit executes.

python -m tools.size            the table, in Markdown
python -m tools.size --check    also exits with 1 if a number is above its limit

`standout audit ratings.csv` and `standout audit survey.csv` run in processes of their own under `sys.setprofile`,
on small generated files. Only functions of the package count; lambdas, comprehensions and class bodies do not.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "standout"
LIMITS = {
    "lines of source": 50_600,
    "lines of code": 34_300,
    "files": 170,
    "public names": 80,
    "options of audit": 24,
    "files executed by audit ratings.csv": 90,
    "functions executed": 850,
    "call depth": 26,
    "isinstance(…, Table)": 0,
}
"""Largest numbers that `--check` accepts; each change leaves them lower or says why not."""
AT_LEAST = {"% of the functions of a table audit that a history audit shares": 78}

TRACED = """
import inspect, json, sys, threading
from pathlib import Path
import standout
from standout.cli.main import main
root = str(Path(standout.__file__).parent)
seen, depth, failed, state = set(), 0, 0, threading.local()
def trace(frame, event, _):
    global depth
    if event not in ("call", "return") or not frame.f_code.co_filename.startswith(root):
        return
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED or code.co_name.startswith("<"):
        return
    state.depth = getattr(state, "depth", 0) + (1 if event == "call" else -1)
    if event == "call":
        depth = max(depth, state.depth)
        seen.add((code.co_filename[len(root) + 1:], code.co_qualname))
sys.argv = ["standout", *sys.argv[1:]]
threading.setprofile(trace)
sys.setprofile(trace)
try:
    main()
except SystemExit as stop:
    failed = stop.code
finally:
    sys.setprofile(None)
    threading.setprofile(None)
Path("trace.json").write_text(json.dumps([sorted(seen), depth, failed]))
"""


def lines_of_code(text: str) -> int:
    """Lines with code: neither blank nor a comment nor part of a docstring."""
    lines: set[int] = set()
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in blank:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def executed(data: str, folder: Path) -> tuple[set[tuple[str, str]], int]:
    """The functions (file, name) that an audit of this file executes, and its largest depth of calls."""
    command = [sys.executable, "-c", TRACED, "audit", data, "--output", data + ".audit"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    seen, depth, failed = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    if failed:
        raise SystemExit(f"standout audit {data} failed with {failed}")
    return {(file, name) for file, name in seen}, depth


def write_data(folder: Path) -> None:
    """Write ratings.csv and survey.csv."""
    draw = np.random.default_rng(1)
    with (folder / "ratings.csv").open("w", encoding="utf-8") as file:
        file.write("user,item,rating,date\n")
        for person in range(200):
            for item in np.unique((120 * draw.random(25) ** 2).astype(int)).tolist():
                day = draw.integers(0, 700)
                file.write(f"u{person},i{item},{draw.integers(1, 6)},{np.datetime64('2004-01-01') + day}\n")
    with (folder / "survey.csv").open("w", encoding="utf-8") as file:
        file.write("id,age,sex,zip,education,income,disease\n")
        for person in range(300):
            zip_code, level = draw.integers(1000, 1040), draw.choice(["primary", "secondary", "master"])
            illness = draw.choice(["none", "flu", "asthma"])
            income = 100 * draw.integers(150, 600)
            file.write(
                f"r{person},{draw.integers(18, 90)},{draw.choice(['f', 'm'])},{zip_code},{level},{income},{illness}\n"
            )


def measure() -> dict[str, int]:
    """All numbers, by name."""
    import standout as so
    from standout.cli.commands.audit import audit

    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        history, depth = executed("ratings.csv", folder)
        table, _ = executed("survey.csv", folder)
    return {
        "lines of source": sum(len(text.splitlines()) for text in texts),
        "lines of code": sum(map(lines_of_code, texts)),
        "files": len(texts),
        "public names": len(so.__all__),
        "options of audit": sum(parameter.param_type_name == "option" for parameter in audit.params),
        "files executed by audit ratings.csv": len({file for file, _ in history}),
        "functions executed": len(history),
        "call depth": depth,
        "isinstance(…, Table)": sum(len(re.findall(r"isinstance\([^\n]*Table\b", text)) for text in texts),
        "% of the functions of a table audit that a history audit shares": round(
            100 * len(table & history) / len(table)
        ),
    }


def main() -> None:
    """Print the table; check the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
    given = parser.parse_args()
    failed = False
    print("| measure | now | limit |\n|---|---|---|")
    for name, number in measure().items():
        limit, exceeded = (
            (f"≤ {LIMITS[name]:,}", number > LIMITS[name])
            if name in LIMITS
            else (f"≥ {AT_LEAST[name]:,}", number < AT_LEAST[name])
        )
        failed |= exceeded
        print(f"| {name} | {number:,}{' !' if exceeded else ''} | {limit} |")
    sys.exit(given.check and failed)


if __name__ == "__main__":
    main()
