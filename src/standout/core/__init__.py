"""Foundations that every other package uses and that know nothing about releases: errors, files, kernels, threads."""
