"""What 10^10 entries on 16 machines would cost: computed from the measured costs in docs/lab/scale.md.

python -m benchmarks.scale_estimate [--entries 1e10] [--machines 16] [--cores 8] [--memory 64] [--network 10]

Nothing is measured here. Costs and bytes per entry come from the tables of the page, which other benchmarks
have printed. The machines are an assumption: GB of memory and Gbit/s of the network for each, and MB/s of
the disk of the one that builds the index. Their cores are assumed to be as fast as those of the measurement,
and what is divided to be divided evenly.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path("docs/lab/scale.md")
SMALL, LARGE = 100_480_507, 1_004_805_070
PEOPLE_PER_ENTRY = 4_801_890 / LARGE
BYTES_PER_PERSON = 64 + 3 * 8 + 48
"""Memory for an id of 8 characters while an index is built (section "Memory" of the page)."""
CODES = 16
"""Bytes that a worker sends back for each row that it reads (section "What is computed where")."""
LARGEST_SHARE = 0.75
"""Share of a machine's memory above which an index is divided among machines."""
RUNS, TARGETS, BATCH = 20, 1000, 64
"""Runs of attacks in a default audit, the targets of each, and how many of them are sent together."""


@dataclass(frozen=True)
class Measured:
    """CPU seconds and bytes for each entry; the costs of parts, and seconds of one message.

    read            rows of CSV to an index in memory
    build           the same in bounded memory: at most what is left to the machine that builds, if others read
    traffic         bytes read from and written to the disk by that
    index           bytes of the index
    second_walk     CPU time of attacks in parts, relative to the whole at once
    query           bytes that travel for a query and a part
    """

    read: float
    build: float
    traffic: float
    index: float
    audit: float
    neighbours: float
    lineup: float
    second_walk: float
    query: float
    message: float

    @classmethod
    def on(cls, page: str) -> "Measured":
        """From the tables of the page."""

        def figure(row: str, column: int) -> float:
            line = next(line for line in page.splitlines() if line.startswith(f"| {row} |"))
            number = re.search(r"[0-9.,]*[0-9]", line.strip("|").split("|")[column])
            assert number is not None
            return float(number.group().replace(",", ""))

        at_once, bounded = f"CSV → index, at once | {SMALL:,}", f"CSV → index, 2GB | {SMALL:,}"
        in_parts = "Bayesian, with Z"
        lineup = f"lineup | {LARGE:,}"
        warm = re.search(rf"\| {re.escape(lineup)} .*median ([0-9.e-]+)", page)
        assert warm is not None
        return cls(
            read=figure(at_once, 3) / SMALL,
            build=figure(bounded, 3) / SMALL,
            traffic=figure(bounded, 6) + figure(bounded, 7) - figure(at_once, 6),
            index=figure(bounded, 8),
            audit=figure(f"audit | {LARGE:,}", 3) / LARGE,
            neighbours=figure(f"neighbours | {LARGE:,}", 3) / LARGE,
            lineup=float(warm[1]) / LARGE,
            second_walk=figure(in_parts, 1),
            query=figure(in_parts, 5) + figure(in_parts, 6),
            message=figure("2 Dask workers", 3) / 1000,
        )


def estimate(cost: Measured, given: argparse.Namespace) -> list[tuple[str, str, float]]:
    """The work, how much it is, and its seconds."""
    n, machines, cores = given.entries, given.machines, given.machines * given.cores
    network, disk = given.network * 1e9 / 8, given.disk * 1e6
    index, in_parts = n * cost.index, n * cost.index > LARGEST_SHARE * given.memory * 1e9
    audit = n * cost.audit * (cost.second_walk if in_parts else 1.0)
    sent = RUNS * TARGETS * cost.query * (machines if in_parts else 1)
    messages = RUNS * TARGETS / BATCH * 2
    return [
        ("CSV files → codes, on all workers", f"{n * cost.read:,.0f} CPU s", n * cost.read / cores),
        ("codes to the machine that builds", f"{n * CODES / 1e9:,.0f} GB", n * CODES / network),
        ("building the index there, one process, at most", f"{n * cost.build:,.0f} CPU s", n * cost.build),
        ("its disk", f"{n * cost.traffic / 1e9:,.0f} GB", n * cost.traffic / disk),
        ("the index to the machines, each its part" if in_parts else "the index to each machine",
         f"{index / 1e9:,.0f} GB", index / network),
        ("default audit: attacks", f"{audit:,.0f} CPU s", audit / cores),
        ("default audit: traffic", f"{sent / 1e9:,.1f} GB", sent / network),
        ("default audit: messages, one after another", f"{messages:,.0f}", messages * cost.message),
        ("neighbours of 1,000 records", f"{n * cost.neighbours:,.0f} CPU s", n * cost.neighbours / cores),
        ("a lineup", f"{n * cost.lineup:,.2f} CPU s", n * cost.lineup / machines),
    ]  # fmt: skip


def main() -> None:
    """Print the table of docs/lab/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    machines = {"entries": 1e10, "machines": 16, "cores": 8, "memory": 64, "network": 10, "disk": 500}
    for option, default in machines.items():
        parser.add_argument(f"--{option}", type=float, default=default)
    given = parser.parse_args()
    cost, people = Measured.on(PAGE.read_text(encoding="utf-8")), given.entries * PEOPLE_PER_ENTRY
    print("| work | how much | seconds |\n|---|--:|--:|")
    for name, amount, seconds in estimate(cost, given):
        print(f"| {name} | {amount} | {seconds:,.{1 if seconds >= 1 else 2}f} |")
    memory = people * BYTES_PER_PERSON / 1e9
    print(f"\n{people:,.0f} people. Their ids take {memory:.1f} GB while an index is built.")


if __name__ == "__main__":
    main()
