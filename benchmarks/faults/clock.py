"""A clock of a program's own, which may be set while the program runs."""

from pathlib import Path


def set_clock(clock: Path, seconds: int) -> None:
    """Set the clock so many seconds off the machine's."""
    part = clock.with_suffix(".part")
    part.write_text(f"{seconds:+d}")
    part.rename(clock)


def under_clock(clock: Path) -> dict[str, str] | None:
    """Return the variables by which a program reads the clock; files have the machine's times.

    None: there is no libfaketime (`apt-get install faketime`).
    """
    for library in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"):
        return {
            "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        }  # fmt: skip
    return None
