"""Utility of a sanitized release: train a recommender on it and compare with one trained on the original.

Entry point: `utility.utility`.

Read `holdout` (test entries), `recommender` (biases and a truncated SVD), `recommender_benchmark` (both
together), `distortion` (differences to the original, with `entry_matching`), `influence` (intervals of paired
differences) and `utility`, in this order.

If people have items several times, a recommender learns from which items they have, and from the mean of
their values of an item. All entries of a person and item are held out together: the answer must not be in the
history.

Of a sanitized table: `table_columns` (marginals, cells, bits), `table_associations` (pairs of columns),
`table_prediction` (a task on held-out people) and `table_utility`, which has them all.
"""
