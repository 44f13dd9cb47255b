"""Delimited text: a window that moves along a stream, the encoding and the fields of its rows, and codes of texts."""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from standout.core.errors import SourceError
from standout.core.jit import Array, Flag, Int, inline, kernel
from standout.data.build import id_bytes
from standout.data.build_kernels import NONE
from standout.data.labels import Labels
from standout.ingest.report import Reason
from standout.ingest.sources import UTF8, Stream

# Find the fields of each row in one compiled pass. Quoted fields (RFC 4180) may contain separators and line ends.

NEWLINE, RETURN = np.uint8(10), np.uint8(13)
NO_QUOTE = 256
OPEN_QUOTE = 1
TOO_FEW, TOO_MANY, STRAY_QUOTE = Reason.TOO_FEW_FIELDS, Reason.TOO_MANY_FIELDS, Reason.STRAY_QUOTE


class Dialect(NamedTuple):
    """Separator and quote of a file; slot[f] = column of field f in `Rows`, or -1 if it is not read."""

    separator: NDArray[np.uint8]
    quote: int
    slot: NDArray[np.int64]


class Rows(NamedTuple):
    """Rows as spans of the buffer, one column per field that is read, with their status and line."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    status: NDArray[np.uint8]
    line: NDArray[np.int64]

    @classmethod
    def empty(cls, rows: int, slots: int) -> "Rows":
        """Return space for some rows; the spans of an unusable row may be left from an earlier one."""
        spans = np.zeros((slots, rows), np.int64), np.zeros((slots, rows), np.int64)
        return cls(*spans, np.zeros(rows, np.uint8), np.empty(rows, np.int64))


@inline
def _separates(buffer: Array, at: Int, end: Int, separator: Array) -> Flag:
    if at + len(separator) > end:
        return False
    for k in range(len(separator)):  # noqa: SIM110
        if buffer[at + k] != separator[k]:
            return False
    return True


@inline
def _unescape(buffer: Array, start: Int, end: Int, quote: Int) -> Int:
    """Replace each doubled quote by one, in place; return the new end of the text."""
    w = start
    i = start
    while i < end:
        buffer[w] = buffer[i]
        w += 1
        i += 2 if buffer[i] == quote else 1
    return w


@kernel
def tokenise(buffer: Array, end: Int, line: Int, dialect: Dialect, rows: Rows) -> tuple[Int, Int, Int, Int]:
    """Find the rows that end before `end`; return (rows, bytes used, next line, state)."""
    # unpacked once, because access to an array in a tuple counts references
    separator, quote, slot = dialect.separator, dialect.quote, dialect.slot
    starts, ends, row_status, row_line = rows.starts, rows.ends, rows.status, rows.line
    first, wide = separator[0], len(separator)
    doubled = np.zeros(len(starts), np.uint8)
    n, begin = 0, 0
    while begin < end:
        field, at, lines, status = 0, begin, 1, 0
        any_doubled = False
        while True:  # one field
            low = at
            if at < end and np.int64(buffer[at]) == quote:
                at += 1
                low = at
                escaped = False
                while True:
                    while at < end and np.int64(buffer[at]) != quote:
                        lines += buffer[at] == NEWLINE
                        at += 1
                    if at + 1 >= end:
                        return n, begin, line, OPEN_QUOTE if at >= end else 0
                    if np.int64(buffer[at + 1]) != quote:
                        break
                    escaped = True
                    at += 2
                high = at
                at += 1
                if buffer[at] == RETURN and at + 1 < end and buffer[at + 1] == NEWLINE:
                    at += 1
                elif buffer[at] != NEWLINE and not _separates(buffer, at, end, separator):
                    status = STRAY_QUOTE
                    while at < end and buffer[at] != NEWLINE and not _separates(buffer, at, end, separator):
                        at += 1
                    if at >= end:
                        return n, begin, line, 0
                if escaped and field < len(slot) and slot[field] >= 0:
                    doubled[slot[field]] = 1
                    any_doubled = True
            else:
                while at < end and buffer[at] != NEWLINE:
                    if buffer[at] == first and (wide == 1 or _separates(buffer, at, end, separator)):
                        break
                    at += 1
                if at >= end:
                    return n, begin, line, 0
                high = at
                if buffer[at] == NEWLINE and high > low and buffer[high - 1] == RETURN:
                    high -= 1
            if field < len(slot) and slot[field] >= 0:
                starts[slot[field], n] = low
                ends[slot[field], n] = high
            field += 1
            if buffer[at] == NEWLINE:
                break
            at += wide
        if field > 1 or high > low or status != 0 or np.int64(buffer[begin]) == quote:
            if status == 0 and field != len(slot):
                status = TOO_FEW if field < len(slot) else TOO_MANY
            row_status[n] = status
            row_line[n] = line
            if any_doubled:
                for k in range(len(doubled)):
                    if doubled[k] != 0 and status == 0:
                        ends[k, n] = _unescape(buffer, starts[k, n], ends[k, n], quote)
                    doubled[k] = 0
            n += 1
        line += lines
        begin = at + 1
    return n, begin, line, 0


# The encoding: UTF-16 has a byte order mark. Other text that is not UTF-8 is read as Windows-1252 if it is clean text
# in it. In any encoding of single bytes different texts stay different, so a wrong guess changes no number.

WINDOWS = "cp1252"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes without a meaning in Windows-1252. ASCII bytes do not matter: they are the same in UTF-8."""
UTF8_CHARACTER = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
PROBLEM = re.compile(UNDEFINED.pattern + b"|" + UTF8_CHARACTER.pattern)
NOT_ASCII = re.compile(rb"[\x80-\xff]")
MANY = 10


