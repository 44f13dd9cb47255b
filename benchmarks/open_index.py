"""Opening an index and reading one record in a new process: seconds after the start of Python, and memory.

python -m benchmarks.open_index [--entries 10000000] [--rounds 5] [--folder build/bench]
"""

import subprocess
import sys

import standout as so
from benchmarks.data_files import index_file
from benchmarks.harness import options

CHILD = """
import sys, time
start = time.perf_counter()
import standout
release = standout.open(sys.argv[1])
record = release.record(sys.argv[2])
seconds = time.perf_counter() - start
pages = open("/proc/self/status").read().split("VmRSS:")[1].split()[0]
print(seconds, int(pages) / 1000, len(record))
"""


def main() -> None:
    """Print seconds and memory."""
    given = options(__doc__, rounds=5)
    index = index_file(given.folder, given.entries)
    record = so.open(index).records[so.open(index).n_records // 3]
    command = [sys.executable, "-c", CHILD, str(index), record]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(given.rounds)]
    results = [tuple(map(float, run.stdout.split())) for run in runs]
    seconds, memory = [result[0] for result in results], max(result[1] for result in results)
    print(
        f"open {given.entries:,} entries and read one record of {results[0][2]:.0f}: {min(seconds):.3f} s "
        f"after the start of Python (worst of {given.rounds}: {max(seconds):.3f} s), {memory:.0f} MB resident"
    )


if __name__ == "__main__":
    main()
