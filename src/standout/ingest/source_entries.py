"""The entries of a source that was read to its end, from which a release is built."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from standout.core.errors import SourceError
from standout.core.progress import Progress
from standout.ingest.item_titles import labels_of_titles
from standout.release.build import build_release
from standout.release.coded_entries import CodedEntries
from standout.release.labels import Labels
from standout.release.model import Release
from standout.release.provenance import Provenance
from standout.release.repeats import Repeats

__all__ = ["SourceEntries"]

TitleReader = Callable[[Labels], dict[str, str]]


@dataclass(frozen=True, slots=True)
class SourceEntries:
    """Coded entries, how they were read, and what a build needs to know about them.

    `repeat_error` makes the error about a number of repeated rows. `titles` reads the titles of items.
    """

    coded: CodedEntries
    provenance: Provenance
    repeats: Repeats
    repeat_error: Callable[[int], SourceError]
    titles: TitleReader | None = None

    def build(self, progress: Progress) -> Release:
        """Build the release in memory; the blocks of codes are freed."""
        release = build_release(self.coded, self.repeats, self.provenance, progress)
        self.check_repeats(release.provenance.repeats)
        titles = self.titles_of(release.items)
        return release if titles is None else replace(release, titles=titles)

    def check_repeats(self, repeated: int) -> None:
        """Raise an error if there are repeated rows and the user wants none."""
        if self.repeats == "error" and repeated:
            raise self.repeat_error(repeated)

    def titles_of(self, items: Labels) -> Labels | None:
        """Title of each item, or None if there are no titles."""
        return None if self.titles is None else labels_of_titles(items, self.titles(items))