def without_marks(data: bytes) -> bytes:
    r"""Return text without its byte order mark; programs that add one to a file that has one leave several."""
    while data.startswith(UTF8_MARK):
        data = data[len(UTF8_MARK) :]
    return data


class TextDecoder:
    """Converts text to UTF-8, some complete lines at a time; the result does not depend on how many.

    The first line outside ASCII decides: it is UTF-8, or clean text in Windows-1252 that does not look like damaged
    UTF-8. Text that is neither gets replacement characters. `is_windows` is None as long as nothing is decided.
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
            line_start = text.rfind(b"\n", 0, first.start()) + 1
            self.is_windows = _is_windows_line(text[line_start:].partition(b"\n")[0])
        position = None
        if self.is_windows:
            self._outside_ascii += len(NOT_ASCII.findall(text))
            self._utf8_characters += len(UTF8_CHARACTER.findall(text))
            self._undefined |= UNDEFINED.search(text) is not None
            if problem := PROBLEM.search(text):
                position = problem.start()
        else:
            try:
                text.decode()
                return text
            except UnicodeDecodeError as error:
                position = error.start
        if position is not None and self._first_problem is None:
            self._first_problem = line + text.count(b"\n", 0, position)
        return text.decode(WINDOWS if self.is_windows else "utf-8", "replace").encode()


def _is_windows_line(line: bytes) -> bool:
    try:
        line.decode()
        return False
    except UnicodeDecodeError:
        decoder = TextDecoder(is_windows=True)
        decoder.to_utf8(line, 1)
        return decoder.invalid_line is None


CHUNK, LONGEST_ROW = 1 << 19, 1 << 26
ASCII, NEARBY, PROBE = 127, 4096, 4096


def text_head(stream: Stream) -> bytes:
    """Return the first bytes of a stream, which is converted if it has the mark of UTF-16."""
    if stream.encoding == UTF8 and stream.peek().startswith(UTF16_MARKS):
        stream.convert("utf-16")
    head = stream.peek()
    if b"\0" in head[:PROBE]:
        raise SourceError(f"{stream.name} is not UTF-8 text: it has NUL bytes (for UTF-16: encoding='utf-16')")
    if b"\r" in head and b"\n" not in head:
        raise SourceError(f"{stream.name} has line ends of CR alone: convert them to LF first")
    return head


class Window:
    """The bytes buffer[:end] of a stream in UTF-8, from line `line` on: `refill` adds bytes, `take` drops those used.

    In the last round (`last`), the bytes end with a line end, even if the file does not.
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

    def refill(self) -> bool:
        """Read more bytes; return False if none are left."""
        if self.last:
            return False
        if self.end >= len(self.buffer) - 1:
            if len(self.buffer) >= LONGEST_ROW:
                at = f"{self.stream.name} line {self.line}"
                raise SourceError(f"{at} is longer than {LONGEST_ROW >> 20} MB: check the separator and the quotes")
            self.buffer = np.concatenate([self.buffer, np.empty_like(self.buffer)])
        count = self.stream.readinto(self.buffer[self.end : -1].data)
        self.end += count
        self.last = count == 0
        if self.last and self.end and self.buffer[self.end - 1] != NEWLINE:
            self.buffer[self.end] = NEWLINE
            self.end += 1
        self._check()
        return self.end > 0

    def take(self, used: int, next_line: int) -> None:
        """Drop the first `used` bytes; the next byte is on line `next_line`."""
        self.buffer[: self.end - used] = self.buffer[used : self.end].copy()
        self.end -= used
        self.checked -= used
        self.line = next_line

    def _check(self) -> None:
        """Check that the bytes up to the last line end are UTF-8 without NUL."""
        backwards = self.buffer[self.checked : self.end][::-1]
        ends = np.flatnonzero(backwards[:NEARBY] == NEWLINE)
        ends = ends if len(ends) else np.flatnonzero(backwards == NEWLINE)
        complete = self.end - int(ends[0]) if len(ends) else self.checked
        fresh, name = self.buffer[self.checked : complete], self.stream.name
        if fresh.min(initial=1) == 0:
            raise SourceError(f"{name} is not a text file: it has NUL bytes (for UTF-16: encoding='utf-16')")
        if fresh.max(initial=0) > ASCII:
            text, line = fresh.tobytes(), self.line + int(np.count_nonzero(self.buffer[: self.checked] == NEWLINE))
            converted = self.decoder.to_utf8(text, line)
            if self.decoder.is_windows:
                self.stream.encoding = WINDOWS
            complete += 0 if converted is text else self._splice(converted, complete)
        self.checked = complete

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


