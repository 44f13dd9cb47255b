"""Recognise JSON: one object for each line, or an array of objects."""

import json
import re
from typing import Literal

from standout.core.errors import SourceError

__all__ = ["JsonShape", "has_long_number", "is_object", "json_shape"]

JsonShape = Literal["lines", "array"]
"""How objects are arranged in a JSON source."""

BEGINS_OBJECT, BEGINS_ARRAY = re.compile(r'\s*\{\s*["}]'), re.compile(r"\s*\[\s*(\{|\]\s*$)")
LINES = 50
MOST_DIGITS = 300


def json_shape(head: str, is_whole: bool, name: str) -> JsonShape | None:
    """Return how JSON is arranged in a text with this beginning, or None if it is not JSON.

    `is_whole` if the beginning is the whole text.
    """
    head = head.lstrip("\ufeff")
    if BEGINS_ARRAY.match(head):
        return "array"
    if not BEGINS_OBJECT.match(head):
        return None
    lines = head.split("\n")
    for number, line in enumerate(lines if is_whole else lines[:-1], start=1):
        if number > LINES:
            break
        if line.strip() and not is_object(line):
            raise SourceError(
                f"{name} is JSON, but line {number} is not an object: "
                "convert it to one object for each line, or to an array of objects"
            )
    return "lines"


def is_object(line: str | bytes) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(line, parse_int=str), dict)  # int() refuses 4,301 digits
    except (ValueError, RecursionError):
        return False


def has_long_number(line: str | bytes) -> bool:
    """Whether a JSON text has a number with more digits than any parser takes."""
    numbers: list[str] = []
    json.loads(line, parse_int=numbers.append, parse_float=numbers.append)
    return any(len(number) > MOST_DIGITS for number in numbers)
