"""Tables with one row per person, their schemas and their hierarchies."""

import json
from dataclasses import dataclass

from tests.fuzzing.case import Case
from tests.fuzzing.mutations import mutated, mutated_text, odd_number
from tests.fuzzing.outcomes import SECRET, attempt

import standout as so
from standout.ingest.schema import Schema

__all__ = ["HIERARCHY", "SCHEMA", "TABLE", "TABLES"]

TABLE = (
    b"id,age,sex,zip,born,diagnoses,rank\nZq7Jx1,34,f,10115,1990-01-31,flu;cold,low\n"
    b"Zq7Jx2,35,m,10117,1989-12-01,,high\nZq7Jx3,71,f,20095,1953-06-15,cold,Zq7Jx high\n"
    b"Zq7Jx4,,m,20095,1953-06-15,flu;asthma;cold,low\nZq7Jx5,34,f,10115,,NA,low\n"
)
SCHEMA = b"""[columns.age]
kind = "number"
error = 2
hierarchy = [5, 20]

[columns.sex]
kind = "category"
similarity = "equal"

[columns.zip]
kind = "category"
hierarchy = "prefix"
missing = ["NA", "?"]

[columns.rank]
kind = "ordered"
levels = ["low", "Zq7Jx high", "high"]
hierarchy = "ranks.csv"
role = "sensitive"

[columns.diagnoses]
kind = "set"
separator = ";"

[columns.born]
kind = "date"
date_format = "iso"
scale = 30
attribute = "birth"
ignore = false
"""
RANKS = b"id,rank,age\nZq7Jx1,low,34\nZq7Jx2,high,35\nZq7Jx3,Zq7Jx high,71\nZq7Jx4,low,34\n"
HIERARCHY = b"low,below,all\nZq7Jx high,above,all\nhigh,above,all\n"
ODD_OPTIONS = {
    "record": ["id", "age", "nobody", "", 1, 7, 8, 0, -1, False, True, 2**70],
    "ignore": ["age", ["age", "zip"], [], "x", 9, [["age"]]],
    "missing": [[], [""], ["NA", "?"], ["34"], [1], "NA"],
    "separator": [",", ";", "", "::", "\t", "\0", "é"],
    "header": [True, False],
    "quote": ['"', "'", "", ",", "\n"],
    "encoding": ["utf-8", "latin-1", "utf-16", "", "no such", "rot13", "idna"],
    "skip_lines": [0, 1, 5, 99, -1, 2**70, True],
    "sql_table": ["t", ""],
}
KINDS = ["number", "ordered", "category", "date", "boolean", "set", "text", "", 7, None]
KEYS = {
    "kind": KINDS,
    "error": [0, 1, -1, 0.5, 1e400, float("nan"), "2", True, 10**400, None, [1]],
    "scale": [0, 1, -1, 1e308, 5e-324, "x"],
    "attribute": ["person", "", "age", 1],
    "date_format": ["iso", "%Y-%m-%d", "%Q", "%", "", 1, "%d%d"],
    "ignore": [True, False, 1, "x"],
    "levels": [[], ["low"], ["low", "low"], "low", [1, 2], [["x"]], {"a": 1}],
    "hierarchy": [
        "prefix",
        "ranks.csv",
        "missing.csv",
        "../ranks.csv",
        "",
        [5, 20],
        [20, 5],
        [0],
        [-1],
        [1e400],
        [["low", "all"]],
        7,
        {"low": "all"},
        True,
    ],
    "missing": [["NA"], [], "NA", [1]],
    "role": ["sensitive", "quasi-identifier", "", "id", 1],
    "separator": [";", "", ",", 1, "\0"],
    "similarity": ["equal", "decay", "within", "ordered", "hierarchy", "", 1],
}


def _used(table):
    """Use the table as a user may."""
    repr(table)
    table.to_frame()
    Schema.of(table)


@dataclass(frozen=True)
class TableSource:
    """A mutated table, sometimes with odd options."""

    def case(self, draw):
        """A table, mutated or with odd options."""
        options = {}
        if draw.random() < 0.4:
            names = draw.sample(list(ODD_OPTIONS), draw.choice([1, 2, 3]))
            options = {name: draw.choice(ODD_OPTIONS[name]) for name in names}
        content = TABLE if options and draw.random() < 0.3 else mutated_text(draw, TABLE)
        return Case({"t.csv": content}, options)

    def good_cases(self):
        """The table unchanged."""
        return [Case({"t.csv": TABLE})]

    def run(self, case, folder):
        """Read the table."""
        first = case.files["t.csv"].partition(b"\n")[0]
        named = SECRET.encode() in first or first.count(b'"') % 2 or b"\r" in first or bool(case.options)
        return attempt(lambda: _used(so.read(folder / "t.csv", **case.options, kind="table")), not named)


@dataclass(frozen=True)
class SchemaFile:
    """A mutated schema file, alone and with its table."""

    def case(self, draw):
        """A schema with mutated text."""
        return Case(
            {"t.csv": TABLE, "ranks.csv": HIERARCHY, "s.toml": mutated_text(draw, SCHEMA)},
            {"alone": draw.random() < 0.7},
        )

    def good_cases(self):
        """The schema unchanged."""
        files = {"t.csv": TABLE, "ranks.csv": HIERARCHY, "s.toml": SCHEMA}
        return [Case(files, {"alone": alone}) for alone in (False, True)]

    def run(self, case, folder):
        """Read the schema; it may quote itself."""
        if case.options["alone"]:
            return attempt(lambda: repr(Schema.read(folder / "s.toml")), secret=False)
        return attempt(lambda: _used(so.read(folder / "t.csv", schema=folder / "s.toml")), secret=False)


@dataclass(frozen=True)
class SchemaMapping:
    """A schema as a mapping with odd keys, and one that is written and read back."""

    def case(self, draw):
        """Some columns with some odd keys."""
        columns = draw.sample(["age", "sex", "zip", "born", "diagnoses", "rank"], draw.choice([1, 1, 2]))
        schema = {
            name: {key: draw.choice(KEYS[key]) for key in draw.sample(list(KEYS), draw.choice([1, 1, 2]))}
            for name in columns
        }
        return Case({"t.csv": TABLE, "ranks.csv": HIERARCHY}, json.loads(json.dumps({"schema": schema})))

    def run(self, case, folder):
        """Read the table with the mapping."""
        schema = case.options["schema"]
        return attempt(lambda: _used(so.read(folder / "t.csv", schema=schema)), secret=False)


@dataclass(frozen=True)
class HierarchyFile:
    """A mutated hierarchy; what it says about the cells must not be shown."""

    def case(self, draw):
        """A mutated hierarchy."""
        change = mutated_text if draw.random() < 0.7 else mutated
        content = change(
            draw, HIERARCHY.replace(b"low", odd_number(draw).encode()) if draw.random() < 0.1 else HIERARCHY
        )
        return Case({"t.csv": RANKS, "ranks.csv": content})

    def good_cases(self):
        """The hierarchy unchanged."""
        return [Case({"t.csv": RANKS, "ranks.csv": HIERARCHY})]

    def run(self, case, folder):
        """Read the table with the hierarchy."""
        schema = Schema.of_dict({"rank": {"hierarchy": "ranks.csv"}}, folder=folder)
        return attempt(lambda: _used(so.read(folder / "t.csv", schema=schema)))


TABLES = {
    "table": TableSource(),
    "schema file": SchemaFile(),
    "schema mapping": SchemaMapping(),
    "hierarchy": HierarchyFile(),
}
