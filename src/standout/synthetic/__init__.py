"""Synthetic releases, and a comparison of the Netflix-like one with the published statistics.

Entry points: `synthesize.synthesize` and `calibration.calibration`. Read the files in this order:

published_statistics   the published numbers about the Netflix Prize data, in data/
synthesize             chooses a generator and builds the release
flat_generator         releases without structure, for tests
quick_generator        long tails, ratings and dates; not calibrated
netflix_generator      the stand-in for the Netflix Prize data: record_lengths, popularity and invented_titles
                       set it up, history_model has its parameters, and histories and rating_days (compiled)
                       draw each person's entries
calibration            compares a release with the published statistics
netflix_statistics     each published statistic, with its tolerance
survey                 what several statistics need to know about a release; marginals counts it (compiled)
sampling_error         standard errors, which are part of the tolerances
"""
