"""A page that stands alone: one file, no script, nothing from elsewhere, and a policy that says so."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["page_of"]


def page_of(template: str, style: str = "", **shown: Any) -> str:
    """The page of a template that extends shell.html, in the style all pages share and what it adds to it.

    Everything that is shown is escaped; what is Markup has been. The one style sheet is let in by its hash,
    and nothing else: an element that got through all the same could neither run nor ask for anything.

    >>> text = page_of("{% extends 'shell.html' %}{% block body %}{{ name }}{% endblock %}", name="<b>")
    >>> "&lt;b&gt;" in text, "default-src 'none'" in text
    (True, True)
    """
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    known = DictLoader({name: part(name) for name in ("shell.html", "parts.html")} | {"page": template})
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=known
    )
    style = part("shell.css") + style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return made.get_template("page").render(style=Markup(style), digest=digest, **shown)


@cache
def part(name: str) -> str:
    """A file of the templates."""
    return (files("standout.report") / "templates" / name).read_text(encoding="utf-8")
