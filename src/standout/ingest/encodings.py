"""Recognise the encoding of text that is not UTF-8.

UTF-16 is recognised by its byte order mark. Other text that is not UTF-8 is read as Windows-1252, an
extension of Latin-1, if its bytes are clean text in this encoding. In any encoding of single bytes, different
texts stay different. A wrong guess therefore changes how names look, and no number of an audit.
"""

import re

__all__ = [
    "UTF16_MARKS",
    "WINDOWS",
    "encoding_setting",
    "is_clean_windows_text",
    "utf8_characters",
    "without_marks",
]

WINDOWS = "cp1252"
NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16", "latin-1": "Latin-1"}
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes without a meaning in Windows-1252. ASCII bytes do not matter: they are the same in UTF-8."""
UTF8_CHARACTER = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
NOT_ASCII = re.compile(rb"[\x80-\xff]")
MANY = 10


def encoding_setting(encodings: set[str]) -> dict[str, str]:
    """Return the encodings of all sources, for the provenance; nothing if they are not text."""
    names = sorted(NAMES.get(name.lower(), name) for name in encodings)
    return {"encoding": ", ".join(names)} if names else {}


def without_marks(data: bytes) -> bytes:
    r"""Return text without its byte order mark; programs that add one to a file that has one leave several.

    >>> without_marks(b"\xef\xbb\xbf\xef\xbb\xbfuser,item")
    b'user,item'
    """
    while data.startswith(UTF8_MARK):
        data = data[len(UTF8_MARK) :]
    return data


def utf8_characters(data: bytes) -> int:
    """Count the characters outside ASCII that are valid UTF-8."""
    return len(UTF8_CHARACTER.findall(data))


def is_clean_windows_text(data: bytes) -> bool:
    r"""Whether bytes that are not UTF-8 look like text in Windows-1252, and not like damaged UTF-8.

    >>> is_clean_windows_text("Café".encode("cp1252")), is_clean_windows_text("Café".encode() + b"\xff")
    (True, False)
    """
    if UNDEFINED.search(data):
        return False
    return MANY * utf8_characters(data) < len(NOT_ASCII.findall(data))
