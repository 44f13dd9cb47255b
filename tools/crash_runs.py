"""The runs that `tools.crash` kills: commands on tiny data, into an empty folder and over an older result."""

import shlex
from dataclasses import dataclass
from pathlib import Path

__all__ = ["RUNS", "Run", "make_inputs"]


@dataclass(frozen=True)
class Run:
    """A command, earlier commands whose results it replaces, and what a run takes."""

    name: str
    words: list[str]
    earlier: tuple[list[str], ...] = ()
    seconds: float = 1.0
    states: tuple[str, ...] = ("checkpoints/", "save.", "/checkpoints")

    def is_state(self, name: str) -> bool:
        """Whether a file is a checkpoint, which grows during a run."""
        return any(part in name for part in self.states)


SANITIZE = "sanitize people.csv --step 'round-time month' --seed 1 --threads 1 --renumber --key key.csv"
TABLE = "sanitize table.csv --table --step 'top-code age ..60' --seed 1 --threads 1 -o safer.csv --key key.csv"
AUDIT = "audit people.csv -o audit --quick --targets 5 --threads 1 --risk-table risk.csv"
TABLE_AUDIT = "audit table.csv --table -o audit --quick --targets 5 --threads 1"
LINK = "link people.csv public.csv -o links --threads 1"
ADVISE = "advise people.csv -o advice --targets 8 --people 8 --limit 0.9 --threads 1 --try 'round-time month'"
PAPER = "paper --data people.csv -o paper --only table --targets 5 --threads 1"
SIMULATE = "simulate people.csv --knows 3 --targets 5 --threads 1 --save save -o simulation.csv"
INDEX = "index people.csv -o people.index"


def _run(name: str, line: str, *earlier: str, seconds: float = 1.0) -> Run:
    return Run(name, shlex.split(line), tuple(map(shlex.split, earlier)), seconds)


RUNS = (
    _run("index", INDEX),
    _run("index, replaced", INDEX, "index public.csv -o people.index"),
    _run("sanitize", f"{SANITIZE} -o safer.csv"),
    _run("sanitize, replaced", f"{SANITIZE} -o safer.csv --force", f"{SANITIZE} -o safer.csv --seed 2"),
    _run("sanitize to an index", f"{SANITIZE} -o safer.index"),
    _run("sanitize a table", TABLE),
    _run("audit", AUDIT, seconds=5),
    _run("audit, replaced", AUDIT, f"{AUDIT} --seed 2", seconds=5),
    _run("audit of a table", TABLE_AUDIT, seconds=5),
    _run("link", LINK, seconds=3),
    _run("link, replaced", LINK, f"{LINK} --seed 2", seconds=3),
    _run("advise", ADVISE, seconds=3),
    _run("paper", PAPER, seconds=3),
    _run("simulate", SIMULATE),
)


def make_inputs(folder: Path) -> None:
    """Write the data: people and their items, a second data set of the same people, and a table."""
    people = [
        (person, item, (person * item) % 5 + 1, (person * 7 + item * 3) % 28 + 1)
        for person in range(1, 31)
        for item in range(1, 16)
        if (person * item) % 7 < 4
    ]
    rows = [f"u{person},{item},{value},2005-0{item % 9 + 1}-{day:02d}" for person, item, value, day in people]
    (folder / "people.csv").write_text("\n".join(["user,item,rating,date", *rows, ""]))
    public = [
        f"p{person},{item},{value},2005-0{item % 9 + 1}-{day:02d}" for person, item, value, day in people if item % 3
    ]
    (folder / "public.csv").write_text("\n".join(["user,item,rating,date", *public, ""]))
    table = [f"id{i},{20 + i * 7 % 50},{'fm'[i % 2]},1{i % 7:04d},19{50 + i}-0{1 + i % 9}-11" for i in range(40)]
    (folder / "table.csv").write_text("\n".join(["id,age,sex,zip,born", *table, ""]))
