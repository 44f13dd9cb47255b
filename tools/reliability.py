"""Writes the tables of docs/lab/reliability.md from the records in docs/lab/campaign: `make reliability`.

The records are lines of JSON that `make fuzz`, `make crash` and `make faults` write with
RECORD=docs/lab/campaign. Runs of a target on the same commit with different seeds add up; of the same seed, the
last counts. Lines of a target on an earlier commit do not count.
"""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs" / "lab"
PAGE, RECORDS = DOCS / "reliability.md", DOCS / "campaign"
Lines = list[dict[str, Any]]


def lines(name: str) -> Lines:
    """The lines of a record; none if it does not exist."""
    path = RECORDS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def latest(record: Lines, key: str) -> Lines:
    """Lines of the last commit of each target or command, one for each seed."""
    last = {line[key]: line["commit"] for line in record}
    chosen = {(line[key], line["seed"]): line for line in record if line["commit"] == last[line[key]]}
    return list(chosen.values())


def commits(chosen: Lines) -> list[str]:
    """The commits of some lines, in the order in which they were recorded."""
    return list(dict.fromkeys(line["commit"] for line in chosen))


def fuzz_table() -> str:
    """Inputs and failures by kind of target."""
    record = lines("fuzz")
    if not record:
        return "No run is recorded yet."
    chosen = latest(record, "target")
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    targets: dict[str, set[str]] = defaultdict(set)
    for line in chosen:
        counts = sums[kind_of(line["target"])]
        targets[kind_of(line["target"])].add(line["target"])
        for key in ("inputs", "read", "refused"):
            counts[key] += line[key]
        counts["failures"] += sum(line["failures"].values())
        counts["peak_mb"] = max(counts["peak_mb"], line["peak_mb"])
    total = {key: sum(counts[key] for counts in sums.values()) for key in ("inputs", "read", "refused", "failures")}
    peak = max(counts["peak_mb"] for counts in sums.values())
    kinds: dict[str, int] = defaultdict(int)
    for line in chosen:
        for kind, count in line["failures"].items():
            kinds[kind] += count
    seeds = ", ".join(str(seed) for seed in sorted({line["seed"] for line in chosen}))
    keys = ("inputs", "read", "refused", "failures", "peak_mb")
    rows = [_row(name, len(targets[name]), *(counts[key] for key in keys)) for name, counts in sums.items()]
    number = sum(map(len, targets.values()))
    found = ", ".join(f"{count:,} × {kind}" for kind, count in sorted(kinds.items())) or "none"
    hours = sum(line["seconds"] for line in chosen) / 3600
    summary = (
        f"{total['inputs']:,} inputs, seeds {seeds}, in {hours:.1f} hours of one core. Failures: {found}. "
        f"Largest process: {peak:,} MB. The record names the commit of each target."
    )
    head = [
        "| Kind | Targets | Inputs | Read | Refused in one line | Failures | Peak MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([summary, "", *head, *rows, _row("**all**", number, *total.values(), peak)])


def kind_of(target: str) -> str:
    """The kind of a target of the fuzzer: commands, kernels, checkpoints, or what is read."""
    kinds = {"command": "command lines", "kernels": "kernels", "state": "checkpoints"}
    return kinds.get(target.partition("-")[0], "files and texts")


def _row(name: str, *numbers: int) -> str:
    return f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} |"


def crash_table() -> str:
    """Kills, and what was wrong."""
    record = lines("crash")
    if not record:
        return "No run is recorded yet."
    chosen = latest(record, "command")
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in chosen:
        sums[line["command"]] = [
            a + b for a, b in zip(sums[line["command"]], (line["kills"], line["reruns"], line["wrong"]), strict=True)
        ]
    kills, reruns, wrong = (sum(counts[i] for counts in sums.values()) for i in range(3))
    return (
        f"{kills:,} kills of {len(sums)} commands and {reruns:,} runs afterwards on commit "
        f"{' and '.join(f'`{name}`' for name in commits(chosen))}: {wrong:,} wrong."
    )


def fault_table() -> str:
    """Number of commands, their exit codes and places."""
    record = lines("faults")
    if not record:
        return "No run is recorded yet."
    wrong = sum(bool(line["wrong"]) for line in record)
    skipped = sum(line["code"] is None for line in record)
    parts = [f"{len(record)} rows on commit `{record[-1]['commit']}`: {wrong} wrong, {skipped} not run."]
    codes = Counter(line["code"] for line in record if line["code"] is not None)
    places = dict.fromkeys(line["place"] for line in record)
    parts.append(f"Exit codes: {', '.join(f'{code} ({count} ×)' for code, count in sorted(codes.items()))}.")
    parts.append(f"Places: {'; '.join(places)}.")
    return "\n".join(parts)


def page(text: str) -> str:
    """The page with its tables written anew between their markers."""
    for name, table in (("fuzz", fuzz_table()), ("crash", crash_table()), ("faults", fault_table())):
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        head, _, rest = text.partition(start)
        _, _, tail = rest.partition(end)
        text = f"{head}{start}\n{table}\n{end}{tail}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE.name}")
