"""`rr`, which records a program on one processor and, in chaos mode, switches threads at random.

It needs the processor's performance counters, which most virtual machines don't have, and supports only
processors that it knows, so whet tests whether it works here. Source: `rr help record`,
https://github.com/rr-debugger/rr.
"""

import subprocess
from contextlib import suppress
from pathlib import Path

from whet.host.files.files import remove_tree
from whet.host.process.tool import ToolMissingError, call_tool

CHAOS = ("rr", "record", "--chaos", "--wait")
TRACES_VARIABLE = "_RR_TRACE_DIR"
LATEST = "latest-trace"
_PACKAGE = "install the package `rr` (Debian, Ubuntu, Fedora)"
_TRY_SECONDS = 30.0


def rr_refusal(folder: Path) -> str:
    """Return why `rr` can't record here, in a sentence; empty: it can.

    Args:
        folder: where it is tried; nothing of that is left there.
    """
    trace = folder / "tried"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_tree(trace)  # a killed whet may have left it
        attempt = call_tool([*CHAOS, "-o", str(trace), "true"], timeout_seconds=_TRY_SECONDS)
    except ToolMissingError:
        return f"`rr` isn't installed: {_PACKAGE}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"`rr record true` doesn't work here: {error}"
    finally:
        with suppress(OSError):
            remove_tree(trace)
            folder.rmdir()  # of recordings, if there is none
    if attempt.exit_code == 0:
        return ""
    return f"`rr record true` doesn't work here: {_complaint(attempt.stderr)}"


def _complaint(written: bytes) -> str:
    """Return the first line of what it says, without the line of its own source."""
    lines = [each.strip() for each in written.decode("utf-8", "replace").splitlines()]
    first = next((each for each in lines if each), "it prints nothing")
    return first.rpartition("] ")[2] if first.startswith("[") else first


def keep_one_recording(traces: Path, *, is_wanted: bool) -> None:
    """Remove what was recorded before the latest run; that too, if it isn't wanted.

    Args:
        traces: the folder of recordings.
        is_wanted: the latest one shows the failure, and replaces the one kept before.
    """
    with suppress(OSError):
        newest = (traces / LATEST).resolve(strict=True)
        recordings = [each for each in traces.iterdir() if each.is_dir() and not each.is_symlink()]
        for each in recordings:
            if (each.resolve() == newest) is not is_wanted:
                remove_tree(each)
