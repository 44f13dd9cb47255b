"""Findings as JSON: dataclasses become plain values, and what JSON lacks becomes null."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from standout.evaluate.estimates import Estimate
from standout.findings.json_types import json_text, to_json, to_json_object


@dataclass(frozen=True)
class Sample:
    """A sample."""

    from_: int
    shares: tuple[float, ...]
    estimate: Estimate | None = None


def test_a_dataclass_becomes_an_object_with_its_fields_as_keys():
    sample = Sample(3, (0.5, math.nan), Estimate(1.0, -math.inf, math.inf, 1))
    estimate = {"value": 1.0, "low": None, "high": None, "n": 1, "baseline": None}
    assert to_json(sample) == {"from": 3, "shares": [0.5, None], "estimate": estimate}


def test_numpy_numbers_and_arrays_become_plain_numbers_and_lists():
    plain = to_json({"n": np.int64(3), "share": np.float64(0.5), "yes": np.bool_(True), "row": np.arange(2)})
    assert plain == {"n": 3, "share": 0.5, "yes": True, "row": [0, 1]}
    assert [type(value) for value in plain.values()] == [int, float, bool, list]


def test_a_value_without_a_json_form_is_an_error():
    with pytest.raises(TypeError, match="set has no JSON form"):
        to_json({"names": {"a"}})


def test_the_text_of_a_file_reads_back_as_the_same_object():
    sample = Sample(3, (0.25,))
    assert json.loads(json_text(sample)) == to_json_object(sample)
    assert json_text(sample).endswith("}\n")
