"""Sanitize a table: change its columns step by step before it is published.

Entry points: `standout.sanitize`, `standout.write_sanitized` and `standout.open_sanitized` accept tables.

Read `table_step` (what a step is), `table_draft` (a table between two steps) and `sanitize_table` first.
The steps are in `level_steps` (they map values: generalize, round, top-code), `cell_steps` (swap, suppress
rare values, drop a column) and `class_steps` (k rows in each class). `level_change` has the arithmetic on
levels, `row_classes` finds classes of equal rows, and `table_step_parser` reads steps from text.
`table_sidecar`, `table_files` and `open_table` are about files.
"""
