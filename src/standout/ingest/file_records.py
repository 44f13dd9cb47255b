"""Each file is one record: the record ids in the paths of files."""

import re
from collections.abc import Sequence

from standout.core.errors import SourceError
from standout.ingest.formats import SourceFile

__all__ = ["record_ids"]

HINT = "check record_from_name=…, which is searched in each path below the folder"


def record_ids(files: Sequence[SourceFile], pattern: str | None) -> list[str]:
    """Return the record id of each file, or empty texts if the ids are in a column.

    An id is the first group of the pattern in the file's path below the folder of the source, or the whole
    match. A file name is an id, so that no message shows one.
    """
    if pattern is None:
        return [""] * len(files)
    search = re.compile(pattern).search
    matches = [search(file.relative) for file in files]
    ids = [match and (match[1] if match.re.groups else match[0]) for match in matches]
    without = sum(not record for record in ids)
    if without:
        raise SourceError(f"{without:,} of {len(files):,} files have a name without a record id: {HINT}")
    if len(files) > 1 and len(set(ids)) == 1:
        raise SourceError(f"all {len(files):,} files would be the same record: {HINT}")
    return [record or "" for record in ids]
