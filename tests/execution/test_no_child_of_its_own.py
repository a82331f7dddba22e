"""A program finds no child that it has not made, however it looks for any."""

import pytest
from workshop import SLOW, Workshop

REAPS = """import os, signal
found = []
def reap(*_):
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found.append('none')
        if not pid:
            return found.append('alive')
        found.append('a child')
signal.signal(signal.SIGCHLD, reap)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "begin", [REAPS, "import signal\nfound = []\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"]
)
def test_a_handler_of_ended_children_finds_none_of_those_that_copies_are_made_by(
    workshop: Workshop, begin: str
) -> None:
    for number in range(3):
        end = f"print('a child' in found, {number})\n"
        workshop.write({"main.py": f"{begin}{SLOW}{SLOW}{end}"})
        workshop.run()  # compares with a cold run
