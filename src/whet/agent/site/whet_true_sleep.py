"""`time.sleep` under libfaketime."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # `typing` would add to the start of each program
if TYPE_CHECKING:
    from typing import SupportsIndex


def sleep_in_true_time() -> None:
    """Let `time.sleep` wait for an interval instead of for a moment of the monotonic clock.

    libfaketime (0.9.10) takes such a moment for one of its own day, also where it was told to leave
    that clock alone; the system then refuses it.
    """
    from select import select

    def sleep(seconds: float | SupportsIndex, /) -> None:
        interval = float(seconds)
        if interval < 0:
            raise ValueError("sleep length must be non-negative")
        select((), (), (), interval)

    time.sleep = sleep


def is_under_faketime() -> bool:
    """Whether this process was started under libfaketime."""
    return "faketime" in os.environ.get("LD_PRELOAD", "")
