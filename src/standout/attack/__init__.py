"""The paper's attack: known facts in, verdict out.

Entry points: `scoreboard.Scoreboard` (Algorithm 1A) and `scoreboard.ScoreboardRH` (Algorithm 1B).

Read `reference` first: the whole attack in plain NumPy, with `known_items` as its input. Then `scoreboard`,
`queries` (facts, weights and tables for the kernels), `batches` (kernels on threads, then the best again in
double precision), `verdict_columns` and `verdict` (the numbers, and what is derived from them),
`matching_verdict` (the same for Algorithm 1A), `verdicts`, `lineup` and `eccentricity`. Everything
compiled is in `kernels`.
"""
