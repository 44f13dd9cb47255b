"""Exact nearest neighbours of records by similarity.

Entry points: `nearest_neighbours` in nearest.py, `nearest_by_sums` in any_similarity.py. Read
the files in this order:

    rules             which entries are similar
    nearest           which records are compared with which
    bitmap_kernels    compares batches of records with a tile of records by bitmaps
    range_kernels     the same for similarity by time or by values with many levels
    any_similarity    the same for any other similarity, by sums through the postings
    aligned_memory    memory for the counters of core.simd
"""
