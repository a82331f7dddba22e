"""Pseudo-terminals for the program, and the user's own terminal while a program uses one."""

import atexit
import fcntl
import os
import termios
import tty
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_LOCAL, _KEYS = 3, 6  # of tcgetattr's list
_SIZE_BYTES = 8  # struct winsize: four short numbers
NO_SIZE: Final = bytes(_SIZE_BYTES)


@dataclass(slots=True, kw_only=True)
class PseudoTerminal:
    """A terminal that the program writes to and whet reads.

    Attributes:
        master: whet's end.
        slave: the program's end.
        adds_returns: it turns each line feed into a carriage return and a line feed.
    """

    master: int
    slave: int
    adds_returns: bool

    @classmethod
    def like(cls, terminal: "Terminal", *, adds_returns: bool) -> "PseudoTerminal":
        """Open one with the settings and the size of the user's terminal."""
        master, slave = os.openpty()
        terminal.lend_settings(slave, processes_output=adds_returns)
        os.set_blocking(master, False)
        twin = cls(master=master, slave=slave, adds_returns=adds_returns)
        twin.resize(terminal.size)
        return twin

    def resize(self, size: bytes) -> None:
        """Give it another size; the program in its foreground gets SIGWINCH."""
        with suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def is_key(self, which: int, data: bytes) -> bool:
        """Say whether ``data`` holds the key ``which`` (VINTR, VSUSP) and it has its meaning now."""
        with suppress(OSError, termios.error):
            attributes = termios.tcgetattr(self.master)
            key = attributes[_KEYS][which]
            return (
                bool(attributes[_LOCAL] & termios.ISIG) and isinstance(key, bytes) and key in data
            )
        return False

    def close(self) -> None:
        """Close both ends."""
        self.close_slave()
        os.close(self.master)

    def close_slave(self) -> None:
        """Close the program's end, so that reading the other one comes to an end."""
        if self.slave >= 0:
            os.close(self.slave)
            self.slave = -1


class Terminal:
    """The user's terminal. While it is raw, each key goes to the program untouched."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = termios.tcgetattr(descriptor)
        self._is_raw = False

    def lend_settings(self, slave: int, *, processes_output: bool) -> None:
        """Give a pseudo-terminal the settings of this one, as they were before it was raw."""
        inputs, outputs, control, local, in_speed, out_speed, keys = self._before
        if not processes_output:
            outputs &= ~termios.OPOST
        termios.tcsetattr(
            slave, termios.TCSANOW, [inputs, outputs, control, local, in_speed, out_speed, keys]
        )

    @property
    def size(self) -> bytes:
        """Its size, as `struct winsize`."""
        with suppress(OSError):
            return fcntl.ioctl(self._descriptor, termios.TIOCGWINSZ, NO_SIZE)
        return NO_SIZE

    @property
    def is_ours(self) -> bool:
        """Whether whet is in its foreground; in the background a change of settings would stop it."""
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return False

    def make_raw(self) -> None:
        """Pass on each key as it is; until `restore`."""
        if self._is_raw or not self.is_ours:
            return
        self._before = termios.tcgetattr(self._descriptor)
        self._is_raw = True
        atexit.register(self.restore)
        tty.setraw(self._descriptor, termios.TCSANOW)

    def let_keys_interrupt(self) -> None:
        """Let Ctrl-C mean what it did, while the rest stays raw: output is still to be shown.

        With all settings back, each line feed of it would get a second carriage return.
        """
        if not self._is_raw:
            return
        with suppress(termios.error):
            attributes = termios.tcgetattr(self._descriptor)
            attributes[_LOCAL] |= self._before[_LOCAL] & termios.ISIG
            attributes[_KEYS] = self._before[_KEYS]
            termios.tcsetattr(self._descriptor, termios.TCSANOW, attributes)

    def restore(self) -> None:
        """Give the terminal back as it was."""
        if not self._is_raw:
            return
        self._is_raw = False
        atexit.unregister(self.restore)
        with suppress(termios.error):  # it may have been hung up
            # Not after all output is out (TCSADRAIN): the terminal may have stopped.
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)
