"""A chart that cannot be drawn costs only the picture: vl-convert runs, and may end, in a child."""

import os
import signal
import subprocess
import sys

import pytest

from report import sample_findings
from standout.report import charts as drawing
from standout.report.audit_page import write_report
from standout.report.charts import DrawingError, draw
from standout.report.share_charts import Bar, bar_chart

pytestmark = pytest.mark.once

MISSING = "This picture is missing: it could not be drawn."


@pytest.fixture(autouse=True)
def no_earlier_failures(monkeypatch):
    monkeypatch.setattr(drawing, "draw", draw)  # also what other tests have drawn is drawn again
    drawing._failures.clear()
    yield
    drawing._failures.clear()


@pytest.fixture
def chart():
    return bar_chart([Bar("panel", "label", 0.5, 0.4, 0.6)])


def test_a_child_that_ended_is_replaced(chart):
    before = chart.svg()
    os.kill(drawing._children[0].pid, signal.SIGKILL)
    drawing._children[0].wait()
    assert chart.svg() == before


def test_a_chart_that_vl_convert_refuses_is_an_error_and_the_child_stays(chart):
    chart.svg()
    child = drawing._children[0]
    with pytest.raises(DrawingError, match="vl-convert failed \\(ValueError\\)"):
        draw("svg", {"mark": 7})
    assert chart.svg().startswith("<svg") and drawing._children == [child]


def test_an_abort_of_vl_convert_loses_the_pictures_and_not_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "WORKER", "import os, sys\nsys.stdin.readline()\nos.abort()\n")
    drawing._stop_child()
    with pytest.warns(RuntimeWarning, match="a picture cannot be drawn and is missing: vl-convert ended"):
        report = write_report(sample_findings.full(), tmp_path / "out")
    page = report.read_text()
    assert MISSING in page and "<h1" in page
    names = {path.suffix for path in (tmp_path / "out" / "charts").iterdir()}
    assert names == {".svg"} and len(drawing._failures) == drawing.MOST_FAILURES


LIMITED = """
import resource
from standout.report.share_charts import Bar, bar_chart

chart = bar_chart([Bar("panel", "label", 0.5, 0.4, 0.6)])
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
print(chart.svg_or_note())
"""


def test_too_little_memory_for_vl_convert_ends_only_the_child():
    process = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0 and MISSING in process.stdout
    assert "vl-convert ended" in process.stderr and "Traceback" not in process.stderr


def test_a_hanging_child_is_ended(chart, monkeypatch):
    monkeypatch.setattr(drawing, "WORKER", "import signal\nsignal.pause()\n")
    monkeypatch.setattr(drawing, "SECONDS", 0.2)
    drawing._stop_child()
    with pytest.raises(DrawingError, match="no answer within"):
        chart.svg()
    assert drawing._children == []
