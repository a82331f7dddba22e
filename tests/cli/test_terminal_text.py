"""A terminal shows what is in a name, and does not obey it."""

import os
import subprocess
import sys

from whet_command import Whet

NAME = "a\x1b[2Jb\x1b]0;title\x07\x9bc.py"


def on_terminal(whet: Whet, *words: str) -> bytes:
    """Return what whet writes where all its streams are a terminal."""
    master, slave = os.openpty()
    try:
        whole = {**os.environ, **whet.environment, "TERM": "xterm"}
        whole.pop("NO_COLOR", None)
        subprocess.run(
            [sys.executable, "-m", "whet", *words], cwd=whet.folder, env=whole, check=False,
            stdin=slave, stdout=slave, stderr=slave, timeout=60,
        )  # fmt: skip
        return os.read(master, 65536)
    finally:
        os.close(slave)
        os.close(master)


def test_a_name_on_a_terminal_is_shown_and_not_obeyed(whet: Whet) -> None:
    whet.write(NAME, "x = 1\n")
    whet("run", "--", sys.executable, NAME)
    told = on_terminal(whet, "log")

    assert rb"\x1b[2Jb\x1b]0;title\x07\x9bc.py" in told
    assert b"\x1b[2J" not in told
    assert b"\x1b[32mGOOD\x1b[0m" in told, "whet's own colours stay"


def test_a_name_in_a_pipe_is_as_it_is(whet: Whet) -> None:
    whet.write(NAME, "def f(): pass\nf()\n")
    whet("probe", f"{NAME}:f", "--", sys.executable, NAME)

    assert f"{NAME}:f: 1 time" in whet("show", "--probes").stdout
