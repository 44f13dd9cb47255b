"""Parts of a release: ranges of its blocks of records, and the records in them."""

from standout.core.parts import Part
from standout.data.postings import BLOCK_BITS, block_starts
from standout.data.release import Release


def block_count(release: Release) -> int:
    """Number of blocks of records."""
    return len(block_starts(release.n_records))


def whole(release: Release) -> Part:
    """The part with all blocks."""
    return Part(0, block_count(release))


def record_range(release: Release, part: Part) -> range:
    """The records in a part."""
    first, last = part.first_block << BLOCK_BITS, part.last_block << BLOCK_BITS
    return range(min(first, release.n_records), min(last, release.n_records))
