"""Tables: one row per person, one column per attribute, each with its own type  [the paper's general model].

Start with `model.Table` and `column.Column`. A `schema` says what each column is and how it is compared;
`read_table` makes a table of a file or frame. `nearness` says which levels of a column an imprecise adversary
cannot tell apart, `column_similarity` is the paper's Sim for one column, `hierarchy` has trees of categories.
"""
