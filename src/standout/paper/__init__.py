"""The paper's figures, and the synthetic data on which they are computed.

published              the paper's numbers, and how one of ours compares with one of them
netflix, histories     the stand-in for the Netflix Prize data: its model, its kernels
synthesize             synthetic releases, in memory or as an index
calibration            a release compared with the published statistics
figures, reproduce     all figures; computes them and writes the page and all other files
"""
