"""Benchmarks: speed and memory, as ratios to other tools and to the limits of the machine, within one run.

Each module with a `main` is a benchmark: ingest, open_index, attack, simulate, sparsity, linking, synthesize
and advising. `make bench` runs all of them. `harness` measures, `data_files` makes the data, `queries` the
queries, `baselines` has the attack in other tools, `ratio_table` prints the results.
"""
