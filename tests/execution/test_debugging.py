"""A debugger shows in a warm run what it shows in a cold one, and nothing of whet."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from screens import Screen, in_terminal
from workshop import SLOW, Workshop

pytestmark = pytest.mark.slow

_TRACER = """
def tracer(frame, event, argument):
    code = frame.f_code
    print(event, code.co_name, code.co_filename.rpartition('/')[2], frame.f_lineno)
    return tracer
"""

_PROGRAM = f"""{SLOW}
def decorator(function):
    return function

def add(x):
    y = x + 1
    return y

class Total:
    def __init__(self):
        self.value = 0
    def take(self, x):
        self.value += add(x)

def inner(n):
    def once():
        nonlocal n
        n += 1
        return n
    return once()

def work(n):
    total = Total()
    START
    for i in range(n):
        total.take(i)
        if i > 1:
            continue
    else:
        inner(n)
    while n:
        n -= 1
    return total.value

START_AT_TOP
@decorator
def last(): pass
for each in (1, 2):
    print(work(each))
import helper
helper.help()
last()
print('end')
"""
_HELPER = "def help():\n    return [x for x in (1, 2)]\n"


def _program(*, start: str = "pass", start_at_top: str = "pass") -> str:
    return _PROGRAM.replace("START_AT_TOP", start_at_top).replace("START", start)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("sys.settrace(tracer)", id="all that runs"),
        pytest.param("sys.setprofile(tracer)", id="all that is called"),
        pytest.param(
            "sys._getframe().f_trace = tracer; sys.settrace(tracer)", id="the running frame, too"
        ),
    ],
)
@pytest.mark.parametrize("at", ["start", "start_at_top"])
def test_a_tracer_sees_what_it_sees_cold(workshop: Workshop, start: str, at: str) -> None:
    head = f"import sys{_TRACER}"
    workshop.write({"helper.py": _HELPER})

    tail = "sys.setprofile(None)\n"
    outcome = workshop.edit(head + _program() + tail, head + _program(**{at: start}) + tail)

    assert b"call add main.py" in outcome.stdout.head(1 << 20)


def test_a_program_that_is_traced_leaves_no_copies_from_there_on(workshop: Workshop) -> None:
    workshop.edit(
        SLOW + "import sys\n" + SLOW + "print(1)\n" + SLOW + "print(2)\n",
        SLOW + "import sys\nsys.settrace(print)\n" + SLOW + "print(1)\n" + SLOW + "print(2)\n",
    )

    workshop.write({"main.py": (workshop.folder / "main.py").read_text() + "print(3)\n"})
    workshop.run()
    assert workshop.starts[-1].place == "main.py:3"


@dataclass
class Terminals:
    """Runs whet in terminals, in one folder."""

    folder: Path
    environment: dict[str, str]
    screens: list[Screen] = field(default_factory=list[Screen])

    def whet(self, *words: str) -> Screen:
        screen = in_terminal(
            [sys.executable, "-m", "whet", *words], cwd=self.folder, environment=self.environment
        )
        self.screens.append(screen)
        return screen

    def loop(self, *options: str) -> Screen:
        return self.whet("loop", *options, "--", sys.executable, "main.py")

    def save(self, text: str, name: str = "main.py") -> None:
        beside = self.folder / f".{name}.new"
        beside.write_text(text)
        beside.replace(self.folder / name)


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Terminals]:
    folder, temporary = tmp_path / "project", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    environment = {"TMPDIR": str(temporary), "TERM": "dumb", "HOME": str(tmp_path)}
    terminals = Terminals(folder, environment)
    yield terminals
    for screen in terminals.screens:
        screen.whet.kill()
        screen.whet.wait()
        os.close(screen.master)


def _since(screen: Screen, start: int) -> str:
    """Return what was shown, without whet's own last line."""
    text = screen.shown[start:].decode().replace("\r\n", "\n")
    return re.sub(r"0x[0-9a-f]+|\.\.\.x[0-9a-f]+", "0x", re.sub(r"whet: .*", "whet:", text))


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["w", "l", *["s"] * 9, "w", "p total.value", "u", "ll", "c", "c"], id="steps"),
        pytest.param(["n"] * 40, id="to the end of the program and beyond"),
        pytest.param(["a", "r", "n", "unt", "q"], id="left before the end"),
        pytest.param(["tbreak add", "c", "w", "r", "\x04"], id="an end of input"),
        pytest.param(
            ["p 1/0", "!n = 5", "display i", "n", "n", "tbreak 15", "c", "c", "c"], id="changes"
        ),
    ],
)
@pytest.mark.parametrize("at", ["start", "start_at_top"])
def test_a_breakpoint_in_a_warm_run_is_what_it_is_cold(
    terminals: Terminals, keys: list[str], at: str
) -> None:
    terminals.save(_HELPER, "helper.py")
    terminals.save(_program())
    loop = terminals.loop()
    loop.wait_for(b"trial 1")
    _settle(loop)
    start = len(loop.shown)
    terminals.save(_program(**{at: "breakpoint()"}))
    _session(loop, keys, b"trial 2")
    cold = terminals.whet("run", "--", sys.executable, "main.py")
    _session(cold, keys, b"trial 3")

    assert b"warm" in loop.shown[start:]
    assert _since(loop, start) == _since(cold, 0)


def _settle(loop: Screen) -> None:
    loop.until(lambda: loop.shown.endswith(b"\n"))


def _session(screen: Screen, keys: Sequence[str], end: bytes) -> None:
    """Type keys at prompts, as long as there are any, up to the end of the trial."""
    answered = 0  # up to where what is shown has been answered

    def asks() -> bool:
        return end in screen.shown or screen.shown[answered:].endswith(b"(Pdb) ")

    for key in keys:
        screen.until(asks)
        if end in screen.shown:
            break
        answered = len(screen.shown)
        screen.type(key.encode() + (b"" if key == "\x04" else b"\r"))
    screen.wait_for(end)
    _settle(screen)
