"""A window that moves along a stream of text, in constant memory, and checks every byte."""

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import SourceError
from standout.ingest.encodings import UTF16_MARKS, WINDOWS, TextDecoder, without_marks
from standout.ingest.sources import UTF8, Stream

__all__ = ["Window", "text_head"]

CHUNK = 1 << 19
LONGEST_ROW = 1 << 26
NEWLINE = 10
ASCII = 127
NEARBY = 4096
PROBE = 4096


def text_head(stream: Stream) -> bytes:
    """Return the first bytes of a stream, which is converted if it has the mark of UTF-16.

    Raise an error if they cannot be text.
    """
    if stream.encoding == UTF8 and stream.peek().startswith(UTF16_MARKS):
        stream.convert("utf-16")
    head = stream.peek()
    if b"\0" in head[:PROBE]:
        raise SourceError(
            f"{stream.name} is not UTF-8 text: it has NUL bytes (for UTF-16: encoding='utf-16')"
        )
    if b"\r" in head and b"\n" not in head:
        raise SourceError(f"{stream.name} has line ends of CR alone: convert them to LF first")
    return head


class Window:
    """The bytes buffer[:end] of a stream, from line `line` on.

        window = Window(stream)
        while window.refill():
            used, next_line = process(window.buffer[: window.end])
            window.take(used, next_line)

    Bytes that are not used stay for the next round. In the last round (`last`), the bytes end with a line
    end, even if the file does not.

    Text in Windows-1252 is converted (see `TextDecoder`).
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.buffer: NDArray[np.uint8] = np.empty(CHUNK, np.uint8)
        self.end = 0
        self.line = stream.first_line
        self.last = False
        self.checked = 0
        self.decoder = TextDecoder(None if stream.encoding == UTF8 else False)
        stream.head = without_marks(text_head(stream))

    @property
    def most_rows(self) -> int:
        """Largest possible number of rows in the window: a row has at least one byte and a line end."""
        return self.end // 2 + 1

    def refill(self) -> bool:
        """Read more bytes; return False if none are left."""
        if self.last:
            return False
        if self.end >= len(self.buffer) - 1:
            self._enlarge()
        count = self.stream.fill(self.buffer[self.end : -1].data)
        self.end += count
        self.last = count == 0
        if self.last and self.end and self.buffer[self.end - 1] != NEWLINE:
            self.buffer[self.end] = NEWLINE
            self.end += 1
        self._check()
        return self.end > 0

    @property
    def encoding(self) -> str:
        """Encoding that the stream was read in."""
        return self.stream.encoding

    @property
    def converts(self) -> bool:
        """Whether the text is converted from Windows-1252."""
        return bool(self.decoder.is_windows)

    @property
    def invalid_line(self) -> int | None:
        """Line of the first byte that does not fit the encoding; final after the last round."""
        return self.decoder.invalid_line

    def take(self, used: int, next_line: int) -> None:
        """Drop the first `used` bytes; the next byte is on line `next_line`."""
        self.buffer[: self.end - used] = self.buffer[used : self.end].copy()
        self.end -= used
        self.checked -= used
        self.line = next_line

    def _check(self) -> None:
        """Check that the bytes up to the last line end are UTF-8 without NUL."""
        complete = self.checked + _last_line_end(self.buffer[self.checked : self.end])
        fresh, name = self.buffer[self.checked : complete], self.stream.name
        if fresh.min(initial=1) == 0:
            raise SourceError(f"{name} is not a text file: it has NUL bytes (for UTF-16: encoding='utf-16')")
        if fresh.max(initial=0) > ASCII:
            complete += self._decode(fresh.tobytes(), complete)
        self.checked = complete

    def _decode(self, text: bytes, complete: int) -> int:
        """Convert text that is not ASCII; return by how much it grew."""
        line = self.line + int(np.count_nonzero(self.buffer[: self.checked] == NEWLINE))
        converted = self.decoder.to_utf8(text, line)
        if self.converts:
            self.stream.encoding = WINDOWS
        return 0 if converted is text else self._splice(converted, complete)

    def _splice(self, text: bytes, complete: int) -> int:
        """Replace the bytes from `checked` to `complete`; return by how much they grew."""
        rest = self.buffer[complete : self.end].copy()
        after = self.checked + len(text)
        growth, self.end = after - complete, after + len(rest)
        if self.end + 1 >= len(self.buffer):
            self.buffer = np.concatenate([self.buffer, np.empty(self.end + CHUNK, np.uint8)])
        self.buffer[self.checked : after] = np.frombuffer(text, np.uint8)
        self.buffer[after : self.end] = rest
        return growth

    def _enlarge(self) -> None:
        if len(self.buffer) >= LONGEST_ROW:
            raise SourceError(
                f"{self.stream.name} line {self.line} is longer than {LONGEST_ROW >> 20} MB: "
                "check the separator, and look for a quote that is not closed"
            )
        self.buffer = np.concatenate([self.buffer, np.empty_like(self.buffer)])


def _last_line_end(text: NDArray[np.uint8]) -> int:
    """Number of bytes up to and including the last line end."""
    back = np.flatnonzero(text[::-1][:NEARBY] == NEWLINE)
    if not len(back):
        back = np.flatnonzero(text[::-1] == NEWLINE)
    return len(text) - int(back[0]) if len(back) else 0
