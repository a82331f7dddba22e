"""Tells the user of a limited shell which program in it reached the memory limit."""

import os

from whet.core.failure import Frame
from whet.core.limits import Limits, shown_share
from whet.core.text.shown_text import visible_line
from whet.host.process.console import Console
from whet.host.process.messages import Noted


def tell_of_felled(
    console: Console | None,
    limits: Limits,
    noted: Noted,
    frames: tuple[Frame, ...],
) -> None:
    """Write a line about it where whet talks.

    Args:
        console: the user's; None: no output is shown.
        limits: of the shell.
        noted: by the watch.
        frames: where that process stood, the innermost last; empty: nobody knows.
    """
    if console is None or limits.memory_bytes is None:
        return
    words = in_words(limits.memory_bytes, noted, frames)
    # A terminal whose keys go to the program is raw: it doesn't return on its own.
    end = "\r\n" if console.terminal is not None else "\n"
    start = end if console.terminal is not None else ""
    console.stderr.push(memoryview(f"{start}{words}{end}".encode("utf-8", "replace")))


def in_words(memory_bytes: int, noted: Noted, frames: tuple[Frame, ...]) -> str:
    """Return the line; names that the program chose for itself and its files can't steer a terminal."""
    _, size, pid, name = noted
    own = [frame for frame in frames if frame.in_user_code] or list(frames)
    line = f", last Python line {os.path.basename(own[-1].path)}:{own[-1].line}" if own else ""
    share = shown_share(size, memory_bytes)
    who = f"{name or 'a process'} (pid {pid})" if pid else "a process"
    return visible_line(f"whet: this shell's memory limit killed {who}: {share}{line}")
