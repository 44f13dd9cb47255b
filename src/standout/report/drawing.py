"""Draws charts with vl-convert in a child process.

vl-convert contains a JavaScript engine, which ends its process when memory is short. In a child it takes only
a picture with it. One child draws all pictures of this process; it starts with the first one.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from standout.core.errors import StandoutError
from standout.core.progress import activity

SECONDS = 120.0
"""Maximum time for one picture."""
MOST_FAILURES = 3
"""After so many ends in a row, no other child is started."""
NOT_DRAWN = "a picture cannot be drawn and is missing"
WORKER = Path(__file__).with_name("drawing_worker.py")


class DrawingError(StandoutError):
    """A picture cannot be drawn. Everything else can be shown without it."""


def draw(form: Literal["svg", "png"], spec: dict[str, Any], **options: Any) -> bytes:
    """The picture of a Vega-Lite chart, or a DrawingError."""
    request = json.dumps({"format": form, "spec": spec, "options": options}).encode() + b"\n"
    with _lock, activity("drawing charts"):
        drawn, content = _answer(request)
    if not drawn:
        raise DrawingError(f"{NOT_DRAWN}: vl-convert failed ({content.decode()})")
    return content


def _answer(request: bytes) -> tuple[bool, bytes]:
    """Ask the child; whatever goes wrong ends it, so that no later answer belongs to this request."""
    if len(_failures) >= MOST_FAILURES:
        raise DrawingError(_failures[-1])
    try:
        answer = _running_child().answer(request)
    except BaseException as error:
        _stop_child()
        if not isinstance(error, OSError):
            raise
        _failures.append(f"{NOT_DRAWN}: vl-convert ended ({error})")
        raise DrawingError(_failures[-1]) from error
    _failures.clear()
    return answer


class _Child:
    """A process that draws. It has a session of its own, so that Ctrl-C does not end it before us."""

    def __init__(self) -> None:
        found = find_spec("vl_convert")
        if found is None or found.origin is None:
            raise DrawingError(f"{NOT_DRAWN}: vl-convert is not installed")
        folder = Path(found.origin).parents[1]
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    def answer(self, request: bytes) -> tuple[bool, bytes]:
        """Whether the child drew the chart, and the picture or the error's name."""
        assert self.process.stdin is not None
        deadline, rest = time.monotonic() + SECONDS, memoryview(request)
        while rest:
            rest = rest[self.process.stdin.write(rest) :]
        head = self._read(9, deadline)
        return head[0] == 1, self._read(int.from_bytes(head[1:], "big"), deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        content = bytearray()
        while len(content) < size:
            left = max(deadline - time.monotonic(), 0.0)
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"no answer within {SECONDS:g} s")
            part = self.process.stdout.read(size - len(content))
            if not part:
                raise ChildProcessError(f"exit code {self.process.wait()}")
            content += part
        return bytes(content)

    def stop(self) -> None:
        """End the child, wherever it is."""
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


_lock = threading.Lock()
_children: list[_Child] = []
_failures: list[str] = []


def _running_child() -> _Child:
    """The child of this process; another one if it ended, or if this process was forked."""
    while _children:
        if _children[0].owner == os.getpid() and _children[0].process.poll() is None:
            return _children[0]
        _stop_child()
    _children.append(_Child())
    return _children[0]


@atexit.register
def _stop_child() -> None:
    while _children:
        child = _children.pop()
        if child.owner == os.getpid():
            child.stop()
