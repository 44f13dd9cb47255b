"""Write docs/lab/paper.csv, and its summary in docs/lab/paper.md, from a folder that `standout paper` made.

python -m tools.paper_tables FOLDER
"""

import csv
import io
import json
import re
import sys
from pathlib import Path

from standout.evaluate.estimates import Estimate
from standout.paper.published import ComparisonRow, Unit, number, signed

PAGE = Path(__file__).parent.parent / "docs" / "lab" / "paper.md"
NAMES = {"sp10": "10 of 2008", "imdb": "profiles"}
COLUMNS = ("figure", "number", "paper", "ours", "95 % interval", "difference", "agreement")
CsvRow = dict[str, str]


def main(folder: Path, page: Path = PAGE) -> None:
    """Update the page."""
    text = page.read_text(encoding="utf-8")
    for name, content in parts(folder).items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"{page.name} lacks the markers {start} … {end}")
        block = f"{start}\n\n{content}\n\n{end}"
        text = pattern.sub(lambda _, block=block: block, text)
    page.write_text(text, encoding="utf-8")
    page.with_suffix(".csv").write_text(
        comparison_csv(read_csv(folder / "validation.csv")), encoding="utf-8", newline="\n"
    )


def parts(folder: Path) -> dict[str, str]:
    """The generated parts of the page by marker."""
    table = comparison_csv(read_csv(folder / "validation.csv"))
    return {"run": run_text(folder), "validation": figures_table(table)}


def read_csv(path: Path) -> list[CsvRow]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run_text(folder: Path) -> str:
    """The summary, and what was run on which data."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    facts = (
        about["size"],
        about["dates"],
        f"targets: {about['targets']}",
        f"fingerprint {about['fingerprint']}",
        about["version"],
    )
    summary = " ".join(filter(None, (about["summary"], about.get("stronger_attack"))))
    return f"{summary}\n\n{'; '.join(facts)}."


def comparison_csv(rows: list[CsvRow]) -> str:
    """Every number compared with the paper's."""
    stronger = any(row.get("likelihood") for row in rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *(["likelihood"] if stronger else [])])
    writer.writerows(_cells(_figure(row), _comparison_row(row), stronger) for row in rows)
    return text.getvalue()


def figures_table(table: str) -> str:
    """How many numbers of each figure agree with the paper's, and how large the differences are."""
    titles = ("figure", "numbers", "within sampling error", "agree", "mean difference", "largest")
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["difference"]]
    for figure in dict.fromkeys(row["figure"] for row in rows):
        several = [row for row in rows if row["figure"] == figure]
        differences = [float(row["difference"].replace(",", "").replace("−", "-")) for row in several]
        sampling = sum(row["agreement"] == "within sampling error" for row in several)
        judged = sum(bool(row["agreement"]) for row in several)
        within = sum(row["agreement"].startswith("within") for row in several)
        counts = (f"{sampling}", f"{within}") if judged else ("–", "–")
        mean, largest = sum(differences) / len(differences), max(differences, key=abs)
        lines.append(f"| {figure} | {len(several)} | {' | '.join(counts)} | {signed(mean)} | {signed(largest)} |")
    return "\n".join(lines)


def _cells(figure: str, row: ComparisonRow, with_likelihood: bool) -> tuple[str, ...]:
    return (
        figure,
        row.name,
        number(row.paper, row.unit),
        number(row.measured, row.unit),
        row.interval,
        row.difference_text,
        row.judgement,
        *([row.likelihood_text] if with_likelihood else []),
    )


def _figure(row: CsvRow) -> str:
    if row["figure"] in NAMES:
        return NAMES[row["figure"]]
    return row["figure"] + (f" ({row['figure_2008']})" if row["figure_2008"] else "")


def _comparison_row(row: CsvRow) -> ComparisonRow:
    unit: Unit = row["unit"]  # type: ignore[assignment]
    return ComparisonRow(
        panel=row["panel"],
        label=row["label"],
        measure=row["measure"],
        unit=unit,
        paper=float(row["paper"]) if row["paper"] else None,
        ours=_estimate(row, "measured", "low", "high"),
        spread=float(row["spread"]),
        paper_targets=int(row["paper_targets"]),
        too_few_items=int(row["too_few_items"]),
        note=row["note"],
        likelihood=_estimate(row, "likelihood", "likelihood_low", "likelihood_high"),
    )


def _estimate(row: CsvRow, *names: str) -> Estimate | None:
    value, low, high = (row.get(name, "") for name in names)
    return Estimate(float(value), float(low or value), float(high or value), int(row["n"])) if value else None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    print(f"updated {PAGE.name}")
