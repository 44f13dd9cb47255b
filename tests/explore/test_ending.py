"""A process that is asked to stop ends, whatever its threads do."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.once
TIMEOUT = 120
PROCESS = """
import threading, time
from standout.explore.server import THREAD_NAME, end_process_if_busy

threading.Thread(target={work}, name=THREAD_NAME + "-1").start()
end_process_if_busy()
print("ended by itself")
"""


@pytest.mark.parametrize(("work", "printed"), [("lambda: time.sleep(1000)", ""), ("lambda: None", "ended by itself\n")])
def test_a_process_ends_with_success_even_if_a_thread_never_does(work, printed):
    command = [sys.executable, "-W", "error", "-c", PROCESS.format(work=work)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (0, printed, "")
