"""Opening an index and reading one record, in a fresh interpreter: seconds after its start-up, memory.

python -m benchmarks.opening [--entries 10000000] [--rounds 5] [--folder build/bench]
"""

import argparse
import subprocess
import sys
from pathlib import Path

import standout as so
from benchmarks.files import release_of

CHILD = """
import sys, time
begun = time.perf_counter()
import standout
release = standout.open(sys.argv[1])
record = release.record(sys.argv[2])
seconds = time.perf_counter() - begun
pages = open("/proc/self/status").read().split("VmRSS:")[1].split()[0]
print(seconds, int(pages) / 1000, len(record))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    index = given.folder / f"release-{given.entries}.index"
    if not index.exists():
        so.save(release_of(given.entries), index)
    record = so.open(index).records[so.open(index).n_records // 3]
    command = [sys.executable, "-c", CHILD, str(index), record]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(given.rounds)]
    told = [tuple(map(float, run.stdout.split())) for run in runs]
    print(
        f"open {given.entries:,} entries and read one record of {told[0][2]:.0f}: "
        f"{min(seconds for seconds, _, _ in told):.3f} s after start-up (worst of {given.rounds}: "
        f"{max(seconds for seconds, _, _ in told):.3f} s), {max(memory for _, memory, _ in told):.0f} MB resident"
    )


if __name__ == "__main__":
    main()
