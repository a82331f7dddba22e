"""The panels of `whet watch` in a terminal, and what its keys and signals do."""

import os
import re
import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from watch_screen import GROWS, watching
from whet_command import Whet

from whet.host.process.process_facts import matching

pytestmark = [pytest.mark.slow, pytest.mark.needs("tmux")]

TOLD = """\
import os, sys
from whet.host.process.ending import orderly_end
from whet.watch.view import show

class Told:
    interval_seconds, output, keys, must_leave = 0.1, {}, {}, False
    def __init__(self, draws, number): self.draws, self.number, self.times = draws, number, 0
    def be_told(self, where):
        self.times += where == self.draws
        if self.times == 2:
            os.kill(os.getpid(), self.number)
    def look(self): self.be_told("look")
    def read(self, stream): return b""
    def state(self): self.be_told("state"); return ""
    def past(self): return []
    def press(self, key): return None
    def resize(self, columns, rows): self.be_told("resize")

try:
    with orderly_end():
        show(Told(sys.argv[2], int(sys.argv[3])))
except KeyboardInterrupt:
    sys.exit(130)
"""
"""A view that gets a signal while it draws."""

FRAMES = re.compile(r"[╭╮╰╯│─]")


def fills(columns: int, rows: int, lines: list[str]) -> bool:
    """Whether the view has drawn itself for a terminal of some size."""
    is_high = len(lines) == rows and lines[-1].endswith("q leave")
    return is_high and max(map(len, lines)) == columns and lines[0].startswith("╭─ memory")


def program_of(whet: Whet) -> list[int]:
    """Return the processes of a program in the test's own folder."""
    return [
        pid for pid in matching(re.compile(r"^\S*python\S* (grow|last)\.py"))
        if Path(f"/proc/{pid}/cwd").readlink() == whet.folder
    ]  # fmt: skip


def test_the_view_stays_after_the_program_and_its_exit_code_passes_through(whet: Whet) -> None:
    whet.write(
        "grow.py",
        GROWS + "import os\nwhile not os.path.exists('go'): time.sleep(0.02)\nsys.exit(3)\n",
    )
    with watching(whet, "memory", "processes", "--", sys.executable, "grow.py", "4") as screen:
        screen.wait_for("python grow.py 4")
        screen.wait_for("step 3")
        whet.write("go", "")
        lines = screen.wait_for("exit 3 after")
        text = "\n".join(lines)
        assert all(each in text for each in ("memory", "python grow.py 4", "output", "step 3"))
        screen.press("q")
        assert screen.ended().split() == ["3", "same"]
        text = "\n".join(screen.wait_for("--replay 1"))
        assert "step 0" in text
        assert "BAD" in text
        assert not FRAMES.search(text)


def test_after_q_the_program_runs_on_and_gets_ctrl_c(whet: Whet) -> None:
    whet.write("grow.py", GROWS.replace("while", "print('grown')\nwhile", 1))
    with watching(whet, "memory", "--", sys.executable, "grow.py", "2", "stay") as screen:
        screen.wait_for("the program runs on")
        screen.wait_for("grown")
        screen.press("q")
        screen.wait_for("runs on; Ctrl-C")
        assert program_of(whet)
        screen.press("C-c")
        assert screen.ended().split()[1] == "same"
        assert "KeyboardInterrupt" in "\n".join(screen.wait_for("trial 1"))
    assert not program_of(whet)


