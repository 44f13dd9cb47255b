"""Titles of the attacks in reports."""

__all__ = ["ATTACK_TITLES"]

ATTACK_TITLES = {"paper": "paper's attack", "likelihood": "Likelihood", "exact match": "exact matching"}
