"""The API reference: one page for each heading of docs/api.md, with the docstrings of its names."""

import re

SECTION = re.compile(r"^## (.+)\n((?:(?!^## ).*\n?)*)", re.MULTILINE)
NAME = re.compile(r"`so\.(\w+)`")


def sections(overview: str) -> dict[str, tuple[str, ...]]:
    """Public names by heading of the overview."""
    return {title: tuple(NAME.findall(text)) for title, text in SECTION.findall(overview)}


def _file(title: str) -> str:
    return "api/" + re.sub(r"\W+", "-", title.lower()) + ".md"


def api_links(overview: str) -> dict[str, str]:
    """Where each public name is described: address in the site by `so.name`."""
    return {
        f"so.{name}": f"{_file(title)}#standout.{name}" for title, names in sections(overview).items() for name in names
    }


def api_pages(overview: str) -> dict[str, str]:
    """Text of each page by its path; mkdocstrings fills in the docstrings."""
    pages = {}
    for title, names in sections(overview).items():
        parts = [f"# {title}\n", *(f"::: standout.{name}\n" for name in names)]
        pages[_file(title)] = "\n".join(parts)
    return pages
