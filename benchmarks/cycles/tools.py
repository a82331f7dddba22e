"""The ways to see what an edit does, each driven as a person at a terminal would."""

import os
import pty
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.cycles.programs import PRELOADED

_RESULT = re.compile(r"RESULT [^\r\n\x1b]*")
_ENDED = re.compile(r"whet\S*: \S*(warm|cold) ")
_SETTLING_SECONDS = 0.15  # a person looks at one result before making the next edit
_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, command: Sequence[str | Path], folder: Path) -> None:
        own, theirs = pty.openpty()
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TERM": "dumb"}
        self._own = own
        self._process = subprocess.Popen(
            [os.fspath(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._lines: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = ""
        while True:
            try:
                data = os.read(self._own, 65536)
            except OSError:
                return
            now = time.perf_counter()
            *lines, rest = (rest + data.decode(errors="replace")).split("\n")
            for line in lines:
                self._lines.put((now, _STYLE.sub("", line)))

    def keys(self, text: str) -> None:
        """Type."""
        os.write(self._own, text.encode())

    def forget(self) -> None:
        """Take what is on the screen for read."""
        while not self._lines.empty():
            self._lines.get()

    def wait(self, pattern: re.Pattern[str], seconds: float) -> tuple[float, re.Match[str]] | None:
        """Return when a line came that has the pattern; None if none does in time."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            try:
                when, line = self._lines.get(timeout=left)
            except queue.Empty:
                return None
            found = pattern.search(line)
            if found:
                return when, found
        return None

    def end(self, number: int = signal.SIGTERM) -> None:
        """End the program."""
        self._process.send_signal(number)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._own)


class Tool:
    """One way to see what an edit does.

    Attributes:
        name: how it is called in a table.
        by_rename: whether it notices files that take the place of others; else they are
            written where they are.
        warm: how many answers did not start from nothing, where the tool says so.
    """

    name = ""
    by_rename = True

    def __init__(self, python: Path, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.warm = 0

    def start(self, patience: float) -> tuple[float, str] | None:
        """Start it; return seconds and result of the first run."""
        began = time.perf_counter()
        self.terminal = Terminal(self.command(), self.folder)
        self.after_start()
        return self._answer(began, patience)

    def answer(
        self, files: Mapping[str, str], kind: str, patience: float
    ) -> tuple[float, str] | None:
        """Save files; return how long it took to the result, and the result."""
        time.sleep(_SETTLING_SECONDS)
        self.terminal.forget()
        began = time.perf_counter()
        save(self.folder, files, by_rename=self.by_rename)
        self.after_save(kind)
        return self._answer(began, patience)

    def _answer(self, began: float, patience: float) -> tuple[float, str] | None:
        found = self.terminal.wait(_RESULT, patience)
        self.after_result(patience)
        return None if found is None else (found[0] - began, found[1][0].strip())

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        raise NotImplementedError

    def after_start(self) -> None:
        """Do what a person does who has started it."""

    def after_save(self, kind: str) -> None:
        """Do what a person does who has saved a file."""

    def after_result(self, patience: float) -> None:
        """Wait until it is ready for the next edit."""

    def end(self) -> None:
        """End it."""
        self.terminal.end()


class Cold(Tool):
    """Python anew."""

    name = "python"

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        return [self.python, "train.py"]

    def after_save(self, kind: str) -> None:
        """Run it again."""
        del kind
        self.terminal.end()
        self.terminal = Terminal(self.command(), self.folder)


class Whet(Tool):
    """`whet loop`."""

    name = "whet loop"

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        return [
            sys.executable,
            "-m",
            "whet",
            "loop",
            "--verify",
            "off",
            "--",
            self.python,
            "train.py",
        ]

    def after_result(self, patience: float) -> None:
        """Wait for the line that says how it ran."""
        ended = self.terminal.wait(_ENDED, patience)
        self.warm += ended is not None and ended[1][1] == "warm"

    def end(self) -> None:
        """End the loop as people do."""
        self.terminal.end(signal.SIGINT)


class ForkServer(Tool):
    """`fork_server.py` with the libraries loaded."""

    name = "fork server"

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        server = Path(__file__).with_name("fork_server.py")
        return [self.python, server, "train.py", *PRELOADED]


class Jurigged(Tool):
    """`jurigged --loop main`: it puts new code into the functions of the running program."""

    name = "jurigged"
    by_rename = False  # it does not see those

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        loop = ("--loop", "main", "--loop-interface", "basic")
        return [self.python, "-m", "jurigged", *loop, "train.py"]

    def after_save(self, kind: str) -> None:
        """Press its key for another run where it sees no code change."""
        if kind in {"data", "configuration"}:
            self.terminal.keys("r")


class AutoReload(Tool):
    """IPython with `%autoreload 2`: it loads changed modules again before the next line."""

    name = "autoreload"

    def command(self) -> list[str | Path]:
        """Return how it is started."""
        return [self.python, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor"]

    def after_start(self) -> None:
        """Load the program."""
        self.terminal.keys("%load_ext autoreload\n%autoreload 2\nimport train\ntrain.main()\n")

    def after_save(self, kind: str) -> None:
        """Run it again."""
        del kind
        self.terminal.keys("train.main()\n")


def save(folder: Path, files: Mapping[str, str], *, by_rename: bool = True) -> None:
    """Save the files that have changed, as editors do."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_text() == text:
            continue
        if by_rename:
            beside = path.with_name(f".{name}.new")
            beside.write_text(text)
            beside.replace(path)
        else:
            path.write_text(text)
