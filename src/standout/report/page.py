"""A self-contained HTML page: no scripts, no external resources, and a policy that enforces this."""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from standout.core.errors import ParameterError
from standout.core.files import write_atomically
from standout.core.text import (
    LONG,
    SHORT,
    count,
    decimal,
    estimate_text,
    interval_text,
    percent,
    printable_lines,
    shorten,
)
from standout.data.export import inert
from standout.findings.adversaries import AdversaryFindings
from standout.findings.audit import Threshold

if TYPE_CHECKING:
    from markupsafe import Markup


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


# What the pages of audits share: functions of their templates, and sentences about thresholds.


OPTION = re.compile(r"(--[a-z-]+|standout advise)")
MANY = 0.2
"""From this share of identified targets on, few claims need an explanation."""


def template_functions() -> dict[str, Any]:
    """The functions that templates call, by their names there."""
    return {
        "name": isolated(SHORT),
        "say": isolated(LONG),
        "instruct": with_options,
        "shorten": shorten,
        "share": estimate_text,
        "interval": interval_text,
        "percent": percent,
        "count": count,
        "decimal": decimal,
        "rarely_claimed": rarely_claimed,
    }


def isolated(most: int) -> "Callable[[str], Markup]":
    """A function that shortens and escapes a text from outside and isolates its writing direction."""
    from markupsafe import Markup

    def isolate(text: str) -> Markup:
        unbroken = text.replace(" %", "\xa0%").replace("± ", "±\xa0").replace("φ = ", "φ\xa0=\xa0")
        return Markup("<bdi>{}</bdi>").format(shorten(unbroken, most))

    return isolate


def with_options(text: str) -> "Markup":
    """A sentence of ours, escaped, with options as code that is not broken at its hyphens.

    >>> str(with_options("Repeat it without --quick & <wait>."))
    'Repeat it without <code class="option">--quick</code> &amp; &lt;wait&gt;.'
    """
    from markupsafe import Markup, escape

    parts = OPTION.split(text.replace(" %", "\xa0%"))
    code = Markup('<code class="option">{}</code>')
    return Markup("").join(code.format(part) if OPTION.fullmatch(part) else escape(part) for part in parts)


def rarely_claimed(adversaries: Sequence[AdversaryFindings]) -> list[str]:
    """Names of adversaries who identify many targets and claim less than half of them within the budget."""
    rates = [
        (each.name, each.as_named.identified.value, each.as_named.correct_claims_at_budget.value)
        for each in adversaries
    ]
    return [shorten(name, 40) for name, identified, claimed in rates if claimed < identified / 2 >= MANY / 2]


def threshold_status(threshold: Threshold) -> str:
    """The first words of the sentence about the threshold."""
    if threshold.exceeded is None:
        return "Not compared with"
    if not threshold.exceeded:
        return "Not above"
    limit, measured = threshold.fail_above, threshold.measured
    is_certain = measured is None or limit is None or measured.low > limit
    return "Above" if is_certain else "May be above"


# Tables as files, without cells that a spreadsheet would execute.


FORMS = (".csv", ".parquet")


def table_form(path: Path) -> str:
    """Ending of a table's file name: .csv or .parquet."""
    if path.suffix not in FORMS:
        raise ParameterError(f"{path.name}: the name of a table must end in {' or '.join(FORMS)}")
    return path.suffix


def private_table(table: pl.DataFrame, path: Path) -> None:
    """Write a .csv or .parquet file that only its owner can read."""
    form = table_form(path)
    write_atomically(
        path, lambda file: inert(table).write_csv(file) if form == ".csv" else table.write_parquet(file), True
    )
