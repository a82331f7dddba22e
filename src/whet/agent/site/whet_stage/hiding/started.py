"""Whether this is the process that whet has started, with what whet has given it.

It may have been another program before, such as a shell that became Python. A copy continues with the
streams of its own run: what a shell has put in their place would be gone.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .unfiltered_calls import entries, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = {"0": "standard input", "1": "standard output", "2": "standard error"}


def handed_on() -> list[str]:
    """Return what this process has open and hands on to a program that it becomes."""
    found: list[str] = []
    for name in entries("/proc/self/fd"):
        try:
            if os.get_inheritable(int(name)):
                status = os.fstat(int(name))
                found.append(f"{name}:{status.st_dev}:{status.st_ino}")
        except OSError:
            continue  # it was how this folder is listed
    return sorted(found)


def why_absent(started: int, given: Sequence[str]) -> str:
    """Return why whet can't continue with this process; empty: it can.

    Args:
        started: the number of the process that whet has started.
        given: what that had open.
    """
    if started != os.getpid():
        try:
            name = os.fsdecode(whole(f"/proc/{started}/comm")).strip()
        except OSError:  # it has ended, and left this one behind
            return "Python keeps running after the command has ended"
        return f"`{name}` starts Python as a separate process, which a copy wouldn't have: name `{sys.executable}` itself, or put `exec` before it"
    now = handed_on()
    other = sorted({*now} ^ {*given})
    if other:
        number = other[0].partition(":")[0]
        return (
            f"its {_NAMES.get(number, f'descriptor {number}')} was redirected before Python began"
        )
    return ""
