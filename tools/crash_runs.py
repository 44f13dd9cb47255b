"""The runs that `tools.crash` kills: commands on tiny data, into an empty folder and over an older result."""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["RUNS", "Run", "make_inputs"]


@dataclass(frozen=True)
class Run:
    """A command, and earlier commands whose results it replaces."""

    name: str
    words: list[str]
    earlier: tuple[list[str], ...] = ()
    states: tuple[str, ...] = ("work/", "save.", "/work")

    def is_state(self, name: str) -> bool:
        """Whether a file is a checkpoint, which grows during a run."""
        return any(part in name for part in self.states)


SANITIZE = ["sanitize", "people.csv", "--step", "round-time month", "--seed", "1", "--threads", "1"]
TABLE = ["sanitize", "table.csv", "--table", "--step", "top-code:age=..60", "--seed", "1", "--threads", "1"]
AUDIT = [
    "audit",
    "people.csv",
    "-o",
    "audit",
    "--quick",
    "--targets",
    "5",
    "--threads",
    "1",
    "--risk-table",
    "risk.csv",
]
LINK = ["link", "people.csv", "public.csv", "-o", "links", "--threads", "1"]
ADVISE = [
    "advise",
    "people.csv",
    "-o",
    "advice",
    "--targets",
    "8",
    "--people",
    "8",
    "--limit",
    "0.9",
    "--threads",
    "1",
    "--try",
    "round-time month",
    "--try",
    "drop-rare-items 2",
]
PAPER = [
    "paper",
    "--data",
    "people.csv",
    "-o",
    "paper",
    "--only",
    "table",
    "--targets",
    "5",
    "--threads",
    "1",
]
OLD = ("--seed", "2")
RUNS = (
    Run("index", ["index", "people.csv", "-o", "people.index"]),
    Run(
        "index, replaced",
        ["index", "people.csv", "-o", "people.index"],
        (["index", "public.csv", "-o", "people.index"],),
    ),
    Run("sanitize", [*SANITIZE, "-o", "safer.csv", "--renumber", "--key", "key.csv"]),
    Run(
        "sanitize, replaced",
        [*SANITIZE, "-o", "safer.csv", "--renumber", "--key", "key.csv", "--force"],
        ([*SANITIZE, *OLD, "-o", "safer.csv", "--renumber", "--key", "key.csv"],),
    ),
    Run("sanitize to an index", [*SANITIZE, "-o", "safer.index", "--renumber", "--key", "key.csv"]),
    Run("sanitize a table", [*TABLE, "-o", "safer.csv", "--key", "key.csv"]),
    Run("audit", AUDIT),
    Run("audit, replaced", AUDIT, ([*AUDIT, *OLD],)),
    Run(
        "audit of a table",
        ["audit", "table.csv", "--table", "-o", "audit", "--quick", "--targets", "5", "--threads", "1"],
    ),
    Run("link", LINK),
    Run("link, replaced", LINK, ([*LINK, *OLD],)),
    Run("advise", ADVISE),
    Run("paper", PAPER),
    Run(
        "simulate",
        [
            "simulate",
            "people.csv",
            "--knows",
            "3",
            "--targets",
            "5",
            "--threads",
            "1",
            "--save",
            "save",
            "-o",
            "s.csv",
        ],
    ),
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
        f"p{person},{item},{value},2005-0{item % 9 + 1}-{day:02d}"
        for person, item, value, day in people
        if item % 3
    ]
    (folder / "public.csv").write_text("\n".join(["user,item,rating,date", *public, ""]))
    table = [
        f"id{i},{20 + i * 7 % 50},{'fm'[i % 2]},1{i % 7:04d},19{50 + i}-0{1 + i % 9}-11" for i in range(40)
    ]
    (folder / "table.csv").write_text("\n".join(["id,age,sex,zip,born", *table, ""]))
