"""Linking public profiles to records of a release, with decoys as a control.

links      `link` and its result, `Links`
align      which public item is which item of the release, and what its values mean there; titles compares titles
records    how strongly a profile and a record suggest one person, and the best record of each profile
decoys     profiles and profiles of absent people, and the φ that keeps to the budget
sentences  every sentence about a linking
"""
