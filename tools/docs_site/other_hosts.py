"""What a page loads from other hosts: nothing, if the site is to work from its folder."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

LOADED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "object": "data",
    "use": "href",
}
"""The attribute of an element that names what a browser loads by itself. A link in a text is not loaded."""
HARMLESS = {"canonical", "next", "prev", "alternate", "author", "license"}
"""Relations of a <link> that a browser does not load."""


IMPORT = re.compile(r"""(?:@import|url\()\s*(?:url\()?\s*["']?((?:https?:)?//[^"')\s;]+)""")
"""What a style sheet loads from another host."""


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self._styles = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        relations = set(values.get("rel", "").split())
        if tag in LOADED and not (tag == "link" and relations and relations <= HARMLESS):
            self.addresses.append(values.get(LOADED[tag], ""))
        self.addresses += IMPORT.findall(values.get("style", ""))
        self._styles = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._styles:
            self.addresses += IMPORT.findall(data)


def loaded(page: str) -> list[str]:
    """Addresses that a browser loads when it shows the page."""
    parser = _Loads()
    parser.feed(page)
    return [address for address in parser.addresses if address]


def other_hosts(site: Path) -> list[str]:
    """Pages that load something from another host, with its address; also what style sheets import."""
    return [*_of_pages(site), *_of_styles(site)]


def _of_pages(site: Path) -> Iterator[str]:
    for page in sorted(site.rglob("*.html")):
        for address in loaded(page.read_text(encoding="utf-8")):
            if urlsplit(address).netloc:
                yield f"{page.relative_to(site)}: {address}"


def _of_styles(site: Path) -> Iterator[str]:
    for sheet in sorted(site.rglob("*.css")):
        for address in IMPORT.findall(sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site)}: {address}"
