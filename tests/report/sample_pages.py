"""The pages of the sample findings, each made once."""

from functools import cache

from report import sample_findings
from standout.report.audit_page import audit_page

__all__ = ["page_for"]


@cache
def page_for(kind):
    """The page of an example, made once."""
    return audit_page(getattr(sample_findings, kind)())
