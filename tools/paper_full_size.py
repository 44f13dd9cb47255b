"""Record our own result at full size from docs/lab/paper.csv, for smaller runs to be compared with.

standout paper -o FOLDER               (the stand-in at the size of the Netflix Prize data)
python -m tools.paper_tables FOLDER    (writes the numbers into docs/lab/paper.csv)
python -m tools.paper_full_size        (writes data/full_size.csv and .json of the package standout.paper)
"""

import csv
import io
import json
import re
from pathlib import Path

from tools.paper_tables import COLUMNS as TITLES
from tools.paper_tables import NAMES, PAGE

DATA = Path(__file__).parent.parent / "src" / "standout" / "paper" / "data"
COMMAND = "standout paper -o paper"
COLUMNS = ("figure", "number", "measured", "low", "high")
KEYS = {name: key for key, name in NAMES.items()}


def main(page: Path = PAGE, data: Path = DATA) -> None:
    """Write both files."""
    table = page.with_suffix(".csv").read_text(encoding="utf-8")
    for name, content in contents(page.read_text(encoding="utf-8"), table).items():
        (data / name).write_text(content, encoding="utf-8", newline="\n")


def contents(page: str, table: str) -> dict[str, str]:
    """The content of both files by name."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(table))
    run = json.dumps(_run(_part(page, "run")), indent=1, ensure_ascii=False)
    return {"full_size.csv": text.getvalue(), "full_size.json": run + "\n"}


def _part(page: str, name: str) -> str:
    """The part of the page between two markers."""
    found = re.search(f"<!-- {name} -->(.*?)<!-- /{name} -->", page, re.DOTALL)
    assert found is not None, f"the page lacks the part {name}"
    return found[1]


def _rows(table: str) -> list[tuple[str, ...]]:
    """Figure, name, number and interval of each line of the table that has a number."""
    head, *rows = csv.reader(io.StringIO(table))
    assert tuple(head[:5]) == TITLES[:5]
    return [
        (_key(figure), name, _plain(ours), *(_plain(end) for end in _ends(interval)))
        for figure, name, _, ours, interval, *_ in rows
        if ours != "–"
    ]


def _key(figure: str) -> str:
    return KEYS.get(figure, figure.split(" (")[0])


def _ends(interval: str) -> list[str]:
    return interval.split(" to ") if interval else ["", ""]


def _plain(number: str) -> str:
    return number.replace(",", "").replace("−", "-")


def _run(part: str) -> dict[str, str | int]:
    """What was run on which data."""
    facts = part.strip().splitlines()[-1].rstrip(".").split("; ")
    size, dates, targets, fingerprint, version = facts
    return {
        "command": COMMAND,
        "people": int(_plain(size.split(" of ")[1].split()[0])),
        "targets": int(_plain(targets.split()[1])),
        "size": size,
        "dates": dates,
        "fingerprint": fingerprint.removeprefix("fingerprint "),
        "version": version,
    }


if __name__ == "__main__":
    main()
