"""A debugger shows in a warm run what it shows in a cold one, and nothing of whet."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from crossed import crossed
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


@crossed(
    at=["start", "start_at_top"],
    start={
        "all that runs": "sys.settrace(tracer)",
        "all that is called": "sys.setprofile(tracer)",
        "the running frame, too": "sys._getframe().f_trace = tracer; sys.settrace(tracer)",
    },
)
def test_a_tracer_sees_what_it_sees_cold(workshop: Workshop, start: str, at: str) -> None:
    head = f"import sys{_TRACER}"
    workshop.write({"helper.py": _HELPER})

    tail = "sys.setprofile(None)\n"
    outcome = workshop.edit(head + _program() + tail, head + _program(**{at: start}) + tail)

    assert b"call add main.py" in outcome.stdout.head(1 << 20)


@pytest.mark.parametrize("tracing", ["sys.settrace(tracer)", "sys.setprofile(tracer)"])
def test_a_tracer_of_a_module_sees_what_it_sees_cold(workshop: Workshop, tracing: str) -> None:
    def text(start: str) -> str:
        # A resumed run lists folders anew in which modules are looked for.
        program = _program(start=start).replace("import helper\nhelper.help()\n", "")
        return f"import sys{_TRACER}{program}sys.setprofile(None)\n"

    workshop.write({"main.py": text("pass")})
    workshop.run("-m", "main")
    workshop.write({"main.py": text(tracing)})

    outcome = workshop.run("-m", "main")

    assert workshop.starts[-1].place
    assert b"call add main.py" in outcome.stdout.head(1 << 20)


def test_a_tracer_in_a_forked_process_sees_what_it_sees_cold(workshop: Workshop) -> None:
    head = f"import sys{_TRACER}"
    fork = "import os\nif os.fork():\n    os._exit(os.wait()[1])\nsys.settrace(tracer)\n"
    workshop.write({"helper.py": _HELPER, "main.py": head + _program()})
    workshop.run()
    workshop.write({"main.py": head + _program(start_at_top=fork)})

    outcome = workshop.run()

    assert b"call <module> helper.py" in outcome.stdout.head(1 << 20)


def test_a_program_that_is_traced_leaves_no_copies_from_there_on(workshop: Workshop) -> None:
    workshop.edit(
        SLOW + "import sys\n" + SLOW + "print(1)\n" + SLOW + "print(2)\n",
        SLOW + "import sys\nsys.settrace(print)\n" + SLOW + "print(1)\n" + SLOW + "print(2)\n",
    )

    workshop.write({"main.py": (workshop.folder / "main.py").read_text() + "print(3)\n"})
    workshop.run()
    assert workshop.starts[-1].place == "main.py:3"


_ALONE = ("\x03", "\x04")  # Ctrl-C, Ctrl-D


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
    """Return what was shown, without what whet says itself."""
    text = screen.shown[start:].decode().replace("\r\n", "\n")
    return re.sub(r"0x[0-9a-f]+|\.\.\.x[0-9a-f]+", "0x", re.sub(r"whet: .*\n", "", text))


@pytest.mark.long
@crossed(
    at=["start", "start_at_top"],
    keys={
        "steps": ["w", "l", *["s"] * 9, "w", "p total.value", "u", "ll", "c", "c"],
        "to the end of the program and beyond": ["n"] * 40,
        "left before the end": ["a", "r", "n", "unt", "q"],
        "an interrupt at the prompt": ["p 1", "\x03", "p 2", "n", "c", "c"],
        "an end of input": ["tbreak add", "c", "w", "r", "\x04"],
        "changes": ["p 1/0", "!n = 5", "display i", "n", "n", "tbreak 15", "c", "c", "c"],
    },
)
def test_a_breakpoint_in_a_warm_run_is_what_it_is_cold(
    terminals: Terminals, keys: list[str], at: str
) -> None:
    terminals.save(_HELPER, "helper.py")
    terminals.save(_program())
    loop = terminals.loop("--verify", "off")  # else trials of its own have numbers, too
    loop.wait_for(b"trial 1")
    _settle(loop)
    start = len(loop.shown)
    terminals.save(_program(**{at: "breakpoint()"}))
    # A save that is noticed in two steps overtakes its first run, which has a number, too.
    _session(loop, keys, b"trial [2-4]")
    cold = terminals.whet("run", "--", sys.executable, "main.py")
    _session(cold, keys, b"trial [3-5]")

    assert b"warm" in loop.shown[start:]
    (number,) = _trials_in(loop.shown[start:])
    assert number in {2, 3}
    assert _trials_in(cold.shown)[0] == number + 1
    assert _since(loop, start) == _since(cold, 0)


def _trials_in(shown: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"trial (\d+)", shown)]


def _settle(loop: Screen) -> None:
    loop.until(lambda: loop.shown.endswith(b"\n"))


def _session(screen: Screen, keys: Sequence[str], end: bytes) -> None:
    """Type keys at prompts, as long as there are any, up to the end of the trial."""
    answered = 0  # up to where what is shown has been answered

    def has_ended() -> bool:
        return re.search(end, screen.shown) is not None

    def asks() -> bool:
        return has_ended() or screen.shown[answered:].endswith(b"(Pdb) ")

    for key in keys:
        screen.until(asks)
        if has_ended():
            break
        answered = len(screen.shown)
        screen.type(key.encode() + (b"" if key in _ALONE else b"\r"))
    screen.until(has_ended)
    _settle(screen)


_FAILS = f"""{SLOW}import os

