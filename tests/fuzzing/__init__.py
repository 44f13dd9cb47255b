"""The fuzzer: mutated input for everything that reads input. Run it with `make fuzz`.

case.py         a mutated input: files and options; written to and read from the corpus
mutations.py    mutations of bytes, text, JSON and numbers
seeds.py        good files to start from
outcomes.py     what may happen: a result, or one line without the content of a cell
readers.py      sources of histories, indexes
tables.py       tables, schemas, hierarchies
texts.py        ladders, known facts, steps, sidecars, keys, reviews, truth
states.py       the files by which interrupted runs resume
commands.py     command lines
kernels.py      compiled code with its array bounds checked
targets.py      all of them, with their share of the inputs
worker.py       a process that runs rounds and watches time, memory and files
campaign.py     workers, counts, failures
minimise.py     the smallest input that still fails
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the slow twins
