"""A self-contained HTML page: no scripts, no external resources, and a policy that enforces this."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from standout.core.foreign_text import printable_lines

__all__ = ["render_page", "render_part", "template_text"]


def render_page(template: str, style: str = "", **context: Any) -> str:
    """The page of a template that extends base.html, with the common style and the given one.

    All of the context is escaped, except what is already Markup, and made printable. The content security
    policy admits only the style sheet, by its hash: an element that got into the page could neither run nor
    load anything.

    >>> text = render_page("{% extends 'base.html' %}{% block body %}{{ name }}{% endblock %}", name="<b>")
    >>> "&lt;b&gt;" in text, "default-src 'none'" in text
    (True, True)
    """
    from markupsafe import Markup

    style = template_text("base.css") + style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return render_part(template, style=Markup(style), digest=digest, **context)


def render_part(template: str, **context: Any) -> str:
    """The HTML of a template that may use those in templates/, escaped and printable.

    >>> render_part("<b>{{ name }}</b>", name="<script>")
    '<b>&lt;script&gt;</b>'
    """
    from jinja2 import ChoiceLoader, DictLoader, Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([DictLoader({"page": template}), FunctionLoader(template_text)]),
    )
    return printable_lines(environment.get_template("page").render(**context))


@cache
def template_text(name: str) -> str:
    """Content of a file in templates/."""
    return (files("standout.report") / "templates" / name).read_text(encoding="utf-8")
