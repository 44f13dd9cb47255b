"""Items by id or title: whatever the case, with or without the year, and what was perhaps meant."""

import difflib
import re
from functools import cached_property

from standout.errors import NotFoundError
from standout.release.model import Release

__all__ = ["Catalogue", "folded"]

YEAR = re.compile(r"\s*\((\d{4})\)\s*$")
ARTICLE = re.compile(r"^(.*), (the|a|an|der|die|das|le|la|les|il|el|los)$")


def folded(title: str) -> str:
    """A title as it is compared: case and runs of blanks do not count, nor where its article stands.

    >>> folded("Matrix,  The") == folded("the MATRIX")
    True
    """
    text = " ".join(title.casefold().split())
    moved = ARTICLE.match(text)
    return f"{moved[2]} {moved[1]}" if moved else text


class Catalogue:
    """The items of a release, found by what people call them.

    >>> import standout as so, polars as pl
    >>> frame = pl.DataFrame({"record": ["a", "b"], "item": ["7", "8"]})
    >>> Catalogue(so.read(frame)).find("7"), Catalogue(so.read(frame)).find("Brazil")
    (0, None)
    """

    def __init__(self, release: Release) -> None:
        self.release = release

    def find(self, name: str) -> int | None:
        """The item with this id, or else with this title, or None.

        A title that several items have is an error that lists them with their years and ids.
        """
        code = self.release.items.find(name)
        if code is not None or self.release.titles is None:
            return code
        found = self.with_title(name)
        if len(found) > 1:
            choices = ", ".join(self.label(code) for code in found[:5])
            more = f" and {len(found) - 5} more" if len(found) > 5 else ""
            raise NotFoundError(
                f"{name!r} is the title of {len(found)} items: {choices}{more}; name one by its id"
            )
        return found[0] if found else None

    def with_title(self, name: str) -> list[int]:
        """The items of this title, with its year or without."""
        whole = self._whole.get(folded(name), [])
        return whole or self._yearless.get(folded(YEAR.sub("", name)) if not YEAR.search(name) else "", [])

    def suggestions(self, name: str, count: int = 3) -> list[str]:
        """Titles that look like this one, nearest first; the more popular of equals."""
        plain = folded(YEAR.sub("", name))
        near = difflib.get_close_matches(plain, self._yearless, n=count, cutoff=0.6)
        inside = [title for title in self._yearless if plain and plain in title and title not in near]
        inside.sort(key=lambda title: -max(int(self.release.support[code]) for code in self._yearless[title]))
        titles = [*near, *inside][:count]
        return [self.label(code) for title in titles for code in self._yearless[title]][:count]

    def label(self, code: int) -> str:
        """An item for people: its title with its id, or its id alone."""
        title = "" if self.release.titles is None else self.release.titles[code]
        return f"{title} [{self.release.items[code]}]" if title else self.release.items[code]

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        return self._index(folded)

    @cached_property
    def _yearless(self) -> dict[str, list[int]]:
        return self._index(lambda title: folded(YEAR.sub("", title)))

    def _index(self, form) -> dict[str, list[int]]:  # type: ignore[no-untyped-def]
        found: dict[str, list[int]] = {}
        for code, title in enumerate(self.release.titles or ()):
            if title:
                found.setdefault(form(title), []).append(code)
        return found
