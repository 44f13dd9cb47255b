"""The key of a sanitized output: who stands for whom. As private as the original."""

import csv
import io
from pathlib import Path

import numpy as np

from standout.core.atomic_files import write_atomically
from standout.core.errors import SourceError
from standout.release.labels import Labels
from standout.release.model import Release
from standout.sanitized import Sanitized
from standout.sanitizing.draft import Ints

__all__ = ["by_id", "read_key", "write_key"]

COLUMNS = ["record", "released"]


def write_key(safer: Sanitized, path: Path) -> None:
    """Writes a CSV file that only its owner can read: records of the original, and whose id stands for each.

    Records for which nobody stands are not in it.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    old, new = list(safer.original.records), list(safer.records)
    stands = safer.mapping.representatives
    table.writerows((old[record], new[stands[record]]) for record in np.flatnonzero(stands >= 0).tolist())
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def read_key(path: Path, original: Release, release: Release) -> Ints:
    """For each record of the original the place of the one that stands for it; -1: nobody does."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    if not rows or rows[0] != COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key: its columns are record and released")
    old, new = _places(original.records), _places(release.records)
    stands = np.full(original.n_records, -1, np.int64)
    for record, released in rows[1:]:
        if record not in old or released not in new or stands[old[record]] >= 0:
            raise SourceError(f"{path} is not the key of these two: an id is unknown or named twice")
        stands[old[record]] = new[released]
    return stands


def by_id(ours: Labels, theirs: Labels) -> Ints:
    """For each of our ids its place among theirs; -1: it is not there."""
    place = _places(theirs)
    return np.array([place.get(one, -1) for one in ours], np.int64)


def _places(labels: Labels) -> dict[str, int]:
    return {text: place for place, text in enumerate(labels)}
