"""A clock of the test's own, which may be set while a program runs."""

from pathlib import Path

import pytest


def set_clock(clock: Path, seconds: int) -> None:
    """Set the clock so many seconds off the machine's."""
    part = clock.with_suffix(".part")
    part.write_text(f"{seconds:+d}")
    part.rename(clock)


def under_clock(clock: Path) -> dict[str, str]:
    """Return the variables by which a program reads the clock; files have the machine's times."""
    for library in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"):
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
    pytest.skip("needs libfaketime: apt-get install faketime")
