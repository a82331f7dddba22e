"""`whet watch` in a terminal of a certain size, as a user sees it (tmux)."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet_command import Whet

PATIENCE_SECONDS = 60.0
GROWS = """\
import sys, time
held = []
for step in range(int(sys.argv[1])):
    held.append(bytearray(50_000_000))
    print("step", step, flush=True)
    time.sleep(0.1)
while len(sys.argv) > 2:
    time.sleep(0.05)
"""


@dataclass(frozen=True)
class Terminal:
    """A terminal with a shell in which whet was started; afterwards the shell says `CODE=…`."""

    server: Path
    done: Path

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.server), *words]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode()

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return self.tmux("capture-pane", "-p").splitlines()

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait_for(self, text: str) -> list[str]:
        """Return the screen once a text is on it."""
        return self.wait_until(lambda lines: any(text in line for line in lines))

    def wait_until(self, is_it: Callable[[list[str]], bool]) -> list[str]:
        """Return the screen once it is as it should be."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            lines = self.lines
            if is_it(lines):
                return lines
            time.sleep(0.05)
        raise AssertionError("\n".join(["it doesn't come:", *self.lines]))

    def pid(self) -> int:
        """Return the process of whet."""
        pane = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        (child,) = Path(f"/proc/{pane}/task/{pane}/children").read_text().split()
        return int(child)

    def settings(self) -> str:
        """Return the settings of the terminal."""
        terminal = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(
            ["stty", "-g", "-F", terminal], capture_output=True, check=True, text=True
        ).stdout

    def settings_before(self) -> str:
        """Return what they were before whet began."""
        return Path(f"{self.done}.before").read_text()

    def ended(self) -> str:
        """Wait until whet has ended; return its exit code and what the terminal's settings are."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.done.exists() and time.monotonic() < end:
            time.sleep(0.05)
        return self.done.read_text()


@contextmanager
def watching(
    whet: Whet,
    *words: str,
    size: tuple[int, int] = (80, 24),
    variables: str = "",
    main: tuple[str, ...] = ("-m", "whet"),
) -> Generator[Terminal, None, None]:
    """Start `whet watch` in a terminal."""
    server, done = whet.folder.parent / "tmux", whet.folder.parent / "done"
    script = whet.folder.parent / "script.sh"
    command = shlex.join([sys.executable, *main, "watch", *words])
    script.write_text(
        f"trap : INT; stty -g > {done}.before\n{variables} {command}\ncode=$?\n"
        f"stty -g | cmp -s - {done}.before && same=same || same=other\n"
        f"echo $code $same > {done}.new; mv {done}.new {done}; sleep 600\n"
    )
    environment = {**os.environ, **whet.environment, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    environment.pop("TMUX", None)
    columns, rows = map(str, size)
    subprocess.run(
        ["tmux", "-S", str(server), "-f", "/dev/null", "new-session", "-d", "-x", columns,
         "-y", rows, "sh", str(script)],
        env=environment, cwd=whet.folder, check=True,
    )  # fmt: skip
    terminal = Terminal(server, done)
    try:
        yield terminal
    finally:
        subprocess.run(["tmux", "-S", str(server), "kill-server"], check=False)
