"""Recognise the encoding of text that is not UTF-8.

UTF-16 is recognised by its byte order mark. Other text that is not UTF-8 is read as Windows-1252, an
extension of Latin-1, if its bytes are clean text in this encoding. In any encoding of single bytes, different
texts stay different. A wrong guess therefore changes how names look, and no number of an audit.
"""

import re

__all__ = [
    "UTF16_MARKS",
    "WINDOWS",
    "TextDecoder",
    "encoding_setting",
    "without_marks",
]

WINDOWS = "cp1252"
NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16", "latin-1": "Latin-1"}
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes without a meaning in Windows-1252. ASCII bytes do not matter: they are the same in UTF-8."""
UTF8_CHARACTER = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
PROBLEM = re.compile(UNDEFINED.pattern + b"|" + UTF8_CHARACTER.pattern)
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


class TextDecoder:
    r"""Converts text to UTF-8, some complete lines at a time; the result does not depend on how many.

    The first line outside ASCII decides: it is UTF-8, or it is clean text in Windows-1252 and does not look
    like damaged UTF-8. Text that is neither is read with replacement characters, so that all problems of a
    file are found. `is_windows` is None as long as nothing is decided.

    >>> decoder = TextDecoder()
    >>> decoder.to_utf8(b"user,item\na,caf\xe9\n", 1).decode(), decoder.is_windows, decoder.invalid_line
    ('user,item\na,café\n', True, None)
    >>> damaged = TextDecoder()
    >>> damaged.to_utf8("a,café".encode() + b"\xff\n", 1).decode(), damaged.invalid_line
    ('a,café�\n', 1)
    """

    def __init__(self, is_windows: bool | None = None) -> None:
        self.is_windows = is_windows
        self._first_problem: int | None = None
        self._outside_ascii = self._utf8_characters = 0
        self._undefined = False

    @property
    def invalid_line(self) -> int | None:
        """Line of the first byte that does not fit the encoding, or None."""
        few_utf8 = not self._utf8_characters or MANY * self._utf8_characters < self._outside_ascii
        return None if self.is_windows and few_utf8 and not self._undefined else self._first_problem

    def to_utf8(self, text: bytes, line: int) -> bytes:
        """Return complete lines, the first of which is `line`, in UTF-8."""
        if self.is_windows is None and (first := NOT_ASCII.search(text)):
            self.is_windows = _is_windows_line(_line_around(text, first.start()))
        if self.is_windows:
            return self._from_windows(text, line)
        try:
            text.decode()
            return text
        except UnicodeDecodeError as error:
            self._note_problem(text, error.start, line)
            return text.decode("utf-8", "replace").encode()

    def _from_windows(self, text: bytes, line: int) -> bytes:
        self._outside_ascii += len(NOT_ASCII.findall(text))
        self._utf8_characters += len(UTF8_CHARACTER.findall(text))
        self._undefined |= UNDEFINED.search(text) is not None
        if problem := PROBLEM.search(text):
            self._note_problem(text, problem.start(), line)
        return text.decode(WINDOWS, "replace").encode()

    def _note_problem(self, text: bytes, position: int, line: int) -> None:
        if self._first_problem is None:
            self._first_problem = line + text.count(b"\n", 0, position)


def _line_around(text: bytes, position: int) -> bytes:
    return text[text.rfind(b"\n", 0, position) + 1 :].partition(b"\n")[0]


def _is_windows_line(line: bytes) -> bool:
    try:
        line.decode()
        return False
    except UnicodeDecodeError:
        decoder = TextDecoder(is_windows=True)
        decoder.to_utf8(line, 1)
        return decoder.invalid_line is None
