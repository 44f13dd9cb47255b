"""Attacks: known facts in, verdict out.

Read `reference` first: the whole attack in plain NumPy. `scoreboard` has the paper's two algorithms, `likelihood` the
Bayesian attack, `own_attack` those of the user's own; `attack_base` is what they share. `queries` and
`likelihood_queries` turn known facts into lookups (from a value and time to an addend), with the tables of
`log_tables` and `learned_errors`, the adversary's errors in `error_model` and `error_tables`, and the counts of
`release_counts`. `engine` scores all records (`engine_kernels`: compiled), `pairs` chosen ones. `verdict_columns`,
`verdict` and `verdicts` are the results. `neighbours` and `any_similarity` find the nearest record of each.
"""
