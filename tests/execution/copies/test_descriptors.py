"""What a copy of a program makes of the streams that it was forked with."""

import subprocess
import sys
from pathlib import Path

import whet.agent

LATE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from whet_stage.forking import descriptors

{open}
os.dup2(stream, 1)
os.dup2(stream, 7)
descriptors.inherit()
{end}
here, there = os.pipe()
descriptors.Streams().give([0, there, os.dup(2)])
os.write(1, b"out ")
os.write(7, b"and its duplicate")
os.close(there)
os.write(2, os.read(here, 100))
"""


def _said_late(*, opened: str, end: str) -> str:
    site = Path(whet.agent.__path__[0], "site")
    program = LATE.format(open=opened, end=end)
    done = subprocess.run(
        [sys.executable, "-c", program, site],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return done.stderr.decode()


def test_a_copy_that_looks_late_lets_go_of_a_terminal_that_is_gone() -> None:
    said = _said_late(opened="end, stream = os.openpty()", end="os.close(end)")

    assert said == "out and its duplicate"


def test_a_copy_that_looks_late_lets_go_of_a_pipe_that_nobody_reads() -> None:
    said = _said_late(opened="end, stream = os.pipe()", end="os.close(end)")

    assert said == "out and its duplicate"
