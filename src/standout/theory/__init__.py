"""The paper's theory, computed and compared with data.

Entry points: `bounds.check`, `sparsity`, `unicity`, `altered`, and the arithmetic of `bounds` and `prize`.
Each of these files can be read on its own; `bounds` collects the public names of

    bound_formulas    how many facts suffice, by Theorems 1 to 5
    matching_sets     Algorithm 1A on random targets: which records match
    theorem_checks    Theorems 1 to 5 compared with measurements on a release
    check_results     the result of such a comparison, and a table of them
"""
