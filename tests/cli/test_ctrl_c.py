"""Ctrl-C is answered in words, in each phase of a verb, and leaves nothing half drawn."""

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from whet_command import Whet

WAITS = """\
import pathlib, sys, time
text = pathlib.Path(sys.argv[1]).read_text()
if {when}:
    pathlib.Path("now").touch()
    time.sleep(60)
assert not text
"""
_EMPTY = "not text"


def interrupted(
    whet: Whet, words: tuple[str, ...], when: str, stderr: int = subprocess.PIPE
) -> tuple[int, str]:
    """Run a verb, send it Ctrl-C once its program waits, and return its exit code and its words."""
    whet.write("main.py", WAITS.format(when=when))
    whet.write("data.txt", "some words\n" * 4)
    running = subprocess.Popen(
        [sys.executable, "-m", "whet", *words, "--", sys.executable, "main.py", "data.txt"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment, "COLUMNS": "60"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    gives_up_at = time.monotonic() + 60
    while not (whet.folder / "now").exists() and time.monotonic() < gives_up_at:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    return running.returncode, said or ""


@pytest.mark.parametrize(
    "words",
    [
        ("repeat",),
        ("shrink", "data.txt"),
        pytest.param(("shrink", "--arguments"), marks=pytest.mark.long),
        pytest.param(("toggle",), marks=pytest.mark.long),
        ("investigate",),
        ("starve", "--find", "files"),
        ("grow", "--dimension", "env:SIZE=1..4"),
    ],
)
def test_the_first_run_of_a_verb_ends_with_words(whet: Whet, words: tuple[str, ...]) -> None:
    code, said = interrupted(whet, words, "True")

    assert code in {75, 130}, said
    assert "stopped by Ctrl-C" in said


def test_a_shrink_ends_while_it_looks_whether_an_empty_file_fails_too(whet: Whet) -> None:
    code, said = interrupted(whet, ("shrink", "data.txt"), _EMPTY)

    assert code == 75, said
    assert "stopped by Ctrl-C" in said


def test_what_is_drawn_leaves_room_for_the_sign_of_the_key(whet: Whet) -> None:
    screen, terminal = pty.openpty()
    interrupted(whet, ("shrink", "data.txt"), "4 < len(text) < 40", stderr=terminal)
    os.close(terminal)
    drawn = os.read(screen, 1 << 16).decode(errors="replace")
    os.close(screen)

    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in drawn.splitlines()]
    boxes = [line for line in lines if line.strip().startswith(("╭", "│", "╰"))]
    assert boxes
    assert all(len(line.strip()) <= 60 - 2 for line in boxes), boxes


def test_whet_is_imported_where_it_answers_ctrl_c() -> None:
    """What Python has not loaded by then would be imported where Ctrl-C is a traceback."""
    lines = (
        "import sys; known = {*sys.modules}; import whet.__main__; print({*sys.modules} - known)"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)

    assert set(re.findall(r"[\w.]+", done.stdout)) <= {"whet", "whet.__main__", "gc"}


@pytest.mark.parametrize("module", ["click", "whet.cli.console", "whet.cli.verbs.trials.run"])
def test_ctrl_c_while_whet_is_imported_is_an_exit_code_and_no_traceback(module: str) -> None:
    lines = f"""
import importlib.abc, os, signal, sys
class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
sys.argv = ["whet", "run", "--", "true"]
from whet.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False
    )

    assert done.returncode == 130
    assert "Traceback" not in done.stderr
