"""Small delimited texts and their entries, which several tests of reading share."""

import naive

TABLE = [("7", "a", "4", "2005-03-01"), ("007", "a", "0.5", "2005-03-02"), ("7", "b", "", "")]

KEPT = {
    ("7", "a"): (4.0, naive.day("2005-03-01")),
    ("007", "a"): (0.5, naive.day("2005-03-02")),
    ("7", "b"): (None, None),
}

HEADER = ("user", "item", "rating", "date")

NUMBERED = {"record": 1, "item": 2, "value": 3, "time": 4}
"""Columns of the table where it has no header."""

TEXT = "user,item,rating\na,x,4\nb,x,3\nb,y,5\n"

PLAIN = {("a", "x"): (4.0, None), ("b", "x"): (3.0, None), ("b", "y"): (5.0, None)}


def joined(rows, separator=",", end="\n"):
    """Write rows as delimited text."""
    return "".join(separator.join(row) + end for row in rows)