def price(x):
    time.sleep(0.06)
    rate = 3 - x
    return 10 / rate

def total():
    found = 0
    time.sleep(0.06)
    for x in range(5):
        found += price(x)
    return found

print(os.tcgetpgrp(0) == os.getpgrp())
with open('made', 'w') as made:
    made.write('1')
print(total())
"""
_OFFER = b"q to quit\r\n"


def _failed(screen: Screen, number: int) -> None:
    """Wait until so many runs were told of, of which the last has failed, and whet waits."""
    _told(screen, number)
    screen.until(lambda: screen.shown.endswith(_OFFER))


def _told(screen: Screen, number: int) -> None:
    """Wait until so many runs were told of: one that a save has overtaken has a number, too."""
    screen.until(lambda: screen.shown.count(" · trial ".encode()) >= number)


def _ask(screen: Screen, word: str, keys: Sequence[str], end: bytes = _OFFER) -> str:
    """Type a word between two runs, then keys at prompts; return what was shown."""
    start = answered = len(screen.shown)
    screen.type(word.encode() + b"\r")

    def asks() -> bool:
        # What the program says on its other stream may come after it.
        return b"(Pdb) " in screen.shown[answered:]

    for key in keys:
        screen.until(asks)
        answered = len(screen.shown)
        screen.type(key.encode() + (b"" if key in _ALONE else b"\r"))
    screen.until(lambda: screen.shown[answered:].endswith(end))
    return _since(screen, start)


@pytest.mark.long
def test_pdb_opens_where_the_program_fails_and_changes_nothing_of_the_trial(
    terminals: Terminals,
) -> None:
    terminals.save(_FAILS)
    loop = terminals.loop("--pdb")
    keys = ["p rate, x", "u", "p found", "p 1/0", "q"]

    _session(loop, keys, b"trial 1")
    _failed(loop, 1)
    terminals.save(_FAILS.replace("10 / rate", "20 / rate"))
    start = len(loop.shown)
    _session(loop, keys, b"trial 2")
    shown = loop.shown[start:].decode()
    plain = terminals.whet("run", "--", sys.executable, "main.py")
    plain.wait_for(b"trial 3")

    assert "-> return 20 / rate" in shown
    assert "(Pdb) p rate, x\r\n(0, 3)" in shown
    assert "warm" in shown
    assert "\r\r" not in shown, "what was written before is shown as it was"
    assert "BAD ZeroDivisionError: division by zero at main.py:8" in shown
    assert b"exit 1" in plain.shown
    assert b"same failure as trial 2" in plain.shown


def test_pdb_needs_a_terminal(terminals: Terminals) -> None:
    refused = terminals.whet("loop", "--pdb", "--json", "--", "true")

    refused.wait_for(b"`--pdb` needs a terminal")
    assert refused.whet.wait(20) == os.EX_USAGE


@pytest.mark.long
@pytest.mark.parametrize("is_edited", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_failure_is_stepped_into_from_before_the_failing_function_was_called(
    terminals: Terminals, *, is_edited: bool
) -> None:
    terminals.save(_FAILS)
    loop = terminals.loop()
    _failed(loop, 1)
    if is_edited:
        terminals.save(_FAILS.replace("10 / rate", "20 / rate"))
        _failed(loop, 2)
    keys = ["w", "tbreak price", "c", "p x", "n", "w", "c", "p rate", "q"]

    first, again = _ask(loop, "b", keys), _ask(loop, "b", keys)
    loop.type(b"r\r")
    _failed(loop, 3 if is_edited else 2)

    assert first == again
    assert "main.py(19)<module>()" not in first.partition("(Pdb)")[0]
    assert "(Pdb) w\n" in first
    assert "total()\n-> " in first.partition("tbreak")[0]
    assert "price()" not in first.partition("tbreak")[0]
    assert "-> time.sleep(0.06)" in first
    assert f"-> return {20 if is_edited else 10} / rate\n(Pdb) p rate\n0\n" in first
    assert "whet_stage" not in first
    assert (terminals.folder / "made").read_text() == "1"
    assert b"True" in loop.shown
    assert b"False" not in loop.shown


def test_without_a_copy_from_before_the_program_is_stepped_through_from_its_start(
    terminals: Terminals,
) -> None:
    terminals.save("def f():\n    return {}['key']\nf()\n")
    loop = terminals.loop()
    _failed(loop, 1)

    shown = _ask(loop, "b", ["n", "s", "s", "c", "q"])

    assert b"type b to step from the start" in loop.shown
    assert "> main.py(1)<module>()\n-> def f():\n" in re.sub("> /.*/", "> ", shown)
    assert "-> return {}['key']\n(Pdb) c\nTraceback" in shown


_FAILING_TEST = f"{SLOW}def price(x):\n    return 1 / x\ndef test_price():\n    price(0)\n"


@pytest.mark.long
def test_a_test_is_stepped_through_though_pytest_holds_the_streams(terminals: Terminals) -> None:
    terminals.save(_FAILING_TEST, "test_price.py")
    words = ("-q", "-p", "no:cacheprovider", "test_price.py")
    loop = terminals.whet("loop", "--", sys.executable, "-m", "pytest", *words)
    _failed(loop, 1)

    shown = _ask(loop, "b", ["tbreak test_price.price", "c", "p x + 41", "q"])

    assert "-> return 1 / x\n(Pdb) p x + 41\n41\n" in shown
    assert "INTERNALERROR" not in shown


def test_what_a_text_that_was_no_python_could_not_use_can_be_stepped_from_again(
    terminals: Terminals,
) -> None:
    terminals.save(_FAILS)
    loop = terminals.loop()
    _failed(loop, 1)
    offer = loop.shown.splitlines()[-1]
    terminals.save(_FAILS.replace("print(total())", "x = = 1"))
    _told(loop, 2)
    terminals.save(_FAILS)
    _failed(loop, 3)

    assert loop.shown.splitlines()[-1] == offer


@pytest.mark.long
@pytest.mark.parametrize(
    "past",
    [
        "open('commands', 'w').write('p 40\\n')\nsys.stdin = open('commands')",
        pytest.param("sys.stdin.close()", marks=pytest.mark.long),
        pytest.param("import io\nsys.stdout = io.StringIO()", marks=pytest.mark.long),
        "import os\nos.close(0)",
    ],
    ids=["a file", "closed", "a text in memory", "no descriptor"],
)
def test_pdb_speaks_to_the_terminal_whatever_the_program_has_for_its_streams(
    terminals: Terminals, past: str
) -> None:
    terminals.save(f"import sys\n{past}\n1 / 0\n")
    loop = terminals.loop("--pdb")

    _session(loop, ["p 42", "q"], b"trial 1")

    assert b"(Pdb) p 42\r\n42\r\n(Pdb) q" in loop.shown
    assert loop.shown.count(b"Traceback") == 1


def test_what_fails_while_one_looks_is_no_failure_of_the_trial(terminals: Terminals) -> None:
    terminals.save("{}['key']\n")
    loop = terminals.loop("--pdb")
    loop.until(lambda: loop.shown.endswith(b"(Pdb) "))
    loop.type(b"interact\r")
    loop.until(lambda: loop.shown.endswith(b">>> "))
    loop.type(b"unknown\r")
    loop.until(lambda: loop.shown.endswith(b"is not defined\r\n>>> "))
    loop.type(b"\x04")
    loop.until(lambda: loop.shown.endswith(b"(Pdb) "))
    loop.type(b"q\r")
    _failed(loop, 1)

    assert b"BAD KeyError: 'key' at main.py:1" in loop.shown


def test_what_is_no_python_cannot_be_stepped_through(terminals: Terminals) -> None:
    terminals.save("def f(:\n")
    loop = terminals.loop()
    loop.wait_for(b"trial 1")
    loop.wait_for(b"waiting for a save")
    loop.type(b"q\r")

    assert loop.whet.wait(20) == 0
    assert b"type b" not in loop.shown


@pytest.mark.long
def test_a_save_waits_until_the_debugger_is_left(terminals: Terminals) -> None:
    terminals.save(_FAILS)
    loop = terminals.loop()
    _failed(loop, 1)
    loop.type(b"b\r")
    loop.until(lambda: loop.shown.endswith(b"(Pdb) "))

    terminals.save(_FAILS.replace("10 / rate", "10 / 7"))
    shown = _ask(loop, "p 1", ["p 2", "q"], end=b"trial 2\r\n")

    assert "(Pdb) p 2\n2\n" in shown


def test_a_save_at_a_prompt_of_the_program_leaves_the_terminal_as_it_was(
    terminals: Terminals,
) -> None:
    terminals.save(_program(start="breakpoint()"))
    loop = terminals.loop()
    loop.until(lambda: loop.shown.endswith(b"(Pdb) "))
    assert loop.is_raw

    terminals.save(_program())
    _told(loop, 1)

    loop.until(lambda: loop.is_as_it_was)
    assert os.tcgetpgrp(loop.master) == loop.whet.pid


@pytest.mark.parametrize("keys", [b"q\r", b"\x04", b"\x03"], ids=["q", "Ctrl-D", "Ctrl-C"])
def test_the_loop_ends_when_it_is_told_to(terminals: Terminals, keys: bytes) -> None:
    terminals.save("x\n")
    loop = terminals.loop()
    _failed(loop, 1)

    loop.type(keys)

    assert loop.whet.wait(20) == 0
    assert loop.is_as_it_was
