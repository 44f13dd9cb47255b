"""Links of Markdown pages: which are broken, and how the same links look from another folder."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

CODE_BLOCK = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*[ ]*$|(?:\A|(?<=\n\n))(?: {4}[^\n]*\n|\n)+", re.M | re.S)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\[((?:`[^`]*`|[^][`]|\[[^][]*\])*)\]\(([^)\s]+)\)")
ATTRIBUTE = re.compile(r'(?<=\s)(src|href)="([^"]+)"')
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.M)


def outside_blocks(text: str, change: Callable[[str], str]) -> str:
    """The text, with everything changed that is not in a block of code."""
    parts, end = [], 0
    for block in CODE_BLOCK.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def targets(text: str) -> Iterator[str]:
    """Targets of all links and images of a page, without those in code."""
    prose = CODE.sub("", CODE_BLOCK.sub("\n", text))
    yield from (target for _, target in LINK.findall(prose))
    yield from (target for _, target in ATTRIBUTE.findall(prose))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    seen: dict[str, int] = {}
    found = set()
    for heading in HEADING.findall(CODE_BLOCK.sub("\n", text)):
        words = LINK.sub(r"\1", heading).replace("`", "").replace("*", "").lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def broken_links(pages: list[Path], root: Path) -> list[str]:
    """Links to files of the repository that do not exist, and to headings that do not exist."""
    return [
        f"{page.relative_to(root)}: {target}"
        for page in pages
        for target in targets(page.read_text(encoding="utf-8"))
        if not _exists(page, target, root)
    ]


def _exists(page: Path, target: str, root: Path) -> bool:
    if re.match(r"[a-z]+:", target):
        return True
    name, _, anchor = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.is_relative_to(root) or not path.exists():
        return False
    return not anchor or (path.suffix == ".md" and anchor in anchors(path.read_text(encoding="utf-8")))
