"""The paper's Sim: on attributes (a known fact and an entry) and on records.

Entry points: the classes of `attributes` and `records.record_similarity`. Read `attributes` first, then
`records`, then `lookup_tables`, which turns a similarity into tables for the kernels.
"""
