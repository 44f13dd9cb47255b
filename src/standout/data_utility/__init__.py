"""Utility of a sanitized release: train a recommender on it and compare with one trained on the original.

Entry point: `utility.utility`.

Read `holdout` (test entries), `recommender` (biases and a truncated SVD), `recommender_benchmark` (both
together), `distortion` (differences to the original), `influence` (intervals of paired differences) and
`utility`, in this order.
"""
