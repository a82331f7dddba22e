"""A clock of the test's own, which may be set while a program runs."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.faults import clock as clocks


def under_clock(clock: Path, undone: ExitStack) -> dict[str, str]:
    """Return the variables by which a program reads the clock; files have the machine's times."""
    variables = clocks.under_clock(clock, undone)
    if variables is None:
        pytest.skip("needs libfaketime: apt-get install faketime")
    return variables
