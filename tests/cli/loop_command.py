"""``whet loop`` as another program drives it, and as somebody in a terminal does."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet_command import Whet

from whet.host.process.process_tree import descendants_of

PATIENCE_SECONDS = 60.0
SLOW = "import time\ntime.sleep(0.06)\n"


def save(whet: Whet, name: str, text: str) -> None:
    """Save a file as an editor does: another one takes its place."""
    path = whet.folder / name
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text)
    beside.replace(path)


@dataclass
class Loop:
    """A loop that runs, and what it tells."""

    whet: Whet
    process: "subprocess.Popen[bytes]"
    _text: bytes = b""

    def save(self, name: str, text: str) -> None:
        save(self.whet, name, text)

    def next(self, event: str = "run") -> dict[str, Any]:
        """Return the next object of a kind, and pass over others."""
        while True:
            told: dict[str, Any] = json.loads(self.line())
            if told["event"] == event:
                return told

    def out(self, event: str = "run") -> str:
        """Return what the next run wrote."""
        return out_of(self.next(event), self.whet)

    def line(self) -> str:
        assert self.process.stdout is not None
        while b"\n" not in self._text:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
            assert ready, f"nothing was told after {self._text!r}"
            part = os.read(self.process.stdout.fileno(), 65536)
            assert part, f"the loop has ended: {self._text!r}"
            self._text += part
        line, _, self._text = self._text.partition(b"\n")
        return line.decode()

    def tells_nothing_for(self, seconds: float) -> None:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        assert not ready, os.read(self.process.stdout.fileno(), 65536)

    @property
    def processes(self) -> list[int]:
        return [self.process.pid, *descendants_of(self.process.pid)]


def out_of(told: dict[str, Any], whet: Whet) -> str:
    """Return what a run wrote to standard output."""
    return whet("show", str(told["trial"]), "--output").stdout


@contextmanager
def looping(
    whet: Whet, *words: str, options: tuple[str, ...] = (), before: tuple[str, ...] = ()
) -> Iterator[Loop]:
    """Start a loop that answers in JSON, by a command if one comes before it; SIGINT ends it."""
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "whet", "loop", "--json", *options, "--", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment, "PYTHONHASHSEED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    with process:
        loop = Loop(whet, process)
        try:
            yield loop
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(PATIENCE_SECONDS)


def wait_until_gone(pids: list[int]) -> None:
    """Wait until no process of those is there any more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(Path(f"/proc/{pid}/exe").exists() for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.01)


@dataclass
class Screen:
    """A terminal in which a loop runs."""

    process: "subprocess.Popen[bytes]"
    master: int
    shown: str = ""

    def wait_for(self, text: str) -> str:
        """Wait until something is shown; return all that was up to its line's end."""
        while text not in self.shown or "\n" not in self.shown.partition(text)[2]:
            ready, _, _ = select.select([self.master], [], [], PATIENCE_SECONDS)
            assert ready, f"no {text!r}: {self.shown}"
            self.shown += os.read(self.master, 65536).decode().replace("\r", "")
        before, _, after = self.shown.partition(text)
        line, _, self.shown = after.partition("\n")
        return f"{before}{text}{line}"

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)


@contextmanager
def on_screen(whet: Whet, *words: str, options: tuple[str, ...] = ()) -> Iterator[Screen]:
    """Start a loop in a terminal of its own."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", sys.executable, "-m", "whet", "loop", *options, "--", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment, "NO_COLOR": "1"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    with process:
        try:
            yield Screen(process, master)
        finally:
            process.kill()
            process.wait()
            os.close(master)
