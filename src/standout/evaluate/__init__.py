"""Measure what an adversary achieves: attacks on targets whose records are known. Start with simulate.py."""
