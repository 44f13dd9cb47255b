"""The findings of a run as typed values: what findings.json, links.json and advice.json contain.

Read `audit.py` first: the frozen dataclasses of an audit's findings. `serialize.py` turns any of them into
plain JSON values. `schema.py` generates the JSON Schema from their types and docstrings.
`measure_titles.py` names each measure once, for the console and the report.
"""
