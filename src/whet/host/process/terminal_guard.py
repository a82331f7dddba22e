"""Gives the user's terminal back if whet is killed while it draws on all of it."""

import os
import subprocess
import sys
from contextlib import suppress

_READY, _DONE = b"r", b"d"
_SCRIPT = r"""
import os, termios
before = termios.tcgetattr(1)
os.write(2, b"r")
if not os.read(0, 1):
    # the usual screen, the cursor, no reports of the mouse, of focus, of pasted text or of keys
    os.write(1, b"\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l"
                b"\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[<u\x1b[0m")
    termios.tcsetattr(1, termios.TCSANOW, before)
"""
"""It keeps the settings, and waits for the other end of its pipe: no process outlives a SIGKILL that
could do it itself. In a session of its own, it may change the settings of a terminal of another one."""


class TerminalGuard:
    """A small process beside whet. It starts at once, and is waited for only in `wait_until_ready`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if os.isatty(1):
            with suppress(OSError):  # no process can be started: whet works without a guard
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )

    def wait_until_ready(self) -> None:
        """Return when it knows the settings as they are now."""
        if self._process is not None and self._process.stderr is not None:
            self._process.stderr.read(len(_READY))

    def close(self) -> None:
        """End it: whet has given the terminal back itself."""
        if self._process is not None:
            with suppress(OSError):
                self._process.communicate(_DONE)
            self._process = None
