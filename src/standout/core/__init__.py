"""Foundations that every other package uses and that know nothing about releases.

Start with `errors` (every error that a user can cause), `arrays` (array types) and `checks` (parameter
checks). Then read `rng` (random numbers keyed by seed and purpose), `jit` and `simd` (how kernels are
compiled), `elementary` (exp and log that do not depend on the machine), `threads` and `progress`.
`private_files`, `atomic_files`, `new_files`, `work_folders`, `new_folders` and `exchange` write files safely,
and `bus_errors` explains why a process ends when a mapped file is cut. `formatting` turns numbers into text,
and `json_values` has the types of parsed JSON.
"""
