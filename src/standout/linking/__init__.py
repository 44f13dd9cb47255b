"""Linking public profiles to records of a release, with decoys as a control. Start with links.py."""
