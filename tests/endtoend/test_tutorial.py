"""The tutorial's commands, in order: each prints the lines that the page shows."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_VARIES = re.compile(r"\d+(\.\d+)? (ms|s|MB)\b|trials? \d+|`[^`]* \d+`")
_PATIENCE = 120.0


def _blocks() -> list[list[str]]:
    text = PAGE.read_text("utf-8").replace("/path/to/whet", str(ROOT))
    return [
        block.splitlines()
        for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


class Terminal:
    """Runs the commands of the page; `whet loop` keeps running while the next ones run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(folder / "state"),
            "COLUMNS": "80",
        }
        self.loop: subprocess.Popen[bytes] | None = None
        self.output = folder / "loop.txt"

    def type(self, command: str) -> str:
        """Run a command and return what it prints."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        if command.startswith("whet loop"):
            with self.output.open("wb") as file:
                self.loop = subprocess.Popen(
                    shlex.split(command),
                    cwd=self.folder,
                    env=self.environment,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            return self.wait_for("BAD")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE * 2,
            check=False,
        )
        return done.stdout.decode()

    def wait_for(self, text: str) -> str:
        """Return what the loop has printed once it holds a text."""
        end = time.monotonic() + _PATIENCE
        while text not in (shown := self.output.read_text("utf-8")):
            assert time.monotonic() < end, shown
            time.sleep(0.05)
        return shown

    def close(self) -> None:
        """End the loop."""
        if self.loop is not None and self.loop.poll() is None:
            self.loop.send_signal(signal.SIGINT)
            self.loop.wait(_PATIENCE)


@pytest.mark.long
def test_each_command_of_the_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    try:
        for block in _blocks():
            shown = ""
            for line in block:
                if line.startswith("$ "):
                    shown = terminal.type(line.removeprefix("$ "))
                elif not block[0].startswith("$ "):
                    shown = terminal.wait_for("GOOD")
                if not line.startswith("$ ") and line != "…":
                    printed = {_VARIES.sub("#", each.rstrip()) for each in shown.splitlines()}
                    assert _VARIES.sub("#", line) in printed, f"{line}\n\nin\n\n{shown}"
    finally:
        terminal.close()
