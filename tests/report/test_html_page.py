"""Rendering of a template as a self-contained page."""

import pytest

from standout.report.page import render_page

pytestmark = pytest.mark.once


def test_a_missing_variable_of_a_template_is_an_error():
    with pytest.raises(Exception, match="missing"):
        render_page("{% extends 'base.html' %}{% block body %}{{ missing }}{% endblock %}")
