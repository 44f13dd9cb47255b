"""The key file of a sanitized output: which record represents which person. As private as the original."""

import csv
import io
from pathlib import Path

import numpy as np

from standout.core.arrays import Ints
from standout.core.atomic_files import write_atomically
from standout.core.errors import SourceError
from standout.release.labels import Labels
from standout.release.model import Release
from standout.sanitized import Sanitized

__all__ = ["match_ids", "read_key", "write_key"]

COLUMNS = ["record", "released"]


def write_key(safer: Sanitized, path: Path) -> None:
    """Write a CSV file with the id of each record of the original and that of its representative.

    Only the owner can read the file. Records without a representative are not in it.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    old_ids, new_ids = list(safer.original.records), list(safer.records)
    representatives = safer.mapping.representatives
    represented = np.flatnonzero(representatives >= 0).tolist()
    table.writerows((old_ids[record], new_ids[representatives[record]]) for record in represented)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()), private=True)


def read_key(path: Path, original: Release, release: Release) -> Ints:
    """For each record of the original, the index of the record that represents it; -1: none."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path} is not a CSV file in UTF-8") from error
    if not rows or rows[0] != COLUMNS or any(len(row) != 2 for row in rows):
        raise SourceError(f"{path} is not a key file: it must have the columns record and released")
    old_index, new_index = _index_by_id(original.records), _index_by_id(release.records)
    representatives = np.full(original.n_records, -1, np.int64)
    for record, released in rows[1:]:
        if record not in old_index or released not in new_index or representatives[old_index[record]] >= 0:
            raise SourceError(
                f"{path} is not the key of this output and original: an id is unknown or occurs twice"
            )
        representatives[old_index[record]] = new_index[released]
    return representatives


def match_ids(ids: Labels, others: Labels) -> Ints:
    """For each id, its index among the others; -1: it is not there."""
    index = _index_by_id(others)
    return np.array([index.get(id_, -1) for id_ in ids], np.int64)


def _index_by_id(labels: Labels) -> dict[str, int]:
    return {id_: index for index, id_ in enumerate(labels)}
