"""Risk measures of a table that need no simulation: how many rows share the values of some columns.

Start with `table_risk`. Read `classes` first, since everything else counts its classes:

    classes           equivalence classes: rows with equal values of some columns
    identity          k, uniqueness, prosecutor and marketer risk
    population        the same if the rows are a sample of a larger population (journalist risk)
    keys              the smallest sets of columns that single out most rows
    minimal_sets      how many rows some single column, pair or triple of columns makes unique
    disclosure        what a class reveals about a sensitive column
"""
