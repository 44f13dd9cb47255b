"""Compiled code of the attack.

Entry points: `block_scores.score_queries` (Algorithm 1B), `nested_scores.score_prefixes` (the same for the
first facts of an aux, and for several draws at once), `conjunction.minimum_similarities` (Algorithm 1A) and
`record_scores.similarities` (chosen records in double precision).

Read `query_arrays`, `block_scores`, `shortlist` and `exp_sum` first, then `nested_arrays`, `nested_scores`
and `nested_rows`.
"""
