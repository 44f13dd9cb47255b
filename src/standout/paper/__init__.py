"""The paper's figures, and the synthetic data on which they are computed.

published, netflix, histories   the stand-in for the Netflix Prize data: its numbers, its model, its kernels
synthesize                      synthetic releases, in memory or as an index
survey, calibration             a release compared with the published statistics
comparison                      one number of the paper, the measured number, and whether they agree
figures, readings               all figures; other interpretations of the paper's text
reproduce, page                 computes everything, and writes the page and all other files
"""
