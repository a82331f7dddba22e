"""A program finds no child that it has not made, however it looks for any."""

import pytest
from workshop import SLOW, Workshop, every_python, python_of

SEES_OFF = "import signal\nfound = []\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
REAPS = """import os, signal
found = []
def reap(*_):
    found.append('was told')
    try:
        found.append(os.waitpid(-1, os.WNOHANG)[0])
    except ChildProcessError:
        pass
signal.signal(signal.SIGCHLD, reap)
signal.siginterrupt(signal.SIGCHLD, False)
"""
HEARS_IN_C = """import ctypes, signal
found = []
hear = ctypes.CFUNCTYPE(None, ctypes.c_int)(found.append)
hears = ctypes.CDLL(None).signal
hears.argtypes = [ctypes.c_int, ctypes.c_void_p]
hears(signal.SIGCHLD, ctypes.cast(hear, ctypes.c_void_p))
"""
SEES_OFF_IN_C = """import ctypes, signal
found = []
ctypes.CDLL(None).signal(signal.SIGCHLD, 1)
"""


BEGINS = pytest.mark.parametrize(
    "begin",
    [
        SEES_OFF,
        pytest.param(REAPS, marks=pytest.mark.long),
        HEARS_IN_C,
        pytest.param(SEES_OFF_IN_C, marks=pytest.mark.long),
    ],
)


@pytest.mark.long
@every_python
@BEGINS
def test_a_program_is_told_of_the_end_of_no_child_but_its_own_by_any_python(
    workshop: Workshop, begin: str, minor: int
) -> None:
    workshop.python = python_of(minor)
    _compare(workshop, begin)


@pytest.mark.slow
@BEGINS
def test_a_program_is_told_of_the_end_of_no_child_but_its_own(
    workshop: Workshop, begin: str
) -> None:
    _compare(workshop, begin)


def _compare(workshop: Workshop, begin: str) -> None:
    for number in range(3):
        own = "if not os.fork():\n    os._exit(3)\nwhile len(found) < 2:\n    time.sleep(0.001)\n"
        end = f"print(found[:1], {number})\n" + (own if begin == REAPS else "")
        workshop.write(
            {"main.py": f"{begin}{SLOW}{SLOW}{end}print(len(found), found.count('was told'))\n"}
        )
        workshop.run()  # compares with a cold run

    assert workshop.starts[-1].place
