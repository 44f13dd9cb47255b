"""The findings of a run as typed values: what findings.json, links.json and advice.json contain.

Read audit.py first. json_types.py turns findings into JSON values, and generates the JSON Schema from their types.
"""
