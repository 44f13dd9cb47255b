"""Attacks on tables: adversaries who know some cells of a row, imprecisely and partly wrongly.

Read in this order: `row_facts` (what is known), `table_adversary` (who knows it), `evidence` (what a known
cell says about each level of a column), `table_attacks` (Likelihood, the paper's algorithms, exact matching),
`prepare` and `kernels` (all rows are scored), `row_verdicts` (what comes out), `simulate_table` (rates).
"""