def test_ctrl_c_in_the_view_goes_to_the_program(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    with watching(whet, "cpu", "--", sys.executable, "grow.py", "1", "stay") as screen:
        screen.wait_for("step 0")
        screen.press("C-c")
        screen.wait_for("KeyboardInterrupt")
        screen.wait_for("SIGINT after")
        screen.press("q")
        assert screen.ended().split() == ["130", "same"]


def test_a_signal_that_ends_whet_gives_the_terminal_back_and_ends_the_program(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    with watching(whet, "memory", "--", sys.executable, "grow.py", "1", "stay") as screen:
        screen.wait_for("step 0")
        screen.wait_for(" MB")
        os.kill(screen.pid(), signal.SIGTERM)
        assert screen.ended().split() == ["143", "same"]
        assert not FRAMES.search("\n".join(screen.lines))
    assert not program_of(whet)
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
    assert "rss" in whet("watch", "--replay", "1", "--json").stdout  # what was seen is kept


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("draws", ["state", "look"])
def test_a_signal_gives_the_terminal_back_whatever_the_view_is_at(
    whet: Whet, number: int, draws: str
) -> None:
    whet.write("told.py", TOLD)
    with watching(whet, draws, str(int(number)), main=("told.py",)) as screen:
        assert screen.ended().split() == [str(128 + number), "same"]
        screen.wait_until(
            lambda _: screen.tmux("display-message", "-p", "#{alternate_on}") == "0\n"
        )


def test_the_terminal_is_given_back_although_whet_is_killed(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    with watching(whet, "memory", "--", sys.executable, "grow.py", "1", "stay") as screen:
        screen.wait_for("step 0")
        assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"
        os.kill(screen.pid(), signal.SIGKILL)
        assert screen.ended().split()[0] == "137"
        screen.wait_until(lambda _: screen.settings() == screen.settings_before())
        shown = screen.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")
        assert shown.split() == ["0", "1"]
        assert not FRAMES.search("\n".join(screen.lines))


def test_a_program_that_is_killed_leaves_a_view_that_says_so(whet: Whet) -> None:
    whet.write("grow.py", GROWS)
    with watching(whet, "memory", "--", sys.executable, "grow.py", "1", "stay") as screen:
        screen.wait_for("step 0")
        (pid,) = program_of(whet)
        os.kill(pid, signal.SIGKILL)
        screen.wait_for("SIGKILL after")
        screen.press("q")
        assert screen.ended().split() == ["137", "same"]


def test_while_a_probe_holds_the_program_the_panel_shows_the_level(whet: Whet) -> None:
    whet.write("last.py", "held = bytearray(300_000_000)\nprint('end')\n")
    words = ("--probe", "last.py:2 sleep 60", "memory", "--", sys.executable, "last.py")
    with watching(whet, *words, size=(60, 20)) as screen:
        screen.wait_for("waits 60 s")
        lines = screen.wait_for("│ ━┫")  # the middle of a large 3: all 300 MB are there
        assert len(max(lines, key=len)) <= 60
        screen.press("C-c")
        screen.wait_for("SIGINT after")
        screen.press("q")
        assert screen.ended().split()[1] == "same"
    replayed = whet("watch", "--replay", "1").stdout
    assert re.search(r"memory 3\d\d MB", replayed)


def test_panels_fit_into_any_terminal_also_after_it_has_another_size(whet: Whet) -> None:
    with watching(whet, "memory", "disk", "network", "echo 12 of 20", size=(200, 50)) as screen:
        screen.wait_for("echo 12 of 20")
        screen.wait_for("12 of 20")
        for columns, rows in ((60, 20), (40, 12), (100, 30)):
            screen.resize(columns, rows)
            screen.wait_until(partial(fills, columns, rows))
        screen.press("q")
        assert screen.ended().split() == ["0", "same"]


def test_without_colour_nothing_is_coloured(whet: Whet) -> None:
    with watching(whet, "disk", variables="NO_COLOR=1") as screen:
        screen.wait_for("free of")
        coloured = screen.tmux("capture-pane", "-p", "-e")
        assert re.findall(r"\x1b\[[0-9;]*(?:3[1-6]|4[1-6]|38|48)[0-9;]*m", coloured) == []


def test_without_textual_whet_names_the_extra_and_writes_lines(whet: Whet) -> None:
    blocked = "import sys; sys.modules['textual'] = None; from whet.__main__ import main; main()"
    with watching(whet, "disk", "--for", "1", main=("-c", blocked)) as screen:
        assert screen.ended().split() == ["0", "same"]
        text = " ".join(" ".join(screen.lines).split())
        assert "pip install 'whet[watch]'" in text
        assert "free of" in text


def test_a_secret_is_masked_in_the_panels_too(whet: Whet) -> None:
    whet.write(
        "tell.py",
        "import os, time\nkey = os.environ['API_TOKEN']\n"
        "print('plain', key)\nprint(f'\x1b[31m{key}\x1b[0m', flush=True)\ntime.sleep(600)\n",
    )
    words = ("processes", "echo $API_TOKEN", "--", sys.executable, "tell.py", "k3y-of-a-vault-0815")
    with watching(whet, *words, variables="API_TOKEN=k3y-of-a-vault-0815") as screen:
        screen.wait_for("plain")
        lines = screen.wait_for("tell.py")
        assert "k3y-of" not in "\n".join(lines)
        screen.press("q")
        screen.wait_for("runs on; Ctrl-C")
        screen.press("C-c")
        screen.ended()
    assert "k3y-of" not in whet("watch", "--replay", "1", "--json").stdout


def test_the_view_ends_when_its_time_is_up(whet: Whet) -> None:
    with watching(whet, "disk", "--for", "1.5") as screen:
        screen.wait_for("q leave")
        assert screen.ended().split() == ["0", "same"]
