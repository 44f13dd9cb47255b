"""Repeat a newcomer's way from an empty environment to the first report of five data sets, and time it.

    python -m tools.newcomer FOLDER --data DATA

FOLDER must not exist. It gets an empty environment with this repository installed, copies of the data and the
reports. DATA has `online-retail`, `bitcoin-otc` and `movielens-latest-small`; the other two files are made.
Prints a table with the wall-clock and CPU seconds of each command, for docs/lab/newcomer.md. The number of tries
is an observation of a person and not measured here; commands that are expected to fail are part of the way.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TITLES = [
    f"{what} {how}"
    for what in ("Käse", "Brötchen", "Crème brûlée", "Müsli", "Pâté", "Öl", "Süßkartoffel", "Café", "Thé")
    for how in ("für Gäste", "à la carte", "aus Köln", "de l'été", "groß", "Nº 5", "bébé", "im Glas", "fumé")
]
AGREEMENT = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")
TOPICS = ("satisfaction", "police", "press", "health", "stress", "sport", "diet", "media", "politics", "travel")
PERSONAL = (
    "respondent_id", "age", "gender", "postcode", "education", "employment", "household_size", "income_eur",
    "has_car", "height_cm", "weight_kg", "smoker", "interview_date", "religion", "pets",
)  # fmt: skip
RETAIL, BITCOIN, MOVIES = "online-retail.csv.gz", "soc-sign-bitcoinotc.csv", "ml-latest-small"
RATINGS, SURVEY = "kundenbewertungen.csv", "survey.csv"
WAYS = {
    "Online Retail": [f"audit {RETAIL}", f"audit {RETAIL} --read max_rejects=135080"],
    "Bitcoin OTC": [f"audit {BITCOIN}", f"audit {BITCOIN} --record 1 --item 2 --value 3 --time 4"],
    "MovieLens latest-small": [f"audit {MOVIES}"],
    "semicolons and latin-1": [f"audit {RATINGS}"],
    "wide survey": [f"audit {SURVEY}"],
}
"""What is typed for each data set; the last command writes the report."""


class Timing(NamedTuple):
    """What one command took."""

    status: int
    wall: float
    cpu: float


def made_ratings(draw: random.Random, people: int = 300, rows: int = 3_000) -> str:
    """Ratings with semicolons, decimal commas and dates such as 31.12.2024."""
    popularity = [1 / (rank + 3) for rank in range(len(TITLES))]
    lines = []
    for person in range(people):
        for title in dict.fromkeys(draw.choices(TITLES, popularity, k=draw.randint(4, 22))):
            day = date(2023, 1, 1) + timedelta(days=draw.randrange(731))
            stars = f"{draw.randint(2, 10) / 2:.1f}".replace(".", ",")
            lines.append(f"K{1000 + person};{title};{stars};{day:%d.%m.%Y}\r\n")
    draw.shuffle(lines)
    return "Kundennummer;Artikel;Bewertung;Datum\r\n" + "".join(lines[:rows])


def made_survey(draw: random.Random, people: int = 1_000) -> str:
    """A table of 25 columns with an id, numbers, categories, a date, and four markers of missing answers."""
    lines = [",".join([*PERSONAL, *(f"q{number}_{topic}" for number, topic in enumerate(TOPICS, 1))])]
    for person in range(people):
        cells = [_marker(draw, cell) if draw.random() < 0.04 else str(cell) for cell in _answers(draw)]
        lines.append(",".join([f"R{person + 1:04d}", *cells]))
    return "\n".join(lines) + "\n"


def _marker(draw: random.Random, cell: object) -> str:
    """A usual way to write a missing answer."""
    return draw.choice(("", "NA", "n/a" if isinstance(cell, str) else "-99"))


def _answers(draw: random.Random) -> list[object]:
    return [
        draw.randint(18, 90),
        draw.choice("fmfmd"),
        f"{draw.randint(10, 99)}{draw.randint(1, 40):03d}",
        draw.choice(["none", "school", "apprenticeship", "bachelor", "master", "doctorate"]),
        draw.choice(["full time", "part time", "unemployed", "retired", "student"]),
        draw.choice([1, 2, 2, 3, 4, 5]),
        round(draw.lognormvariate(7.6, 0.5)),
        draw.choice(["yes", "no"]),
        draw.randint(150, 200),
        round(draw.gauss(75, 13), 1),
        draw.choice(["yes", "no", "no"]),
        f"{date(2024, 3, 1) + timedelta(days=draw.randrange(60))}",
        draw.choice(["none", "catholic", "protestant", "muslim", "other"]),
        draw.randint(0, 3),
        *(draw.choice(AGREEMENT) if number % 4 == 1 else draw.randint(1, 7) for number in range(len(TOPICS))),
    ]


def prepare(folder: Path, data: Path) -> None:
    """Put the five data sets into an empty folder."""
    folder.mkdir(parents=True)
    shutil.copy(data / "online-retail" / RETAIL, folder)
    shutil.copy(data / "bitcoin-otc" / BITCOIN, folder)
    shutil.copytree(data / "movielens-latest-small", folder / MOVIES)
    (folder / RATINGS).write_bytes(made_ratings(random.Random(22)).encode("latin-1"))
    (folder / SURVEY).write_text(made_survey(random.Random(22)), encoding="utf-8")


def timed(words: list[str], folder: Path) -> Timing:
    """Run a command and measure it; what it prints is shown on stderr."""
    print("$", " ".join([Path(words[0]).name, *words[1:]]), file=sys.stderr, flush=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    status = subprocess.run(words, cwd=folder, stdout=sys.stderr, check=False).returncode
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timing(status, wall, cpu)


def main() -> None:
    """Install, run each way, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=list(WAYS), action="append", help="default: all")
    arguments = parser.parse_args()
    work = arguments.folder.absolute() / "work"
    prepare(work, arguments.data)
    binaries = arguments.folder.absolute() / "venv" / "bin"
    install = [str(binaries / "pip"), "install", "--quiet", "--constraint", "constraints.txt", "."]
    rows = [("environment", timed([sys.executable, "-m", "venv", str(binaries.parent)], work))]
    rows.append(("installation", timed(install, ROOT)))
    rows.append(("demo", timed([str(binaries / "standout"), "demo", "--quick"], work)))
    for name in arguments.only or WAYS:
        for number, command in enumerate(WAYS[name], 1):
            timing = timed([str(binaries / "standout"), *command.split(), "--quick"], work)
            rows.append((f"{name}, try {number}", timing))
    print("| step | exit code | wall, s | CPU, s |\n|---|---|---|---|")
    for step, timing in rows:
        print(f"| {step} | {timing.status} | {timing.wall:.0f} | {timing.cpu:.0f} |")
    print(f"\nLoad of the machine at the end: {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
