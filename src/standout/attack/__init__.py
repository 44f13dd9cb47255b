"""Attacks: known facts in, verdict out.

Read `reference` first: the whole attack in plain NumPy. `scoreboard` has the paper's two algorithms, `likelihood` the
Bayesian attack, `own_attack` those of the user's own and what all attacks share, `any_attack` what every attack
offers, on columns too. `queries` and `likelihood` turn known entries into lookups (from a value and time to an
addend), `column_evidence` known cells (from a code), with the errors of `error_model` and `error_tables` and the
counts of `release_counts`. `engine` scores all records (`engine_kernels`: compiled); `verdict` has the results.
`neighbours` finds the nearest record of each.
"""
