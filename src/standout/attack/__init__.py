"""Attacks: known facts in, verdict out.

Entry points: `scoreboard.Scoreboard` (Algorithm 1A), `scoreboard.ScoreboardRH` (Algorithm 1B) and
`likelihood.Likelihood` (the Bayesian attack).

Read `reference` first: the whole attack in plain NumPy, with `known_items` as its input. Then `scoreboard`,
`queries` (facts, weights and tables for the kernels), `batches` (all steps for many queries), `walks` (the
kernels on threads, or on parts of a release), `part_summaries` (how parts are merged), `refinement` (the
best again in double precision), `double_precision` (queries that need it for all records),
`verdict_columns` and `verdict` (the numbers, and what is derived from them), `matching_queries`,
`matching_rows` and `matching_verdict` (the same for Algorithm 1A), `verdicts`, `lineup` and `eccentricity`.
Likelihood: `error_model` (how facts differ from entries), `release_counts` and `record_sizes`
(what it knows about the release), `likelihood_queries` (scores) and `posterior_verdict`. Everything compiled
is in `kernels`. Attacks of the user's own are in `own_attack`,
`own_queries` and `fact_entries`; `any_attack` is what all attacks have in common, and `overridden` is about
their subclasses.
"""
