"""JSON files that hold a checksum of their own content, so that a changed one is noticed."""

import hashlib
import json
from collections.abc import Mapping

__all__ = ["checksum", "dump_with_checksum", "is_intact"]

KEY = "checksum"


def checksum(content: Mapping[str, object]) -> str:
    """SHA-256 of the content without its checksum, as JSON with sorted keys."""
    rest = {key: part for key, part in content.items() if key != KEY}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def dump_with_checksum(content: Mapping[str, object]) -> bytes:
    """Bytes of a file with this content and its checksum.

    >>> import json
    >>> file = dump_with_checksum({"rows": 3})
    >>> is_intact(json.loads(file)), is_intact(json.loads(file.replace(b"3", b"4", 1)))
    (True, False)
    """
    return (json.dumps({**content, KEY: checksum(content)}, indent=1, ensure_ascii=False) + "\n").encode()


def is_intact(content: Mapping[str, object]) -> bool:
    """Whether the content of a file is what its checksum says."""
    return content.get(KEY) == checksum(content)
