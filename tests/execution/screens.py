"""A terminal, as its user sees it."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_SECONDS = 60.0
_ECHO_AND_ORDER = termios.ECHO | termios.ICANON | termios.ISIG

Facts = dict[str, object]


@dataclass
class Screen:
    """The user's side of a terminal in which whet runs."""

    master: int
    whet: "subprocess.Popen[bytes]"
    facts_file: Path = Path()
    shown: bytes = b""
    errors: bytes = b""
    more: list[int] = field(default_factory=list[int])

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def wait_for(self, text: bytes) -> None:
        self._until(lambda: text in self.shown, f"{text!r} on the screen")

    def facts(self) -> Facts:
        self._until(self.facts_file.exists, "the end")
        assert self.whet.wait(PATIENCE_SECONDS) is not None
        self._read(0)
        facts: Facts = json.loads(self.facts_file.read_text())
        return facts

    @property
    def is_raw(self) -> bool:
        return not termios.tcgetattr(self.master)[3] & _ECHO_AND_ORDER

    @property
    def is_raw_but_for_signals(self) -> bool:
        flags: int = termios.tcgetattr(self.master)[3]
        return flags & _ECHO_AND_ORDER == termios.ISIG

    def until_without_reading(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    @property
    def is_as_it_was(self) -> bool:
        flags: int = termios.tcgetattr(self.master)[3]
        return flags & _ECHO_AND_ORDER == _ECHO_AND_ORDER

    def until(self, condition: Callable[[], bool]) -> None:
        self._until(condition, "a condition")

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"no {what}: {self.shown!r}"
            self._read(0.01)

    def _read(self, seconds: float) -> None:
        while select.select([self.master], [], [], seconds)[0]:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                part = b""
            if not part:
                time.sleep(seconds)
                return
            self.shown += part


def in_terminal(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    columns: int = 91,
    streams: Sequence[int | None] = (None, None, None),
) -> Screen:
    """Start a program in the foreground of a terminal of its own.

    Args:
        command: what to run.
        cwd: where.
        environment: what it gets beside what the test has.
        columns: how wide the terminal is.
        streams: its standard streams; None: the terminal.
    """
    master, slave = pty.openpty()
    resize(slave, 33, columns)
    stdin, stdout, stderr = (slave if stream is None else stream for stream in streams)
    started = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads
    )
    os.close(slave)
    return Screen(master, started)


def resize(terminal: int, lines: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
