"""The terminal of a program whose output is shown in a panel, not in the user's own terminal."""

import fcntl
import os
import shutil
import signal
import struct
import termios
from contextlib import suppress

from whet.host.process.console import Console

_OUTPUTS = 1  # of tcgetattr's list
_PART_BYTES = 1 << 16


class PanelTerminal:
    """Two pseudo-terminals, one for each stream: what comes out of them is drawn.

    The program finds terminals of the panel's size, so that it writes line by line and draws its
    progress bars; it has no keys: its standard input is empty.

    Attributes:
        console: what lends them to the program.
        readers: whet's ends, by the name of the stream.
    """

    def __init__(self) -> None:
        self.readers: dict[str, int] = {}
        self._slaves: list[int] = []
        for name in ("stdout", "stderr"):
            master, slave = os.openpty()
            attributes = termios.tcgetattr(slave)
            attributes[_OUTPUTS] &= ~termios.OPOST  # byte for byte, as it is captured
            termios.tcsetattr(slave, termios.TCSANOW, attributes)
            os.set_blocking(master, False)
            self.readers[name] = master
            self._slaves.append(slave)
        self._set_size(*shutil.get_terminal_size())  # until it is known how large the panel is
        self.console = Console(-1, *self._slaves)
        self.console.is_shown = False  # its signals are the view's

    def read(self, name: str) -> bytes:
        """Return what has come on a stream since the last call; empty: nothing."""
        with suppress(OSError):
            return os.read(self.readers[name], _PART_BYTES)
        return b""

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminals another size, and have the program know it."""
        self._set_size(columns, rows)
        self.console.send(signal.SIGWINCH)

    def _set_size(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", max(rows, 1), max(columns, 1), 0, 0)
        for slave in self._slaves:
            with suppress(OSError):
                fcntl.ioctl(slave, termios.TIOCSWINSZ, size)

    def close(self) -> None:
        """Close both ends of both."""
        for descriptor in (*self.readers.values(), *self._slaves):
            os.close(descriptor)
        self.readers = {}
        self._slaves = []