# Give each distinct text a small whole number, in the order of first appearance.
#
# Made for millions of short ids. A number of up to 7 digits without leading zeros is looked up in a plain
# array: one memory access. Other texts are in a hash table with open addressing. A text of up to 7 bytes is its
# own key (its length and bytes in one 64-bit word). The key of a longer text is a hash, marked in the top byte,
# and its bytes are compared.

SHORT = 7
ZERO = 48
NUMBERS = 10**SHORT
S8, S29, S32, S56 = np.uint64(8), np.uint64(29), np.uint64(32), np.uint64(56)
LONG = np.uint64(0xFF) << S56
LOW56 = np.uint64((1 << 56) - 1)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SECOND = np.uint64(0xBF58476D1CE4E5B9)


class Table(NamedTuple):
    """Arrays of an interner for the compiled loops; the caller reserves space for new texts.

    number[n] = code + 1 of the number n; slots[i] = (key, code + 1); 0 means empty.
    Text c is data[ends[c] : ends[c + 1]]; size[0] = number of texts.
    """

    number: NDArray[np.uint32]
    slots: NDArray[np.uint64]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    size: NDArray[np.int64]


class Interner:
    """Assigns codes to texts; grows as needed. Numbers below `numbers` are looked up in an array."""

    def __init__(self, numbers: int = NUMBERS) -> None:
        self.table = Table(
            np.zeros(numbers, np.uint32),  # 40 MB of address space, but only used pages take memory
            np.zeros((1 << 10, 2), np.uint64),
            np.empty(1 << 12, np.uint8),
            np.zeros(1 << 9, np.int64),
            np.zeros(1, np.int64),
        )

    def __len__(self) -> int:
        return int(self.table.size[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return Interner._of, (self.labels(), len(self.table.number))  # without the space for more

    @classmethod
    def _of(cls, labels: Labels, numbers: int) -> "Interner":
        new = cls(numbers)
        new.codes_of(labels)
        return new

    @property
    def build_bytes(self) -> int:
        """Bytes of memory that the texts take while a release is built: table, order, ranks and counts."""
        return self.table.slots.nbytes + id_bytes(self.labels())

    def reserve(self, texts: int, size: int) -> Table:
        """Return the table with space for more texts of `size` bytes in total."""
        table = self.table
        needed, used = len(self) + texts, int(table.ends[len(self)])
        slots, data, ends = table.slots, table.data, table.ends
        if 2 * needed > len(slots):
            slots = np.zeros((1 << int(2 * needed).bit_length(), 2), np.uint64)
            _rehash(table.slots, slots)
        if used + size > len(data):
            data = _grow(data, used + size)
        if needed + 1 > len(ends):
            ends = _grow(ends, needed + 1)
        self.table = Table(table.number, slots, data, ends, table.size)
        return self.table

    def codes(self, buffer: Array, starts: Array, ends: Array, status: Array) -> NDArray[np.uint32]:
        """Code of each span of the buffer; NONE if it is empty or the status of its row is not 0."""
        out = np.empty(len(starts), np.uint32)
        table = self.reserve(len(starts), int((ends - starts).sum()))
        low, high = writable(starts, np.int64), writable(ends, np.int64)
        _intern(table, writable(buffer, np.uint8), low, high, writable(status, np.uint8), out)
        return out

    def codes_of(self, labels: Labels) -> NDArray[np.uint32]:
        """Code of each text."""
        return self.codes(labels.data, labels.offsets[:-1], labels.offsets[1:], np.zeros(len(labels), np.uint8))

    def labels(self) -> Labels:
        """Texts in the order of their codes."""
        ends = self.table.ends[: len(self) + 1]
        return Labels(ends, self.table.data[: ends[-1]])


def writable(array: Array, dtype: type[np.generic]) -> Array:
    """The array, or a copy: kernels are compiled for one type, contiguous and not read-only."""
    return np.require(array, dtype, ["C", "W"])


def _grow(array: Array, needed: int) -> Array:
    larger = np.zeros(max(needed, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _intern(table: Table, buffer: Array, starts: Array, ends: Array, status: Array, out: Array) -> None:
    """Set out[i] to the code of buffer[starts[i]:ends[i]]; a new text gets the next code.

    The search is part of the loop: a helper function with its own loop over the table's arrays would count
    references in every step, which takes three times as long as the search.
    """
    number, slots, data, text_ends = table.number, table.slots, table.data, table.ends
    mask = len(slots) - 1
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        if status[i] != 0 or start == end:
            out[i] = NONE
            continue
        spelled = _number(buffer, start, end, len(number))
        if spelled >= 0:
            code = np.int64(number[spelled]) - 1
        else:
            key = _key(buffer, start, end)
            slot = _slot(key) & mask
            while True:
                code = np.int64(slots[slot, 1]) - 1
                if code < 0:
                    break
                if slots[slot, 0] == key:
                    if end - start <= SHORT:
                        break
                    first, k = text_ends[code], 0
                    if text_ends[code + 1] - first == end - start:
                        while k < end - start and data[first + k] == buffer[start + k]:
                            k += 1
                        if k == end - start:
                            break
                slot = (slot + 1) & mask
        out[i] = code if code >= 0 else _add(table, buffer, start, end)


@kernel
def _add(table: Table, buffer: Array, start: Int, end: Int) -> Int:
    """Add a new text to the table and return its code."""
    code = table.size[0]
    first = table.ends[code]
    for i in range(end - start):
        table.data[first + i] = buffer[start + i]
    table.ends[code + 1] = first + end - start
    table.size[0] = code + 1
    spelled = _number(buffer, start, end, len(table.number))
    if spelled >= 0:
        table.number[spelled] = code + 1
    else:
        key = _key(buffer, start, end)
        _put(table.slots, key, np.uint64(code + 1))
    return code


@inline
def _put(slots: Array, key: np.uint64, code: np.uint64) -> None:
    mask = len(slots) - 1
    slot = _slot(key) & mask
    while slots[slot, 1] != 0:
        slot = (slot + 1) & mask
    slots[slot, 0] = key
    slots[slot, 1] = code


@inline
def _number(buffer: Array, start: Int, end: Int, most: Int) -> Int:
    """Number below `most` that the text spells without leading zeros, or -1."""
    if end - start > SHORT or (buffer[start] == ZERO and end - start > 1):
        return np.int64(-1)
    number = np.int64(0)
    for i in range(start, end):
        digit = np.int64(buffer[i]) - ZERO
        if digit < 0 or digit > 9:
            return np.int64(-1)
        number = number * 10 + digit
    return number if number < most else np.int64(-1)


@inline
def _key(buffer: Array, start: Int, end: Int) -> np.uint64:
    key = np.uint64(end - start)
    if end - start <= SHORT:
        shift = np.uint64(8 * (SHORT - (end - start)))
        for i in range(start, end):
            key = (key << S8) | np.uint64(buffer[i])
        return key << shift
    for i in range(start, end):
        key = (key ^ np.uint64(buffer[i])) * MULTIPLIER
        key ^= key >> S29
    return (key & LOW56) | LONG


@inline
def _slot(key: np.uint64) -> Int:
    mixed = (key ^ (key >> S32)) * MULTIPLIER
    mixed = (mixed ^ (mixed >> S29)) * SECOND
    return np.int64(mixed >> S32)


@kernel
def _rehash(old: Array, new: Array) -> None:
    for i in range(len(old)):
        if old[i, 1] != 0:
            _put(new, old[i, 0], old[i, 1])
