"""`whet loop` as it is seen in a terminal."""

import sys

import pytest
from loop_command import SLOW, on_screen, save
from whet_command import Whet

pytestmark = pytest.mark.slow


def test_pytest_runs_on_from_a_test_in_a_terminal_too(whet: Whet) -> None:
    suite = (
        f"{SLOW}def test_first():\n    time.sleep(0.06)\n\ndef test_second():\n    assert {{}}\n"
    )
    whet.write("test_it.py", suite.format(1))
    (whet.folder / "__pycache__").mkdir()  # pytest lists the folder in which it would make it
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    with on_screen(whet, *words, options=("--verify", "off")) as screen:
        screen.wait_for("trial 1")
        save(whet, "test_it.py", suite.format(0))
        told = screen.wait_for("trial 2")

    assert "from test_it.py::test_second" in told
