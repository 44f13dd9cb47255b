"""Mutations of bytes, of text that has tokens and lines, of JSON values and of numbers."""

import copy
import re

__all__ = ["INTERESTING", "ODD_JSON", "ODD_NUMBERS", "meddle", "mutated", "mutated_text", "odd_number"]

INTERESTING = [
    b'"', b'""', b"'", b",", b";", b"\t", b"::", b":", b"|", b" ", b"\n", b"\r\n", b"\r", b"\n\n", b"\0",
    b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xe2\x80\xa8", b"-", b"+", b".", b"e", b"\\", b"nan",
    b"inf", b"1e400", b"9" * 18, b"9" * 19, b"9" * 400, b"-99999999999", b"99999999999999", b"2005-02-30",
    b"0001-01-01", b"9999-12-31", b"0000-00-00", b"T24:00", b"+23:59", b"1:\n", b"x" * 300,
    b"\x7f\xff\xff\xff", b"\xff" * 8, b"\0" * 8, b"\x80", b"\x1b[31m", b"\x1b]0;x\x07", b"=1+1", b"@SUM(1)",
]  # fmt: skip
ODD_NUMBERS = [
    "0", "-0", "1", "-1", "2", "7", "0.5", "-0.5", "1e-300", "5e-324", "1e300", "1e308", "1e400", "-1e400",
    "nan", "inf", "-inf", "255", "256", "65535", "65536", "2147483647", "2147483648", "-2147483649",
    "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
    "18446744073709551616", "1" + "0" * 30, "1" + "0" * 400, "9" * 5000, "0x10", "0b1", "1_000", "1,000",
    "1.", ".5", "+1", "--1", "1e", "٣", "²", "½", "1 2", "00", "007", "100%", "101%", "-1%", "nan%",
]  # fmt: skip
ODD_JSON = [
    None, True, False, -1, 0, 1, 7, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), "",
    "x", "int8", "object", "uint64", "float64", "../index", "manifest.json", [], {}, [1], [[]], {"x": 1},
    "week", "\x1b[31m", "x" * 3000, [None], {"": None}, "nan", "1e400", "\ud800", 2**70, -(2**70),
    [0.5, -1, "x"],
]  # fmt: skip
TOKENS = re.compile(rb"[A-Za-z_]+|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
OPENING = [b"[", b"{", b"(", b'{"a":', b"[[", b'"""', b"a.", b"a = [", b"<", b"-"]
ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "utf-7", "cp500"]


def mutated(draw, data):
    """Mutate bytes one to four times."""
    data = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4])):
        at = draw.randrange(len(data) + 1)
        end = min(at + draw.choice([1, 1, 2, 8, 40]), len(data))
        kind = draw.choice(["flip", "flip", "byte", "delete", "insert", "insert", "splice", "duplicate", "truncate"])
        if kind == "flip" and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == "byte" and at < len(data):
            data[at] = draw.randrange(256)
        elif kind == "delete":
            del data[at:end]
        elif kind == "insert":
            data[at:at] = draw.choice(INTERESTING)
        elif kind == "splice":
            data[at:end] = draw.choice(INTERESTING)
        elif kind == "duplicate":
            data[at:at] = data[at:end] * draw.choice([1, 2, 50])
        elif kind == "truncate":
            del data[at:]
    return bytes(data)


def mutated_text(draw, data):
    """Mutate text one to four times: its tokens, numbers, lines, nesting or encoding; sometimes its bytes."""
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        data = draw.choice(TEXT_MUTATIONS)(draw, data)
    return data


def odd_number(draw):
    """A number as text: huge, tiny, not finite, or no number at all."""
    return draw.choice(ODD_NUMBERS)


def _other_number(draw, data):
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return mutated(draw, data)
    number = draw.choice(numbers)
    return data[: number.start()] + odd_number(draw).encode() + data[number.end() :]


def _other_token(draw, data):
    """Replace, delete, repeat or swap a token."""
    tokens = TOKENS.findall(data)
    if not tokens:
        return draw.choice(INTERESTING)
    at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    kind = draw.randrange(5)
    if kind == 0:
        tokens[at] = tokens[other]
    elif kind == 1:
        del tokens[at]
    elif kind == 2:
        tokens[at] = tokens[at] * draw.choice([2, 3, 100])
    elif kind == 3:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    else:
        tokens[at] = draw.choice(INTERESTING)
    return b"".join(tokens)


def _other_lines(draw, data):
    """Repeat, delete, swap or cut a line."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return b"\n"
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        lines[at] = lines[at] * draw.choice([2, 2, 40])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = lines[at][: draw.randrange(len(lines[at]) + 1)]
    return b"".join(lines)


def _nested(draw, data):
    """Open brackets that are never closed, or thousands of them."""
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(OPENING) * draw.choice([1, 1, 2, 50, 3000]) + data[at:]


def _recoded(draw, data):
    """The same text in another encoding, or with a mark of one."""
    if draw.random() < 0.3:
        return b"\xef\xbb\xbf" + data
    return data.decode("utf-8", "replace").encode(draw.choice(ENCODINGS), "replace")


TEXT_MUTATIONS = (
    _other_number, _other_number, _other_token, _other_token, _other_token, _other_lines, mutated, mutated,
    _nested, _recoded,
)  # fmt: skip


def meddle(draw, node):
    """Change one value somewhere in a JSON tree."""
    while True:
        names = list(range(len(node))) if isinstance(node, list) else list(node)
        if not names:
            return
        name = draw.choice(names)
        if isinstance(node[name], (dict, list)) and node[name] and draw.random() < 0.8:
            node = node[name]
            continue
        if draw.random() < 0.15:
            del node[name]
        elif draw.random() < 0.1 and isinstance(node, dict):
            node["more"] = copy.deepcopy(draw.choice(ODD_JSON))  # the next change may be inside it
        else:
            node[name] = copy.deepcopy(draw.choice(ODD_JSON))
        return
