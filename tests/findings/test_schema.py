"""The schema of findings: generated from the types, and the file in docs/ is up to date."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Literal

import jsonschema
import pytest

from standout.core.json_files import JsonObject
from standout.evaluate.estimates import Estimate, mean, rate
from standout.findings import audit, link_and_advise, reading, sections
from standout.findings.audit import SCHEMA_TITLE, SCHEMA_VERSION
from standout.findings.json_types import Count, Day, Rate, attribute_descriptions, schema_of, schema_texts, to_json

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Part:
    """A part."""

    answer: Literal["yes", "no"]
    day: Day | None = None


@dataclass(frozen=True)
class Whole:
    """A whole.

    n: Number of parts,
        in two lines.
    rate: A share.
    """

    n: Count
    rate: Rate
    mean: Estimate
    parts: tuple[Part, ...]
    versions: Mapping[str, str]
    free: JsonObject | None = None


SCHEMA = schema_of(Whole, "test")
WHOLE = Whole(1, rate(3, 4), mean([7.0]), (Part("yes", "2005-03-01"),), {"numpy": "2"})


def test_the_schemas_in_the_docs_are_generated_from_the_types():
    texts = schema_texts()
    assert {path.name for path in DOCS.glob("*.schema.json")} == set(texts)
    assert all((DOCS / name).read_text() == text for name, text in texts.items()), "run make docs"
    assert f"version {SCHEMA_VERSION}" in SCHEMA_TITLE


def test_serialized_findings_follow_the_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(to_json(WHOLE), SCHEMA)
    jsonschema.validate(to_json(WHOLE) | {"free": {"any": ["thing", 1]}}, SCHEMA)


def test_the_schema_forbids_values_that_the_types_forbid():
    for change in [
        {"n": -1},
        {"n": "1"},
        {"n": None},
        {"more": 1},
        {"parts": [{"answer": "perhaps", "day": None}]},
        {"parts": [{"answer": "yes", "day": "yesterday"}]},
        {"versions": {"numpy": 2}},
        {"rate": {"value": 1.5, "low": 0, "high": 1, "n": 2, "baseline": None}},
        {"mean": {"value": 1.5, "low": 0, "high": 1, "n": 2}},
    ]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(to_json(WHOLE) | change, SCHEMA)


def test_docstrings_describe_the_properties():
    assert SCHEMA["description"] == "A whole."
    assert attribute_descriptions(Whole) == {"n": "Number of parts, in two lines.", "rate": "A share."}
    assert SCHEMA["properties"]["n"]["description"] == "Number of parts, in two lines."


@pytest.mark.parametrize("module", [audit, link_and_advise, reading, sections])
def test_every_described_attribute_exists(module):
    for cls in vars(module).values():
        if is_dataclass(cls) and cls is not Estimate:
            assert set(attribute_descriptions(cls)) <= {field.name for field in fields(cls)}, cls


def test_the_numpy_style_of_public_classes_is_read_too():
    assert attribute_descriptions(Estimate)["low"].startswith("The ends of the 95 % confidence interval")
